//! What a client sets of the agent itself: its provider, and who is signed in; and the forms by which it asks.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nudge_stage::{ModelReply, StageProvider};
use serde_json::{Value, json};

use super::Verdict;
use crate::{
    chat::Version,
    client::{PATIENCE, Policy},
    place::Route,
    pty,
    run::Scene,
};

/// How long an agent may take to show something on its terminal.
const SHOWN_WITHIN: Duration = Duration::from_secs(30);

/// The agent lets the user sign in on a terminal, by the line of the client.
pub(super) fn sign_in(scene: &mut Scene<'_>) -> Result<Verdict> {
    let terminal = if scene.version() == Version::V1 { json!(true) } else { json!({}) };
    let older = json!({ "terminal-auth": true });
    scene.restart_with(json!({ "auth": { "terminal": terminal }, "_meta": older }));
    let initialized = scene.connected().map(|chat| chat.initialized.clone());
    scene.restart();
    let methods = initialized?["authMethods"].as_array().cloned().unwrap_or_default();
    let Some(method) = methods.iter().find(|method| method["type"] == "terminal") else {
        return Ok(Verdict::NotOffered("no sign-in on a terminal"));
    };
    if scene.route != Route::Direct {
        ensure!(method["args"] == json!([]), "the line of the client is changed: {}", method["args"]);
    }
    let Some(awaited) = scene.recipe.sign_in_shows.clone() else {
        return Ok(Verdict::NotOffered("nobody knows what it shows"));
    };
    let command = scene.sign_in_command(&arguments(method), &variables(&method["env"]));
    let shown = pty::shown(&command, &awaited, SHOWN_WITHIN)?;
    ensure!(shown.contains(&awaited), "it shows {shown:?}");
    Ok(Verdict::Pass)
}

fn arguments(method: &Value) -> Vec<String> {
    let args = method["args"].as_array().into_iter().flatten();
    args.filter_map(|arg| arg.as_str().map(str::to_owned)).collect()
}

/// Environment variables, as either version writes them.
fn variables(env: &Value) -> Vec<(String, String)> {
    let pair = |name: Option<&str>, value: &Value| Some((name?.to_owned(), value.as_str()?.to_owned()));
    match env {
        Value::Object(env) => env.iter().filter_map(|(name, value)| pair(Some(name), value)).collect(),
        Value::Array(env) => env.iter().filter_map(|one| pair(one["name"].as_str(), &one["value"])).collect(),
        _ => Vec::new(),
    }
}

/// The agent asks by a form, and hears the answer.
pub(super) fn form(scene: &mut Scene<'_>) -> Result<Verdict> {
    let Some(ask) = scene.recipe.form.clone() else {
        return Ok(Verdict::NotOffered("asks by no form"));
    };
    scene.on("peers-form").reply(ModelReply::call(&ask.tool, ask.filled(&[])));
    scene.on_result("peers-form").reply(ModelReply::text("the answer was heard"));
    scene.restart_with(json!({ "elicitation": { "form": {} } }));
    let told = form_is_answered(scene);
    scene.restart();
    told?;
    Ok(Verdict::Pass)
}

fn form_is_answered(scene: &mut Scene<'_>) -> Result<()> {
    let chat = scene.chat()?;
    chat.client.policy = Policy::AllowAndFill;
    let turn = chat.prompt("peers-form")?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(chat.agent_text(turn.since).contains("the answer was heard"), "the model was not heard after it");
    let asked = chat.client.requests.iter().filter(|request| request["method"] == "elicitation/create");
    let asked: Vec<_> = asked.map(|request| &request["params"]).collect();
    ensure!(asked.len() == 1, "it asked {} times", asked.len());
    ensure!(asked[0]["sessionId"] == chat.session.as_str(), "it is for another session: {}", asked[0]);
    let heard = scene.request(|seen| seen.last_results().iter().any(|text| text.contains("peers-chosen")));
    heard.context("the model did not hear the answer")?;
    Ok(())
}

/// The provider that was set is asked, also when the agent was started again.
pub(super) fn providers(scene: &mut Scene<'_>) -> Result<Verdict> {
    // Some agents do not reopen sessions that were begun with another provider.
    scene.restart();
    if !scene.connected()?.capabilities()["providers"].is_object() {
        return Ok(Verdict::NotOffered("no providers"));
    }
    let other = StageProvider::start_blocking();
    other.otherwise(ModelReply::text("another provider speaks"));
    let used = used(scene, &other);
    // It has another provider from here on.
    scene.restart();
    used
}

fn used(scene: &mut Scene<'_>, other: &StageProvider) -> Result<Verdict> {
    let is_direct = scene.route == Route::Direct;
    let chat = scene.connected()?;
    let listed = chat.client.call("providers/list", &json!({}))?["providers"].clone();
    let supports = |provider: &Value, api: &str| {
        provider["supported"].as_array().is_some_and(|supported| supported.iter().any(|one| one == api))
    };
    let listed = listed.as_array().context("providers/list answers a list")?;
    let found = [("anthropic", ""), ("openai", "/v1")].into_iter().find_map(|(api, path)| {
        Some((listed.iter().find(|provider| supports(provider, api))?["providerId"].clone(), api, path))
    });
    let (id, api, path) = found.with_context(|| format!("no provider that can be set: {listed:?}"))?;
    let url = format!("{}{path}", other.url());
    let headers = json!({ "x-api-key": "x", "authorization": "Bearer x" });
    let params = json!({ "providerId": id, "apiType": api, "baseUrl": url, "headers": headers });
    chat.client.call("providers/set", &params)?;
    asked(scene, other, "peers-provider-one").context("after it was set")?;
    if is_direct {
        return Ok(Verdict::NotOffered("nobody to start it again"));
    }
    scene.place.kill_agent()?;
    // A prompt that is on its way to the agent when it dies is answered with an error, as it should be.
    scene.chat()?.client.linger(Duration::from_secs(2))?;
    asked(scene, other, "peers-provider-two").context("after its agent was killed")?;
    let stray = scene.request(|seen| seen.body.to_string().contains("peers-provider"));
    ensure!(stray.is_none(), "the provider that it had before was asked");
    Ok(Verdict::Pass)
}

fn asked(scene: &mut Scene<'_>, other: &StageProvider, prompt: &str) -> Result<()> {
    let chat = scene.chat()?;
    let (reason, text) = chat.ask(prompt)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(text.contains("another provider speaks"), "the agent said {text:?}");
    let is_asked = other.requests().iter().any(|seen| seen.body.to_string().contains(prompt));
    ensure!(is_asked, "the provider that was set was not asked");
    Ok(())
}

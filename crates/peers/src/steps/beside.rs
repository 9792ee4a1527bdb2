//! What goes on beside the conversation: suggestions, methods nobody knows, and the death of the agent.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nudge_stage::ModelReply;
use serde_json::{Value, json};

use super::Verdict;
use crate::{
    chat::Version,
    client::PATIENCE,
    place::Route,
    run::Scene,
    tee::{self, Side},
};

const URI: &str = "file:///w/src/wages.rs";
const TEXT: &str = "fn wages(hours: &[u32]) -> u32 {\n    let mut work_time = 0;\n    for hour in hours {\n        \
    work_time += hour;\n    }\n    println!(\"{}\", work_time);\n    work_time\n}\n";

/// Suggestions are made while the agent is in the middle of a turn.
pub(super) fn nes(scene: &mut Scene<'_>) -> Result<Verdict> {
    let capabilities = scene.chat()?.capabilities();
    if capabilities["nes"].is_null() && capabilities["_meta"]["nes"].is_null() {
        return Ok(Verdict::NotOffered("no nes"));
    }
    scene.on("peers-nes").reply(ModelReply::stall("meanwhile", "nes"));
    let turn = scene.chat()?.prompt("peers-nes")?;
    scene.reached("nes")?;
    let suggestions = suggestions(scene);
    scene.provider.gate("nes").open();
    let suggestions = suggestions?;
    let chat = scene.chat()?;
    ensure!(!chat.has_ended(turn), "the turn ended meanwhile");
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    let is_edit = |suggestion: &Value| suggestion["kind"] == "edit" && suggestion["uri"] == URI;
    ensure!(suggestions.iter().any(is_edit), "no edit is suggested: {suggestions:?}");
    Ok(Verdict::Pass)
}

/// What is suggested after one of several names was changed.
fn suggestions(scene: &mut Scene<'_>) -> Result<Vec<Value>> {
    let client = &mut scene.chat()?.client;
    let session = client.call("nes/start", &json!({}))?["sessionId"].clone();
    let open = json!({ "sessionId": session, "uri": URI, "languageId": "rust", "version": 1, "text": TEXT });
    client.notify("document/didOpen", &open)?;
    let range = json!({ "start": { "line": 1, "character": 12 }, "end": { "line": 1, "character": 21 } });
    let change = json!({ "sessionId": session, "uri": URI, "version": 2,
        "contentChanges": [{ "range": range, "text": "total" }] });
    client.notify("document/didChange", &change)?;
    let ask = json!({ "sessionId": session, "uri": URI, "version": 2,
        "position": { "line": 1, "character": 17 }, "triggerKind": "automatic" });
    let result = client.call("nes/suggest", &ask)?;
    client.call("nes/close", &json!({ "sessionId": session }))?;
    Ok(result["suggestions"].as_array().context("nes/suggest answers a list")?.clone())
}

/// A method that only the agent could know reaches it, and its answer comes back.
pub(super) fn extension(scene: &mut Scene<'_>) -> Result<Verdict> {
    let chat = scene.chat()?;
    let params = json!({ "z": [1.50, null, "\u{e9}"], "a": { "sessionId": "no session of ours" } });
    let id = chat.client.send("_peers/unknown", &params)?;
    // Most answer that they do not know it, some that all is well: it only has to be the agent's own answer.
    let response = chat.client.response(id, PATIENCE)?;
    let answer =
        response.get("error").or_else(|| response.get("result")).context("it has no answer in it")?.clone();
    chat.client.notify("_peers/note", &params)?;
    chat.client.linger(Duration::from_millis(100))?;
    let heard = tee::records(&scene.place.taps())?;
    let asked = heard.iter().filter(|record| record.line.contains("_peers/unknown"));
    let told = heard.iter().any(|record| record.line.contains("_peers/note"));
    let said = heard.iter().filter(|record| record.to == Side::Client);
    let mut said = said.filter_map(|record| serde_json::from_str::<Value>(&record.line).ok());
    ensure!(asked.count() >= 1, "the agent was not asked");
    ensure!(said.any(|said| said["error"] == answer || said["result"] == answer), "it is not the agent's");
    ensure!(told, "the agent was not told");
    Ok(Verdict::Pass)
}

/// The agent is killed; the session goes on and knows what was said before.
pub(super) fn reload(scene: &mut Scene<'_>) -> Result<Verdict> {
    scene.on("peers-remember").reply(ModelReply::text("it is remembered"));
    scene.on("peers-again").reply(ModelReply::text("and again"));
    let chat = scene.chat()?;
    chat.ask("peers-remember")?;
    // What an agent has not written down yet nobody can give back to it.
    chat.client.linger(Duration::from_millis(500))?;
    if scene.route == Route::Direct {
        return reload_directly(scene);
    }
    scene.place.kill_agent()?;
    let chat = scene.chat()?;
    // A prompt that is on its way to the agent when it dies is answered with an error, as it should be.
    chat.client.linger(Duration::from_secs(2))?;
    let (reason, text) = chat.ask("peers-again").context("after its agent was killed")?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(text.contains("and again"), "the agent said {text:?}");
    remembers(scene)?;
    replay(scene)?;
    Ok(Verdict::Pass)
}

fn reload_directly(scene: &mut Scene<'_>) -> Result<Verdict> {
    let session = scene.chat()?.session.clone();
    // With what it has started: one agent tidies its sessions away when its first process is gone and its input ends.
    scene.kill();
    let chat = scene.connected()?;
    chat.session = session;
    if chat.version == Version::V1 && chat.capabilities()["loadSession"] != true {
        return Ok(Verdict::NotOffered("no session/load"));
    }
    replay(scene)?;
    let (reason, _) = scene.chat()?.ask("peers-again")?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    remembers(scene)?;
    Ok(Verdict::Pass)
}

/// The model is told, one way or the other, what was said before.
fn remembers(scene: &mut Scene<'_>) -> Result<()> {
    let seen = scene.asked("peers-again");
    let body = seen.context("the model was not asked")?.body.to_string();
    ensure!(body.contains("peers-remember"), "the model was not told what was said before");
    Ok(())
}

/// The session is loaded, and tells what was said, once.
fn replay(scene: &mut Scene<'_>) -> Result<()> {
    let work = scene.place.work();
    let chat = scene.connected()?;
    let since = chat.client.notifications.len();
    let mut params = json!({ "sessionId": chat.session, "cwd": work, "mcpServers": [] });
    let method = match chat.version {
        Version::V1 => "session/load",
        Version::V2 => {
            params["replayFrom"] = json!({ "type": "start" });
            "session/resume"
        }
    };
    chat.client.call(method, &params)?;
    // One agent replays after its answer.
    chat.client.linger(Duration::from_millis(500))?;
    let told = chat.user_messages(since);
    let times = told.iter().filter(|said| said.text.contains("peers-remember")).count();
    ensure!(times == 1, "{method} told {times} times what was said");
    Ok(())
}

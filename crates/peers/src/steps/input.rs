//! Input while a turn runs: queued, steered, revoked, replaced.

use std::{fs, time::Duration};

use anyhow::{Context, Result, ensure};
use nudge_stage::{ConversationMessage, MessageRole, ModelReply, SeenRequest};
use serde_json::json;

use super::Verdict;
use crate::{
    chat::{Chat, Turn},
    client::PATIENCE,
    place::Route,
    run::Scene,
    tee::{self, Side},
};

/// How long is looked for what must not come.
const MEANWHILE: Duration = Duration::from_millis(300);

const NOT_OFFERED: Verdict = Verdict::NotOffered("no session/inject");

/// A queued message waits for the end of the turn and begins one of its own.
pub(super) fn queue(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.takes("queue")? {
        return Ok(NOT_OFFERED);
    }
    scene.on("peers-queue-first").reply(ModelReply::stall("the first answer", "queue"));
    scene.on("peers-queue-second").reply(ModelReply::text("the second answer"));
    let turn = stalled(scene, "peers-queue-first", "queue")?;
    let chat = scene.chat()?;
    let id = chat.inject("queue", "peers-queue-second")?;
    ensure_waits(chat, &id, turn)?;
    scene.provider.gate("queue").open();
    let chat = scene.chat()?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the first turn ended as {reason}");
    delivered(chat, &id, "peers-queue-second", turn)?;
    hear(chat, "the second answer", turn)?;
    let second = scene.asked("peers-queue-second");
    let second = second.context("the model was not asked")?;
    ensure!(mentions(&second, "peers-queue-first"), "the model was not told of the first turn");
    Ok(Verdict::Pass)
}

/// A steered message waits for the tool that runs and is there before the model is asked again.
pub(super) fn steer(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.takes("steer")? {
        return Ok(NOT_OFFERED);
    }
    let Some(call) = scene.shell("sh wait.sh steer") else {
        return Ok(Verdict::NotOffered("no function calls"));
    };
    scene.on("peers-steer-text").reply(ModelReply::text("steered as asked"));
    scene.on("peers-steer-begin").reply(call);
    // Where the turn is cancelled and begun anew, the model is asked once more before that.
    scene.on_result("peers-steer-begin").reply(scene.story("steer"));
    scene.provider.gate("steer").open();
    let work = scene.place.work();
    let before = told_of_steers(scene)?;
    let chat = scene.chat()?;
    let turn = chat.prompt("peers-steer-begin")?;
    let started = work.join("started-steer");
    chat.client.until("the tool", PATIENCE, |_| started.exists().then_some(()))?;
    let id = chat.inject("steer", "peers-steer-text")?;
    ensure_waits(chat, &id, turn)?;
    fs::write(work.join("go-steer"), "")?;
    steered(scene, &id, turn)?;
    if scene.recipe.asks_for_steers_by.is_some() && scene.route != Route::Direct {
        let (asked, cancelled) = told_of_steers(scene)?;
        ensure!(asked > before.0, "the agent has not asked for it");
        ensure!(cancelled == before.1, "the turn was cut off for it");
    }
    Ok(Verdict::Pass)
}

/// How often the agent has asked for what the user has said, and how often its turn was cancelled.
fn told_of_steers(scene: &Scene<'_>) -> Result<(usize, usize)> {
    let Some(method) = &scene.recipe.asks_for_steers_by else { return Ok((0, 0)) };
    let records = tee::records(&scene.place.taps())?;
    let count = |to: Side, word: &str| {
        records.iter().filter(|record| record.to == to && record.line.contains(word)).count()
    };
    Ok((count(Side::Client, method), count(Side::Agent, "session/cancel")))
}

fn steered(scene: &mut Scene<'_>, id: &str, turn: Turn) -> Result<()> {
    let chat = scene.chat()?;
    delivered(chat, id, "peers-steer-text", turn)?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(chat.agent_text(turn.since).contains("steered as asked"), "the model was not heard after it");
    let seen = scene.asked("peers-steer-text");
    let seen = seen.context("the model did not get it")?;
    let is_told = |message: &&ConversationMessage| {
        message.role != MessageRole::Assistant && message.text.contains("peers-steer-text")
    };
    let times = seen.messages().iter().filter(is_told).count();
    ensure!(times == 1, "the model got it {times} times");
    ensure!(knows_output(&seen), "the model got it without the output of the tool, or before it");
    Ok(())
}

/// Whether the output of the tool is before the steer: as a result, or told by whoever had to begin the turn anew.
fn knows_output(seen: &SeenRequest) -> bool {
    let told = |message: &ConversationMessage| -> String {
        let results = message.results.iter().map(|result| result.text.as_str());
        results.chain([message.text.as_str()]).collect::<Vec<_>>().join("\n")
    };
    let all = seen.messages().iter().map(told).collect::<Vec<_>>().join("\n");
    let (output, steer) = (all.find("output-steer"), all.rfind("peers-steer-text"));
    output.is_some_and(|output| steer.is_some_and(|steer| output < steer))
}

/// A message that was taken back is never delivered.
pub(super) fn revoke(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.takes("queue")? {
        return Ok(NOT_OFFERED);
    }
    scene.on("peers-revoke-first").reply(ModelReply::stall("the first answer", "revoke"));
    scene.on("peers-revoke-after").reply(ModelReply::text("nothing came between"));
    let turn = stalled(scene, "peers-revoke-first", "revoke")?;
    let chat = scene.chat()?;
    let id = chat.inject("queue", "peers-revoke-never")?;
    let params = json!({ "sessionId": chat.session, "messageId": id });
    chat.client.call("session/revoke_inject", &params)?;
    scene.provider.gate("revoke").open();
    let chat = scene.chat()?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    let (_, text) = chat.ask("peers-revoke-after")?;
    ensure!(text.contains("nothing came between"), "the agent said {text:?}");
    let told = chat.user_messages(turn.since);
    ensure!(told.iter().all(|said| said.id.as_deref() != Some(&id)), "it was delivered");
    ensure!(scene.request(|seen| mentions(seen, "peers-revoke-never")).is_none(), "the model got it");
    Ok(Verdict::Pass)
}

/// A message that was replaced is delivered once, as it was last.
pub(super) fn replace(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.takes("queue")? {
        return Ok(NOT_OFFERED);
    }
    scene.on("peers-replace-first").reply(ModelReply::stall("the first answer", "replace"));
    scene.on("peers-replace-new").reply(ModelReply::text("the new answer"));
    let turn = stalled(scene, "peers-replace-first", "replace")?;
    let chat = scene.chat()?;
    let id = chat.inject("queue", "peers-replace-old")?;
    let content = json!([{ "type": "text", "text": "peers-replace-new" }]);
    let params = json!({ "sessionId": chat.session, "messageId": id, "content": content });
    let result = chat.client.call("session/replace_inject", &params)?;
    ensure!(result["messageId"] == id.as_str(), "it has another id: {}", result["messageId"]);
    scene.provider.gate("replace").open();
    let chat = scene.chat()?;
    chat.end_of(turn, PATIENCE)?;
    delivered(chat, &id, "peers-replace-new", turn)?;
    hear(chat, "the new answer", turn)?;
    ensure!(
        scene.request(|seen| mentions(seen, "peers-replace-old")).is_none(),
        "the model got the old text"
    );
    Ok(Verdict::Pass)
}

/// Begins a turn that stands still in the middle of what the model says.
fn stalled(scene: &mut Scene<'_>, prompt: &str, gate: &str) -> Result<Turn> {
    let turn = scene.chat()?.prompt(prompt)?;
    scene.reached(gate)?;
    Ok(turn)
}

fn ensure_waits(chat: &mut Chat, id: &str, turn: Turn) -> Result<()> {
    chat.client.linger(MEANWHILE)?;
    let told = chat.user_messages(turn.since);
    ensure!(told.iter().all(|said| said.id.as_deref() != Some(id)), "it was delivered at once");
    Ok(())
}

fn delivered(chat: &mut Chat, id: &str, text: &str, turn: Turn) -> Result<()> {
    let said = chat.user_message(id, turn.since, PATIENCE)?;
    ensure!(said.text == text, "it was delivered as {:?}", said.text);
    let told = chat.user_messages(turn.since);
    let times = told.iter().filter(|said| said.text.contains(text)).count();
    ensure!(times == 1, "it was told {times} times");
    Ok(())
}

/// Waits until the agent has said `text` in a turn that no request of ours began, and the session is idle.
fn hear(chat: &mut Chat, text: &str, turn: Turn) -> Result<()> {
    let since = turn.since;
    let session = chat.session.clone();
    chat.client.until(&format!("the answer {text:?}"), PATIENCE, |client| {
        let of_session = client.notifications.iter().skip(since);
        let said: String = of_session
            .filter(|(method, params)| method == "session/update" && params["sessionId"] == session.as_str())
            .filter(|(_, params)| params["update"]["sessionUpdate"] == "agent_message_chunk")
            .filter_map(|(_, params)| params["update"]["content"]["text"].as_str())
            .collect();
        said.contains(text).then_some(())
    })?;
    let idles = if chat.version == crate::chat::Version::V2 { 2 } else { 1 };
    let reason = chat.idle_after(since, idles, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn of its own ended as {reason}");
    Ok(())
}

/// Whether a request to the model has this text anywhere.
fn mentions(seen: &SeenRequest, text: &str) -> bool {
    seen.body.to_string().contains(text)
}

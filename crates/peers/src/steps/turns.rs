//! Turns: what any agent does for its client.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nudge_stage::ModelReply;

use super::Verdict;
use crate::{
    client::{PATIENCE, Policy},
    run::Scene,
};

/// How soon a turn ends that was cancelled; the story that it cuts short takes twice as long.
const CANCELLED_WITHIN: Duration = Duration::from_secs(10);

/// The agent passes on what the model says.
pub(super) fn prompt(scene: &mut Scene<'_>) -> Result<Verdict> {
    scene.on("peers-hello").reply(ModelReply::text("hello from the model"));
    let (reason, text) = scene.chat()?.ask("peers-hello")?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(text.contains("hello from the model"), "the agent said {text:?}");
    Ok(Verdict::Pass)
}

/// The model runs a command, and hears what came of it.
pub(super) fn tool(scene: &mut Scene<'_>) -> Result<Verdict> {
    let Some(call) = scene.shell("echo output-of-tool > tool.txt; cat tool.txt") else {
        return Ok(Verdict::NotOffered("no function calls"));
    };
    scene.on("peers-tool").reply(call);
    scene.on_result("peers-tool").reply(ModelReply::text("the tool is done"));
    let made = scene.place.work().join("tool.txt");
    let is_end = if scene.recipe.ends_calls { "completed" } else { "pending" };
    let chat = scene.chat()?;
    let turn = chat.prompt("peers-tool")?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(made.exists(), "the command was not run");
    ensure!(chat.agent_text(turn.since).contains("the tool is done"), "the model was not heard after it");
    let calls = chat.tool_calls(turn.since);
    ensure!(calls.values().any(|status| status == is_end), "no tool call was completed: {calls:?}");
    let result = scene.request(|seen| seen.last_results().iter().any(|text| text.contains("output-of-tool")));
    ensure!(result.is_some(), "the model did not hear the output");
    Ok(Verdict::Pass)
}

/// The agent asks before it runs a command, and runs it once it is allowed.
pub(super) fn permission(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.recipe.asks {
        return Ok(Verdict::NotOffered("never asks"));
    }
    let Some(call) = scene.shell("echo yes > permitted.txt") else {
        return Ok(Verdict::NotOffered("no function calls"));
    };
    scene.on("peers-permission").reply(call);
    scene.on_result("peers-permission").reply(ModelReply::text("it was permitted"));
    let made = scene.place.work().join("permitted.txt");
    let chat = scene.chat()?;
    chat.client.policy = Policy::Hold;
    let turn = chat.prompt("peers-permission")?;
    let request =
        chat.client.until("a request for permission", PATIENCE, |client| client.open_permissions().pop());
    chat.client.policy = Policy::Allow;
    let request = request?;
    ensure!(request["params"]["sessionId"] == chat.session.as_str(), "it is for another session");
    ensure!(!made.exists(), "the command was run before it was permitted");
    chat.client.allow(&request)?;
    let reason = chat.end_of(turn, PATIENCE)?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    ensure!(made.exists(), "the command was not run");
    Ok(Verdict::Pass)
}

/// The model writes a file.
pub(super) fn write(scene: &mut Scene<'_>) -> Result<Verdict> {
    let path = scene.place.work().join("written.txt");
    let Some(call) = scene.write(&path.display().to_string(), "line one") else {
        return Ok(Verdict::NotOffered("no tool for it"));
    };
    scene.on("peers-write").reply(call);
    scene.on_result("peers-write").reply(ModelReply::text("it is written"));
    let (reason, _) = scene.chat()?.ask("peers-write")?;
    ensure!(reason == "end_turn", "the turn ended as {reason}");
    let text = std::fs::read_to_string(&path).context("the file is not there")?;
    ensure!(text.trim_end() == "line one", "the file has {text:?} in it");
    Ok(Verdict::Pass)
}

/// A turn is stopped while the model speaks, and the session goes on.
pub(super) fn cancel(scene: &mut Scene<'_>) -> Result<Verdict> {
    if !scene.recipe.cancels {
        return Ok(Verdict::NotOffered("lets the model finish"));
    }
    scene.on("peers-cancel").reply(scene.story("cancel"));
    scene.on("peers-afterwards").reply(ModelReply::text("still here"));
    let turn = scene.chat()?.prompt("peers-cancel")?;
    scene.reached("cancel")?;
    let may_end_as = scene.may_end_as();
    scene.chat()?.cancel()?;
    scene.provider.gate("cancel").open();
    let reason = scene.chat()?.end_of(turn, CANCELLED_WITHIN)?;
    ensure!(may_end_as.contains(&reason), "the turn ended as {reason}");
    let (reason, text) = scene.chat()?.ask("peers-afterwards")?;
    ensure!(reason == "end_turn", "the next turn ended as {reason}");
    ensure!(text.contains("still here"), "the agent then said {text:?}");
    Ok(Verdict::Pass)
}

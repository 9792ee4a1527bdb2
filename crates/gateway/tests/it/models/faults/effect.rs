//! What a user sees of a fault.

use std::time::{Duration, Instant, SystemTime};

use nudge_stage::StageProvider;
use serde_json::Value;

use super::{Fault, FaultEffect, SEEN, WAIT, table::SECRET_WORDS};
use crate::models::{
    Client,
    heard::{Heard, TurnOver},
};

/// Waits until the user has seen what is wrong.
pub(super) async fn until_seen(client: &mut Client, stage: &StageProvider, fault: &Fault, from: usize) {
    match fault.effect {
        FaultEffect::Fails(_) | FaultEffect::FailsUntil(..) => drop(client.over_from(from).await),
        FaultEffect::Pauses => drop(client.until("a pause", is_pause).await),
        FaultEffect::Tells(words) => client.heard(words).await,
        // The calls were shown, and their results have gone back.
        FaultEffect::Answers => drop(stage.wait_for(|seen| seen.index == 1, WAIT).await),
        FaultEffect::Stalls => {}
    }
}

/// The turn goes on or ends as it ought to.
pub(super) async fn check_effect(client: &mut Client, fault: &Fault, from: usize, struck: Instant) {
    let over = client.over_from(from).await;
    match fault.effect {
        FaultEffect::Fails(words) => check_failed(&over, words, struck),
        FaultEffect::FailsUntil(word, wait) => {
            check_failed(&over, &[word], struck);
            check_reset(&over.error, wait);
        }
        FaultEffect::Pauses => {
            assert_eq!(over.reason, "end_turn", "{over:?}");
            let pause = client.log.iter().find(|heard| is_pause(&heard.value)).expect("the pause is told");
            assert!(pause.at < struck + SEEN, "{:?}", pause.at - struck);
            check_visible(client.version, &pause.value);
        }
        FaultEffect::Tells(words) => {
            assert_eq!(over.reason, "end_turn", "{over:?}");
            let told = client.log[from..].iter().find(|heard| heard.line.contains(words));
            let told = told.unwrap_or_else(|| panic!("{:#?}", client.story()));
            assert!(told.at < struck + SEEN, "{:?}", told.at - struck);
            check_visible(client.version, &told.value);
        }
        FaultEffect::Answers | FaultEffect::Stalls => assert_eq!(over.reason, "end_turn", "{over:?}"),
    }
}

/// A client that knows no notices is told in words that it shows.
fn check_visible(version: u64, message: &Value) {
    let update = &message["params"]["update"];
    if version == 1 {
        assert_eq!(update["sessionUpdate"], "agent_thought_chunk", "{message}");
        let (said, title) = (&update["content"]["text"], &update["_meta"]["notice"]["title"]);
        let (said, title) = (said.as_str().unwrap_or_default(), title.as_str().unwrap_or("no title"));
        assert!(said.contains(title), "{message}");
    } else {
        assert_eq!(update["sessionUpdate"], "notice", "{message}");
    }
}

fn check_failed(over: &TurnOver, words: &[&str], struck: Instant) {
    assert_eq!(over.reason, "error", "{over:?}");
    let word = over.error["data"]["reason"].as_str().unwrap_or_default();
    assert!(words.contains(&word), "{over:?}");
    assert!(over.at < struck + SEEN, "{:?}", over.at - struck);
    let said = over.error["message"].as_str().unwrap_or_default();
    assert!(!said.is_empty() && !over.error.to_string().contains(SECRET_WORDS), "{over:?}");
}

/// The sentence says when it works again, to the minute, and so does a member for programs.
fn check_reset(error: &Value, wait: Duration) {
    let now = SystemTime::now();
    let reset = error["data"]["reset"].as_str().and_then(|reset| humantime::parse_rfc3339(reset).ok());
    let reset = reset.unwrap_or_else(|| panic!("no time: {error}"));
    let off = (now + wait).duration_since(reset).expect("the wait began before now");
    assert!(off < Duration::from_secs(30), "{off:?} off: {error}");
    // Not a moment too early.
    let minute = humantime::format_rfc3339_seconds(reset + Duration::from_secs(59)).to_string();
    let sentence = format!("again at {} UTC", minute[..16].replace('T', " "));
    let said = error["message"].as_str().unwrap_or_default();
    assert!(said.contains(&sentence), "{said}: not {sentence}");
}

/// Within a second of the fault the user was told something that comes of it, or of what they did about it.
pub(super) fn check_sign(client: &Client, fault: &Fault, from: usize, struck: Instant) {
    let is_sign = |heard: &&Heard| {
        let (message, update) = (&heard.value, &heard.value["params"]["update"]);
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let is_told = matches!(fault.effect, FaultEffect::Tells(words) if heard.line.contains(words));
        let stops = [&message["result"], update].iter().any(|place| place["stopReason"].is_string());
        let is_over = stops || message.get("error").is_some();
        let is_answered = ["user_message", "tool_call"].iter().any(|what| kind.starts_with(what));
        is_pause(message) || is_told || is_over || is_answered
    };
    let sign = client.log[from..].iter().filter(|heard| heard.at >= struck).find(is_sign);
    let sign = sign.unwrap_or_else(|| panic!("nothing is told: {:#?}", client.story()));
    assert!(sign.at < struck + SEEN, "only after {:?}: {}", sign.at - struck, sign.line);
}

/// A notice that says until when it is waited.
pub(super) fn is_pause(message: &Value) -> bool {
    let update = &message["params"]["update"];
    let notices = [update, &update["_meta"]["notice"]];
    notices.iter().any(|notice| notice["_meta"]["nudge"]["pause"]["until"].is_string())
}

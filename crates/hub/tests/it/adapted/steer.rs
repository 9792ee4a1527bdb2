//! Steers get into every kind of agent, at the right place.

use serde_json::Value;

use super::{Place, check_each, eventually, for_all, for_same, log::Log, text};

/// The place in the agent's log where it heard these words.
fn heard(log: &Log, words: &str) -> Option<usize> {
    log.place('<', |frame| {
        let params = &frame["params"];
        let told = [&params["prompt"], &params["content"], &frame["result"]["items"][0]["content"]];
        told.into_iter().any(|content| text(content).contains(words))
    })
}

/// Whether it has answered what said them: by then it has taken them in.
fn has_answered(log: &Log, words: &str) -> bool {
    let heard = heard(log, words).and_then(|at| serde_json::from_str::<Value>(&log.0[at].text).ok());
    heard.is_some_and(|heard| {
        log.place('>', |frame| frame["id"] == heard["id"] && frame.get("method").is_none()).is_some()
    })
}

fn completed(frame: &Value) -> bool {
    frame["params"]["update"]["status"] == "completed"
}

#[tokio::test]
async fn in_a_tool_it_waits_for_the_end_of_the_tool() {
    for_all(async |tier, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let id = client.inject("steer", "say steered").await;
        place.touch("go");
        assert_eq!(client.delivered(&id).await, "say steered");
        assert_eq!(client.turn_end(1).await, "end_turn");
        let log = place.log();
        assert!(log.place('>', completed) < heard(&log, "say steered"), "{log:#?}");
        assert!(tier == 4 || log.heard("session/cancel").is_empty(), "{log:#?}");
        let users = client.users();
        assert_eq!(users.iter().filter(|user| *user == "say steered").count(), 1, "{users:?}");
        let story = client.steps();
        let place_of = |line: &str| story.iter().position(|told| told == line);
        assert!(place_of("t completed") < place_of("user: say steered"), "{story:?}");
        assert!(place_of("user: say steered") < place_of("agent: steered"), "{story:?}");
        assert_eq!(client.recall().await, ["tool t go; say after", "say steered"]);
    })
    .await;
}

#[tokio::test]
async fn in_a_stream_an_agent_that_cannot_be_steered_is_cut_off() {
    for_all(async |tier, options, version| {
        if tier != 4 {
            return;
        }
        let place = Place::new();
        let mut client = place.in_a_stream(options, version).await;
        let id = client.inject("steer", "say steered").await;
        assert_eq!(client.delivered(&id).await, "say steered");
        assert_eq!(client.turn_end(1).await, "end_turn", "cancelled means that the user cancelled");
        let story = client.steps();
        assert_eq!(story[story.len() - 4..], ["agent: one", "user: say steered", "agent: steered", "idle"]);
        assert_eq!(client.recall().await, ["say one; until go; say two", "say steered"]);
        let answers = client.log.iter().filter(|message| message.value["result"]["stopReason"].is_string());
        assert_eq!(answers.count(), if version == 1 { 2 } else { 0 }, "one for each prompt");
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_forgets_what_was_cut_off_is_told_of_it() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.in_a_stream("--gemini", version).await;
        let id = client.inject("steer", "say steered").await;
        assert_eq!(client.delivered(&id).await, "say steered");
        assert_eq!(client.turn_end(1).await, "end_turn");
        let prompts = || place.log().heard("session/prompt");
        let prompt = |at: usize| {
            let frame: Value = serde_json::from_str(&prompts()[at]).expect("a frame is JSON");
            frame["params"]["prompt"].clone()
        };
        let blocks = prompt(1);
        let told = blocks[0]["text"].as_str().expect("it is told in words");
        assert!(told.contains("User: say one; until go; say two\nYou: one\n</turn>"), "{told}");
        assert_eq!(blocks[1]["text"], "say steered");
        assert!(!client.users().join("\n").contains("<turn>"), "the user did not say that");
        // A turn that ends by itself is remembered.
        client.turn("say on").await;
        assert_eq!(prompt(2)[0]["text"], "say on");
    }
}

#[tokio::test]
async fn in_a_stream_an_agent_that_can_be_steered_is_told_at_once() {
    for_all(async |tier, options, version| {
        if tier == 4 {
            return;
        }
        let place = Place::new();
        let mut client = place.in_a_stream(options, version).await;
        let id = client.inject("steer", "say steered").await;
        assert_eq!(client.delivered(&id).await, "say steered");
        eventually("the steer", || has_answered(&place.log(), "say steered")).await;
        place.touch("go");
        assert_eq!(client.turn_end(1).await, "end_turn");
        let story = client.steps();
        let expected = ["agent: one", "user: say steered", "agent: steered", "agent: two", "idle"];
        assert_eq!(story[story.len() - 5..], expected);
        assert_eq!(client.recall().await, ["say one; until go; say two", "say steered"]);
        assert!(place.log().heard("session/cancel").is_empty());
    })
    .await;
}

#[tokio::test]
async fn behind_a_tool_an_agent_that_cannot_be_steered_is_cut_off() {
    for_all(async |tier, options, version| {
        if tier != 4 || options == "--drains" {
            return;
        }
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("tool t go; say on; sleep 60000");
        client.tool("in_progress").await;
        client.inject("steer", "say steered").await;
        place.touch("go");
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("steered").await;
        let log = place.log();
        let cancelled = log.place('<', |frame| frame["method"] == "session/cancel");
        assert!(log.place('>', completed) < cancelled && cancelled < heard(&log, "say steered"), "{log:#?}");
    })
    .await;
}

/// As qwen-code does it.
#[tokio::test]
async fn behind_a_tool_an_agent_that_asks_for_steers_is_told_and_goes_on() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("--drains", version).await;
        client.prompt("tool t go; say after; tool u; say end");
        client.tool("in_progress").await;
        let first = client.inject("steer", "say steered").await;
        let second = client.inject("steer", "tool v").await;
        place.touch("go");
        client.delivered(&first).await;
        client.delivered(&second).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let log = place.log();
        assert!(log.heard("session/cancel").is_empty(), "{log:#?}");
        assert_eq!(log.heard("session/prompt").len(), 1, "{log:#?}");
        let asked = log.said("craft/drainMidTurnQueue").len();
        assert_eq!(asked, 3, "{log:#?}");
        // This client knows no such method, and was asked once for what it might have.
        let refused = log.place('<', |frame| frame.get("error").is_some());
        assert_eq!(refused, None, "{log:#?}");
        let story = client.steps();
        let places = ["t completed", "user: say steered", "agent: steered", "agent: after", "agent: end"]
            .map(|line| story.iter().position(|told| told == line));
        assert!(places.is_sorted() && places[0].is_some(), "{story:?}");
        let asked =
            client.log.iter().filter(|message| message.value["method"] == "craft/drainMidTurnQueue").count();
        assert!(asked <= 1, "{asked}");
        assert_eq!(client.recall().await, ["tool t go; say after; tool u; say end", "say steered", "tool v"]);
    }
}

/// A client of that agent's own keeps what was said meanwhile itself.
#[tokio::test]
async fn a_client_that_keeps_what_was_said_is_asked_for_it() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("--drains", version).await;
        client.keeps_what_is_said = true;
        client.prompt("tool t; say on; tool u; say end");
        for words in ["say one of mine", "say another of mine"] {
            let request = client.agent_request().await;
            let items = serde_json::json!([{ "content": [{ "type": "text", "text": words }] }]);
            client.answer_raw(&request, &serde_json::json!({ "items": items }).to_string());
        }
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("one of mine").await;
        client.said("another of mine").await;
    }
}

#[tokio::test]
async fn several_go_in_together_in_order() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let mut last = String::new();
        for words in ["say a", "say b", "say c"] {
            last = client.inject("steer", words).await;
        }
        place.touch("go");
        client.delivered(&last).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let story = client.steps();
        let users: Vec<_> = story.iter().filter(|line| line.starts_with("user: say ")).collect();
        assert_eq!(users, ["user: say a", "user: say b", "user: say c"]);
        assert_eq!(client.recall().await, ["tool t go; say after", "say a", "say b", "say c"]);
    })
    .await;
}

#[tokio::test]
async fn a_steer_goes_before_what_was_queued_earlier() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let later = client.inject("queue", "say later").await;
        client.inject("steer", "say now").await;
        place.touch("go");
        client.delivered(&later).await;
        client.turn_end(2).await;
        assert_eq!(client.recall().await, ["tool t go; say after", "say now", "say later"]);
    })
    .await;
}

#[tokio::test]
async fn a_steer_may_be_steered() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        client.inject("steer", "tool u on").await;
        place.touch("go");
        client.until("the second tool", |message| message["params"]["update"]["toolCallId"] == "u").await;
        client.inject("steer", "say deeper").await;
        place.touch("on");
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("deeper").await;
        assert_eq!(client.recall().await, ["tool t go; say after", "tool u on", "say deeper"]);
    })
    .await;
}

#[tokio::test]
async fn while_permission_is_asked_a_steer_is_held() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("ask a");
        let request = client.agent_request().await;
        let id = client.inject("steer", "say steered").await;
        client.answer_raw(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
        client.delivered(&id).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let log = place.log();
        let answered = log.place('<', |frame| frame["result"]["outcome"]["optionId"] == "yes");
        assert!(answered < heard(&log, "say steered"), "{log:#?}");
        assert_eq!(client.recall().await, ["ask a", "say steered"]);
    })
    .await;
}

/// The agent is told to stop, takes its time, and meanwhile the steer is taken back.
#[tokio::test]
async fn a_turn_that_was_cut_off_for_nothing_goes_on() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("say one; deaf go; say two");
        client.said("one").await;
        // A cancel that comes sooner ends the turn, and the steer is delivered.
        eventually("the agent to be deaf", || place.log().noted("deaf").count() == 1).await;
        let id = client.inject("steer", "say steered").await;
        eventually("the cancel", || place.log().heard("session/cancel").len() == 1).await;
        client.revoke(&id).await;
        place.touch("go");
        assert_eq!(client.turn_end(1).await, "end_turn");
        let told = client.recall().await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!told.contains(&"say steered".to_owned()), "{told:?}");
        assert!(!client.users().contains(&told[1]), "nobody has said that: {told:?}");
    })
    .await;
}

#[tokio::test]
async fn what_an_agent_repeats_is_not_shown_twice() {
    let agents = ["--echo", "--echo --steering", "--echo --inject", "--v2", "--v2 --inject"];
    let cases = agents.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, async |(options, version)| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("tool t go; say after the tool");
        client.tool("in_progress").await;
        client.inject("steer", "say steered to the left").await;
        let last = client.inject("queue", "say queued for later").await;
        place.touch("go");
        client.delivered(&last).await;
        client.turn_end(2).await;
        let mut expected =
            vec!["tool t go; say after the tool", "say steered to the left", "say queued for later"];
        if version == 1 {
            // It shows its own prompt itself.
            expected.remove(0);
        }
        assert_eq!(client.users(), expected);
    })
    .await;
}

#[tokio::test]
async fn an_agent_whose_steering_fails_is_cut_off() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.in_a_stream("--steering-fails", version).await;
        let id = client.inject("steer", "say steered").await;
        client.delivered(&id).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("steered").await;
        assert_eq!(client.recall().await, ["say one; until go; say two", "say steered"]);
    }
}

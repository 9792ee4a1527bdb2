//! Steers get into every kind of agent, at the right place.

use nudge_testkit::eventually;
use serde_json::Value;

use super::{Place, check_each, for_all, for_same, log::Log, text};

/// The place in the agent's log where it heard these words.
fn heard(log: &Log, words: &str) -> Option<usize> {
    log.place('<', |frame| {
        let params = &frame["params"];
        text(&params["prompt"]).contains(words) || text(&params["content"]).contains(words)
    })
}

fn completed(frame: &Value) -> bool {
    frame["params"]["update"]["status"] == "completed"
}

#[test]
fn in_a_tool_it_waits_for_the_end_of_the_tool() {
    for_all(|tier, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let id = client.inject("steer", "say steered");
        place.touch("go");
        assert_eq!(client.delivered(&id), "say steered");
        assert_eq!(client.turn_end(1), "end_turn");
        let log = place.log();
        assert!(log.place('>', completed) < heard(&log, "say steered"), "{log:#?}");
        assert!(tier == 4 || log.heard("session/cancel").is_empty(), "{log:#?}");
        let users = client.users();
        assert_eq!(users.iter().filter(|user| *user == "say steered").count(), 1, "{users:?}");
        let story = client.story();
        let place_of = |line: &str| story.iter().position(|told| told == line);
        assert!(place_of("t completed") < place_of("user: say steered"), "{story:?}");
        assert!(place_of("user: say steered") < place_of("agent: steered"), "{story:?}");
        assert_eq!(client.recall(), ["tool t go; say after", "say steered"]);
    });
}

#[test]
fn in_a_stream_an_agent_that_cannot_be_steered_is_cut_off() {
    for_all(|tier, options, version| {
        if tier != 4 {
            return;
        }
        let place = Place::new();
        let mut client = place.in_a_stream(options, version);
        let id = client.inject("steer", "say steered");
        assert_eq!(client.delivered(&id), "say steered");
        assert_eq!(client.turn_end(1), "end_turn", "cancelled means that the user cancelled");
        let story = client.story();
        assert_eq!(story[story.len() - 4..], ["agent: one", "user: say steered", "agent: steered", "idle"]);
        assert_eq!(client.recall(), ["say one; until go; say two", "say steered"]);
        let answers = client.log.iter().filter(|message| message.value["result"]["stopReason"].is_string());
        assert_eq!(answers.count(), if version == 1 { 2 } else { 0 }, "one for each prompt");
    });
}

#[test]
fn an_agent_that_forgets_what_was_cut_off_is_told_of_it() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.in_a_stream("--gemini", version);
        let id = client.inject("steer", "say steered");
        assert_eq!(client.delivered(&id), "say steered");
        assert_eq!(client.turn_end(1), "end_turn");
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
        client.turn("say on");
        assert_eq!(prompt(2)[0]["text"], "say on");
    }
}

#[test]
fn in_a_stream_an_agent_that_can_be_steered_is_told_at_once() {
    for_all(|tier, options, version| {
        if tier == 4 {
            return;
        }
        let place = Place::new();
        let mut client = place.in_a_stream(options, version);
        let id = client.inject("steer", "say steered");
        assert_eq!(client.delivered(&id), "say steered");
        eventually("the steer", || heard(&place.log(), "say steered").is_some());
        place.touch("go");
        assert_eq!(client.turn_end(1), "end_turn");
        let story = client.story();
        let expected = ["agent: one", "user: say steered", "agent: steered", "agent: two", "idle"];
        assert_eq!(story[story.len() - 5..], expected);
        assert_eq!(client.recall(), ["say one; until go; say two", "say steered"]);
        assert!(place.log().heard("session/cancel").is_empty());
    });
}

#[test]
fn behind_a_tool_an_agent_that_cannot_be_steered_is_cut_off() {
    for_all(|tier, options, version| {
        if tier != 4 {
            return;
        }
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("tool t go; say on; sleep 60000");
        client.tool("in_progress");
        client.inject("steer", "say steered");
        place.touch("go");
        assert_eq!(client.turn_end(1), "end_turn");
        client.said("steered");
        let log = place.log();
        let cancelled = log.place('<', |frame| frame["method"] == "session/cancel");
        assert!(log.place('>', completed) < cancelled && cancelled < heard(&log, "say steered"), "{log:#?}");
    });
}

#[test]
fn several_go_in_together_in_order() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let [.., last] = ["say a", "say b", "say c"].map(|words| client.inject("steer", words));
        place.touch("go");
        client.delivered(&last);
        assert_eq!(client.turn_end(1), "end_turn");
        let story = client.story();
        let users: Vec<_> = story.iter().filter(|line| line.starts_with("user: say ")).collect();
        assert_eq!(users, ["user: say a", "user: say b", "user: say c"]);
        assert_eq!(client.recall(), ["tool t go; say after", "say a", "say b", "say c"]);
    });
}

#[test]
fn a_steer_goes_before_what_was_queued_earlier() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let later = client.inject("queue", "say later");
        client.inject("steer", "say now");
        place.touch("go");
        client.delivered(&later);
        client.turn_end(2);
        assert_eq!(client.recall(), ["tool t go; say after", "say now", "say later"]);
    });
}

#[test]
fn a_steer_may_be_steered() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        client.inject("steer", "tool u on");
        place.touch("go");
        client.until("the second tool", |message| message["params"]["update"]["toolCallId"] == "u");
        client.inject("steer", "say deeper");
        place.touch("on");
        assert_eq!(client.turn_end(1), "end_turn");
        client.said("deeper");
        assert_eq!(client.recall(), ["tool t go; say after", "tool u on", "say deeper"]);
    });
}

#[test]
fn while_permission_is_asked_a_steer_is_held() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("ask a");
        let request = client.agent_request();
        let id = client.inject("steer", "say steered");
        client.answer(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
        client.delivered(&id);
        assert_eq!(client.turn_end(1), "end_turn");
        let log = place.log();
        let answered = log.place('<', |frame| frame["result"]["outcome"]["optionId"] == "yes");
        assert!(answered < heard(&log, "say steered"), "{log:#?}");
        assert_eq!(client.recall(), ["ask a", "say steered"]);
    });
}

/// The agent is told to stop, takes its time, and meanwhile the steer is taken back.
#[test]
fn a_turn_that_was_cut_off_for_nothing_goes_on() {
    for_same(|options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("say one; deaf go; say two");
        client.said("one");
        // A cancel that comes sooner ends the turn, and the steer is delivered.
        eventually("the agent to be deaf", || place.log().noted("deaf").count() == 1);
        let id = client.inject("steer", "say steered");
        eventually("the cancel", || place.log().heard("session/cancel").len() == 1);
        client.revoke(&id);
        place.touch("go");
        assert_eq!(client.turn_end(1), "end_turn");
        let told = client.recall();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(!told.contains(&"say steered".to_owned()), "{told:?}");
        assert!(!client.users().contains(&told[1]), "nobody has said that: {told:?}");
    });
}

#[test]
fn what_an_agent_repeats_is_not_shown_twice() {
    let agents = ["--echo", "--echo --steering", "--echo --inject", "--v2", "--v2 --inject"];
    let cases = agents.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, |(options, version)| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("tool t go; say after the tool");
        client.tool("in_progress");
        client.inject("steer", "say steered to the left");
        let last = client.inject("queue", "say queued for later");
        place.touch("go");
        client.delivered(&last);
        client.turn_end(2);
        let mut expected =
            vec!["tool t go; say after the tool", "say steered to the left", "say queued for later"];
        if version == 1 {
            // It shows its own prompt itself.
            expected.remove(0);
        }
        assert_eq!(client.users(), expected);
    });
}

#[test]
fn an_agent_whose_steering_fails_is_cut_off() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.in_a_stream("--steering-fails", version);
        let id = client.inject("steer", "say steered");
        client.delivered(&id);
        assert_eq!(client.turn_end(1), "end_turn");
        client.said("steered");
        assert_eq!(client.recall(), ["say one; until go; say two", "say steered"]);
    }
}

//! Steers get into every kind of agent, at the right place.

use serde_json::Value;

use super::{Place, for_all, log::Log, text};

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

//! What waits has a turn of its own, for every kind of agent.

use super::{Place, for_all};

#[test]
fn what_is_queued_has_a_turn_of_its_own() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_stream(options, version);
        let b = client.inject("queue", "say b");
        let c = client.inject("queue", "say c");
        place.touch("go");
        assert_eq!(client.delivered(&b), "say b");
        assert_eq!(client.delivered(&c), "say c");
        assert_eq!(client.turn_end(3), "end_turn");
        let story = client.story();
        let expected = [
            "agent: one",
            "agent: two",
            "idle",
            "user: say b",
            "agent: b",
            "idle",
            "user: say c",
            "agent: c",
            "idle",
        ];
        assert_eq!(story[story.len() - 9..], expected);
        assert_eq!(client.recall(), ["say one; until go; say two", "say b", "say c"]);
    });
}

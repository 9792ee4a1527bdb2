//! What waits: queue, revoke, replace, cancel, for every kind of agent.

use nudge_testkit::eventually;
use serde_json::json;

use super::{
    Place,
    client::{Message, notice},
    content, for_all,
};

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

#[test]
fn on_an_idle_session_what_is_queued_starts_a_turn() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        let id = client.inject("queue", "say b");
        client.delivered(&id);
        assert_eq!(client.turn_end(1), "end_turn");
        client.said("b");
        let steer = json!({"sessionId": client.session, "mode": "steer", "content": content("x")});
        assert_eq!(client.refused("session/inject", &steer)["data"]["reason"], "no_running_turn");
    });
}

#[test]
fn what_is_revoked_never_reaches_the_agent() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let steer = client.inject("steer", "say steer");
        let queue = client.inject("queue", "say queue");
        client.revoke(&steer);
        client.revoke(&queue);
        place.touch("go");
        assert_eq!(client.turn_end(1), "end_turn");
        assert_eq!(client.recall(), ["tool t go; say after"]);
        let gone =
            client.refused("session/revoke_inject", &json!({"sessionId": client.session, "messageId": "x"}));
        assert_eq!(gone["data"]["reason"], "unknown_message_id");
        assert_eq!(place.log().prompts().len(), 2, "the turn was not cut off for nothing");
    });
}

#[test]
fn what_is_replaced_reaches_the_agent_in_its_last_words() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let ids = [client.inject("steer", "say old"), client.inject("queue", "say older")];
        for (id, words) in ids.iter().zip(["say new", "say newer"]) {
            let params = json!({"sessionId": client.session, "messageId": id, "content": content(words)});
            assert_eq!(client.ask("session/replace_inject", &params)["messageId"], id.as_str());
        }
        place.touch("go");
        assert_eq!(client.delivered(&ids[0]), "say new");
        assert_eq!(client.delivered(&ids[1]), "say newer");
        client.turn_end(2);
        assert_eq!(client.recall(), ["tool t go; say after", "say new", "say newer"]);
        let late = json!({"sessionId": client.session, "messageId": ids[0], "content": content("late")});
        assert_eq!(client.refused("session/replace_inject", &late)["data"]["reason"], "already_delivered");
    });
}

#[test]
fn a_cancel_ends_the_turn_and_what_waits_follows() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let queue = client.inject("queue", "say b");
        let steer = client.inject("steer", "say a");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        client.delivered(&steer);
        client.delivered(&queue);
        client.turn_end(3);
        assert_eq!(client.recall(), ["tool t go; say after", "say a", "say b"]);
        let following = |message: &Message| notice(&message.value)["_meta"]["inject"]["following"] == 2;
        assert!(client.log.iter().any(following), "the client is told how many follow");
    });
}

#[test]
fn a_cancel_ends_a_turn_that_asks_for_permission() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("ask a; say more");
        client.agent_request();
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        assert_eq!(client.turn("say b"), "b");
        let answered = place.log().place('<', |frame| frame["result"]["outcome"]["outcome"] == "cancelled");
        assert!(answered.is_some(), "the agent is told that nobody will answer");
    });
}

#[test]
fn a_message_with_an_image_reaches_an_agent_that_takes_images() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
        let params = json!({"sessionId": client.session, "mode": "queue", "content": [image]});
        client.ask("session/inject", &params);
        client.said("[image]");
        let audio = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"});
        let params = json!({"sessionId": client.session, "mode": "queue", "content": [audio]});
        assert_eq!(client.refused("session/inject", &params)["code"], -32602);
    });
}

#[test]
fn a_prompt_is_told_to_the_agent_before_the_agent_is_told_to_stop() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.prompt("sleep 60000");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        eventually("the cancel", || place.log().heard("session/cancel").len() == 1);
    });
}

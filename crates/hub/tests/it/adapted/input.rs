//! What waits: queue, revoke, replace, cancel, for every kind of agent.

use serde_json::json;

use super::{Place, content, eventually, for_all, notice};

#[tokio::test]
async fn what_is_queued_has_a_turn_of_its_own() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_stream(options, version).await;
        let b = client.inject("queue", "say b").await;
        let c = client.inject("queue", "say c").await;
        place.touch("go");
        assert_eq!(client.delivered(&b).await, "say b");
        assert_eq!(client.delivered(&c).await, "say c");
        assert_eq!(client.turn_end(3).await, "end_turn");
        let story = client.steps();
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
        assert_eq!(client.recall().await, ["say one; until go; say two", "say b", "say c"]);
    })
    .await;
}

#[tokio::test]
async fn on_an_idle_session_what_is_queued_starts_a_turn() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let id = client.inject("queue", "say b").await;
        client.delivered(&id).await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("b").await;
        let steer = json!({"sessionId": client.session, "mode": "steer", "content": content("x")});
        assert_eq!(client.refused("session/inject", &steer).await["data"]["reason"], "no_running_turn");
    })
    .await;
}

#[tokio::test]
async fn what_is_revoked_never_reaches_the_agent() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let steer = client.inject("steer", "say steer").await;
        let queue = client.inject("queue", "say queue").await;
        client.revoke(&steer).await;
        client.revoke(&queue).await;
        place.touch("go");
        assert_eq!(client.turn_end(1).await, "end_turn");
        assert_eq!(client.recall().await, ["tool t go; say after"]);
        let gone = client
            .refused("session/revoke_inject", &json!({"sessionId": client.session, "messageId": "x"}))
            .await;
        assert_eq!(gone["data"]["reason"], "unknown_message_id");
        assert_eq!(place.log().prompts().len(), 2, "the turn was not cut off for nothing");
    })
    .await;
}

#[tokio::test]
async fn what_is_replaced_reaches_the_agent_in_its_last_words() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let ids = [client.inject("steer", "say old").await, client.inject("queue", "say older").await];
        for (id, words) in ids.iter().zip(["say new", "say newer"]) {
            let params = json!({"sessionId": client.session, "messageId": id, "content": content(words)});
            assert_eq!(client.ask("session/replace_inject", &params).await["messageId"], id.as_str());
        }
        place.touch("go");
        assert_eq!(client.delivered(&ids[0]).await, "say new");
        assert_eq!(client.delivered(&ids[1]).await, "say newer");
        client.turn_end(2).await;
        assert_eq!(client.recall().await, ["tool t go; say after", "say new", "say newer"]);
        let late = json!({"sessionId": client.session, "messageId": ids[0], "content": content("late")});
        assert_eq!(
            client.refused("session/replace_inject", &late).await["data"]["reason"],
            "already_delivered"
        );
    })
    .await;
}

#[tokio::test]
async fn a_cancel_ends_the_turn_and_what_waits_follows() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let queue = client.inject("queue", "say b").await;
        let steer = client.inject("steer", "say a").await;
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
        client.delivered(&steer).await;
        client.delivered(&queue).await;
        client.turn_end(3).await;
        assert_eq!(client.recall().await, ["tool t go; say after", "say a", "say b"]);
        let following =
            |message: &crate::connected::Message| notice(&message.value)["_meta"]["inject"]["following"] == 2;
        assert!(client.log.iter().any(following), "the client is told how many follow");
    })
    .await;
}

#[tokio::test]
async fn a_cancel_ends_a_turn_that_asks_for_permission() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("ask a; say more");
        client.agent_request().await;
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
        assert_eq!(client.turn("say b").await, "b");
        let answered = place.log().place('<', |frame| frame["result"]["outcome"]["outcome"] == "cancelled");
        assert!(answered.is_some(), "the agent is told that nobody will answer");
    })
    .await;
}

#[tokio::test]
async fn a_message_with_an_image_reaches_an_agent_that_takes_images() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
        let params = json!({"sessionId": client.session, "mode": "queue", "content": [image]});
        client.ask("session/inject", &params).await;
        client.said("[image]").await;
        let audio = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"});
        let params = json!({"sessionId": client.session, "mode": "queue", "content": [audio]});
        assert_eq!(client.refused("session/inject", &params).await["code"], -32602);
    })
    .await;
}

#[tokio::test]
async fn a_prompt_is_told_to_the_agent_before_the_agent_is_told_to_stop() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("sleep 60000");
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
        eventually("the cancel", || place.log().heard("session/cancel").len() == 1).await;
    })
    .await;
}

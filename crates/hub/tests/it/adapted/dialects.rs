//! Other ways to say something while a turn runs, in front of every kind of agent.

use serde_json::json;

use super::{Place, content, for_all};

#[tokio::test]
async fn steering_by_extension() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let params = json!({"sessionId": client.session, "prompt": content("say steered")});
        assert_eq!(client.ask("_session/steering", &params).await["outcome"], "injected");
        place.touch("go");
        assert_eq!(client.turn_end(1).await, "end_turn");
        client.said("steered").await;
        assert!(!client.users().contains(&"say steered".to_owned()), "its sender shows it itself");
        let when_idle = json!({"steering": {"idleBehavior": "promptRequired"}});
        let params = json!({"sessionId": client.session, "prompt": content("say more"), "_meta": when_idle});
        assert_eq!(client.ask("_session/steering", &params).await["outcome"], "promptRequired");
        assert_eq!(client.recall().await, ["tool t go; say after", "say steered"]);
    })
    .await;
}

#[tokio::test]
async fn steering_by_extension_starts_a_turn() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let params = json!({"sessionId": client.session, "prompt": content("say begun")});
        assert_eq!(client.ask("_session/steering", &params).await["outcome"], "startedNewTurn");
        client.said("begun").await;
        assert_eq!(client.turn_end(1).await, "end_turn");
    })
    .await;
}

#[tokio::test]
async fn a_prompt_while_a_turn_runs_waits_in_version_1_and_steers_in_version_2() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let id = client.prompt("say second");
        place.touch("go");
        let answer = client.result(id).await;
        if version == 1 {
            assert_eq!(answer["stopReason"], "end_turn");
            assert_eq!(client.ends(), 2);
        } else {
            let shown = client.delivered(answer["messageId"].as_str().expect("a prompt has an id")).await;
            assert_eq!(shown, "say second");
            client.turn_end(1).await;
        }
        client.said("second").await;
        assert_eq!(client.recall().await, ["tool t go; say after", "say second"]);
    })
    .await;
}

#[tokio::test]
async fn a_prompt_that_waits_is_cancelled_with_the_turn() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version).await;
        let id = client.prompt("say second");
        client.cancel();
        let answer = client.response(id).await;
        if version == 1 {
            assert_eq!(answer["result"]["stopReason"], "cancelled");
            client.turn_end(2).await;
        } else {
            assert_eq!(answer["error"]["code"], -32800, "{answer}");
            assert_eq!(client.turn_end(1).await, "cancelled");
        }
        assert_eq!(client.recall().await, ["tool t go; say after"]);
    })
    .await;
}

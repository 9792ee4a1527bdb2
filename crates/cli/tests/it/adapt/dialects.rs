//! Other ways to say something while a turn runs, in front of every kind of agent.

use serde_json::json;

use super::{Place, content, for_all};

#[test]
fn steering_by_extension() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let params = json!({"sessionId": client.session, "prompt": content("say steered")});
        assert_eq!(client.ask("_session/steering", &params)["outcome"], "injected");
        place.touch("go");
        assert_eq!(client.turn_end(1), "end_turn");
        client.said("steered");
        assert!(!client.users().contains(&"say steered".to_owned()), "its sender shows it itself");
        let when_idle = json!({"steering": {"idleBehavior": "promptRequired"}});
        let params = json!({"sessionId": client.session, "prompt": content("say more"), "_meta": when_idle});
        assert_eq!(client.ask("_session/steering", &params)["outcome"], "promptRequired");
        assert_eq!(client.recall(), ["tool t go; say after", "say steered"]);
    });
}

#[test]
fn steering_by_extension_starts_a_turn() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        let params = json!({"sessionId": client.session, "prompt": content("say begun")});
        assert_eq!(client.ask("_session/steering", &params)["outcome"], "startedNewTurn");
        client.said("begun");
        assert_eq!(client.turn_end(1), "end_turn");
    });
}

#[test]
fn a_prompt_while_a_turn_runs_waits_in_version_1_and_steers_in_version_2() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let id = client.prompt("say second");
        place.touch("go");
        let answer = client.result(id);
        if version == 1 {
            assert_eq!(answer["stopReason"], "end_turn");
            assert_eq!(client.ends(), 2);
        } else {
            let shown = client.delivered(answer["messageId"].as_str().expect("a prompt has an id"));
            assert_eq!(shown, "say second");
            client.turn_end(1);
        }
        client.said("second");
        assert_eq!(client.recall(), ["tool t go; say after", "say second"]);
    });
}

#[test]
fn a_prompt_that_waits_is_cancelled_with_the_turn() {
    for_all(|_, options, version| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let id = client.prompt("say second");
        client.cancel();
        let answer = client.response(id);
        if version == 1 {
            assert_eq!(answer["result"]["stopReason"], "cancelled");
            client.turn_end(2);
        } else {
            assert_eq!(answer["error"]["code"], -32800, "{answer}");
            assert_eq!(client.turn_end(1), "cancelled");
        }
        assert_eq!(client.recall(), ["tool t go; say after"]);
    });
}

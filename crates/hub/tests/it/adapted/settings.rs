//! What a client sets of an agent that others use as well.

use serde_json::{Value, json};

use super::{Place, check_each, log::Log};

/// The lives of agents that heard a frame with these words, in order.
fn lives(log: &Log, words: &str) -> Vec<u32> {
    let heard = log.0.iter().filter(|line| line.direction == '<' && line.text.contains(words));
    heard.map(|line| line.pid).collect()
}

fn provider() -> Value {
    json!({ "providerId": "main", "apiType": "openai", "baseUrl": "https://one.example/v1",
        "headers": { "x-key": "sk-hush" } })
}

#[tokio::test]
async fn who_sets_a_provider_has_the_agent_alone_and_it_is_set_again_when_that_dies() {
    let agents = ["--resume --memory MEMORY --close", "--v2 --memory MEMORY"];
    let cases = agents.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, async |(options, version)| {
        let place = Place::new();
        let options = format!("{options} --providers");
        let mut first = place.shared_client(&options, version).await;
        first.new_session(&place.cwd()).await;
        first.turn("say one").await;
        let mut second = place.shared_client(&options, version).await;
        second.new_session(&place.cwd()).await;
        second.turn("say two").await;
        first.ask("providers/set", &provider()).await;
        assert_eq!(first.turn("say three").await, "three");
        assert_eq!(second.turn("say four").await, "four");
        let log = place.log();
        let shared = lives(&log, "say one")[0];
        let own = lives(&log, "providers/set")[0];
        assert_ne!(own, shared);
        assert_eq!((lives(&log, "say two"), lives(&log, "say three")), (vec![shared], vec![own]));
        assert_eq!(lives(&log, "say four"), [shared], "another client does not use what was set");
        place.kill_agent();
        first.agent_is("back").await;
        assert_eq!(first.recall().await, ["say one", "say three"]);
        let log = place.log();
        let after = lives(&log, "providers/set")[1];
        assert_eq!(lives(&log, "recall"), [after]);
        let at = |method: &str| {
            let is_it = |line: &&super::log::Line| line.pid == after && line.text.contains(method);
            log.0.iter().position(|line| is_it(&line)).unwrap_or_else(|| panic!("no {method}"))
        };
        assert!(at("\"initialize\"") < at("providers/set") && at("providers/set") < at("session/resume"));
        second.turn("say five").await;
        assert_eq!(lives(&place.log(), "say five"), [shared]);
    })
    .await;
}

#[tokio::test]
async fn who_signs_out_signs_nobody_else_out() {
    for version in [1, 2] {
        let [sign_in, sign_out] =
            if version == 1 { ["authenticate", "logout"] } else { ["auth/login", "auth/logout"] };
        let place = Place::new();
        let options = if version == 1 { "" } else { "--v2" };
        let mut first = place.shared_client(options, version).await;
        let mut second = place.shared_client(options, version).await;
        first.ask(sign_in, &json!({ "methodId": "key" })).await;
        second.ask(sign_out, &json!({})).await;
        let log = place.log();
        assert_ne!(lives(&log, sign_in), lives(&log, sign_out));
        // Signing in again is said to the process that it has.
        first.ask(sign_in, &json!({ "methodId": "key" })).await;
        let signed_in = lives(&place.log(), sign_in);
        assert_eq!(signed_in[0], signed_in[1]);
    }
}

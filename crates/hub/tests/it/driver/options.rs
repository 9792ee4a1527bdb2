//! A mode or an option is set: agreed to and kept, or asked of the agent.

use nudge_wire::Error;
use serde_json::json;

use super::Scene;
use crate::scripted::Traits;

#[tokio::test(start_paused = true)]
async fn what_the_agent_agrees_to_is_set_and_answered_once_it_is_on_disk() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    scene.place.store.hold();
    let params = json!({ "sessionId": first.session, "configId": "pace", "value": "slow" });
    let set = first.send("session/set_config_option", &params);
    agent.expect(&["plan pace"]).await;
    scene.place.daemon().status().await;
    agent.expect_silence();
    scene.place.store.go_on();
    agent.expect(&[r#"set pace to "slow""#]).await;
    first.result(set).await;
    let params = json!({ "sessionId": first.session, "configId": "none", "value": 1 });
    assert_eq!(first.refusal("session/set_config_option", &params).await.0, -32602);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_given_to_the_agent_when_the_session_is_taken_up() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    let params = json!({ "sessionId": first.session, "configId": "pace", "value": "slow" });
    first.ask("session/set_config_option", &params).await;
    let params = super::named(&first);
    first.ask("session/close", &params).await;
    agent.expect(&["plan pace", r#"set pace to "slow""#, "end: Close"]).await;
    scene.joined(1, &first.session).await;
    let again = scene.agents.next().await;
    assert_eq!(again.setup.config.as_ref().map(nudge_wire::RawJson::as_str), Some(r#"{"set":"pace"}"#));
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_is_asked_for_is_answered_as_it_answers() {
    let mut scene = Scene::of(Traits { keeps_options: false, ..Traits::default() });
    let (mut first, mut agent) = scene.session(2).await;
    let params = json!({ "sessionId": first.session, "configId": "pace", "value": "slow" });
    let set = first.send("session/set_config_option", &params);
    agent.expect(&["plan pace"]).await;
    agent.answers_set(Ok(json!({ "configOptions": [{ "id": "pace" }] })));
    agent.expect(&[r#"session/set_config_option answered: {"configOptions":[{"id":"pace"}]}"#]).await;
    assert_eq!(first.result(set).await, json!({ "configOptions": [{ "id": "pace" }] }));
    let set = first.send("session/set_config_option", &params);
    agent.expect(&["plan pace"]).await;
    agent.answers_set(Err(Error::internal("not now")));
    assert_eq!(first.response(set).await["error"]["message"], "not now");
}

#[tokio::test(start_paused = true)]
async fn a_request_to_set_something_is_answered_though_the_session_is_left_meanwhile() {
    let mut scene = Scene::of(Traits { keeps_options: false, ..Traits::default() });
    let (mut first, mut agent) = scene.session(2).await;
    let mut second = scene.joined(2, &first.session).await;
    let params = json!({ "sessionId": first.session, "configId": "pace", "value": "slow" });
    let set = first.send("session/set_config_option", &params);
    agent.expect(&["plan pace"]).await;
    let params = super::named(&first);
    second.ask("session/close", &params).await;
    agent.answers_set(Ok(json!({})));
    assert!(first.response(set).await.get("error").is_some());
}

//! Commands see the environment of the client whose message they serve.

use serde_json::json;

use super::Scene;

#[tokio::test(start_paused = true)]
async fn each_turn_sees_that_of_its_prompter() {
    let mut scene = Scene::new();
    let client = scene.client_with(2, &json!({}), Some("owl")).await;
    let (mut owl, mut agent) = scene.session_of(client).await;
    let mut jay = scene.client_with(1, &json!({}), Some("jay")).await;
    jay.load(&owl.session, &scene.place.cwd()).await;
    let bird = |agent: &crate::scripted::ScriptedAgent| agent.environment().map(|mut all| all.remove("BIRD"));
    owl.prompt("one");
    agent.expect(&["prompt: one"]).await;
    assert_eq!(bird(&agent), Some(Some("owl".to_owned())));
    jay.prompt("two");
    drop(jay);
    agent.ends_turn().await;
    // It was said by a client that is gone by now.
    agent.expect(&["prompt: two"]).await;
    assert_eq!(bird(&agent), Some(Some("jay".to_owned())));
    agent.ends_turn().await;
    let mut none = scene.joined(2, &owl.session).await;
    none.prompt("three");
    agent.expect(&["prompt: three"]).await;
    assert_eq!(bird(&agent), None, "that of the process");
}

#[tokio::test(start_paused = true)]
async fn what_waited_sees_that_of_who_takes_the_session_up() {
    let mut scene = Scene::new();
    let client = scene.client_with(2, &json!({}), Some("owl")).await;
    let (mut owl, mut agent) = scene.session_of(client).await;
    owl.prompt("one");
    agent.expect(&["prompt: one"]).await;
    owl.inject("queue", "two").await;
    let params = super::named(&owl);
    let close = owl.send("session/close", &params);
    agent.expect(&["cancel"]).await;
    agent.is_done("cancelled");
    owl.result(close).await;
    let mut jay = scene.client_with(1, &json!({}), Some("jay")).await;
    jay.load(&owl.session, &scene.place.cwd()).await;
    let mut agent = scene.agents.next().await;
    agent.expect(&["prompt: two"]).await;
    assert_eq!(agent.environment().expect("that of a client")["BIRD"], "jay");
}

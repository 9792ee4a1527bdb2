//! A client that does not read: alone it makes the agent wait, beside others it is cut off.

use super::Scene;

/// How often something is said: together more than a client may be behind.
const MANY: usize = 80;

/// What is said at a time.
const MUCH: usize = 512 * 1024;

#[tokio::test(start_paused = true)]
async fn a_client_that_is_alone_slows_the_agent_down_and_misses_nothing() {
    let mut scene = Scene::new();
    let (mut only, mut agent) = scene.session(2).await;
    only.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    let words = "x".repeat(MUCH);
    for _ in 0..MANY {
        agent.says("m1", &words);
    }
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    let heard = scene.place.store.kinds(&only.session).len();
    assert!(heard < MANY / 2, "{heard} of {MANY} were heard though nobody reads");
    agent.says("m1", "end");
    only.until("the end", |message| message["params"]["update"]["content"]["text"] == "end").await;
    let said = only.updates().filter(|update| update["content"]["text"] == words.as_str()).count();
    assert_eq!(said, MANY);
}

#[tokio::test(start_paused = true)]
async fn a_client_beside_others_is_cut_off_and_slows_nobody() {
    let mut scene = Scene::new();
    let (mut reads, mut agent) = scene.session(2).await;
    let mut silent = scene.joined(2, &reads.session).await;
    reads.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    let words = "x".repeat(MUCH);
    for mark in (0..MANY).map(|at| format!("mark {at}")) {
        agent.says("m1", &words);
        agent.says("m1", &mark);
        reads.until(&mark, |message| message["params"]["update"]["content"]["text"] == mark.as_str()).await;
    }
    agent.ends_turn().await;
    reads.turn_end(1).await;
    silent.end().await;
    let said = silent.updates().filter(|update| update["content"]["text"] == words.as_str()).count();
    assert!(said < MANY, "it was cut off");
    let [(_, live)] = &scene.place.daemon().status().await.sessions[..] else { panic!("one session") };
    assert_eq!(live.clients, 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_not_heard_while_the_store_is_behind() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    scene.place.store.set_behind(true);
    agent.says("m1", "late");
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    assert!(!scene.place.store.kinds(&first.session).contains(&"agent_message_chunk".to_owned()));
    scene.place.store.set_behind(false);
    first.said("late").await;
}

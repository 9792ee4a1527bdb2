//! Whoever waits is answered exactly once, however the session ends.

use nudge_backend::BackendEvent;
use serde_json::{Value, json};

use super::{Scene, named};
use crate::{connected::Client, scripted::Traits};

/// How many answers a request has got.
fn answers(client: &Client, id: u64) -> usize {
    client.messages().filter(|message| message["id"] == id && message.get("method").is_none()).count()
}

/// A turn runs, a prompt of version 1 waits for its end, and a prompt of version 2 to go in.
async fn waiting(scene: &mut Scene) -> (Client, Client, [u64; 2], crate::scripted::ScriptedAgent) {
    let (mut old, mut agent) = scene.session(1).await;
    let mut new = scene.joined(2, &old.session).await;
    let running = old.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.report(BackendEvent::StreamStarted);
    agent.says("m1", "hi");
    new.said("hi").await;
    let waiting = new.prompt("more");
    agent.expect(&["interrupt"]).await;
    (old, new, [running, waiting], agent)
}

/// Both prompts got one answer each.
async fn check_answered(old: &mut Client, new: &mut Client, [running, waiting]: [u64; 2]) -> [Value; 2] {
    let told = [old.response(running).await, new.response(waiting).await];
    // Whatever else there is to say is said by then.
    for client in [&mut *old, &mut *new] {
        client.refused("_test/fence", &json!({})).await;
    }
    assert_eq!((answers(old, running), answers(new, waiting)), (1, 1));
    told
}

#[tokio::test(start_paused = true)]
async fn when_it_is_closed() {
    let mut scene = Scene::new();
    let (mut old, mut new, prompts, mut agent) = waiting(&mut scene).await;
    let params = named(&old);
    let close = new.send("session/close", &params);
    agent.expect(&["cancel"]).await;
    agent.is_done("cancelled");
    agent.expect(&["end: Close"]).await;
    new.result(close).await;
    let [running, _] = check_answered(&mut old, &mut new, prompts).await;
    assert_eq!(running["result"]["stopReason"], "cancelled", "{running}");
    assert_eq!(answers(&new, close), 1);
}

#[tokio::test(start_paused = true)]
async fn when_it_is_deleted() {
    let mut scene = Scene::new();
    let (mut old, mut new, prompts, mut agent) = waiting(&mut scene).await;
    let params = named(&old);
    let delete = new.send("session/delete", &params);
    agent.expect(&["cancel"]).await;
    agent.is_done("cancelled");
    agent.expect(&["end: Delete"]).await;
    new.result(delete).await;
    check_answered(&mut old, &mut new, prompts).await;
    assert_eq!(answers(&new, delete), 1);
    assert_eq!(new.refusal("session/resume", &params).await.0, -32002);
}

#[tokio::test(start_paused = true)]
async fn when_its_agent_has_ended() {
    let mut scene = Scene::new();
    let (mut old, mut new, prompts, agent) = waiting(&mut scene).await;
    drop(agent);
    let [running, _] = check_answered(&mut old, &mut new, prompts).await;
    assert!(running.get("error").is_some(), "{running}");
}

#[tokio::test(start_paused = true)]
async fn when_the_process_ends_at_once() {
    let mut scene = Scene::new();
    let (mut old, mut new, prompts, mut agent) = waiting(&mut scene).await;
    let hub = scene.place.daemon().clone();
    let ending = tokio::spawn(async move { hub.end(false).await });
    agent.expect(&["cancel"]).await;
    agent.is_done("cancelled");
    agent.expect(&["end: Leave"]).await;
    ending.await.expect("nothing panics");
    check_answered(&mut old, &mut new, prompts).await;
    assert!(!scene.place.store.is_leased(&old.session));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_patiently_waits_for_the_turn() {
    let mut scene = Scene::new();
    let (mut old, mut new, prompts, mut agent) = waiting(&mut scene).await;
    let hub = scene.place.daemon().clone();
    let ending = tokio::spawn(async move { hub.end(true).await });
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    assert!(!ending.is_finished());
    agent.report(BackendEvent::StreamFinished);
    agent.report(BackendEvent::BreakPoint);
    // What waits is for whoever takes the session up again.
    agent.expect(&["go on"]).await;
    agent.is_done("end_turn");
    agent.expect(&["end: Leave"]).await;
    ending.await.expect("nothing panics");
    let [running, waited] = check_answered(&mut old, &mut new, prompts).await;
    assert_eq!(running["result"]["stopReason"], "end_turn", "{running}");
    assert!(waited.get("error").is_some(), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_meets_a_close_ends_the_session_for_both() {
    let mut scene = Scene::of(Traits { ends_slowly: true, ..Traits::default() });
    let (mut first, mut agent) = scene.session(2).await;
    let mut second = scene.joined(1, &first.session).await;
    let params = named(&first);
    let close = first.send("session/close", &params);
    agent.expect(&["end: Close"]).await;
    let delete = second.send("session/delete", &params);
    agent.lets_go();
    first.result(close).await;
    second.result(delete).await;
    let listed = second.ask("session/list", &json!({})).await;
    assert_eq!(listed["sessions"], json!([]), "it is deleted");
    assert!(!scene.place.store.is_leased(&first.session));
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_of_a_session_while_its_agent_ends_is_refused_or_begins_anew() {
    let mut scene = Scene::of(Traits { ends_slowly: true, ..Traits::default() });
    let (mut first, mut agent) = scene.session(2).await;
    let mut second = scene.joined(2, &first.session).await;
    let params = named(&first);
    let close = first.send("session/close", &params);
    agent.expect(&["end: Close"]).await;
    let prompt = second.prompt("too late");
    let resume = first.send("session/resume", &params);
    agent.lets_go();
    first.result(close).await;
    assert_eq!(second.response(prompt).await["error"]["code"], -32002);
    first.result(resume).await;
    let mut again = scene.agents.next().await;
    first.prompt("again");
    again.expect(&["prompt: again"]).await;
}

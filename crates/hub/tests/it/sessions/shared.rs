//! Several clients on one session.

use serde_json::json;

use super::{Client, Place, content};
use crate::connected::eventually;

/// A client of each version on one session.
async fn pair(place: &Place) -> (Client, Client) {
    let mut one = place.shared_client(1).await;
    one.new_session(&place.cwd()).await;
    let mut two = place.shared_client(2).await;
    let session = one.session.clone();
    two.load(&session, &place.cwd()).await;
    (one, two)
}

#[tokio::test(start_paused = true)]
async fn both_versions_see_the_same_conversation() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("plan");
    one.turn_end(1).await;
    let id = two.inject("queue", "from two").await;
    two.turn_end(2).await;
    one.turn_end(2).await;
    assert_eq!(one.delivered(&id).await, "from two");
    let mut told = one.story();
    // A client shows its own prompt itself.
    told.insert(0, "user: plan".to_owned());
    assert_eq!(told, two.story());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_not_echoed_to_the_v1_client_that_sent_it() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("mine");
    one.turn_end(1).await;
    two.turn_end(1).await;
    assert_eq!(one.user_lines(), Vec::<String>::new());
    assert_eq!(two.user_lines(), ["user: mine"]);
    two.prompt("yours");
    two.turn_end(2).await;
    one.turn_end(2).await;
    assert_eq!(one.user_lines(), ["user: yours"]);
    assert_eq!(two.user_lines(), ["user: mine", "user: yours"], "a v2 client always gets it");
}

#[tokio::test]
async fn the_first_answer_to_a_permission_request_counts() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("run true");
    let (asked_one, asked_two) = (one.agent_request().await, two.agent_request().await);
    two.permit(&asked_two, "allow_once");
    one.until("the withdrawal", |message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked_one["id"]
    })
    .await;
    // Too late, and harmless.
    one.permit(&asked_one, "reject_once");
    assert_eq!(one.turn_end(1).await, "end_turn");
    assert!(two.story().contains(&"tool completed".to_owned()) || two.turn_end(1).await == "end_turn");
}

#[tokio::test(start_paused = true)]
async fn any_client_may_revoke_and_a_client_that_leaves_ends_nothing() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("talk");
    two.said("word").await;
    let gone = one.inject("queue", "gone").await;
    let kept = one.inject("queue", "kept").await;
    two.revoke(&gone).await;
    drop(one);
    let steer = two.inject("steer", "go on").await;
    assert_eq!(two.delivered(&steer).await, "go on");
    assert_eq!(two.turn_end(1).await, "end_turn");
    assert_eq!(two.delivered(&kept).await, "kept");
    assert!(!two.user_lines().contains(&"user: gone".to_owned()));
}

#[tokio::test]
async fn a_permission_waits_while_nobody_is_there() {
    let place = Place::new();
    let mut one = place.shared_client(1).await;
    one.new_session(&place.cwd()).await;
    one.prompt("run touch done");
    one.agent_request().await;
    let session = one.session.clone();
    drop(one);
    let mut two = place.shared_client(2).await;
    two.load(&session, &place.cwd()).await;
    let request = two.agent_request().await;
    two.permit(&request, "allow_once");
    assert_eq!(two.turn_end(1).await, "end_turn");
    assert!(place.work.path().join("done").exists());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_joins_in_mid_turn_misses_nothing() {
    let place = Place::new();
    let mut one = place.shared_client(2).await;
    one.new_session(&place.cwd()).await;
    one.prompt("talk");
    one.said("word").await;
    let mut late = Vec::new();
    for at in 0..4 {
        let mut client = place.shared_client(1 + at % 2).await;
        client.load(&one.session, &place.cwd()).await;
        late.push(client);
    }
    let id = one.inject("steer", "enough").await;
    one.delivered(&id).await;
    one.turn_end(1).await;
    for client in &mut late {
        client.turn_end(1).await;
        assert_eq!(client.story(), one.story(), "version {}", client.version);
    }
}

#[tokio::test(start_paused = true)]
async fn orders_of_two_clients_are_the_same_for_both() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("talk");
    one.said("word").await;
    for at in 0..5 {
        let of = |client: &Client, who: &str| json!({"sessionId": client.session, "mode": "queue", "content": content(&format!("{who} {at}"))});
        let (params_one, params_two) = (of(&one, "a"), of(&two, "b"));
        one.send("session/inject", &params_one);
        two.send("session/inject", &params_two);
    }
    one.cancel();
    one.turn_end(11).await;
    two.turn_end(11).await;
    let seen = |client: &Client| -> Vec<String> {
        client
            .user_lines()
            .into_iter()
            .filter(|line| line.starts_with("user: a") || line.starts_with("user: b"))
            .collect()
    };
    assert_eq!(seen(&one), seen(&two));
    for who in ["a", "b"] {
        let of: Vec<_> =
            seen(&one).into_iter().filter(|line| line.starts_with(&format!("user: {who}"))).collect();
        assert_eq!(of, (0..5).map(|at| format!("user: {who} {at}")).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_client_that_dies_takes_no_turn_with_it() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    two.prompt("run while [ ! -e go ]; do sleep 0.01; done");
    let request = two.agent_request().await;
    two.permit(&request, "allow_once");
    two.tool("in_progress").await;
    // It waits, and then nobody waits for it.
    one.prompt("queued");
    while two.ask("_nudge/status", &json!({})).await["sessions"][0][1]["pending"].as_array().map(Vec::len)
        != Some(1)
    {}
    drop(one);
    std::fs::write(place.work.path().join("go"), "").unwrap();
    assert_eq!(two.turn_end(1).await, "end_turn");
    two.said("heard queued").await;
}

#[tokio::test]
async fn a_client_that_loads_twice_is_asked_once() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    one.prompt("run true");
    let asked = two.agent_request().await;
    let session = two.session.clone();
    two.load(&session, &place.cwd()).await;
    two.until("the first question is withdrawn", |message| {
        message["method"] == "$/cancel_request" && message["params"]["requestId"] == asked["id"]
    })
    .await;
    let again = two.agent_request().await;
    two.permit(&again, "allow_once");
    assert_eq!(one.turn_end(1).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_not_joined_again_closes_nothing() {
    let place = Place::new();
    let (mut one, mut two) = pair(&place).await;
    let session = one.session.clone();
    two.ask("session/close", &json!({ "sessionId": session })).await;
    two.load(&session, &place.cwd()).await;
    two.prompt("talk");
    two.said("word").await;
    let refused = one.refusal("session/close", &json!({ "sessionId": session })).await;
    assert_eq!(refused, (-32002, "unknown_session".to_owned()));
    two.turn_end(1).await;
    assert!(two.story().iter().all(|line| !line.contains("cancelled")), "{:?}", two.story());
}

#[tokio::test(start_paused = true)]
async fn what_waits_stays_when_who_resumes_is_gone() {
    let place = Place::new();
    let mut one = place.shared_client(2).await;
    one.new_session(&place.cwd()).await;
    let session = one.session.clone();
    one.prompt("talk");
    one.said("word").await;
    one.inject("queue", "waits").await;
    one.ask("session/close", &json!({ "sessionId": session })).await;
    let params = json!({ "sessionId": session, "cwd": place.cwd(), "mcpServers": [] });
    let mut gone = place.shared_client(2).await;
    place.store.hold();
    gone.send("session/resume", &params);
    eventually("that it is being opened", || place.store.waiting() > 0).await;
    gone.vanish().await;
    place.store.go_on();
    eventually("that it was opened", || place.store.is_leased(&session)).await;
    let opened = one.ask("session/resume", &params).await;
    assert_eq!(opened["_meta"]["inject"]["pending"].as_array().map(Vec::len), Some(1), "{opened}");
}

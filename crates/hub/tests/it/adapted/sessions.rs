//! Sessions outlive clients, agents and Nudge, whatever the agent can do itself.

use serde_json::{Value, json};

use super::{Client, Place, check_each};

/// An agent of version 1 that can do everything itself.
const ABLE: &str = "--list --close --delete --fork --resume --load --memory MEMORY";

async fn listed(client: &mut Client) -> Vec<String> {
    let sessions = client.ask("session/list", &json!({})).await["sessions"].clone();
    let sessions = sessions.as_array().cloned().unwrap_or_default();
    sessions.iter().filter_map(|session| session["sessionId"].as_str()).map(str::to_owned).collect()
}

fn about(client: &Client) -> Value {
    json!({"sessionId": client.session})
}

#[tokio::test]
async fn what_an_agent_cannot_do_with_sessions_is_done_for_it() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("", version).await;
        client.turn("say one").await;
        let first = client.session.clone();
        assert_eq!(listed(&mut client).await, [&*first]);
        client.ask("session/close", &about(&client)).await;
        client.load(&first, &place.cwd()).await;
        let story = client.steps();
        assert_eq!(story[story.len() - 2..], ["user: say one", "agent: one"], "{story:?}");
        let told = client.turn("recall").await;
        assert!(told.contains("say one"), "{told}");
        client
            .ask("session/resume", &json!({"sessionId": first, "cwd": place.cwd(), "mcpServers": []}))
            .await;
        client.ask("session/delete", &about(&client)).await;
        assert!(listed(&mut client).await.is_empty());
        let params = json!({"sessionId": first, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(client.refused("session/resume", &params).await["code"], -32002);
        let log = place.log();
        for method in ["session/list", "session/close", "session/delete", "session/load", "session/resume"] {
            assert!(log.heard(method).is_empty(), "the agent has no {method}");
        }
    }
}

#[tokio::test]
async fn what_an_agent_can_do_with_sessions_it_does_itself() {
    for version in [1, 2] {
        let place = Place::new();
        let options = if version == 1 { ABLE } else { "--v2 --delete --fork --memory MEMORY" };
        let mut client = place.session(options, version).await;
        client.turn("say one").await;
        let first = client.session.clone();
        assert_eq!(listed(&mut client).await, [&*first]);
        client.ask("session/close", &about(&client)).await;
        client.load(&first, &place.cwd()).await;
        assert_eq!(client.recall().await, ["say one"]);
        client.ask("session/delete", &about(&client)).await;
        assert!(listed(&mut client).await.is_empty());
        let log = place.log();
        assert_eq!(log.heard("session/list").len(), 2);
        assert_eq!(log.heard("session/close").len(), 1);
        assert_eq!(log.heard("session/delete").len(), 1);
        assert_eq!(log.heard("session/resume").len(), 1);
    }
}

#[tokio::test]
async fn a_list_of_the_agent_passes_as_it_came() {
    let place = Place::new();
    let mut client = place.session(ABLE, 1).await;
    let id = client.send("session/list", &json!({}));
    let answer = super::raw::member(&client.response_line(id).await, "result").unwrap();
    assert_eq!(answer, place.log().answer("session/list", "result"));
}

#[tokio::test]
async fn a_session_is_forked_by_an_agent_that_can() {
    for version in [1, 2] {
        let place = Place::new();
        let options = if version == 1 { ABLE } else { "--v2 --fork" };
        let mut client = place.session(options, version).await;
        client.turn("say one").await;
        let first = client.session.clone();
        let params = json!({"sessionId": first, "cwd": place.cwd(), "mcpServers": []});
        let forked = client.ask("session/fork", &params).await["sessionId"]
            .as_str()
            .expect("a fork has an id")
            .to_owned();
        assert_ne!(forked, first);
        client.session = forked;
        assert_eq!(client.recall().await, ["say one"]);
        client.session = first;
        assert_eq!(client.recall().await, ["say one"]);
        let place = Place::new();
        let mut client = place.session(if version == 1 { "" } else { "--v2" }, version).await;
        let params = json!({"sessionId": client.session, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(client.refused("session/fork", &params).await["code"], -32601);
    }
}

#[tokio::test]
async fn a_session_that_only_the_agent_knows_is_loaded_from_it() {
    for version in [1, 2] {
        let place = Place::new();
        let options = if version == 1 { ABLE } else { "--v2 --memory MEMORY" };
        let kept = json!({"old-1": {"cwd": place.cwd(), "told": ["say before"], "mode": "code", "history": [
            {"is_user": true, "id": "u-1", "text": "say before"}, {"is_user": false, "id": "a-1", "text": "before"}]}});
        std::fs::write(place.desk("memory"), kept.to_string()).unwrap();
        let mut client = place.client(options, version).await;
        assert_eq!(listed(&mut client).await, ["old-1"]);
        client.load("old-1", &place.cwd()).await;
        assert_eq!(client.steps(), ["user: say before", "agent: before"]);
        client.inject("queue", "say after").await;
        client.said("after").await;
        client.turn_end(1).await;
        assert_eq!(client.recall().await, ["say before", "say after"]);
        client.leave().await;
        let mut again = place.client(options, version).await;
        again.load("old-1", &place.cwd()).await;
        let story = again.steps();
        assert_eq!(
            story[..4],
            ["user: say before", "agent: before", "user: say after", "agent: after"],
            "{story:?}"
        );
    }
}

#[tokio::test]
async fn an_id_that_an_agent_gives_twice_is_two_sessions() {
    for options in ["--ids same", "--ids counter"] {
        let place = Place::new();
        let mut client = place.session(options, 1).await;
        client.turn("say one").await;
        let first = client.session.clone();
        client.leave().await;
        let mut client = place.session(options, 1).await;
        assert_ne!(client.session, first, "the first is still there");
        assert_eq!(client.turn("say two").await, "two");
        assert_eq!(client.turn("recall").await, "say two|recall");
        let second = client.session.clone();
        client.leave().await;
        let mut client = place.client(options, 1).await;
        assert_eq!(listed(&mut client).await, [second, first.clone()]);
        client.load(&first, &place.cwd()).await;
        assert_eq!(client.steps(), ["user: say one", "agent: one"]);
    }
}

#[tokio::test]
async fn two_clients_share_a_session_and_its_agent() {
    let cases = [("", [1, 1]), ("", [2, 2]), ("", [1, 2]), ("--v2", [1, 2]), ("--v2", [2, 1])];
    check_each(cases, async |(options, versions)| {
        let place = Place::new();
        let [first, second] = versions;
        let mut a = place.shared_client(options, first).await;
        a.new_session(&place.cwd()).await;
        let mut b = place.shared_client(options, second).await;
        b.load(&a.session, &place.cwd()).await;
        a.prompt("say from a; until go");
        b.said("from a").await;
        b.delivered_text("say from a; until go").await;
        let id = b.inject("queue", "say from b").await;
        place.touch("go");
        for client in [&mut a, &mut b] {
            assert_eq!(client.delivered(&id).await, "say from b");
            client.said("from b").await;
            client.turn_end(2).await;
        }
        let prompted = place.log().0.into_iter().filter(|line| line.text.contains("session/prompt"));
        let pids: std::collections::BTreeSet<u32> = prompted.map(|line| line.pid).collect();
        assert_eq!(pids.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn permission_is_given_by_either_of_two_clients() {
    for (options, versions) in [("", [1, 2]), ("--v2", [1, 2])] {
        let place = Place::new();
        let mut a = place.shared_client(options, versions[0]).await;
        a.new_session(&place.cwd()).await;
        let mut b = place.shared_client(options, versions[1]).await;
        b.load(&a.session, &place.cwd()).await;
        a.prompt("ask p");
        let open = a.agent_request().await;
        let request = b.agent_request().await;
        b.answer_raw(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
        a.said("p: selected yes").await;
        let withdrawn = a.until("the withdrawal", |message| message["method"] == "$/cancel_request").await;
        assert_eq!(withdrawn["params"]["requestId"], open["id"]);
    }
}

#[tokio::test]
async fn a_turn_of_the_daemon_goes_on_without_its_client() {
    let place = Place::new();
    let mut client = place.shared_client("", 1).await;
    client.new_session(&place.cwd()).await;
    client.prompt("say one; until go; say two");
    client.said("one").await;
    let session = client.session.clone();
    drop(client);
    place.touch("go");
    while place.connected.daemon().status().await.sessions[0].1.state == "running" {}
    let mut again = place.shared_client("", 1).await;
    again.load(&session, &place.cwd()).await;
    again.said("two").await;
    assert_eq!(again.recall().await, ["say one; until go; say two"]);
}

#[tokio::test]
async fn a_session_of_one_agent_is_not_taken_up_by_the_built_in_one() {
    let place = Place::new();
    let mut client = place.session("", 1).await;
    client.turn("say one").await;
    let session = client.session.clone();
    drop(client);
    let mut client = place.connected.client(1).await;
    let params = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
    assert_eq!(client.refused("session/load", &params).await["data"]["reason"], "other_agent");
}

#[tokio::test]
async fn a_prompt_right_behind_a_load_waits_for_a_replay_that_comes_late() {
    let options = "--load --late-replay --memory MEMORY";
    let place = Place::new();
    let mut client = place.session(options, 1).await;
    client.turn("say one; say two").await;
    client.turn("say three").await;
    let session = client.session.clone();
    drop(client);
    let mut again = place.client(options, 1).await;
    again.load(&session, &place.cwd()).await;
    let before = again.steps().len();
    assert_eq!(again.turn("say four").await, "four");
    let story = again.steps();
    assert_eq!(story[before..].iter().filter(|line| line.starts_with("agent: ")).count(), 1, "{story:?}");
}

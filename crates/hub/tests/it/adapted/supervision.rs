//! Agents that die, fail to start, or do not behave.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, Place, check_each, eventually};

/// Agents that remember a session when they are started again, each in its own way, and one that does not.
const MEMORIES: [&str; 7] = [
    "--resume --memory MEMORY",
    "--load --memory MEMORY",
    "--load --late-replay --memory MEMORY",
    "--v2 --memory MEMORY",
    "",
    "--load",
    "--v2",
];

async fn for_memories(test: impl AsyncFn(&str, u64)) {
    let cases = MEMORIES.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, async |(options, version)| test(options, version).await).await;
}

/// The error that a turn ends with.
async fn turn_error(client: &mut Client, prompt: u64) -> Value {
    if client.version == 1 {
        return client.response(prompt).await["error"].clone();
    }
    let end = client.until("an error", |message| message["params"]["update"]["stopReason"] == "error").await;
    end["params"]["update"]["error"].clone()
}

/// Fails unless the agent knows that this was said before, in this order, each once.
async fn check_told(client: &mut Client, options: &str, before: &[&str]) {
    let told = client.recall().await;
    if options.contains("MEMORY") {
        return assert_eq!(told, before);
    }
    // It was told in a recap, ahead of what followed.
    let all = told.join("\n");
    let mut from = 0;
    for words in before {
        let at = all[from..].find(words).unwrap_or_else(|| panic!("{words} is not told in {told:?}"));
        from += at + words.len();
    }
    for words in before {
        assert_eq!(all.matches(words).count(), 1, "{words} is told once in {told:?}");
    }
}

#[tokio::test]
async fn an_agent_that_dies_in_a_turn_is_started_again_and_knows_the_session() {
    for_memories(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("say first").await;
        let session = client.session.clone();
        let prompt = client.prompt("say on; die");
        let error = turn_error(&mut client, prompt).await;
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (&json!(-32603), &json!("agent_gone")),
            "{error}"
        );
        check_told(&mut client, options, &["say first", "say on; die"]).await;
        assert_eq!(client.session, session);
        assert_eq!(client.turn("say again").await, "again");
        client.agent_is("gone").await;
        client.agent_is("back").await;
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_dies_between_turns_is_started_again() {
    for_memories(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("say first").await;
        place.kill_agent();
        client.agent_is("back").await;
        check_told(&mut client, options, &["say first"]).await;
    })
    .await;
}

/// Nobody can know yet that it is dead: what it did not hear is said again to the next.
#[tokio::test]
async fn a_prompt_to_an_agent_that_has_just_died_is_not_lost() {
    for_memories(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("say first").await;
        place.kill_agent();
        assert_eq!(client.turn("say second").await, "second");
        check_told(&mut client, options, &["say first", "say second"]).await;
        assert_eq!(
            client.users().iter().filter(|words| *words == "say second").count(),
            usize::from(version == 2)
        );
    })
    .await;
}

#[tokio::test]
async fn what_an_agent_replays_when_it_is_started_again_is_not_shown_again() {
    for_memories(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("say one; tool t 1; say two").await;
        client.turn("say three").await;
        place.kill_agent();
        client.agent_is("back").await;
        let before = client.log.len();
        assert_eq!(client.turn("say four").await, "four");
        let story = client.steps();
        for words in ["agent: one", "agent: two", "agent: three"] {
            assert_eq!(story.iter().filter(|line| *line == words).count(), 1, "{story:?}");
        }
        assert!(
            client.log[before..]
                .iter()
                .all(|message| message.value["params"]["update"]["toolCallId"].is_null())
        );
    })
    .await;
}

#[tokio::test]
async fn what_waits_is_still_delivered_when_the_agent_is_killed() {
    for_memories(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let prompt = client.prompt("tool t go");
        client.tool("in_progress").await;
        let queue = client.inject("queue", "say queued").await;
        let steer = client.inject("steer", "say steered").await;
        place.kill_agent();
        turn_error(&mut client, prompt).await;
        client.delivered(&steer).await;
        client.delivered(&queue).await;
        client.said("queued").await;
        let ends = client.ends();
        client.turn_end(ends.max(if version == 1 { 2 } else { 3 })).await;
        check_told(&mut client, options, &["tool t go", "say steered", "say queued"]).await;
        let users = client.users();
        for words in ["say steered", "say queued"] {
            assert_eq!(users.iter().filter(|user| *user == words).count(), 1, "{users:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_tool_call_of_an_agent_that_died_does_not_hold_up_a_steer() {
    let place = Place::new();
    let mut client = place.in_a_tool("", 2).await;
    place.kill_agent();
    client.turn_end(1).await;
    client.prompt("say one; until go");
    client.said("one").await;
    let id = client.inject("steer", "say steered").await;
    client.delivered(&id).await;
    client.said("steered").await;
}

#[tokio::test]
async fn a_permission_that_is_asked_is_withdrawn_when_the_agent_dies() {
    let place = Place::new();
    let mut client = place.session("", 1).await;
    let prompt = client.prompt("ask a");
    let request = client.agent_request().await;
    place.kill_agent();
    assert!(client.response(prompt).await.get("error").is_some());
    let withdrawn = client.until("the withdrawal", |message| message["method"] == "$/cancel_request").await;
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    client.answer_raw(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
    assert_eq!(client.turn("say after").await, "after");
}

#[tokio::test]
async fn an_agent_that_fails_to_start_again_is_tried_again() {
    let place = Place::new();
    let count = place.desk("count");
    std::fs::write(&count, "2").unwrap();
    let mut client = place.session("--fail-start 2 COUNT", 2).await;
    client.turn("say first").await;
    std::fs::write(&count, "0").unwrap();
    let prompt = client.prompt("say on; die");
    turn_error(&mut client, prompt).await;
    eventually("a third start", || std::fs::read_to_string(&count).unwrap() == "3").await;
    check_told(&mut client, "", &["say first", "say on; die"]).await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_passed_over() {
    for options in ["", "--v2"] {
        for version in [1, 2] {
            let place = Place::new();
            let mut client = place.session(options, version).await;
            assert_eq!(client.turn("say a; garbage; say b").await, "ab");
            assert_eq!(client.turn("say c").await, "c");
            assert_eq!(place.log().pids().len(), if options.is_empty() || version == 2 { 1 } else { 2 });
        }
    }
}

#[tokio::test]
async fn answers_that_nobody_waits_for_are_passed_over() {
    for options in ["", "--v2"] {
        for version in [1, 2] {
            let place = Place::new();
            let mut client = place.session(options, version).await;
            let prompt = client.prompt("say a; twice; unknown; say b");
            client.turn_end(1).await;
            assert_eq!(client.turn("say c").await, "c");
            let answers = client.log.iter().filter(|message| message.value["id"] == prompt);
            assert_eq!(answers.count(), 1, "a request is answered once");
            let answers = client.log.iter().filter(|message| message.value.get("method").is_none());
            let known = answers.filter(|message| message.value["id"].is_u64());
            assert!(known.into_iter().all(|message| message.value["id"] != 987_654));
        }
    }
}

#[tokio::test]
async fn a_flood_does_not_hold_up_a_cancel() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("", version).await;
        client.prompt("flood 100000000");
        client.said("xxx").await;
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
    }
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_ended_and_comes_back() {
    for version in [1, 2] {
        let place = Place { patience: Duration::from_secs(1), ..Place::new() };
        let mut client = place.client("", version).await;
        client.new_session(&place.cwd()).await;
        client.prompt("say on; hang");
        eventually("the agent to hang", || place.log().noted("hangs").count() == 1).await;
        client.cancel();
        assert_eq!(client.turn_end(1).await, "cancelled");
        assert_eq!(client.turn("say again").await, "again");
        assert_eq!(place.log().pids().len(), 2, "it was started twice");
    }
}

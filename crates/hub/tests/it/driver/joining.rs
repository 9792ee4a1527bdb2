//! A client joins: it is shown what was said, in its version, then what comes, and nothing twice.

use nudge_backend::BackendEvent;
use serde_json::json;

use super::Scene;

/// How much is said: more than waits for a client that does not read.
const MANY: usize = 100;

#[tokio::test(start_paused = true)]
async fn who_joins_in_mid_turn_is_shown_all_of_it_once() {
    for version in [1, 2] {
        let mut scene = Scene::new();
        let (mut first, mut agent) = scene.session(2).await;
        first.prompt("hello");
        agent.expect(&["prompt: hello"]).await;
        agent.report(BackendEvent::StreamStarted);
        agent.says("m1", "one ");
        first.said("one").await;
        let mut second = scene.joined(version, &first.session).await;
        agent.says("m1", "two");
        second.said("one two").await;
        agent.ends_turn().await;
        second.turn_end(1).await;
        assert_eq!(second.story(), ["user: hello", "agent: one two", "idle"], "version {version}");
        assert_eq!(second.ends(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_joins_a_session_that_is_not_on_disk_yet_is_shown_it_from_memory() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    scene.place.store.hold();
    agent.says("m1", "unwritten");
    first.said("unwritten").await;
    let mut second = scene.joined(2, &first.session).await;
    assert_eq!(second.story(), ["user: hello", "agent: unwritten"]);
    scene.place.store.go_on();
    agent.says("m1", " and written");
    second.said("unwritten and written").await;
    assert_eq!(second.story(), ["user: hello", "agent: unwritten and written"]);
}

#[tokio::test(start_paused = true)]
async fn who_joins_is_answered_behind_the_history_and_before_what_comes() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.says("m1", "hi");
    agent.ends_turn().await;
    first.turn_end(1).await;
    for version in [1, 2] {
        let second = scene.joined(version, &first.session).await;
        let last = second.log.len() - 1;
        assert!(second.log[last].value.get("result").is_some(), "the answer is last: {:?}", second.story());
        assert_eq!(second.user_messages(), ["hello"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_left_is_taken_up_with_its_history() {
    let mut scene = Scene::new();
    let (mut first, mut agent) = scene.session(2).await;
    first.prompt("hello");
    agent.expect(&["prompt: hello"]).await;
    agent.says("m1", "hi");
    agent.ends_turn().await;
    first.turn_end(1).await;
    let session = first.session.clone();
    drop(first);
    // Nobody looks at it any more, and after a while it is not in use.
    agent.expect(&["end: Leave"]).await;
    let second = scene.joined(1, &session).await;
    let again = scene.agents.next().await;
    assert_eq!(&*again.setup.session_id, session);
    assert!(again.history.iter().any(|kind| kind == "agent_message_chunk"), "{:?}", again.history);
    assert_eq!(second.story(), ["user: hello", "agent: hi"]);
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_while_much_is_said_has_all_of_it_once() {
    for version in [1, 2] {
        let mut scene = Scene::new();
        let (mut first, mut agent) = scene.session(2).await;
        first.prompt("hello");
        agent.expect(&["prompt: hello"]).await;
        let mut second = scene.client(version).await;
        let much = "x".repeat(64 * 1024);
        for at in 0..MANY {
            agent.says(&format!("m{at}"), &format!("{at} {much}"));
            let id = format!("m{at}");
            first
                .until("what is said", |message| message["params"]["update"]["messageId"] == id.as_str())
                .await;
            if at == MANY / 2 {
                // It is shown the first half, which it does not read before all is said.
                let params = json!({ "sessionId": first.session, "cwd": scene.place.cwd(), "mcpServers": [],
                    "replayFrom": { "type": "start" } });
                second.send(if version == 1 { "session/load" } else { "session/resume" }, &params);
            }
            first.log.clear();
        }
        agent.says("last", "end");
        second.until("the end", |message| message["params"]["update"]["messageId"] == "last").await;
        let said = second.story().into_iter().filter_map(|line| {
            line.strip_prefix("agent: ").and_then(|words| words.split_once(' ')).map(|(at, _)| at.to_owned())
        });
        let all: Vec<String> = (0..MANY).map(|at| at.to_string()).collect();
        assert_eq!(said.collect::<Vec<_>>(), all, "version {version}");
    }
}

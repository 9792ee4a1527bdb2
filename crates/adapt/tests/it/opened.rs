//! How a session comes into use, and how it is left.

use std::sync::Arc;

use nudge_adapt::{AdaptedSession, AgentSessionOpened};
use nudge_backend::{Backend, BackendParting};
use nudge_wire::Version;
use serde_json::{Value, json};

use crate::{
    owner::{Owner, session, setup},
    scripted::{Launches, ScriptedAgent, chunk, raw, v1},
};

/// A session that the agent says this of while it loads it, and answers with this.
async fn loaded(said: &[Value], answer: Value) -> (Launches, ScriptedAgent, AgentSessionOpened) {
    let mut launches = Launches::of(v1(&json!({ "loadSession": true })));
    let agent = Arc::clone(&launches.agent);
    let setup = setup(Version::V1, &json!({ "sessionId": "s1", "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&agent, "session/load", &setup);
    let (opened, agent) = tokio::join!(opening, async {
        let mut agent = launches.greeted().await;
        let load = agent.expect("session/load").await;
        for update in said {
            agent.update(update.clone()).await;
        }
        load.answer(answer).await;
        agent
    });
    (launches, agent, opened.expect("the session is opened"))
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_replays_of_a_session_of_its_own_is_taken_over() {
    let said = [chunk("user_message_chunk", "hello"), chunk("agent_message_chunk", "hi")];
    let (_launches, _agent, opened) = loaded(&said, json!({})).await;
    let kinds: Vec<_> = opened.replayed.iter().map(|update| update.kind.name()).collect();
    assert_eq!(kinds, ["user_message_chunk", "agent_message_chunk"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_joins_is_told_how_things_stand() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [] });
    let (_launches, agent, opened) = loaded(&[], json!({ "modes": modes })).await;
    let mut owner = Owner::of(opened);
    agent.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" })).await;
    agent.update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] })).await;
    owner.expect(&["current_mode_update", "available_commands_update"]).await;
    let opened: Value = owner.session.opened(Some("mine"), &raw(&json!({}))).to().unwrap();
    assert_eq!((&opened["sessionId"], &opened["modes"]["currentModeId"]), (&json!("mine"), &json!("code")));
    assert_eq!(owner.session.standing().len(), 1);
    assert!(!owner.session.takes("image") && owner.session.takes("text"));
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_told_of_the_end_if_it_has_a_method_for_that() {
    let (_launches, mut owner, mut agent) =
        session(v1(&json!({ "sessionCapabilities": { "close": {} } }))).await;
    let ((), ()) = tokio::join!(owner.session.end(BackendParting::Close), async {
        agent.expect("session/close").await.answer(json!({})).await;
    });
    owner.session.end(BackendParting::Delete).await;
    owner.session.end(BackendParting::Leave).await;
    agent.expect_silence(std::time::Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_refuses_a_session_says_why() {
    let mut launches = Launches::of(v1(&json!({})));
    let agent = Arc::clone(&launches.agent);
    let setup = setup(Version::V1, &json!({ "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&agent, "session/new", &setup);
    let (opened, _agent) = tokio::join!(opening, async {
        let mut agent = launches.greeted().await;
        agent.expect("session/new").await.refuse("sign in first").await;
        agent
    });
    assert_eq!(opened.expect_err("it is refused").message, "sign in first");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_answer_its_greeting_is_given_up() {
    let mut launches = Launches::of(v1(&json!({})));
    let agent = Arc::clone(&launches.agent);
    let (init, scripted) = tokio::join!(agent.init(), async {
        let mut scripted = launches.started().await;
        scripted.expect("initialize").await;
        scripted
    });
    let error = init.expect_err("it says nothing");
    assert!(error.message.contains("did not answer `initialize` within 60 seconds"), "{error:?}");
    scripted.ended().await;
}

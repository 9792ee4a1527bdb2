//! Several sessions of one agent: in one process, or each in its own.

use std::sync::Arc;

use nudge_adapt::{AdaptedSession, AgentSettings};
use nudge_wire::Version;
use serde_json::json;

use crate::{
    owner::{Owner, begin, setup},
    scripted::{Launches, ScriptedAgent, v1},
};

/// Another session of an agent that runs.
async fn another(launches: &Launches, scripted: &mut ScriptedAgent, id: &str) -> Owner {
    let agent = Arc::clone(&launches.agent);
    let setup = setup(Version::V1, &json!({ "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&agent, "session/new", &setup);
    let (opened, ()) = tokio::join!(opening, async {
        scripted.expect("session/new").await.answer(json!({ "sessionId": id })).await;
    });
    Owner::of(opened.expect("the session is opened"))
}

#[tokio::test(start_paused = true)]
async fn sessions_share_an_agent_and_hear_only_what_is_theirs() {
    let mut launches = Launches::of(v1(&json!({})));
    let (mut first, mut agent) = begin(&mut launches).await;
    let mut second = another(&launches, &mut agent, "s2").await;
    assert!(launches.is_taken());
    first.prompt("one");
    agent.expect_prompt("one").await.stop("end_turn").await;
    "s2".clone_into(&mut agent.session);
    second.prompt("two");
    agent.expect_prompt("two").await;
    agent.says("for the second").await;
    second.expect(&["stream", "agent_message_chunk for the second"]).await;
    first.expect(&["stream", "break"]).await;
    agent.dies().await;
    for owner in [&mut first, &mut second] {
        assert!(owner.hears().await.starts_with("lost"));
    }
}

#[tokio::test(start_paused = true)]
async fn isolated_sessions_have_an_agent_each_and_do_not_die_together() {
    let isolated = |settings| AgentSettings { isolate: true, ..settings };
    let mut launches = Launches::with(v1(&json!({})), isolated);
    let (mut first, agent) = begin(&mut launches).await;
    let (mut second, mut other) = begin(&mut launches).await;
    agent.dies().await;
    assert!(first.hears().await.starts_with("lost"));
    second.prompt("two");
    other.expect_prompt("two").await.stop("end_turn").await;
    second.expect(&["stream", "break"]).await;
}

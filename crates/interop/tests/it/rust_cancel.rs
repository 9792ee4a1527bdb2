//! Cancellation between us and the official Rust SDK, in both directions.

use agent_client_protocol::{
    AcpAgent, Client, Error,
    schema::ProtocolVersion,
    v1::{self, schema as s1},
    v2::{self, schema as s2},
};
use nudge_peer::{CallError, ChildProgram, Peer};
use nudge_wire::acp::v1 as ours;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::programs::{OUR_AGENT, OUR_AGENT_V2, SDK_ECHO_AGENT};

/// Says of a turn that it would take many seconds if nobody stopped it.
fn long() -> String {
    "word ".repeat(1_000)
}

#[tokio::test]
async fn their_client_stops_our_turns() -> Result<(), Error> {
    let (sender, mut updates) = unbounded_channel();
    Client
        .v1()
        .on_receive_notification(
            async move |update: s1::SessionNotification, _| {
                sender.send(update).map_err(Error::into_internal_error)
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(AcpAgent::from_args([OUR_AGENT])?, async |agent: v1::ConnectionTo<_>| {
            agent.send_request(s1::InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            let session = agent.send_request(s1::NewSessionRequest::new("/")).block_task().await?.session_id;

            let prompt = || s1::PromptRequest::new(session.clone(), vec![long().into()]);
            let turn = agent.send_request(prompt());
            updates.recv().await.expect("the turn has begun");
            agent.send_notification(s1::CancelNotification::new(session.clone()))?;
            assert_eq!(turn.block_task().await?.stop_reason, s1::StopReason::Cancelled);

            while updates.try_recv().is_ok() {}
            let turn = agent.send_request(prompt());
            updates.recv().await.expect("the next turn has begun");
            turn.cancel()?;
            let error = turn.block_task().await.expect_err("it was cancelled");
            assert_eq!(error.code, s1::ErrorCode::RequestCancelled);
            Ok(())
        })
        .await
}

#[tokio::test]
async fn their_v2_client_stops_our_turn_and_has_it_told_again() -> Result<(), Error> {
    let (sender, mut updates) = unbounded_channel();
    Client
        .v2()
        .on_receive_notification(
            async move |notification: s2::UpdateSessionNotification, _: v2::ConnectionTo<_>| {
                sender.send(notification.update).map_err(Error::into_internal_error)
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(AcpAgent::from_args([OUR_AGENT_V2])?, async |agent: v2::ConnectionTo<_>| {
            let me = s2::Implementation::new("rust-sdk", "5.0.0");
            agent.send_request(s2::InitializeRequest::new(ProtocolVersion::V2, me)).block_task().await?;
            let session = agent.build_session("/").start_session().block_task().await?.session;

            let said = session.send_prompt(long()).block_task().await?.message_id;
            until(&mut updates, |update| matches!(update, s2::SessionUpdate::AgentMessageChunk(_))).await;
            let held = session.send_prompt("and another");
            session.cancel_active_work()?;
            let idle = until(&mut updates, is_idle).await;
            assert_eq!(stop_reason(&idle), Some(&s2::StopReason::Cancelled));
            let error = held.block_task().await.expect_err("it was cancelled before its turn came");
            assert_eq!(error.code, s1::ErrorCode::RequestCancelled);
            session.close().block_task().await?;

            let listed = agent.send_request(s2::ListSessionsRequest::new()).block_task().await?.sessions;
            assert_eq!(
                listed.iter().map(|info| &info.session_id).collect::<Vec<_>>(),
                [session.session_id()]
            );

            let resume = s2::ResumeSessionRequest::new(session.session_id().clone(), "/");
            let resume = resume.replay_from(s2::ReplayFrom::Start(s2::ReplayFromStart::new()));
            let resumed = agent.send_request(resume);
            let told = until(&mut updates, |_| true).await;
            assert!(matches!(told, s2::SessionUpdate::UserMessage(message) if message.message_id == said));
            assert_eq!(stop_reason(&until(&mut updates, is_idle).await), None);
            resumed.block_task().await?;
            session.send_prompt("again").block_task().await?;
            let idle = until(&mut updates, is_idle).await;
            assert_eq!(stop_reason(&idle), Some(&s2::StopReason::EndTurn));
            Ok(())
        })
        .await
}

async fn until(
    updates: &mut UnboundedReceiver<s2::SessionUpdate>,
    wanted: impl Fn(&s2::SessionUpdate) -> bool,
) -> s2::SessionUpdate {
    loop {
        let update = updates.recv().await.expect("the agent is there");
        if wanted(&update) {
            return update;
        }
    }
}

fn is_idle(update: &s2::SessionUpdate) -> bool {
    matches!(update, s2::SessionUpdate::StateUpdate(s2::StateUpdate::Idle(_)))
}

fn stop_reason(update: &s2::SessionUpdate) -> Option<&s2::StopReason> {
    match update {
        s2::SessionUpdate::StateUpdate(s2::StateUpdate::Idle(idle)) => idle.stop_reason.as_ref(),
        _ => None,
    }
}

/// We drop a prompt, which cancels it at their agent, which cancels the permission it was asking us for.
#[tokio::test]
async fn a_cancellation_goes_to_their_agent_and_comes_back() -> Result<(), CallError> {
    let (asked_sender, mut asked) = unbounded_channel();
    let (told_sender, mut told) = unbounded_channel();
    Peer::client()
        .on_request_beside(move |_: ours::RequestPermissionRequest, agent| {
            let (asked, told) = (asked_sender.clone(), told_sender.clone());
            async move {
                let cancelled = agent.cancellation();
                asked.send(()).expect("the test waits for it");
                cancelled.cancelled().await;
                told.send(()).expect("the test waits for it");
                Ok(ours::RequestPermissionResponse::new(ours::RequestPermissionOutcome::Cancelled))
            }
        })
        .connect(ChildProgram::new(SDK_ECHO_AGENT))
        .expect("their agent starts")
        .run_until(async |agent| {
            agent.request(ours::InitializeRequest::new(nudge_wire::acp::ProtocolVersion::V1)).await?;
            let session = agent.request(ours::NewSessionRequest::new("/")).await?.session_id;
            let turn = agent.request(ours::PromptRequest::new(session, vec!["hello".into()]));
            asked.recv().await.expect("their agent asks first");
            drop(turn);
            told.recv().await.expect("their agent gives up asking");
            Ok(())
        })
        .await
}

//! The client made with the Rust SDK, in version 2.

use agent_client_protocol::{
    Agent, Client, Error, UntypedMessage,
    schema::ProtocolVersion,
    v2::{ActiveSession, ConnectionTo, Responder, schema},
};
use serde_json::json;

use super::{
    Place, frames,
    rust::agent,
    told::{Told, is_idle, says},
};

#[tokio::test]
async fn rust_sdk_in_version_2() -> Result<(), Error> {
    let (place, told) = (Place::alone(), Told::new());
    let session = with_agent(&place, &told, async |agent| first(&agent, &told, &place.cwd()).await).await?;
    with_agent(&place, &told, async |agent| second(&agent, &told, session, &place.cwd()).await).await?;
    place.check(2, &told.events());
    Ok(())
}

/// "The agent MUST send a current `state_update` after any requested history replay and before this response, even
/// without replay."
#[tokio::test]
async fn who_resumes_is_told_the_state_before_the_answer() -> Result<(), Error> {
    let (place, told) = (Place::alone(), Told::new());
    with_agent(&place, &told, async |agent| {
        let session = agent.build_session(place.cwd()).start_session().block_task().await?.session;
        turn(&told, &session, "hello").await?;
        session.close().block_task().await?;
        for replay in [None, Some(schema::ReplayFrom::Start(schema::ReplayFromStart::new()))] {
            let resume = schema::ResumeSessionRequest::new(session.session_id().clone(), place.cwd());
            let resume = agent.resume_session_from(resume.replay_from(replay));
            resume.start_session().block_task().await?.session.close().block_task().await?;
        }
        Ok(())
    })
    .await?;
    let sent = frames::read(&place.path("trace"));
    let before: Vec<_> = sent
        .windows(2)
        .filter(|pair| pair[1].0 == "session/resume")
        .map(|pair| &pair[0].1["params"]["update"]["state"])
        .collect();
    assert_eq!(before, ["idle", "idle"]);
    Ok(())
}

/// Runs `talk` with an agent of its own.
async fn with_agent<T>(
    place: &Place,
    told: &Told,
    talk: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<T, Error>,
) -> Result<T, Error> {
    Client
        .v2()
        .on_receive_notification(
            async |notification: schema::UpdateSessionNotification, _: ConnectionTo<_>| {
                told.tell("update", notification.update);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async |request: schema::RequestPermissionRequest,
                   responder: Responder<_>,
                   agent: ConnectionTo<_>| {
                if told.choice().is_none() {
                    agent.send_notification(schema::CancelSessionNotification::new(
                        request.session_id.clone(),
                    ))?;
                }
                responder.respond(told.permission(request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(agent(place), async |agent: ConnectionTo<_>| {
            let me = schema::Implementation::new("rust-sdk", "5.0.0");
            let initialize = schema::InitializeRequest::new(ProtocolVersion::V2, me);
            told.tell("initialized", agent.send_request(initialize).block_task().await?);
            talk(agent).await
        })
        .await
}

async fn first(agent: &ConnectionTo<Agent>, told: &Told, cwd: &str) -> Result<schema::SessionId, Error> {
    let opened = agent.build_session(cwd).start_session().block_task().await?;
    told.tell("opened", opened.response);
    let session = opened.session;

    turn(told, &session, "hello").await?;
    turn(told, &session, "plan").await?;
    turn(told, &session, "read editor.txt").await?;
    told.choose(Some("allow_once"));
    turn(told, &session, "write allowed.txt words").await?;
    told.choose(Some("reject_once"));
    turn(told, &session, "write rejected.txt words").await?;
    told.choose(None);
    turn(told, &session, "write cancelled.txt words").await?;

    let interrupted = async |from| {
        told.until(from, says("word")).await;
        session.cancel_active_work()
    };
    tokio::try_join!(turn(told, &session, "talk"), interrupted(told.len()))?;

    let from = told.len();
    let steered = async {
        told.until(from, says("word")).await;
        inject(told, &session, "queue", "later").await?;
        inject(told, &session, "steer", "left").await
    };
    tokio::try_join!(turn(told, &session, "talk"), steered)?;
    told.until(told.until(from, says("later")).await, is_idle).await;

    let list = schema::ListSessionsRequest::new().cwd(schema::AbsolutePath::from(cwd));
    told.tell("listed", agent.send_request(list).block_task().await?);
    told.tell("closed", session.close().block_task().await?);
    Ok(session.session_id().clone())
}

async fn second(
    agent: &ConnectionTo<Agent>,
    told: &Told,
    session: schema::SessionId,
    cwd: &str,
) -> Result<(), Error> {
    let replay = schema::ReplayFrom::Start(schema::ReplayFromStart::new());
    let resume = schema::ResumeSessionRequest::new(session, cwd).replay_from(replay);
    let resumed = agent.resume_session_from(resume).start_session().block_task().await?;
    told.tell("opened", resumed.response);
    turn(told, &resumed.session, "again").await
}

/// A turn ends when the session is idle.
async fn turn(told: &Told, session: &ActiveSession<Agent>, text: &str) -> Result<(), Error> {
    let from = told.len();
    told.tell("prompted", session.send_prompt(text).block_task().await?);
    told.until(from, is_idle).await;
    Ok(())
}

async fn inject(told: &Told, session: &ActiveSession<Agent>, mode: &str, text: &str) -> Result<(), Error> {
    let content = [schema::ContentBlock::from(text)];
    let params = json!({ "sessionId": session.session_id(), "mode": mode, "content": content });
    let request = UntypedMessage::new("session/inject", params)?;
    told.tell("injected", session.connection().send_request(request).block_task().await?);
    Ok(())
}

//! The client made with the Rust SDK, in version 1.

use agent_client_protocol::{
    AcpAgent, AcpAgentConfig, Agent, Client, Error, UntypedMessage,
    schema::ProtocolVersion,
    v1::{ConnectionTo, Responder, schema},
};
use serde_json::json;

use super::{
    Place,
    told::{Told, is_idle, says},
};
use crate::programs::nudge;

#[tokio::test]
async fn rust_sdk() -> Result<(), Error> {
    conversation(&Place::alone()).await
}

#[tokio::test]
async fn rust_sdk_through_the_daemon() -> Result<(), Error> {
    conversation(&Place::shared()).await
}

async fn conversation(place: &Place) -> Result<(), Error> {
    let told = Told::new();
    let session = with_agent(place, &told, async |agent| first(&agent, &told, &place.cwd()).await).await?;
    with_agent(place, &told, async |agent| second(&agent, &told, session, &place.cwd()).await).await?;
    place.check(1, &told.events());
    Ok(())
}

/// `nudge acp` at a place.
pub(super) fn agent(place: &Place) -> AcpAgent {
    AcpAgent::new(AcpAgentConfig::new(nudge()).arg("acp").envs(place.env()))
}

/// Runs `talk` with an agent of its own.
async fn with_agent<T>(
    place: &Place,
    told: &Told,
    talk: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<T, Error>,
) -> Result<T, Error> {
    Client
        .v1()
        .on_receive_notification(
            async |notification: schema::SessionNotification, _| {
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
                    agent.send_notification(schema::CancelNotification::new(request.session_id.clone()))?;
                }
                responder.respond(told.permission(request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async |request: schema::ReadTextFileRequest, responder: Responder<_>, _| {
                let is_open = request.path.ends_with("editor.txt");
                told.tell("read", &request);
                if is_open {
                    responder.respond(schema::ReadTextFileResponse::new("in the editor"))
                } else {
                    responder.respond_with_error(Error::new(-32002, "Resource not found"))
                }
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(agent(place), async |agent: ConnectionTo<_>| {
            let files = schema::FileSystemCapabilities::new().read_text_file(true);
            let initialize = schema::InitializeRequest::new(ProtocolVersion::V1)
                .client_capabilities(schema::ClientCapabilities::new().fs(files));
            told.tell("initialized", agent.send_request(initialize).block_task().await?);
            talk(agent).await
        })
        .await
}

async fn first(agent: &ConnectionTo<Agent>, told: &Told, cwd: &str) -> Result<schema::SessionId, Error> {
    let opened = agent.send_request(schema::NewSessionRequest::new(cwd)).block_task().await?;
    let session = opened.session_id.clone();
    told.tell("opened", opened);

    turn(agent, told, &session, "hello").await?;
    turn(agent, told, &session, "plan").await?;
    turn(agent, told, &session, "read editor.txt").await?;
    told.choose(Some("allow_once"));
    turn(agent, told, &session, "write allowed.txt words").await?;
    told.choose(Some("reject_once"));
    turn(agent, told, &session, "write rejected.txt words").await?;
    told.choose(None);
    turn(agent, told, &session, "write cancelled.txt words").await?;

    let interrupted = async |from| {
        told.until(from, says("word")).await;
        agent.send_notification(schema::CancelNotification::new(session.clone()))
    };
    tokio::try_join!(turn(agent, told, &session, "talk"), interrupted(told.len()))?;

    let from = told.len();
    let steered = async {
        told.until(from, says("word")).await;
        inject(agent, told, &session, "queue", "later").await?;
        inject(agent, told, &session, "steer", "left").await
    };
    tokio::try_join!(turn(agent, told, &session, "talk"), steered)?;
    told.until(told.until(from, says("later")).await, is_idle).await;

    let list = schema::ListSessionsRequest::new().cwd(std::path::PathBuf::from(cwd));
    told.tell("listed", agent.send_request(list).block_task().await?);
    told.tell(
        "closed",
        agent.send_request(schema::CloseSessionRequest::new(session.clone())).block_task().await?,
    );
    Ok(session)
}

async fn second(
    agent: &ConnectionTo<Agent>,
    told: &Told,
    session: schema::SessionId,
    cwd: &str,
) -> Result<(), Error> {
    let load = schema::LoadSessionRequest::new(session.clone(), cwd);
    told.tell("opened", agent.send_request(load).block_task().await?);
    turn(agent, told, &session, "again").await
}

async fn turn(
    agent: &ConnectionTo<Agent>,
    told: &Told,
    session: &schema::SessionId,
    text: &str,
) -> Result<(), Error> {
    let prompt = schema::PromptRequest::new(session.clone(), vec![text.into()]);
    told.tell("prompted", agent.send_request(prompt).block_task().await?);
    Ok(())
}

async fn inject(
    agent: &ConnectionTo<Agent>,
    told: &Told,
    session: &schema::SessionId,
    mode: &str,
    text: &str,
) -> Result<(), Error> {
    let content = [schema::ContentBlock::from(text)];
    let params = json!({ "sessionId": session, "mode": mode, "content": content });
    let request = UntypedMessage::new("session/inject", params)?;
    told.tell("injected", agent.send_request(request).block_task().await?);
    Ok(())
}

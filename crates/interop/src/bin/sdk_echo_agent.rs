//! A version 1 agent made with the official SDK that asks for permission and then says back what it is told, a line at a
//! time.

use agent_client_protocol::{
    Agent, Client, Result, Stdio, on_receive_request,
    schema::ProtocolVersion,
    v1::schema::{
        ContentBlock, ContentChunk, Implementation, InitializeRequest, InitializeResponse, NewSessionRequest,
        NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse,
        RequestPermissionOutcome, RequestPermissionRequest, SessionNotification, SessionUpdate, StopReason,
        ToolCallUpdate, ToolCallUpdateFields,
    },
    v1::{ConnectionTo, Responder},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    Agent
        .v1()
        .on_receive_request(
            async |_: InitializeRequest, responder: Responder<InitializeResponse>, _| {
                let info = Implementation::new("sdk-echo", "1.0");
                responder.respond(InitializeResponse::new(ProtocolVersion::V1).agent_info(info))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest, responder: Responder<NewSessionResponse>, _| {
                responder.respond(NewSessionResponse::new("sdk-session"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |prompt: PromptRequest,
                   responder: Responder<PromptResponse>,
                   client: ConnectionTo<Client>| {
                let turn = client.clone();
                let cancellation = responder.cancellation();
                client.spawn(async move {
                    let answer = cancellation.run_until_cancelled(echo(prompt, turn)).await;
                    responder.respond_with_result(answer)
                })
            },
            on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

async fn echo(prompt: PromptRequest, client: ConnectionTo<Client>) -> Result<PromptResponse> {
    let options = vec![
        PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways),
        PermissionOption::new("once", "Once", PermissionOptionKind::AllowOnce),
    ];
    let what = ToolCallUpdate::new("speak", ToolCallUpdateFields::new().title("Speak"));
    let ask = RequestPermissionRequest::new(prompt.session_id.clone(), what, options);
    let answer = match client.send_request(ask).block_task().await?.outcome {
        RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
        _ => return Ok(PromptResponse::new(StopReason::Refusal)),
    };
    let say = |text: &str| {
        let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()));
        client.send_notification(SessionNotification::new(prompt.session_id.clone(), chunk))
    };
    say(&format!("allowed: {answer}\n"))?;
    for block in &prompt.prompt {
        let ContentBlock::Text(text) = block else { continue };
        text.text.split_inclusive('\n').try_for_each(&say)?;
    }
    Ok(PromptResponse::new(StopReason::EndTurn))
}

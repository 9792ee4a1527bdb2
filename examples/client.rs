//! A client that starts an agent, puts one prompt to it and prints what it says.
//!
//! `cargo run --example client -- PROMPT AGENT [ARGUMENT]...`

use std::{env, io::Write};

use nudge_peer::{CallError, ChildProgram, InOrder, Peer};
use nudge_wire::{
    Error,
    acp::{ProtocolVersion, v1},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let (Some(prompt), Some(agent)) = (args.next(), args.next()) else {
        return Err("usage: client PROMPT AGENT [ARGUMENT]...".into());
    };
    let directory = env::current_dir()?;
    let connection = Peer::client()
        .on_notification(show)
        .on_request(allow)
        .connect(ChildProgram::new(agent).args(args))?;
    let talk = connection.run_until(async |agent| {
        let info = agent.request(v1::InitializeRequest::new(ProtocolVersion::V1)).await?.agent_info;
        eprintln!("agent: {}", info.map_or_else(|| "anonymous".to_owned(), |info| info.name));
        let session = agent.request(v1::NewSessionRequest::new(directory)).await?.session_id;
        // In order: the end of the turn after all that was said in it.
        let turn = agent.request(v1::PromptRequest::new(session, vec![prompt.into()])).in_order().await?;
        eprintln!("\nstop reason: {:?}", turn.stop_reason);
        Ok::<_, CallError>(())
    });
    Ok(talk.await?)
}

/// Prints the agent's words as they come.
async fn show(notification: v1::SessionNotification, _: InOrder) -> Result<(), Error> {
    if let v1::SessionUpdate::AgentMessageChunk(chunk) = notification.update
        && let v1::ContentBlock::Text(text) = chunk.content
    {
        print!("{}", text.text);
        std::io::stdout().flush().map_err(|error| Error::internal(error.to_string()))?;
    }
    Ok(())
}

/// Lets the agent do what it asks for, once. A real client asks the user.
async fn allow(
    ask: v1::RequestPermissionRequest,
    _: InOrder,
) -> Result<v1::RequestPermissionResponse, Error> {
    let once = ask.options.into_iter().find(|option| option.kind == v1::PermissionOptionKind::AllowOnce);
    Ok(v1::RequestPermissionResponse::new(once.map_or(v1::RequestPermissionOutcome::Cancelled, |option| {
        v1::RequestPermissionOutcome::Selected(v1::SelectedPermissionOutcome::new(option.option_id))
    })))
}

//! A client that starts an agent, puts one prompt to it and prints what it says.
//!
//! ```text
//! cargo run --example client -- PROMPT AGENT [ARGUMENT]...
//! ```

use std::{env, io::Write};

use nudge_peer::{CallError, Child, InOrder, Peer};
use nudge_wire::{
    Error,
    acp::{
        ProtocolVersion,
        v1::{
            ContentBlock, ContentChunk, InitializeRequest, NewSessionRequest, PermissionOptionKind,
            PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
            SelectedPermissionOutcome, SessionNotification, SessionUpdate,
        },
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let (Some(prompt), Some(agent)) = (args.next(), args.next()) else {
        return Err("usage: client PROMPT AGENT [ARGUMENT]...".into());
    };
    let directory = env::current_dir()?;

    Peer::client()
        .on_notification(show)
        .on_request(allow)
        .connect(Child::new(agent).args(args))?
        .run_until(async |agent| {
            let info = agent.request(InitializeRequest::new(ProtocolVersion::V1)).await?.agent_info;
            eprintln!("agent: {}", info.map_or_else(|| "anonymous".to_owned(), |info| info.name));
            let session = agent.request(NewSessionRequest::new(directory)).await?.session_id;
            let turn = agent.request(PromptRequest::new(session, vec![prompt.into()])).in_order().await?;
            eprintln!("\nstop reason: {:?}", turn.stop_reason);
            Ok::<_, CallError>(())
        })
        .await?;
    Ok(())
}

/// Prints the agent's words as they come.
async fn show(notification: SessionNotification, _: InOrder) -> Result<(), Error> {
    if let SessionUpdate::AgentMessageChunk(ContentChunk { content: ContentBlock::Text(text), .. }) =
        notification.update
    {
        print!("{}", text.text);
        std::io::stdout().flush().map_err(|error| Error::internal(error.to_string()))?;
    }
    Ok(())
}

/// Lets the agent do whatever it asks for, once if that is on offer. A real client asks the user.
async fn allow(ask: RequestPermissionRequest, _: InOrder) -> Result<RequestPermissionResponse, Error> {
    let offered = |kind| ask.options.iter().find(|option| option.kind == kind);
    let choice = offered(PermissionOptionKind::AllowOnce).or(offered(PermissionOptionKind::AllowAlways));
    Ok(RequestPermissionResponse::new(match choice {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }))
}

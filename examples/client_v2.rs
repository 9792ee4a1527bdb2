//! A client for the draft of version 2 that starts an agent, puts one prompt to it and prints what it says.
//!
//! The answer to a prompt says only that it was taken. The turn is over when the session is idle again.
//!
//! ```text
//! cargo run --example client_v2 -- PROMPT AGENT [ARGUMENT]...
//! ```

use std::env;

use nudge_peer::{CallError, ChildProgram, ConnectionClosed, Cx, InOrder, Peer};
use nudge_wire::{
    Error,
    acp::{
        MaybeUndefined, ProtocolVersion,
        v2::{
            CancelledPermissionOutcome, CloseSessionRequest, ContentBlock, Implementation, InitializeRequest,
            MessageId, NewSessionRequest, PermissionOptionKind, PromptRequest, RequestPermissionOutcome,
            RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, SessionUpdate,
            StateUpdate, UpdateSessionNotification,
        },
    },
};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let (Some(prompt), Some(agent)) = (args.next(), args.next()) else {
        return Err("usage: client_v2 PROMPT AGENT [ARGUMENT]...".into());
    };
    let directory = env::current_dir()?;
    let (sender, mut updates) = mpsc::unbounded_channel();

    Peer::client()
        .on_notification(move |notification: UpdateSessionNotification, _| {
            // It fails when nobody follows the session any more.
            let _ = sender.send(notification.update);
            async { Ok(()) }
        })
        .on_request(allow)
        .connect(ChildProgram::new(agent).args(args))?
        .run_until(async |agent| {
            let me = Implementation::new("one-shot", "1.0");
            let info = agent.request(InitializeRequest::new(ProtocolVersion::V2, me)).await?.info;
            eprintln!("agent: {}", info.name);
            let session = agent.request(NewSessionRequest::new(directory)).await?.session_id;
            agent.request(PromptRequest::new(session.clone(), vec![prompt.into()])).await?;
            follow(&agent, &mut updates).await?;
            agent.request(CloseSessionRequest::new(session)).await?;
            Ok::<_, CallError>(())
        })
        .await?;
    Ok(())
}

/// Takes in what the agent says and prints it at the end of the turn, because until then it may change its words.
async fn follow(
    agent: &Cx,
    updates: &mut mpsc::UnboundedReceiver<SessionUpdate>,
) -> Result<(), ConnectionClosed> {
    let mut messages: Vec<(MessageId, String)> = Vec::new();
    let mut busy = false;
    loop {
        let update = tokio::select! {
            biased;
            Some(update) = updates.recv() => update,
            why = agent.closed() => return Err(why),
        };
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                message(&mut messages, chunk.message_id).push_str(text(&chunk.content));
            }
            SessionUpdate::AgentMessage(whole) => match whole.content {
                MaybeUndefined::Undefined => {}
                MaybeUndefined::Null => message(&mut messages, whole.message_id).clear(),
                MaybeUndefined::Value(content) => {
                    *message(&mut messages, whole.message_id) = content.iter().map(text).collect();
                }
            },
            // It may have been idle before; what counts is that it is so again.
            SessionUpdate::StateUpdate(StateUpdate::Idle(idle)) if busy => {
                for (_, text) in &messages {
                    println!("{text}");
                }
                eprintln!("stop reason: {:?}", idle.stop_reason);
                return Ok(());
            }
            SessionUpdate::StateUpdate(StateUpdate::Idle(_)) => {}
            SessionUpdate::StateUpdate(_) => busy = true,
            _ => {}
        }
    }
}

fn message(messages: &mut Vec<(MessageId, String)>, id: MessageId) -> &mut String {
    let at = messages.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
        messages.push((id, String::new()));
        messages.len() - 1
    });
    &mut messages[at].1
}

fn text(content: &ContentBlock) -> &str {
    if let ContentBlock::Text(text) = content { &text.text } else { "[not text]" }
}

/// Lets the agent do whatever it asks for, once if that is on offer. A real client asks the user.
async fn allow(ask: RequestPermissionRequest, _: InOrder) -> Result<RequestPermissionResponse, Error> {
    let offered = |kind| ask.options.iter().find(|option| option.kind == kind);
    let choice = offered(PermissionOptionKind::AllowOnce).or(offered(PermissionOptionKind::AllowAlways));
    Ok(RequestPermissionResponse::new(match choice {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled(CancelledPermissionOutcome::new()),
    }))
}

//! An agent that says back what it is told, a word at a time, until it is done or the user stops it.
//!
//! `cargo build --examples && cargo run --example client -- "tell me more" target/debug/examples/agent`
#![allow(clippy::disallowed_types, reason = "an example needs no more than the standard library")]

use std::{collections::HashMap, sync::Arc, sync::Mutex, time::Duration};

use nudge_peer::{CallError, CancellationToken, ConnectionClosed, Cx, Peer, StdioTransport};
use nudge_wire::acp::{ProtocolVersion, v1};

/// What stops the turns of each session; replaced when it has been used. Nothing panics while it holds the lock.
type Sessions = Mutex<HashMap<v1::SessionId, CancellationToken>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ConnectionClosed> {
    Peer::agent()
        .with(Arc::new(Sessions::default()))
        .on_request(async |_, _: v1::InitializeRequest, _| {
            let info = v1::Implementation::new("echo", "1.0");
            Ok(v1::InitializeResponse::new(ProtocolVersion::V1).agent_info(info))
        })
        .on_request(async |sessions, _: v1::NewSessionRequest, _| {
            let mut sessions = sessions.lock().unwrap();
            let id = v1::SessionId::new(format!("session-{}", sessions.len()));
            sessions.insert(id.clone(), CancellationToken::new());
            Ok(v1::NewSessionResponse::new(id))
        })
        // A turn takes long. It runs beside the queue, so that the cancellation behind it gets through.
        .on_request_beside(async |sessions, prompt: v1::PromptRequest, client| {
            let stop = sessions.lock().unwrap().entry(prompt.session_id.clone()).or_default().clone();
            Ok(v1::PromptResponse::new(match stop.run_until_cancelled(echo(client, prompt)).await {
                Some(done) => done.map(|()| v1::StopReason::EndTurn)?,
                None => v1::StopReason::Cancelled,
            }))
        })
        .on_notification(async |sessions, cancel: v1::CancelNotification, _| {
            let new = CancellationToken::new();
            let used = sessions.lock().unwrap().insert(cancel.session_id, new);
            used.unwrap_or_default().cancel();
            Ok(())
        })
        .serve(StdioTransport)
        .await
}

async fn echo(client: Cx, turn: v1::PromptRequest) -> Result<(), CallError> {
    for block in turn.prompt {
        let v1::ContentBlock::Text(text) = block else { continue };
        for word in text.text.split_inclusive(' ') {
            let chunk = v1::SessionUpdate::AgentMessageChunk(v1::ContentChunk::new(word.into()));
            client.notify(v1::SessionNotification::new(turn.session_id.clone(), chunk)).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

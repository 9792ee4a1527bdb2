//! An agent that says back what it is told, a word at a time, until it is done or the user stops it.
//!
//! ```text
//! cargo build --examples
//! cargo run --example client -- "tell me more" target/debug/examples/agent
//! ```

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use nudge_peer::{CallError, CancellationToken, Closed, Cx, Peer, Stdio};
use nudge_wire::acp::{
    ProtocolVersion,
    v1::{
        CancelNotification, ContentBlock, ContentChunk, Implementation, InitializeRequest,
        InitializeResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId,
        SessionNotification, SessionUpdate, StopReason,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Closed> {
    let sessions = AtomicU64::new(1);
    // What stops the turns of a session; taken out by the one who stops them. Nothing panics while it holds the lock.
    let stops = Arc::new(Mutex::new(HashMap::<SessionId, CancellationToken>::new()));
    let cancels = Arc::clone(&stops);

    Peer::agent()
        .on_request(async |_: InitializeRequest, _| {
            Ok(InitializeResponse::new(ProtocolVersion::V1).agent_info(Implementation::new("echo", "1.0")))
        })
        .on_request(move |_: NewSessionRequest, _| {
            let number = sessions.fetch_add(1, Ordering::Relaxed);
            async move { Ok(NewSessionResponse::new(format!("session-{number}"))) }
        })
        // A turn takes long. It runs beside the queue, so that the cancellation behind it gets through.
        .on_request_beside(move |prompt: PromptRequest, client| {
            let stop = stops.lock().unwrap().entry(prompt.session_id.clone()).or_default().clone();
            async move {
                Ok(PromptResponse::new(match stop.run_until_cancelled(echo(client, prompt)).await {
                    Some(done) => done.map(|()| StopReason::EndTurn)?,
                    None => StopReason::Cancelled,
                }))
            }
        })
        .on_notification(move |cancel: CancelNotification, _| {
            if let Some(stop) = cancels.lock().unwrap().remove(&cancel.session_id) {
                stop.cancel();
            }
            async { Ok(()) }
        })
        .serve(Stdio)
        .await
}

async fn echo(client: Cx, PromptRequest { session_id, prompt, .. }: PromptRequest) -> Result<(), CallError> {
    for block in prompt {
        let ContentBlock::Text(text) = block else { continue };
        for word in text.text.split_inclusive(' ') {
            let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(word.into()));
            client.notify(SessionNotification::new(session_id.clone(), chunk)).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

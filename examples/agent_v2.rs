//! An agent for the draft of version 2 that says back what it is told.
//!
//! In this version a prompt is answered when it is taken; what becomes of it is told in updates. And an agent with
//! sessions lists them, resumes them and closes them.
//!
//! ```text
//! cargo build --examples
//! cargo run --example client_v2 -- "tell me more" target/debug/examples/agent_v2
//! ```
#![allow(clippy::disallowed_types, reason = "an example needs no more than the standard library")]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use nudge_peer::{CallError, CancellationToken, ConnectionClosed, Cx, InOrder, Peer, StdioTransport};
use nudge_wire::{
    Error,
    acp::{
        ProtocolVersion,
        v2::{
            AbsolutePath, AgentCapabilities, AgentMessage, CancelSessionNotification, CloseSessionRequest,
            CloseSessionResponse, ContentBlock, ContentChunk, IdleStateUpdate, Implementation,
            InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse,
            NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, ReplayFrom,
            ResumeSessionRequest, ResumeSessionResponse, RunningStateUpdate, SessionCapabilities, SessionId,
            SessionInfo, SessionUpdate, StateUpdate, StopReason, UpdateSessionNotification, UserMessage,
        },
    },
};
use tokio::sync::Mutex as Turn;

/// The agent's memory, given to every handler. Nothing panics while it holds one of the locks in there.
type Sessions = Arc<Mutex<HashMap<SessionId, Arc<Session>>>>;
type Answer<T> = Result<T, Error>;
static NUMBER: AtomicU64 = AtomicU64::new(1);

struct Session {
    id: SessionId,
    directory: AbsolutePath,
    /// Locked while a turn runs; the next prompt waits for it.
    turn: Arc<Turn<()>>,
    /// Stops the turn and the prompts behind it. That of a closed session is cancelled and stays so.
    stop: Mutex<CancellationToken>,
    history: Mutex<Vec<SessionUpdate>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ConnectionClosed> {
    Peer::agent()
        .with(Sessions::default())
        .on_request(async |_, _: InitializeRequest, _| {
            let capabilities = AgentCapabilities::new().session(SessionCapabilities::new());
            let info = Implementation::new("echo", "2.0");
            Ok(InitializeResponse::new(ProtocolVersion::V2, info).capabilities(capabilities))
        })
        .on_request(new)
        .on_request(list)
        .on_request_beside(resume)
        .on_request_beside(close)
        .on_request_beside(prompt)
        .on_notification(cancel)
        .serve(StdioTransport)
        .await
}

async fn new(all: Sessions, request: NewSessionRequest, _: InOrder) -> Answer<NewSessionResponse> {
    let id = SessionId::new(fresh("session"));
    let session = Session {
        id: id.clone(),
        directory: request.cwd,
        turn: Arc::default(),
        stop: Mutex::default(),
        history: Mutex::default(),
    };
    all.lock().unwrap().insert(id.clone(), Arc::new(session));
    Ok(NewSessionResponse::new(id))
}

async fn list(all: Sessions, _: ListSessionsRequest, _: InOrder) -> Answer<ListSessionsResponse> {
    let info = |session: &Arc<Session>| SessionInfo::new(session.id.clone(), session.directory.clone());
    Ok(ListSessionsResponse::new(all.lock().unwrap().values().map(info).collect()))
}

/// Takes a session up again, after telling what was said in it to a client that wants to know.
async fn resume(all: Sessions, request: ResumeSessionRequest, client: Cx) -> Answer<ResumeSessionResponse> {
    let session = find(&all, &request.session_id)?;
    let replay = match request.replay_from {
        None => Vec::new(),
        Some(ReplayFrom::Start(_)) => session.history.lock().unwrap().clone(),
        Some(_) => return Err(Error::invalid_params("expected `replayFrom.type` to be `start`")),
    };
    for update in replay {
        session.tell(&client, update).await?;
    }
    let now = if session.turn.try_lock().is_ok() { idle(None) } else { running() };
    session.tell(&client, now).await?;
    let mut stop = session.stop.lock().unwrap();
    if stop.is_cancelled() {
        *stop = CancellationToken::new();
    }
    Ok(ResumeSessionResponse::new())
}

async fn close(all: Sessions, request: CloseSessionRequest, _: Cx) -> Answer<CloseSessionResponse> {
    let session = find(&all, &request.session_id)?;
    session.stop.lock().unwrap().cancel();
    // The answer says that nothing runs any more.
    let _over = session.turn.lock().await;
    Ok(CloseSessionResponse::new())
}

async fn cancel(all: Sessions, notification: CancelSessionNotification, _: InOrder) -> Answer<()> {
    let session = find(&all, &notification.session_id)?;
    let mut stop = session.stop.lock().unwrap();
    if !stop.is_cancelled() {
        std::mem::take(&mut *stop).cancel();
    }
    Ok(())
}

/// Answers when the prompt's turn has come, and goes on with it.
async fn prompt(all: Sessions, request: PromptRequest, client: Cx) -> Answer<PromptResponse> {
    let session = find(&all, &request.session_id)?;
    let stop = session.stop.lock().unwrap().clone();
    if stop.is_cancelled() {
        return Err(Error::not_found("session_closed"));
    }
    let turn = Arc::clone(&session.turn).lock_owned().await;
    if stop.is_cancelled() {
        return Err(Error::cancelled());
    }

    let id = fresh("message");
    let said = UserMessage::new(id.clone()).content(request.prompt.clone());
    client.after_answer(|client| async move {
        // It fails if the client has gone, and then there is nobody to tell.
        let _ = session.answer(&client, said, request.prompt, stop).await;
        drop(turn);
    });
    Ok(PromptResponse::new(id))
}

impl Session {
    async fn answer(
        &self,
        client: &Cx,
        said: UserMessage,
        prompt: Vec<ContentBlock>,
        stop: CancellationToken,
    ) -> Result<(), CallError> {
        self.keep(client, SessionUpdate::UserMessage(said)).await?;
        self.tell(client, running()).await?;
        let stop_reason = match stop.run_until_cancelled(self.echo(client, prompt)).await {
            Some(done) => done.map(|()| StopReason::EndTurn)?,
            None => StopReason::Cancelled,
        };
        self.tell(client, idle(Some(stop_reason))).await
    }

    /// Says it a word at a time, and then as a whole.
    async fn echo(&self, client: &Cx, prompt: Vec<ContentBlock>) -> Result<(), CallError> {
        let id = fresh("message");
        for block in &prompt {
            let ContentBlock::Text(text) = block else { continue };
            for word in text.text.split_inclusive(' ') {
                let chunk = ContentChunk::new(word.into(), id.clone());
                self.tell(client, SessionUpdate::AgentMessageChunk(chunk)).await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        self.keep(client, SessionUpdate::AgentMessage(AgentMessage::new(id).content(prompt))).await
    }

    async fn keep(&self, client: &Cx, update: SessionUpdate) -> Result<(), CallError> {
        self.history.lock().unwrap().push(update.clone());
        self.tell(client, update).await
    }

    async fn tell(&self, client: &Cx, update: SessionUpdate) -> Result<(), CallError> {
        client.notify(UpdateSessionNotification::new(self.id.clone(), update)).await
    }
}

fn find(all: &Sessions, id: &SessionId) -> Answer<Arc<Session>> {
    all.lock().unwrap().get(id).cloned().ok_or_else(|| Error::not_found("unknown_session"))
}

fn fresh(kind: &str) -> String {
    format!("{kind}-{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn running() -> SessionUpdate {
    SessionUpdate::StateUpdate(StateUpdate::Running(RunningStateUpdate::new()))
}

fn idle(stop_reason: Option<StopReason>) -> SessionUpdate {
    SessionUpdate::StateUpdate(StateUpdate::Idle(IdleStateUpdate::new().stop_reason(stop_reason)))
}

//! The methods about the process itself: `_nudge/status`, `settle`, `questions`, `answer`, `agent_signed_in` and `stop`.

use nudge_hub::Hub;
use nudge_peer::UnhandledMessage;
use nudge_wire::{Error, RawJson};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Gateway;

/// What is told of the program that runs.
#[derive(Debug, Clone, Default)]
pub struct ProgramInfo {
    /// Its version.
    pub version: String,
    /// What it was built from.
    pub build: String,
    /// Whether a client may ask it to end: it serves others too.
    pub is_daemon: bool,
}

/// Answers what is said to the process itself; gives back all else.
pub(crate) async fn answer(gateway: &Gateway, message: UnhandledMessage) -> Option<UnhandledMessage> {
    let UnhandledMessage::Request(request) = message else { return Some(message) };
    let hub = gateway.sessions();
    let result = match &**request.method() {
        "_nudge/status" => Ok(status(gateway.program(), hub).await),
        "_nudge/settle" => settle(hub).await.map(|()| json!({})),
        "_nudge/questions" => Ok(json!({ "questions": questions(hub).await })),
        "_nudge/answer" => match hub {
            Some(hub) => hub.answer(request.params()).await.map(|answered| json!({ "answered": answered })),
            None => Ok(json!({ "answered": false })),
        },
        "_nudge/agent_signed_in" => signed_in(gateway, request.params()).map(|()| json!({})),
        "_nudge/stop" if gateway.program().is_daemon => {
            gateway.ask_to_stop();
            Ok(json!({}))
        }
        _ => return Some(UnhandledMessage::Request(request)),
    };
    // Whoever asked may be gone.
    let _ = request.respond(result).await;
    None
}

/// The agent that a user has signed in to on a terminal.
#[derive(Deserialize)]
struct SignedInAgent {
    program: String,
    args: Vec<String>,
    /// By which the client is known to whom the way to do so was offered.
    #[serde(default)]
    client: Option<String>,
}

fn signed_in(gateway: &Gateway, params: Option<&RawJson>) -> Result<(), Error> {
    let params = params.ok_or_else(|| Error::invalid_params("Invalid params: program is missing"))?;
    let read = params.to::<SignedInAgent>();
    let agent = read.map_err(|error| Error::bad_params("_nudge/agent_signed_in", &error))?;
    gateway.agents().signed_in(&agent.program, &agent.args, agent.client.as_deref());
    Ok(())
}

async fn status(program: &ProgramInfo, hub: Option<&Hub>) -> Value {
    let sessions = match hub {
        Some(hub) => json!(hub.status().await.sessions),
        None => json!([]),
    };
    // Where the file is by now: it may have been replaced.
    let path = std::env::current_exe().ok();
    let path = path.as_ref().map(|path| path.to_string_lossy());
    json!({
        "pid": std::process::id(), "version": program.version, "build": program.build,
        "program": path, "sessions": sessions,
    })
}

/// Waits until all that was shown is on disk, and all that was said before is handled.
async fn settle(hub: Option<&Hub>) -> Result<(), Error> {
    match hub {
        Some(hub) => hub.settle().await,
        None => Ok(()),
    }
}

async fn questions(hub: Option<&Hub>) -> Value {
    match hub {
        Some(hub) => json!(hub.questions().await),
        None => json!([]),
    }
}

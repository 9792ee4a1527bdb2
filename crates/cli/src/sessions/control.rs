//! A client of the daemon.

use std::{os::unix::net::UnixStream, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use nudge_peer::{CallError, Cx, InOrder, Peer, Transport, UnhandledMessage};
use nudge_wire::{RawJson, frame::DEFAULT_MESSAGE_LIMIT};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{runtime::Runtime, sync::mpsc};

use crate::{
    args::read_rehearsal, daemon, data_place::DataPlace, serving::ServingMode, settings::Settings,
    terminal_text,
};

/// What is asked of the user.
const QUESTIONS: [&str; 2] = ["session/request_permission", "elicitation/create"];

/// A connection to the daemon that is not running yet.
pub(crate) struct DaemonLink {
    connection: nudge_peer::Connection,
    seen: Option<mpsc::Receiver<SeenUpdate>>,
    looks_on: bool,
}

/// What a session shows whoever looks on.
pub(crate) enum SeenUpdate {
    /// An update.
    Update(RawJson),
    /// The params of a question to the user: for permission, or a form.
    Asked(RawJson),
}

/// What asks the daemon.
pub(crate) struct DaemonClient {
    cx: Cx,
    pub(crate) seen: mpsc::Receiver<SeenUpdate>,
}

/// An event loop for one command.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the event loop")
}

impl DaemonLink {
    /// Connects to the daemon, which is started if there is none. To be called in an event loop.
    pub(crate) fn start(place: &DataPlace, settings: &Settings) -> Result<Self> {
        // Sessions that are taken up here are served as the settings ask.
        let rehearsal = read_rehearsal(settings.agent_rehearsal.as_deref())?;
        let (model, provider) = (settings.agent_model.clone(), settings.agent_provider.clone());
        let linger = settings.daemon_linger.asked();
        let serving = ServingMode { rehearsal, model, provider, linger, ..serving() };
        Self::over(daemon::reach(place, &serving)?)
    }

    /// Connects to the daemon if there is one. To be called in an event loop.
    pub(crate) fn connect(place: &DataPlace) -> Result<Option<Self>> {
        if place.socket().is_none() {
            return Ok(None);
        }
        daemon::connect(place, &serving())?.map(Self::over).transpose()
    }

    /// As [`DaemonLink::connect`], but does not wait for a daemon that cannot be found.
    pub(crate) fn connect_at_once(place: &DataPlace) -> Result<Option<Self>> {
        daemon::try_once(place, &serving(), None)?.map(|line| Self::over(line.stream)).transpose()
    }

    fn over(stream: UnixStream) -> Result<Self> {
        stream.set_nonblocking(true).context("cannot use the daemon's socket")?;
        let stream = tokio::net::UnixStream::from_std(stream).context("cannot use the daemon's socket")?;
        let (reader, writer) = stream.into_split();
        let (sender, seen) = mpsc::channel(256);
        let unanswered = Arc::new(Mutex::new(Vec::new()));
        let peer = Peer::client().on_unknown(move |message, _: InOrder| {
            let (sender, unanswered) = (sender.clone(), Arc::clone(&unanswered));
            async move {
                match message {
                    UnhandledMessage::Notification(note) if &**note.method() == "session/update" => {
                        if let Some(update) = note.params().and_then(|params| params.get(&["update"])) {
                            let _ = sender.send(SeenUpdate::Update(update)).await;
                        }
                        Ok(())
                    }
                    // A terminal that looks on does not answer for the user; whoever else is attached is asked too.
                    UnhandledMessage::Request(request) if QUESTIONS.contains(&&**request.method()) => {
                        let params = request.params().cloned();
                        let responder = request.into_responder();
                        unanswered.lock().push(responder);
                        if let Some(params) = params {
                            let _ = sender.send(SeenUpdate::Asked(params)).await;
                        }
                        Ok(())
                    }
                    // Nobody else is asked for it, and the agent waits.
                    other => other.refuse().await,
                }
            }
        });
        let connection =
            peer.connect(Transport::new(reader, writer)).context("cannot use the daemon's socket")?;
        Ok(Self { connection, seen: Some(seen), looks_on: false })
    }

    /// It stays and shows what is asked, also forms; they can be answered with `nudge answer`.
    pub(crate) fn looking_on(self) -> Self {
        Self { looks_on: true, ..self }
    }

    /// Runs the connection while `task` asks.
    pub(crate) async fn run<T>(
        mut self,
        task: impl AsyncFnOnce(&mut DaemonClient) -> Result<T>,
    ) -> Result<T> {
        let seen = self.seen.take().context("a connection is run once")?;
        let looks_on = self.looks_on;
        self.connection
            .run_until(async |cx| {
                let mut client = DaemonClient { cx, seen };
                let info = json!({ "name": "nudge-cli", "version": env!("CARGO_PKG_VERSION") });
                let forms = json!({ "elicitation": { "form": {}, "url": {} } });
                let capabilities = if looks_on { forms } else { json!({}) };
                let params = json!({ "protocolVersion": 2, "info": info, "capabilities": capabilities });
                client.request("initialize", &params).await?;
                task(&mut client).await
            })
            .await
    }
}

impl DaemonClient {
    /// Asks and waits for the answer; an error of the daemon is an error with its reason.
    pub(crate) async fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.ask(method, params)?.await
    }

    /// Has the daemon write down what its sessions have shown.
    pub(crate) async fn settle(&mut self) {
        let nothing = json!({});
        let settled = self.request("_nudge/settle", &nothing);
        // What is there is read if it takes too long, or if an older daemon does not know how.
        let _ = tokio::time::timeout(SETTLES_WITHIN, settled).await;
    }

    /// Says something that is not answered.
    pub(crate) async fn notify(&self, method: &str, params: &Value) -> Result<()> {
        let params = RawJson::of(params).context("params are JSON")?;
        Ok(self.cx.notify_raw(method, Some(&params)).await?)
    }

    /// Asks; the answer is awaited elsewhere.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<impl Future<Output = Result<Value>> + use<>> {
        let params = RawJson::of(params).context("params are JSON")?;
        let asked = self.cx.request_raw(method, Some(&params));
        Ok(async move {
            match asked.await {
                Ok(answer) => Ok(answer.to()?),
                Err(CallError::Rpc(error)) => {
                    let message = terminal_text::one_line(&error.message);
                    match error.get_reason() {
                        Some(reason) => bail!("{message}: {}", reason_in_words(&reason)),
                        None => bail!("{message}"),
                    }
                }
                Err(error) => Err(error.into()),
            }
        })
    }
}

/// How long the store is waited for before it is read as it is.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);

/// Has the daemon, if one runs, write down what its sessions have shown: the last words of a turn that has just ended may not
/// be in the store yet.
pub(crate) async fn settle(place: &DataPlace) -> Result<()> {
    let Some(control) = DaemonLink::connect(place)? else { return Ok(()) };
    control
        .run(async |client| {
            client.settle().await;
            Ok(())
        })
        .await
}

/// A reason in words, with what to do.
fn reason_in_words(reason: &str) -> &str {
    match reason {
        "no_running_turn" => "nothing runs that could be steered; use `nudge queue`",
        "already_delivered" => "the message has been delivered; it cannot be taken back any more",
        "unknown_message_id" => "there is no such message; `nudge sessions show SESSION` lists what waits",
        "unknown_session" => "there is no such session; `nudge sessions` lists them",
        "session_in_use" => "another Nudge process holds the session; end it, or speak to it there",
        other => other,
    }
}

fn serving() -> ServingMode {
    ServingMode { trace: None, max_message: DEFAULT_MESSAGE_LIMIT, ..ServingMode::default() }
}

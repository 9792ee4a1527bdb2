//! `nudge acp`: ACP on standard input and output.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, Result};
use nudge_nes::Options;
use nudge_peer::{Closed, Limits, Peer, Stdio, Tap};
use nudge_wire::{
    Error, RawJson, Request, Version, acp,
    caps::{AgentInit, ClientInit},
};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{args::Acp, nes::Nes};

/// Threads that compute suggestions, and those that read and write what is no pipe.
const THREADS: usize = 8;

pub(crate) fn run(args: &Acp) -> Result<ExitCode> {
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "nudge acp speaks JSON-RPC, one message a line, and is meant to be started by an editor. \
             Type a message, or press Ctrl-D to leave."
        );
    }
    // One connection: everything but the computing in one thread costs no hop between threads.
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let code = runtime.block_on(serve(args));
    // A read from a terminal cannot be interrupted; it must not hold up the end.
    runtime.shutdown_background();
    code
}

async fn serve(args: &Acp) -> Result<ExitCode> {
    let tap = match &args.trace {
        Some(path) => {
            let opened = Tap::to_file(path);
            Some(opened.with_context(|| format!("cannot write the trace to {}", path.display()))?)
        }
        None => None,
    };
    let limits = Limits { max_message: args.max_message, ..Limits::default() };
    let nes = Nes::new(Options { data_dir: args.data_dir(), ..Options::default() });
    let peer = nes.handlers(Peer::agent().limits(limits).tap(tap));
    let connection = peer
        .on_request(move |Initialize(params), _| {
            let nes = Arc::clone(&nes);
            async move { initialize(&params, &nes) }
        })
        .connect(Stdio)
        .context("cannot open standard input and output")?;
    let cx = connection.cx();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut served = std::pin::pin!(connection.serve());
    let code = tokio::select! {
        ended = &mut served => return finished(ended),
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
    };
    // What is queued is still written.
    cx.close();
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), served).await;
    Ok(ExitCode::from(code))
}

fn finished(ended: Result<(), Closed>) -> Result<ExitCode> {
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // An editor that goes away while we still write is an ordinary end.
        Err(Closed::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(why) => Err(why.into()),
    }
}

/// `initialize` of either version, read leniently: what version it asks for decides what it is.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Initialize(RawJson);

impl Request for Initialize {
    const METHOD: &'static str = "initialize";
    type Response = RawJson;
}

fn initialize(params: &RawJson, nes: &Nes) -> Result<RawJson, Error> {
    if !params.as_str().starts_with('{') {
        return Err(Error::invalid_params("Invalid params for initialize: expected an object"));
    }
    let requested = params.get(&["protocolVersion"]).and_then(|version| version.to::<Value>().ok());
    let version = Version::negotiate(requested.as_ref());
    tracing::info!(?version, "initialized");
    let answer = match version {
        Version::V1 => raw(&acp::v1::InitializeResponse::new(acp::ProtocolVersion::V1).agent_info(
            acp::v1::Implementation::new("nudge", env!("CARGO_PKG_VERSION")).title("Nudge".to_owned()),
        )),
        Version::V2 => raw(&acp::v2::InitializeResponse::new(
            acp::ProtocolVersion::V2,
            acp::v2::Implementation::new("nudge", env!("CARGO_PKG_VERSION")).title("Nudge".to_owned()),
        )),
    };
    let client = ClientInit::new(version, params.clone());
    let answer = nes.initialize(&client, AgentInit::new(version, answer));
    Ok(answer.expect("the answer is an object with objects in it").result)
}

fn raw(answer: &impl Serialize) -> RawJson {
    RawJson::of(answer).expect("the answer is plain data with string keys")
}

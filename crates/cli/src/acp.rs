//! `nudge acp`: ACP on standard input and output.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::{Context, Result};
use nudge_hub::Hub;
use nudge_peer::{ConnectionClosed, Cx, StdioTransport};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{
    args::{AcpArgs, AgentArgs, read_rehearsal},
    daemon::{self, WelcomedLink},
    data_place::DataPlace,
    refusal::{RefusalFraming, refuse_first_request},
    serving::{ProcessGateway, ServingMode, open_gateway, open_tap},
    settings::{DaemonMode, NesBy, OnClose, SettingOrigin, Settings},
};

/// Threads that compute suggestions, and those that read and write what is no pipe.
const THREADS: usize = 8;

pub(crate) fn run(args: &AcpArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "nudge acp speaks JSON-RPC, one message a line, and is meant to be started by an editor. \
             Type a message, or press Ctrl-D to leave."
        );
    }
    let serving = serving(&args.agent, settings);
    let serving =
        serving.inspect_err(|error| refuse_first_request(RefusalFraming::Lines, &format!("{error:#}")))?;
    let on_close = &settings.session_on_close;
    if settings.daemon_mode == DaemonMode::Off || place.socket().is_none() {
        return alone(on_close.value, place, &serving);
    }
    // Elsewhere than on the command line it is for when there is no daemon.
    if on_close.value == OnClose::Cancel && matches!(on_close.origin, SettingOrigin::Flag(_)) {
        anyhow::bail!(
            "a turn in a daemon goes on when the editor leaves; --on-close cancel needs --no-daemon beside it"
        );
    }
    relay(place, &serving, settings)
}

/// How a client of this agent is served.
pub(crate) fn serving(agent: &AgentArgs, settings: &Settings) -> Result<ServingMode> {
    let trace = settings.trace_file.as_deref().map(std::path::absolute).transpose();
    let trace = trace.context("cannot find the trace's folder")?;
    let agent = agent.downstream(settings, settings.agent_name.value.as_deref())?;
    let nes_by_agent = settings.nes_by == NesBy::Agent && agent.is_some();
    let rehearsal = read_rehearsal(settings.agent_rehearsal.as_deref())?;
    let (max_message, linger) = (settings.message_limit, settings.daemon_linger.asked());
    let (model, provider) = (settings.agent_model.clone(), settings.agent_provider.clone());
    Ok(ServingMode { trace, max_message, agent, nes_by_agent, rehearsal, model, provider, linger })
}

/// Passes everything on to the daemon.
fn relay(place: &DataPlace, serving: &ServingMode, settings: &Settings) -> Result<ExitCode> {
    let line = daemon::attach(place, serving)?;
    tell_of_log(&line, settings);
    match daemon::relay(line) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => anyhow::bail!("the daemon has ended the connection; start again and load the session"),
        Err(error) => Err(error).context("the connection to the daemon broke"),
    }
}

/// What is logged was settled when the daemon was started.
fn tell_of_log(line: &WelcomedLink, settings: &Settings) {
    let level = &settings.log_level;
    if let (Some(asked), Some(logged)) = (&level.value, &line.log)
        && asked != logged
    {
        let _ = writeln!(
            io::stderr(),
            "nudge: the daemon runs already and logs `{logged}`, to daemon.log in the data folder; \
             end it with `nudge stop` to have {} heeded",
            level.origin
        );
    }
}

/// Holds the sessions in this process.
fn alone(on_close: OnClose, place: &DataPlace, serving: &ServingMode) -> Result<ExitCode> {
    // One connection: everything but the computing in one thread costs no hop between threads.
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let code = runtime.block_on(serve(on_close, place, serving));
    // A read from a terminal cannot be interrupted; it must not hold up the end.
    runtime.shutdown_background();
    code
}

async fn serve(on_close: OnClose, place: &DataPlace, serving: &ServingMode) -> Result<ExitCode> {
    let ProcessGateway { gateway, hub } = open_gateway(place, None, false).await?;
    let options = serving.options(open_tap(serving)?, None)?;
    let connection = gateway.connect(StdioTransport, options).context("cannot open the connection")?;
    let cx = connection.cx();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut running = std::pin::pin!(connection.run());
    let is_patient = on_close == OnClose::Finish;
    let code = tokio::select! {
        // What was asked for is still answered.
        (ended, ()) = async { tokio::join!(&mut running, end(&hub, &cx, is_patient)) } => return finished(ended),
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
    };
    hub.end_at_once().await;
    // What is queued is still written.
    cx.close();
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), running).await;
    Ok(ExitCode::from(code))
}

/// Leaves the sessions when the editor says nothing more.
async fn end(hub: &Hub, cx: &Cx, is_patient: bool) {
    cx.input_ended().await;
    hub.end(is_patient).await;
}

fn finished(ended: Result<(), ConnectionClosed>) -> Result<ExitCode> {
    match ended {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // An editor that goes away while we still write is an ordinary end.
        Err(ConnectionClosed::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => Err(why.into()),
    }
}

//! The daemon's own side: the lock, the socket, and when it leaves.

use std::{
    io::{self, Cursor, ErrorKind, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nudge_gateway::ClientConnection;
use nudge_hub::Environment;
use nudge_peer::{ConnectionClosed, Transport, TransportCut};
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

use crate::{
    args::read_rehearsal,
    daemon::{
        RelayGreeting,
        descriptors::raise_limit,
        far_end::{FarEnd, last_words},
        greeters,
        greeting::{DaemonFarewell, DaemonWelcome, LONGEST},
        handover::{self, HandoverBytes},
        listener::{AcceptedConnection, DaemonListener},
        private::make_private,
        report::{StartReport, StartReporter},
        socket::{DaemonSocket, SocketClaim, SocketLock, holder, lock_file},
        state::{DaemonState, unused},
        threads::DaemonThreads,
    },
    data_place::DataPlace,
    log,
    serving::{open_gateway, open_tap},
    settings::Settings,
};

/// How often the daemon looks whether it is still found.
const LOOK: Duration = Duration::from_secs(1);

/// How long the greeting of a connection may take that is only to be told to go.
const TURNED_AWAY: Duration = Duration::from_millis(500);

/// Why a connection is refused when there are no descriptors for it.
const TOO_MANY: &str = "it has as many files and connections open as its limit (`ulimit -n`) allows; close some, or \
                        end it with `nudge stop` and start it under a higher limit";

/// Hold the sessions of a data folder, so that they outlive windows; started on demand
///
/// `nudge acp` starts it and connects to it. It leaves by itself when nothing has been attached or running for a while.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  NUDGE_LOG=info nudge daemon     in a terminal, to see what it does; Ctrl-C ends it")]
pub(crate) struct DaemonArgs {
    /// Start another and end, so that it is nobody's child
    #[arg(long, hide = true)]
    detach: bool,

    /// In a session of its own
    #[arg(long, hide = true)]
    detached: bool,
}

/// How long the sessions may take to be left.
const LEAVE: Duration = Duration::from_secs(10);

/// How long another daemon may hold the lock without listening: it may be ending, or not have begun.
const HELD: Duration = Duration::from_secs(15);
/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(5);

/// Threads that compute suggestions and read files, at most, for each that serves connections.
const THREADS: usize = 8;

/// Threads that serve connections.
const ROOMS: usize = 2;

pub(crate) fn run(args: &DaemonArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    if args.detach {
        return detach();
    }
    let mut reporter = StartReporter::new(args.detached);
    let ended = hold(args, place, settings, &mut reporter);
    if let Err(error) = &ended {
        reporter.failed(error);
    }
    ended
}

fn hold(
    args: &DaemonArgs,
    place: &DataPlace,
    settings: &Settings,
    reporter: &mut StartReporter,
) -> Result<ExitCode> {
    if args.detached {
        // Ctrl-C in the terminal it was started from is not meant for it.
        rustix::process::setsid().context("cannot begin a session")?;
    }
    let dir = place.data_dir().context("there is no data folder: name one with --data")?;
    let Some(socket) = place.socket() else {
        bail!("a store in memory cannot be shared: name a file with --store");
    };
    // One that was started on demand plays what each connection brings with its greeting.
    let rehearsal = settings.agent_rehearsal.as_deref().filter(|_| !args.detached);
    let rehearsal = read_rehearsal(rehearsal)?;
    make_private(&dir)?;
    let Some(lock) = wait_for_lock(&socket)? else {
        // Another was faster; whoever started this one connects to that.
        reporter.say(&StartReport::Listens);
        if !args.detached {
            let _ = writeln!(io::stderr(), "nudge: a daemon runs here already; `nudge status` tells of it");
        }
        return Ok(ExitCode::SUCCESS);
    };
    raise_limit();
    // What all connections share.
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let mut rooms = DaemonThreads::open(ROOMS, THREADS).context("cannot start threads for connections")?;
    let lock = runtime.block_on(async {
        let process = open_gateway(place, rehearsal.as_deref(), true).await?;
        let daemon_socket = DaemonSocket::take(lock, &socket)?;
        reporter.say(&StartReport::Listens);
        tracing::info!(socket = %socket.display(), "the daemon listens");
        let logged = log::logged(settings.log_level.value.as_deref());
        serve(&DaemonState::new(process, settings.daemon_linger.value, logged), daemon_socket, &mut rooms)
            .await
    })?;
    drop(rooms);
    runtime.shutdown_timeout(Duration::from_secs(1));
    lock.hold_to_the_end();
    Ok(ExitCode::SUCCESS)
}

/// Starts the daemon and ends: an editor that ends all it has started does not find it.
fn detach() -> Result<ExitCode> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let args = std::env::args_os().skip(1);
    let args = args.map(|arg| if arg == "--detach" { "--detached".into() } else { arg });
    std::process::Command::new(program).args(args).spawn().context("cannot start the daemon")?;
    Ok(ExitCode::SUCCESS)
}

/// Takes the lock, for which a daemon that ends has to be waited; `None` if another daemon listens.
fn wait_for_lock(socket: &Path) -> Result<Option<SocketLock>> {
    let deadline = std::time::Instant::now() + HELD;
    loop {
        if let Some(lock) = SocketLock::take(&lock_file(socket))? {
            return Ok(Some(lock));
        }
        if std::os::unix::net::UnixStream::connect(socket).is_ok() {
            return Ok(None);
        }
        if std::time::Instant::now() > deadline
            && let Some(holder) = holder(socket)?
        {
            bail!("{holder} is the daemon but does not listen on {}; `nudge stop` ends it", socket.display());
        }
        std::thread::sleep(AGAIN);
    }
}

async fn serve(
    state: &Arc<DaemonState>,
    mut daemon_socket: DaemonSocket,
    rooms: &mut DaemonThreads,
) -> Result<SocketLock> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut daemon_listener = DaemonListener::new();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unused = std::pin::pin!(unused(state));
    loop {
        tokio::select! {
            came = comes(&mut daemon_listener, &daemon_socket) => match came {
                Some(AcceptedConnection::Comes(stream)) => drop(rooms.next().spawn(connection(Arc::clone(state), stream))),
                Some(AcceptedConnection::IsTooMuch(stream)) => drop(rooms.next().spawn(turn_away(Arc::clone(state), stream))),
                None => {}
            },
            _ = ticks.tick() => {
                look_after(&mut daemon_socket, state);
                state.process.gateway.look_at_logins();
            }
            () = &mut unused => break,
            () = state.process.gateway.stop_asked() => break,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    tracing::info!("the daemon leaves");
    let lock = daemon_socket.leave();
    // A session that cannot be left does not keep the next daemon waiting.
    if tokio::time::timeout(LEAVE, state.process.hub.end_at_once()).await.is_err() {
        tracing::error!("not every session could be left in time");
    }
    Ok(lock)
}

/// The next who comes; nobody does while the socket is lost.
async fn comes(
    daemon_listener: &mut DaemonListener,
    daemon_socket: &DaemonSocket,
) -> Option<AcceptedConnection> {
    match &daemon_socket.listener {
        Some(listener) => daemon_listener.next(listener).await,
        None => std::future::pending().await,
    }
}

/// Sees that the daemon is found by those who come.
fn look_after(daemon_socket: &mut DaemonSocket, state: &DaemonState) {
    match daemon_socket.check() {
        Ok(SocketClaim::Well) => {}
        Ok(SocketClaim::Again) => {
            tracing::warn!("the daemon could not be found for a while; it is again");
            state.set_lost(false);
        }
        Ok(SocketClaim::Lost) if state.is_lost() => {}
        Ok(SocketClaim::Lost) => {
            tracing::warn!(
                "the data folder is another's now; the daemon leaves when nobody needs it any more"
            );
            state.set_lost(true);
        }
        // The next look tries again.
        Err(error) => tracing::debug!("the daemon cannot be found: {error:#}"),
    }
}

async fn connection(state: Arc<DaemonState>, stream: std::os::unix::net::UnixStream) {
    if let Err(error) = attend(&state, stream).await {
        tracing::warn!("a connection ended: {error:#}");
    }
}

async fn attend(state: &Arc<DaemonState>, stream: std::os::unix::net::UnixStream) -> Result<()> {
    let mut stream = UnixStream::from_std(stream).context("cannot use the connection")?;
    let Some((mut received, greeting)) = greeted(state, &stream, greeters::PATIENCE).await? else {
        return Ok(());
    };
    if greeting.is_newer() && state.is_idle().await {
        say(&mut stream, &DaemonWelcome::Leaving).await?;
        state.process.gateway.ask_to_stop();
        return Ok(());
    }
    let Some(_attached) = state.attach() else {
        return say(&mut stream, &DaemonWelcome::Refused { why: TOO_MANY.to_owned() }).await;
    };
    let environment = Environment::new(greeting.env);
    let serving = &greeting.serving;
    let options = open_tap(serving).and_then(|tap| serving.options(tap, Some(environment)));
    let options = match options {
        Ok(options) => options,
        Err(error) => return say(&mut stream, &DaemonWelcome::Refused { why: format!("{error:#}") }).await,
    };
    if let Some(linger) = serving.linger {
        state.set_linger(linger);
    }
    let pipes = received.open();
    let welcome = DaemonWelcome::Ready {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        has_pipes: pipes.is_some(),
        has_rehearsal: true,
        log: Some(state.logged.clone()),
    };
    say(&mut stream, &welcome).await?;
    let gateway = &state.process.gateway;
    if let Some(pipes) = pipes {
        let (pipes, cut) = pipes.with_cut();
        let connection = gateway.connect(pipes, options).context("cannot open the connection")?;
        return beside_relay(connection, cut, stream).await;
    }
    let far_end = FarEnd::of(&stream).context("cannot use the connection")?;
    let (reader, writer) = stream.into_split();
    let reader = Cursor::new(received.rest).chain(reader);
    let connected = gateway.connect(Transport::new(reader, writer), options);
    let connection = connected.context("cannot open the connection")?;
    let cx = connection.cx();
    let gone = async {
        far_end.left().await;
        last_words(&cx).await;
    };
    Ok(connection.run_until(gone).await?)
}

/// The greeting of who connects; `None` if none came.
async fn greeted(
    state: &DaemonState,
    stream: &UnixStream,
    patience: Duration,
) -> Result<Option<(HandoverBytes, RelayGreeting)>> {
    let peer = stream.peer_cred().context("cannot tell who connects")?;
    if peer.uid() != rustix::process::getuid().as_raw() {
        bail!("another user tried to connect");
    }
    let received = state.greeters.wait(handover::receive(stream, LONGEST), patience).await;
    let Some(received) = received.transpose()?.filter(|received| !received.line.is_empty()) else {
        // Somebody may have looked whether anybody listens.
        tracing::info!("somebody connected and did not greet");
        return Ok(None);
    };
    let greeting = serde_json::from_slice(&received.line).ok().context("the greeting is not one of Nudge")?;
    Ok(Some((received, greeting)))
}

/// Tells who comes that there is nothing left to serve it with.
async fn turn_away(state: Arc<DaemonState>, stream: std::os::unix::net::UnixStream) {
    let Ok(mut stream) = UnixStream::from_std(stream) else { return };
    if let Ok(Some(_)) = greeted(&state, &stream, TURNED_AWAY).await {
        let _ = say(&mut stream, &DaemonWelcome::Refused { why: TOO_MANY.to_owned() }).await;
    }
}

/// Serves the editor's pipes while the process that handed them over lives, and tells it the end.
async fn beside_relay(connection: ClientConnection, cut: TransportCut, mut relay: UnixStream) -> Result<()> {
    let cx = connection.cx();
    let gone = async {
        gone(&mut relay).await;
        // To the editor the process is the connection: its pipes end with it.
        cut.now();
        last_words(&cx).await;
    };
    let ended = connection.run_until(gone).await;
    let why = match cx.closed().await {
        // The relay says what to do then, if it is there.
        ConnectionClosed::Local => return Ok(ended?),
        ConnectionClosed::Eof => None,
        ConnectionClosed::Io(error)
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            None
        }
        why => Some(why.to_string()),
    };
    // The relay may be gone by now.
    let _ = say(&mut relay, &DaemonFarewell { why }).await;
    Ok(ended?)
}

/// Waits until the process on the other end is gone. It has nothing more to say.
async fn gone(relay: &mut UnixStream) {
    let mut ignored = [0; 64];
    while relay.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
}

async fn say(stream: &mut UnixStream, what: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Ok(stream.write_all(&line).await?)
}

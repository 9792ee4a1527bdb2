//! The daemon's own side: the lock, the socket, and when it leaves.

use std::{
    fs::{self, File, TryLockError},
    io::{Cursor, ErrorKind},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nudge_hub::Environment;
use nudge_peer::{Closed, Cut, Transport};
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    sync::Notify,
    time::Instant,
};

use crate::{
    daemon::{
        Greeting,
        far_end::{FarEnd, last_words},
        greeting::{Farewell, LONGEST, Welcome},
        handover,
        rooms::Rooms,
        spawn::make_private,
    },
    house::{House, Served, open_tap},
    place::Place,
};

/// Hold the sessions of a data folder, so that they outlive windows; started on demand
///
/// `nudge acp` starts it and connects to it. It leaves by itself when nothing has been attached or running for a while.
#[derive(Debug, clap::Args)]
pub(crate) struct Daemon {
    /// How many seconds it stays with nothing attached and nothing running
    #[arg(long, value_name = "SECONDS", env = "NUDGE_LINGER", default_value_t = 600)]
    linger: u64,

    #[command(flatten)]
    rehearsal: crate::args::Rehearsal,

    /// Start another and end, so that it is nobody's child
    #[arg(long, hide = true)]
    detach: bool,

    /// In a session of its own
    #[arg(long, hide = true)]
    detached: bool,
}

/// How long the sessions may take to be left.
const LEAVE: Duration = Duration::from_secs(10);

/// How often it is looked whether a turn still runs, at least and at most.
const LOOK: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(50);

/// Threads that compute suggestions and read files, at most, for each that serves connections.
const THREADS: usize = 8;

/// Threads that serve connections.
const ROOMS: usize = 2;

pub(crate) fn run(args: &Daemon, place: &Place) -> Result<ExitCode> {
    if args.detach {
        return detach();
    }
    if args.detached {
        // Ctrl-C in the terminal it was started from is not meant for it.
        rustix::process::setsid().context("cannot begin a session")?;
    }
    let dir = place.data_dir().context("there is no data folder: name one with --data")?;
    let Some(socket) = place.socket() else {
        bail!("a store in memory cannot be shared: name a file with --store");
    };
    make_private(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let Some(_lock) = lock(&socket.with_extension("lock"))? else {
        // Another was faster; whoever started this one connects to that.
        return Ok(ExitCode::SUCCESS);
    };
    // What all connections share.
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let mut rooms = Rooms::open(ROOMS, THREADS).context("cannot start threads for connections")?;
    let ended = runtime.block_on(serve(args, place, &socket, &mut rooms));
    let _ = fs::remove_file(&socket);
    drop(rooms);
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

/// Starts the daemon and ends: an editor that ends all it has started does not find it.
fn detach() -> Result<ExitCode> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let args = std::env::args_os().skip(1);
    let args = args.map(|arg| if arg == "--detach" { "--detached".into() } else { arg });
    std::process::Command::new(program).args(args).spawn().context("cannot start the daemon")?;
    Ok(ExitCode::SUCCESS)
}

/// One daemon per socket: the lock is dropped by the system however the process ends.
fn lock(path: &std::path::Path) -> Result<Option<File>> {
    if let Some(dir) = path.parent() {
        make_private(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let file = File::options().create(true).write(true).truncate(false).mode(0o600).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).context("cannot lock the daemon's file"),
    }
}

/// What the connections of a daemon share.
struct State {
    house: Arc<House>,
    attached: AtomicUsize,
    changed: Notify,
}

async fn serve(args: &Daemon, place: &Place, socket: &PathBuf, rooms: &mut Rooms) -> Result<ExitCode> {
    let house = Arc::new(House::open(place, args.rehearsal.rehearsal.as_deref(), true).await?);
    let _ = fs::remove_file(socket);
    let listener =
        UnixListener::bind(socket).with_context(|| format!("cannot listen on {}", socket.display()))?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600))?;
    tracing::info!(socket = %socket.display(), "the daemon listens");
    let state =
        Arc::new(State { house: Arc::clone(&house), attached: AtomicUsize::new(0), changed: Notify::new() });
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let linger = Duration::from_secs(args.linger);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let stream = stream.into_std().context("cannot hand a connection over to its thread")?;
                    rooms.next().spawn(connection(Arc::clone(&state), stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            () = unused(&state, linger) => break,
            () = house.stop.notified() => break,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    tracing::info!("the daemon leaves");
    // From now on nobody finds it; who comes starts another, which waits for the lock.
    let _ = fs::remove_file(socket);
    drop(listener);
    // A session that cannot be left does not keep the next daemon waiting.
    if tokio::time::timeout(LEAVE, house.hub.end(false)).await.is_err() {
        tracing::error!("not every session could be left in time");
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until nothing has been attached or running for a while.
async fn unused(state: &State, linger: Duration) {
    let mut since = Instant::now();
    loop {
        // Nobody tells of the end of a turn: it is looked for.
        let look = linger.saturating_sub(since.elapsed()).clamp(SOON, LOOK);
        tokio::select! {
            () = state.changed.notified() => {}
            () = tokio::time::sleep(look) => {}
        }
        if !is_unused(state).await {
            since = Instant::now();
        } else if since.elapsed() >= linger {
            return;
        }
    }
}

/// Whether nothing is attached and nothing runs. A turn that waits for an answer of the user does not run: nobody is there
/// to give one, and it would wait for ever. It is interrupted then, and its session can be taken up again.
async fn is_unused(state: &State) -> bool {
    has_none(state, |live| live.state == "running").await
}

/// Whether nothing is attached and no turn is under way.
async fn is_idle(state: &State) -> bool {
    has_none(state, |live| live.state != "idle").await
}

async fn has_none(state: &State, is_busy: impl Fn(&nudge_hub::Live) -> bool) -> bool {
    state.attached.load(Ordering::Acquire) == 0
        && !state.house.hub.status().await.sessions.iter().any(|(_, live)| is_busy(live))
}

async fn connection(state: Arc<State>, stream: std::os::unix::net::UnixStream) {
    if let Err(error) = attend(&state, stream).await {
        tracing::warn!("a connection ended: {error:#}");
    }
}

async fn attend(state: &Arc<State>, stream: std::os::unix::net::UnixStream) -> Result<()> {
    let mut stream = UnixStream::from_std(stream).context("cannot use the connection")?;
    let peer = stream.peer_cred().context("cannot tell who connects")?;
    if peer.uid() != rustix::process::getuid().as_raw() {
        bail!("another user tried to connect");
    }
    let mut received = handover::receive(&stream, LONGEST).await?;
    let greeting: Greeting =
        serde_json::from_slice(&received.line).ok().context("the greeting is not one of Nudge")?;
    if greeting.is_newer() && is_idle(state).await {
        say(&mut stream, &Welcome::Leaving).await?;
        state.house.stop.notify_one();
        return Ok(());
    }
    let _attached = Attached::new(state);
    let tap = match open_tap(&greeting.serving) {
        Ok(tap) => tap,
        Err(error) => return say(&mut stream, &Welcome::Refused { why: format!("{error:#}") }).await,
    };
    let pipes = received.open();
    let welcome = Welcome::Ready {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        has_pipes: pipes.is_some(),
    };
    say(&mut stream, &welcome).await?;
    let environment = Environment::new(greeting.env);
    let serve = |transport| state.house.serve(transport, tap, Some(environment), &greeting.serving);
    if let Some(pipes) = pipes {
        let (pipes, cut) = pipes.with_cut();
        return beside_relay(serve(pipes)?, cut, stream).await;
    }
    let far_end = FarEnd::of(&stream).context("cannot use the connection")?;
    let (reader, writer) = stream.into_split();
    let reader = Cursor::new(received.rest).chain(reader);
    let served = serve(Transport::new(reader, writer))?;
    let cx = served.connection.cx();
    let gone = async {
        far_end.left().await;
        last_words(&cx).await;
    };
    Ok(served.run_until(gone).await?)
}

/// Serves the editor's pipes while the process that handed them over lives, and tells it the end.
async fn beside_relay(served: Served, cut: Cut, mut relay: UnixStream) -> Result<()> {
    let cx = served.connection.cx();
    let gone = async {
        gone(&mut relay).await;
        // To the editor the process is the connection: its pipes end with it.
        cut.now();
        last_words(&cx).await;
    };
    let ended = served.run_until(gone).await;
    let why = match cx.closed().await {
        // The relay says what to do then, if it is there.
        Closed::Local => return Ok(ended?),
        Closed::Eof => None,
        Closed::Io(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
            None
        }
        why => Some(why.to_string()),
    };
    // The relay may be gone by now.
    let _ = say(&mut relay, &Farewell { why }).await;
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

/// Counts a connection while it is there.
struct Attached<'a>(&'a State);

impl<'a> Attached<'a> {
    fn new(state: &'a State) -> Self {
        state.attached.fetch_add(1, Ordering::AcqRel);
        state.changed.notify_one();
        Self(state)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.0.attached.fetch_sub(1, Ordering::AcqRel);
        self.0.changed.notify_one();
    }
}

//! The daemon's own side: the lock, the socket, and when it leaves.

use std::{
    fs::{self, File, TryLockError},
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
use nudge_peer::Transport;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream, unix::OwnedWriteHalf},
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    sync::Notify,
    time::Instant,
};

use crate::{
    daemon::{
        Greeting,
        greeting::{LONGEST, Welcome},
        spawn::make_private,
    },
    house::{House, open_tap},
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

/// Threads that compute suggestions and read files.
const THREADS: usize = 8;

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
    let runtime =
        Builder::new_multi_thread().worker_threads(2).enable_all().max_blocking_threads(THREADS).build();
    let runtime = runtime.context("cannot start the event loop")?;
    let ended = runtime.block_on(serve(args, place, &socket));
    let _ = fs::remove_file(&socket);
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

async fn serve(args: &Daemon, place: &Place, socket: &PathBuf) -> Result<ExitCode> {
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
                    tokio::spawn(connection(Arc::clone(&state), stream));
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
        tokio::select! {
            () = state.changed.notified() => {}
            () = tokio::time::sleep_until(since + linger) => {}
        }
        if !is_unused(state).await {
            since = Instant::now();
        } else if since.elapsed() >= linger {
            return;
        }
    }
}

async fn is_unused(state: &State) -> bool {
    let is_idle =
        |sessions: Vec<(String, nudge_hub::Live)>| sessions.iter().all(|(_, live)| live.state == "idle");
    state.attached.load(Ordering::Acquire) == 0 && is_idle(state.house.hub.status().await.sessions)
}

async fn connection(state: Arc<State>, stream: UnixStream) {
    if let Err(error) = attend(&state, stream).await {
        tracing::warn!("a connection ended: {error:#}");
    }
}

async fn attend(state: &Arc<State>, stream: UnixStream) -> Result<()> {
    let peer = stream.peer_cred().context("cannot tell who connects")?;
    if peer.uid() != rustix::process::getuid().as_raw() {
        bail!("another user tried to connect");
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let mut line = Vec::new();
    (&mut reader).take(LONGEST as u64).read_until(b'\n', &mut line).await?;
    let greeting: Greeting =
        serde_json::from_slice(&line).ok().context("the greeting is not one of Nudge")?;
    if greeting.is_newer() && is_unused(state).await {
        say(&mut writer, &Welcome::Leaving).await?;
        state.house.stop.notify_one();
        return Ok(());
    }
    let _attached = Attached::new(state);
    let tap = match open_tap(&greeting.serving) {
        Ok(tap) => tap,
        Err(error) => return say(&mut writer, &Welcome::Refused { why: format!("{error:#}") }).await,
    };
    say(
        &mut writer,
        &Welcome::Ready { version: env!("CARGO_PKG_VERSION").to_owned(), pid: std::process::id() },
    )
    .await?;
    let environment = Environment::new(greeting.env);
    let transport = Transport::new(reader, writer);
    state.house.serve(transport, tap, Some(environment), &greeting.serving)?.run().await?;
    Ok(())
}

async fn say(writer: &mut OwnedWriteHalf, welcome: &Welcome) -> Result<()> {
    let mut line = serde_json::to_vec(welcome)?;
    line.push(b'\n');
    Ok(writer.write_all(&line).await?)
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

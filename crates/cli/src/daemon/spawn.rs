//! How the daemon is found, and started if there is none.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    daemon::{
        greeting::{DaemonWelcome, LONGEST, RelayGreeting},
        handover,
        private::{make_private, open_private},
        relay::WelcomedLink,
        report::{self, StartReport},
        socket::holder,
    },
    data_place::DataPlace,
    serving::ServingMode,
    settings::variable_of,
};

/// How long a daemon may take to start.
const START: Duration = Duration::from_secs(20);
/// How long it may take to answer a greeting.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a daemon that cannot be found may take to mend that.
const MEND: Duration = Duration::from_secs(3);
/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(5);
/// How much of a log is told, in bytes.
const LAST_WORDS: u64 = 2048;

/// Connects to the daemon, which is started if there is none.
pub(crate) fn reach(place: &DataPlace, serving: &ServingMode) -> Result<UnixStream> {
    Ok(persist(place, serving, None)?.stream)
}

/// As [`reach`], for the editor on standard input and output: they are handed over if they can be.
pub(crate) fn attach(place: &DataPlace, serving: &ServingMode) -> Result<WelcomedLink> {
    persist(place, serving, handover::offer().as_ref())
}

fn persist(place: &DataPlace, serving: &ServingMode, pipes: Option<&[OwnedFd; 2]>) -> Result<WelcomedLink> {
    let deadline = Instant::now() + START;
    loop {
        if let Some(line) = try_once(place, serving, pipes)? {
            return Ok(line);
        }
        if Instant::now() > deadline {
            bail!(
                "the daemon did not answer within {} seconds; `nudge daemon` in a terminal shows why, \
                 --no-daemon does without",
                START.as_secs()
            );
        }
        start(place, deadline)?;
        thread::sleep(AGAIN);
    }
}

/// Connects to the daemon if there is one that serves us. One that lives and is not found gets a moment to mend that.
pub(crate) fn connect(place: &DataPlace, serving: &ServingMode) -> Result<Option<UnixStream>> {
    let deadline = Instant::now() + MEND;
    loop {
        if let Some(line) = try_once(place, serving, None)? {
            return Ok(Some(line.stream));
        }
        let socket = socket(place)?;
        let Some(holder) = holder(&socket)? else { return Ok(None) };
        if Instant::now() > deadline {
            bail!(
                "the daemon runs as {holder} but does not listen on {}; `nudge stop` ends it",
                socket.display()
            );
        }
        thread::sleep(AGAIN);
    }
}

fn socket(place: &DataPlace) -> Result<PathBuf> {
    place.socket().context(
        "nothing is kept here (no data folder, or a store in memory), so there is no daemon to share it",
    )
}

/// As [`connect`], without patience.
pub(crate) fn try_once(
    place: &DataPlace,
    serving: &ServingMode,
    pipes: Option<&[OwnedFd; 2]>,
) -> Result<Option<WelcomedLink>> {
    let socket = socket(place)?;
    let stream = match UnixStream::connect(&socket) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(|| format!("cannot connect to {}", socket.display())),
    };
    // The greeting has keys in it: it is for a process of the same user.
    let peer = rustix::net::sockopt::socket_peercred(&stream).context("cannot tell who listens")?;
    if peer.uid != rustix::process::getuid() {
        bail!("{} belongs to another user; name another folder with --data", socket.display());
    }
    stream.set_read_timeout(Some(ANSWER)).context("cannot use the daemon's socket")?;
    let greeted = greet(stream, serving, pipes);
    let greeted = greeted.with_context(|| format!("the daemon, process {}", peer.pid.as_raw_nonzero()))?;
    if let Some(line) = &greeted {
        line.stream.set_read_timeout(None).context("cannot use the daemon's socket")?;
    }
    Ok(greeted)
}

fn greet(
    stream: UnixStream,
    serving: &ServingMode,
    pipes: Option<&[OwnedFd; 2]>,
) -> Result<Option<WelcomedLink>> {
    let greeting = RelayGreeting::new(serving.clone());
    let mut line = serde_json::to_vec(&greeting).context("cannot write the greeting")?;
    if line.len() >= LONGEST {
        bail!("environment and rehearsal are too long together: at most {LONGEST} bytes are taken");
    }
    line.push(b'\n');
    if handover::send(&stream, &line, pipes).is_err() {
        return Ok(None);
    }
    let answer = read_line(&stream)?;
    match serde_json::from_slice(&answer) {
        Ok(DaemonWelcome::Ready { has_pipes, has_rehearsal, log, .. }) => {
            if serving.rehearsal.is_some() && !has_rehearsal {
                bail!(
                    "it is of a version that plays no rehearsal for one connection; end it with `nudge stop`"
                );
            }
            Ok(Some(WelcomedLink { stream, has_pipes, log }))
        }
        Ok(DaemonWelcome::Refused { why }) => bail!("{why}"),
        // It ends, or has just ended: a new one is started.
        Ok(DaemonWelcome::Leaving) => Ok(None),
        Err(_) if answer.is_empty() => Ok(None),
        Err(_) => bail!("it answers in a way this version does not know; end it with `nudge stop`"),
    }
}

/// One line, without reading past it: what follows is ACP.
fn read_line(stream: &UnixStream) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut one = BufReader::with_capacity(1, stream).take(LONGEST as u64);
    match one.read_until(b'\n', &mut line) {
        Ok(_) => Ok(line),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            bail!("it has not answered for {} seconds; end it with `nudge stop`", ANSWER.as_secs())
        }
        Err(error) => Err(error).context("its greeting cannot be read"),
    }
}

/// Starts a daemon and waits until it, or another that was faster, listens. Why it does not is the error.
fn start(place: &DataPlace, deadline: Instant) -> Result<()> {
    let dir = place.data_dir().context("there is no data folder for a daemon")?;
    make_private(&dir)?;
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let path = place.log_file().context("there is no data folder for a daemon")?;
    let log = open_private(&path)?;
    let before = log.metadata().map_or(0, |log| log.len());
    let mut command = Command::new(program);
    command.args(["daemon", "--detach"]).arg("--data").arg(&dir).arg("--store").arg(place.store_url());
    if let Some(config) = &place.config {
        command.arg("--config").arg(config);
    }
    // What this connection is to hear is not what all others are to hear.
    command.env_remove(variable_of("agent.rehearsal"));
    // In a folder that stays.
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    nudge_process::unmark(&mut command);
    let mut child = command.spawn().context("cannot start the daemon")?;
    let mut output = child.stdout.take().context("its standard output is a pipe")?;
    let report = report::wait_for(&mut output, deadline);
    // It has started another and left, or is gone.
    let _ = child.wait();
    match report.context("cannot tell how the daemon's start went")? {
        StartReport::Listens | StartReport::Silent => Ok(()),
        StartReport::Failed { why } => bail!("the daemon cannot start: {why}"),
        StartReport::Ended => {
            let words = last_words(&path, before).unwrap_or_default();
            bail!("the daemon ended while it started; {} says: {}", path.display(), words.trim())
        }
    }
}

/// What a log says after its first `before` bytes; its end if that is much.
fn last_words(path: &Path, before: u64) -> io::Result<String> {
    let mut log = File::open(path)?;
    let end = log.metadata()?.len();
    log.seek(SeekFrom::Start(before.max(end.saturating_sub(LAST_WORDS))))?;
    let mut words = Vec::new();
    log.take(LAST_WORDS).read_to_end(&mut words)?;
    Ok(if words.is_empty() { "nothing".to_owned() } else { String::from_utf8_lossy(&words).into_owned() })
}

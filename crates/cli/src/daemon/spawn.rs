//! How the daemon is found, and started if there is none.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
            net::UnixStream,
        },
    },
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    daemon::{
        greeting::{Greeting, LONGEST, Welcome},
        handover,
        relay::Line,
    },
    house::Serving,
    place::Place,
};

/// How long a daemon may take to start.
const START: Duration = Duration::from_secs(20);
/// How long it may take to answer a greeting.
const ANSWER: Duration = Duration::from_secs(10);
/// How long to wait before another is started: the first may have met one that was just ending, and left.
const AGAIN: Duration = Duration::from_millis(500);

/// Connects to the daemon, which is started if there is none.
pub(crate) fn reach(place: &Place, serving: &Serving, rehearsal: Option<&Path>) -> Result<UnixStream> {
    Ok(persist(place, serving, rehearsal, None)?.stream)
}

/// As [`reach`], for the editor on standard input and output: they are handed over if they can be.
pub(crate) fn attach(place: &Place, serving: &Serving, rehearsal: Option<&Path>) -> Result<Line> {
    persist(place, serving, rehearsal, handover::offer().as_ref())
}

fn persist(
    place: &Place,
    serving: &Serving,
    rehearsal: Option<&Path>,
    pipes: Option<&[OwnedFd; 2]>,
) -> Result<Line> {
    let deadline = Instant::now() + START;
    let mut started = None;
    loop {
        if let Some(line) = try_once(place, serving, pipes)? {
            return Ok(line);
        }
        if started.is_none_or(|at: Instant| at.elapsed() > AGAIN) {
            start(place, rehearsal)?;
            started = Some(Instant::now());
        }
        if Instant::now() > deadline {
            bail!(
                "the daemon did not answer within {} seconds; `nudge daemon` in a terminal shows why, \
                 --no-daemon does without",
                START.as_secs()
            );
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Connects to the daemon if there is one that serves us.
pub(crate) fn connect(place: &Place, serving: &Serving) -> Result<Option<UnixStream>> {
    Ok(try_once(place, serving, None)?.map(|line| line.stream))
}

fn try_once(place: &Place, serving: &Serving, pipes: Option<&[OwnedFd; 2]>) -> Result<Option<Line>> {
    let Some(socket) = place.socket() else {
        bail!(
            "nothing is kept here (no data folder, or a store in memory), so there is no daemon to share it"
        );
    };
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
    let greeted = greet(stream, serving, pipes)?;
    if let Some(line) = &greeted {
        line.stream.set_read_timeout(None).context("cannot use the daemon's socket")?;
    }
    Ok(greeted)
}

fn greet(stream: UnixStream, serving: &Serving, pipes: Option<&[OwnedFd; 2]>) -> Result<Option<Line>> {
    let greeting = Greeting::new(serving.clone());
    let mut line = serde_json::to_vec(&greeting).context("cannot write the greeting")?;
    line.push(b'\n');
    if handover::send(&stream, &line, pipes).is_err() {
        return Ok(None);
    }
    let answer = read_line(&stream)?;
    match serde_json::from_slice(&answer) {
        Ok(Welcome::Ready { has_pipes, .. }) => Ok(Some(Line { stream, has_pipes })),
        Ok(Welcome::Refused { why }) => bail!("{why}"),
        // It ends, or has just ended: a new one is started.
        Ok(Welcome::Leaving) => Ok(None),
        Err(_) if answer.is_empty() => Ok(None),
        Err(_) => bail!("the daemon answers in a way this version does not know; end it with `nudge stop`"),
    }
}

/// One line, without reading past it: what follows is ACP.
fn read_line(stream: &UnixStream) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut one = BufReader::with_capacity(1, stream).take(LONGEST as u64);
    match one.read_until(b'\n', &mut line) {
        Ok(_) => Ok(line),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Vec::new()),
        Err(error) => Err(error).context("cannot read the daemon's greeting"),
    }
}

fn start(place: &Place, rehearsal: Option<&Path>) -> Result<()> {
    let dir = place.data_dir().context("there is no data folder for a daemon")?;
    make_private(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let path = place.log_file().context("there is no data folder for a daemon")?;
    let log = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    let log = log.with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = Command::new(program);
    command.args(["daemon", "--detach"]).arg("--data").arg(&dir).arg("--store").arg(place.store_url());
    if let Some(rehearsal) = rehearsal {
        command.arg("--rehearsal").arg(std::path::absolute(rehearsal)?);
    }
    // In a folder that stays.
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    nudge_process::unmark(&mut command);
    let status = command.status().context("cannot start the daemon")?;
    if !status.success() {
        bail!("the daemon could not be started; {} says why", path.display());
    }
    Ok(())
}

/// Makes a folder that only the user can look into. One that is there already must be the user's.
pub(crate) fn make_private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    if fs::metadata(dir)?.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    Ok(())
}

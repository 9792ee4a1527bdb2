//! How the daemon is found, and started if there is none.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::{fs::DirBuilderExt, net::UnixStream, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    daemon::greeting::{Greeting, LONGEST, Welcome},
    house::Serving,
    place::Place,
};

/// How long a daemon may take to start.
const START: Duration = Duration::from_secs(20);

/// Connects to the daemon, which is started if there is none.
pub(crate) fn reach(place: &Place, serving: &Serving, rehearsal: Option<&Path>) -> Result<UnixStream> {
    let deadline = Instant::now() + START;
    let mut started = None;
    loop {
        if let Some(stream) = connect(place, serving)? {
            return Ok(stream);
        }
        let is_over = |child: &mut std::process::Child| matches!(child.try_wait(), Ok(Some(_)));
        if started.as_mut().is_none_or(is_over) {
            if Instant::now() > deadline {
                bail!(
                    "the daemon does not start; `nudge daemon` in a terminal shows why, --no-daemon does without"
                );
            }
            started = Some(start(place, rehearsal)?);
        }
        if Instant::now() > deadline {
            bail!("the daemon did not answer within {} seconds; --no-daemon does without", START.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Connects to the daemon if there is one that serves us.
pub(crate) fn connect(place: &Place, serving: &Serving) -> Result<Option<UnixStream>> {
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
    greet(stream, serving)
}

fn greet(mut stream: UnixStream, serving: &Serving) -> Result<Option<UnixStream>> {
    let greeting = Greeting::new(serving.clone());
    let mut line = serde_json::to_vec(&greeting).context("cannot write the greeting")?;
    line.push(b'\n');
    if stream.write_all(&line).is_err() {
        return Ok(None);
    }
    let answer = read_line(&stream)?;
    match serde_json::from_slice(&answer) {
        Ok(Welcome::Ready { .. }) => Ok(Some(stream)),
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

fn start(place: &Place, rehearsal: Option<&Path>) -> Result<std::process::Child> {
    let dir = place.data_dir().context("there is no data folder for a daemon")?;
    make_private(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let path = dir.join("daemon.log");
    let log = fs::OpenOptions::new().create(true).append(true).open(&path);
    let log = log.with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = Command::new(program);
    command.arg("daemon").arg("--data").arg(&dir).arg("--store").arg(place.store_url());
    if let Some(rehearsal) = rehearsal {
        command.arg("--rehearsal").arg(std::path::absolute(rehearsal)?);
    }
    // Of its own process group, so that Ctrl-C in a terminal is not meant for it; in a folder that stays.
    command.current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("cannot start the daemon")
}

/// Makes a folder that only the user can look into.
pub(crate) fn make_private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

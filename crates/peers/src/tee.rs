//! A program between two others that writes down what they say to each other.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{Arc, mpsc::channel},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

const PID: &str = "agent.pid";
/// How long the last words of an agent that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// One line of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Seconds since 1970.
    pub at: f64,
    /// Who it was said to.
    pub to: Side,
    /// The line as it was, without its end.
    pub line: String,
}

/// A side of the recorded connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The agent's.
    Agent,
    /// The client's.
    Client,
}

/// Runs `command` and passes its standard input and output through; every line is kept in a file of its own in `folder`,
/// and so is the process id. Gives the status to exit with.
pub fn run(folder: &Path, command: &[String]) -> Result<u8> {
    let (program, args) = command.split_first().context("there is no command")?;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join(PID), child.id().to_string())?;
    let began = seconds_now();
    let file = File::create(folder.join(format!("{began:.6}-{}.jsonl", child.id())))?;
    let file = Arc::new(Mutex::new(file));

    let to_agent = child.stdin.take().context("standard input is piped")?;
    let from_agent = child.stdout.take().context("standard output is piped")?;
    let record = Arc::clone(&file);
    // Ends with the process at the latest: a read from standard input cannot be given up.
    thread::spawn(move || copy(io::stdin().lock(), to_agent, Side::Agent, &record));
    let (ended, has_ended) = channel();
    thread::spawn(move || {
        copy(BufReader::new(from_agent), io::stdout(), Side::Client, &file);
        let _ = ended.send(());
    });
    let status = child.wait()?;
    // What it has started may hold its output open.
    let _ = has_ended.recv_timeout(LAST_WORDS);
    Ok(code(status))
}

/// The process id of the agent that was started last.
pub fn pid(folder: &Path) -> Result<i32> {
    let text = fs::read_to_string(folder.join(PID)).context("no agent was started")?;
    text.trim().parse().context("the process id of the agent is a number")
}

/// What was recorded in `folder`, in the order in which the agents were started.
pub fn records(folder: &Path) -> Result<Vec<Record>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut records = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        // The last line is incomplete if the recorder was killed in the middle of it.
        records.extend(text.lines().map_while(|line| serde_json::from_str::<Record>(line).ok()));
    }
    Ok(records)
}

fn copy(mut from: impl BufRead, mut to: impl Write, side: Side, file: &Mutex<File>) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line)).into_owned();
        let record = Record { at: seconds_now(), to: side, line: text };
        let mut kept = serde_json::to_vec(&record).expect("a record is plain data");
        kept.push(b'\n');
        let written = file.lock().write_all(&kept);
        if written.is_err() || to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
        line.clear();
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code).unwrap_or(1)
}

/// Seconds since 1970.
pub fn seconds_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

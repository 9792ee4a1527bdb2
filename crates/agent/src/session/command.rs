//! Running a command: in a terminal of the editor where it offers one, here otherwise.

use std::{os::unix::process::ExitStatusExt, pin::pin, process::ExitStatus, process::Stdio, time::Duration};

use nudge_process::{Command, Process};
use nudge_wire::Code;
use serde::Deserialize;
use serde_json::json;
use tokio::{io::AsyncReadExt, net::unix::pipe};

use super::{Halt, Session, open::terminal_id};
use crate::{
    tools::{Outcome, Run, output, output::Kept},
    update,
};

/// How much output is shown as it comes; of the rest, the end is shown at the end.
const MOST_SHOWN: usize = 1024 * 1024;
/// How much output an editor is asked to keep.
const MOST_KEPT_BY_CLIENT: usize = 1024 * 1024;
/// How long a command that is stopped may take to leave by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is waited for after the command has ended and its family was killed.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How a command ended.
struct End {
    code: Option<i32>,
    signal: Option<String>,
    timed_out: bool,
}

impl Session {
    pub(super) async fn run_command(&mut self, id: &str, run: &Run) -> Result<Outcome, Halt> {
        let timeout = run.timeout(self.outlet.config().run_timeout());
        let asked = json!({
            "command": "sh",
            "args": ["-c", run.command],
            "cwd": self.cwd.to_string_lossy(),
            "outputByteLimit": MOST_KEPT_BY_CLIENT,
        });
        let opens = self.tell_client("terminal/create", asked).await?;
        let opened = self.open.client_opens.insert(opens).await.unwrap_or_default();
        self.open.client_opens = None;
        match opened {
            Some(Ok(opened)) => match terminal_id(&opened) {
                Some(terminal) => self.run_there(id, terminal, timeout).await,
                None => Ok(Outcome::failed("The editor did not say which terminal it opened.")),
            },
            Some(Err(error)) if error.code != Code::METHOD_NOT_FOUND => {
                Ok(Outcome::failed("The editor could not open a terminal."))
            }
            _ => self.run_here(id, run, timeout).await,
        }
    }

    /// Waits for a command in the editor's terminal.
    async fn run_there(&mut self, id: &str, terminal: String, timeout: Duration) -> Result<Outcome, Halt> {
        let named = json!({ "terminalId": terminal });
        self.open.client_terminal = Some(terminal.clone());
        let content = json!([update::terminal_content(&terminal)]);
        self.outlet.update(update::tool_call(id, json!({ "content": content }))).await?;
        let exit = self.tell_client("terminal/wait_for_exit", named.clone()).await?;
        let exited = tokio::time::timeout(timeout, exit).await;
        let timed_out = exited.is_err();
        if timed_out {
            self.ask_client("terminal/kill", named.clone()).await?;
        }
        let output = self.ask_client("terminal/output", named.clone()).await?;
        drop(self.tell_client("terminal/release", named).await?);
        self.open.client_terminal = None;

        let output = output.and_then(Result::ok);
        let text = output.as_ref().and_then(|output| output.get(&["output"])).and_then(|text| text.to().ok());
        let said = exited.ok().and_then(Result::ok).flatten().and_then(Result::ok);
        let status = said.or_else(|| output.as_ref()?.get(&["exitStatus"]));
        let status: ClientExit = status.and_then(|status| status.to().ok()).unwrap_or_default();
        let end = End { code: status.exit_code, signal: status.signal, timed_out };
        Ok(end.outcome(&output::cut(&text.unwrap_or_else(String::new)), &terminal))
    }

    /// Runs a command as a child of ours and shows its output.
    async fn run_here(&mut self, id: &str, run: &Run, timeout: Duration) -> Result<Outcome, Halt> {
        let Ok((process, output)) = self.start(&run.command) else {
            return Ok(Outcome::failed("The command could not be started."));
        };
        let terminal = self.ids.mint("term");
        let cwd = self.cwd.to_string_lossy().into_owned();
        self.outlet.update(update::terminal_started(&terminal, &run.command, &cwd)).await?;
        self.open.terminal = Some(terminal.clone());
        let content = json!([update::terminal_content(&terminal)]);
        self.outlet.update(update::tool_call(id, json!({ "content": content }))).await?;

        let mut shown = Shown { output, buffer: vec![0; 8 * 1024], kept: Kept::default(), total: 0 };
        let end = self.attend(process, &mut shown, &terminal, timeout).await?;
        let snapshot = (shown.total > MOST_SHOWN).then(|| shown.kept.bytes());
        let signal = end.signal.as_deref();
        self.outlet.update(update::terminal_ended(&terminal, end.code, signal, snapshot.as_deref())).await?;
        self.open.terminal = None;
        Ok(end.outcome(&shown.kept.text(), &terminal))
    }

    /// Both streams go into one pipe, so that what the command says stays in order.
    fn start(&mut self, command: &str) -> std::io::Result<(Process, pipe::Receiver)> {
        let (reader, writer) = std::io::pipe()?;
        let reader = pipe::Receiver::from_owned_fd(reader.into())?;
        let command = Command::new("sh").args(["-c", command]).current_dir(&self.cwd);
        let command = match &self.environment {
            Some(environment) => environment.apply(command),
            None => command,
        };
        let streams = command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let (process, tree) = streams.spawn()?.split();
        self.open.tree = Some(tree);
        Ok((process, reader))
    }

    /// Shows output until the command has ended or its time is over.
    async fn attend(
        &mut self,
        mut process: Process,
        shown: &mut Shown,
        terminal: &str,
        timeout: Duration,
    ) -> Result<End, Halt> {
        let mut time = pin!(tokio::time::sleep(timeout));
        let mut open = true;
        let (status, timed_out) = loop {
            tokio::select! {
                status = process.wait() => break (status.ok(), false),
                () = &mut time => break (None, true),
                bytes = shown.next(), if open => match bytes {
                    Some(bytes) => self.show(terminal, &bytes).await?,
                    None => open = false,
                },
            }
        };
        if let (true, Some(tree)) = (timed_out, self.open.tree.take()) {
            tree.stop(GRACE).await;
        }
        // Whatever the command has left running goes now, and with it what holds the output open.
        drop(self.open.tree.take());
        let rest = async {
            while let Some(bytes) = shown.next().await {
                self.show(terminal, &bytes).await?;
            }
            Ok(())
        };
        if let Ok(Err(halt)) = tokio::time::timeout(LAST_OUTPUT, rest).await {
            return Err(halt);
        }
        Ok(End::of(status, timed_out))
    }

    async fn show(&self, terminal: &str, bytes: &[u8]) -> Result<(), Halt> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.outlet.update(update::terminal_output(terminal, bytes)).await
    }
}

/// The output of a command, on its way to the user and the model.
struct Shown {
    output: pipe::Receiver,
    buffer: Vec<u8>,
    kept: Kept,
    /// How much has come.
    total: usize,
}

impl Shown {
    /// The next bytes to be shown, none once too much has come; `None` at the end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let read = self.output.read(&mut self.buffer).await.ok().filter(|read| *read > 0)?;
        let bytes = &self.buffer[..read];
        self.kept.push(bytes);
        let room = MOST_SHOWN.saturating_sub(self.total);
        self.total += read;
        Some(bytes[..read.min(room)].to_vec())
    }
}

/// A version 1 exit status.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClientExit {
    exit_code: Option<i32>,
    signal: Option<String>,
}

impl End {
    fn of(status: Option<ExitStatus>, timed_out: bool) -> Self {
        let signal = status.and_then(|status| status.signal()).map(signal_name);
        let signal = if timed_out { Some("SIGTERM".to_owned()) } else { signal };
        Self { code: status.and_then(|status| status.code()), signal, timed_out }
    }

    fn outcome(&self, output: &str, terminal: &str) -> Outcome {
        let how = match (self.timed_out, self.code, &self.signal) {
            (true, ..) => "It took too long and was stopped.".to_owned(),
            (_, Some(code), _) => format!("Exit code {code}."),
            (_, None, Some(signal)) => format!("Ended by {signal}."),
            (_, None, None) => "It has ended.".to_owned(),
        };
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let mut outcome =
            Outcome::shown(format!("{output}{gap}{how}"), vec![update::terminal_content(terminal)]);
        outcome.failed = self.timed_out || self.code != Some(0);
        outcome
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        6 => "SIGABRT",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

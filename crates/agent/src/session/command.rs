//! Running a command: in a terminal of the editor where it offers one, here otherwise.

use std::{pin::pin, sync::Arc, time::Duration};

use nudge_backend::{CancellableWork, is_unanswerable};
use nudge_process::ProcessCommand;
use nudge_wire::{ErrorCode, scrub::StreamScrubber};
use nudge_workspace::{
    CommandEvent, CommandExit, RunningCommand, in_environment,
    output::{self, ShownOutput},
};
use serde_json::json;
use tokio::sync::Notify;

use super::{AgentSession, Halt, open::terminal_id};
use crate::{
    tools::{RunInput, ToolOutcome},
    update,
};

/// How much output an editor is asked to keep.
const MOST_KEPT_BY_CLIENT: usize = 1024 * 1024;
/// How long a command that is stopped may take to leave by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How a command ended.
struct End {
    exit: CommandExit,
    timed_out: bool,
}

impl AgentSession {
    pub(super) async fn run_command(&mut self, id: &str, run: &RunInput) -> Result<ToolOutcome, Halt> {
        let timeout = run.timeout(self.outlet.config().run_timeout());
        let withheld = self.models.withheld_variables(&self.client);
        let asked = json!({
            "command": "sh",
            "args": ["-c", run.command],
            "cwd": self.cwd.to_string_lossy(),
            "outputByteLimit": MOST_KEPT_BY_CLIENT,
            "env": withheld.iter().map(|name| json!({ "name": name, "value": "" })).collect::<Vec<_>>(),
        });
        let opens = self.tell_client("terminal/create", asked).await?;
        let opened = self.open.client_opens.insert(opens).await;
        self.open.client_opens = None;
        match opened {
            Ok(Ok(opened)) => match terminal_id(&opened) {
                Some(terminal) => self.run_there(id, terminal, timeout).await,
                None => Ok(ToolOutcome::failed("The editor did not say which terminal it opened.")),
            },
            Ok(Err(error)) if error.code != ErrorCode::METHOD_NOT_FOUND && !is_unanswerable(&error) => {
                Ok(ToolOutcome::failed("The editor could not open a terminal."))
            }
            _ => self.run_here(id, run, timeout).await,
        }
    }

    /// Waits for a command in the editor's terminal.
    async fn run_there(
        &mut self,
        id: &str,
        terminal: String,
        timeout: Duration,
    ) -> Result<ToolOutcome, Halt> {
        let named = json!({ "terminalId": terminal });
        self.open.client_terminal = Some(terminal.clone());
        let content = json!([update::terminal_content(&terminal)]);
        self.outlet.update(update::tool_call(id, json!({ "content": content }))).await?;
        let exit = self.tell_client("terminal/wait_for_exit", named.clone()).await?;
        let exited = tokio::time::timeout(timeout, exit).await;
        let timed_out = exited.is_err();
        if timed_out {
            let _ = self.ask_client("terminal/kill", named.clone()).await?;
        }
        let output = self.ask_client("terminal/output", named.clone()).await?;
        drop(self.tell_client("terminal/release", named).await?);
        self.open.client_terminal = None;

        let output = output.ok();
        let text = output.as_ref().and_then(|output| output.get(&["output"])).and_then(|text| text.to().ok());
        let said = exited.ok().and_then(Result::ok).and_then(Result::ok);
        let status = said.or_else(|| output.as_ref()?.get(&["exitStatus"]));
        let exit: CommandExit = status.and_then(|status| status.to().ok()).unwrap_or_default();
        let end = End { exit, timed_out };
        Ok(end.outcome(&output::cut(&text.unwrap_or_else(String::new)), &terminal))
    }

    /// Runs a command as a child of ours and shows its output.
    async fn run_here(&mut self, id: &str, run: &RunInput, timeout: Duration) -> Result<ToolOutcome, Halt> {
        let Ok(running) = self.start(&run.command) else {
            return Ok(ToolOutcome::failed("The command could not be started."));
        };
        let terminal = self.ids.mint("term");
        let cwd = self.cwd.to_string_lossy().into_owned();
        let (work, stop_wanted) = (CancellableWork::Terminal(terminal.clone()), Arc::<Notify>::default());
        self.work.begins(work.clone(), Arc::clone(&stop_wanted));
        self.outlet.update(update::own_terminal_started(&terminal, &run.command, &cwd)).await?;
        self.open.terminal = Some(terminal.clone());
        let content = json!([update::terminal_content(&terminal)]);
        self.outlet.update(update::tool_call(id, json!({ "content": content }))).await?;

        let mut shown = ShownOutput::default();
        let end = self.attend(running, &mut shown, &terminal, (timeout, &stop_wanted)).await?;
        self.work.is_over(&work);
        let instead = shown.instead();
        self.outlet.update(update::own_terminal_ended(&terminal, &end.exit, instead.as_deref())).await?;
        self.open.terminal = None;
        Ok(end.outcome(&shown.text(), &terminal))
    }

    fn start(&mut self, command: &str) -> std::io::Result<RunningCommand> {
        let command = ProcessCommand::new("sh").args(["-c", command]).current_dir(&self.cwd);
        let command = match &self.client.environment {
            Some(environment) => in_environment(environment, command),
            None => command,
        };
        let withheld = self.models.withheld_variables(&self.client).into_iter();
        let command = withheld.fold(command, ProcessCommand::env_remove);
        let (running, tree) = RunningCommand::start(command)?;
        self.open.tree = Some(tree);
        Ok(running)
    }

    /// Shows output until the command has ended, its time is over, or somebody wants it stopped.
    async fn attend(
        &mut self,
        mut running: RunningCommand,
        shown: &mut ShownOutput,
        terminal: &str,
        (timeout, stop_wanted): (Duration, &Notify),
    ) -> Result<End, Halt> {
        let mut scrubber = StreamScrubber::new((*self.outlet.scrubber).clone());
        let mut time = pin!(tokio::time::sleep(timeout));
        let mut timed_out = false;
        let ended = loop {
            let event = tokio::select! {
                event = running.next() => event,
                () = &mut time => {
                    timed_out = true;
                    break None;
                }
                () = stop_wanted.notified() => break None,
            };
            match event {
                CommandEvent::Ended(exit) => break Some(exit),
                CommandEvent::Output(bytes) => {
                    let bytes = scrubber.push(bytes);
                    tokio::select! {
                        biased;
                        told = self.show(terminal, shown.push(&bytes)) => told?,
                        // Nobody takes what it prints.
                        () = stop_wanted.notified() => break None,
                    }
                }
            }
        };
        if let (None, Some(tree)) = (&ended, self.open.tree.take()) {
            tree.stop(GRACE).await;
        }
        let exit = ended.unwrap_or_else(terminated);
        // Whatever the command has left running goes now, and with it what holds the output open.
        drop(self.open.tree.take());
        while let Some(bytes) = running.rest().await {
            self.show(terminal, shown.push(&scrubber.push(bytes))).await?;
        }
        self.show(terminal, shown.push(&scrubber.finish())).await?;
        Ok(End { exit, timed_out })
    }

    async fn show(&self, terminal: &str, bytes: &[u8]) -> Result<(), Halt> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.outlet.update(update::terminal_output(terminal, bytes)).await
    }
}

impl End {
    fn outcome(&self, output: &str, terminal: &str) -> ToolOutcome {
        let how = match (self.timed_out, self.exit.code, &self.exit.signal) {
            (true, ..) => "It took too long and was stopped.".to_owned(),
            (_, Some(code), _) => format!("Exit code {code}."),
            (_, None, Some(signal)) => format!("Ended by {signal}."),
            (_, None, None) => "It has ended.".to_owned(),
        };
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let mut outcome =
            ToolOutcome::shown(format!("{output}{gap}{how}"), vec![update::terminal_content(terminal)]);
        outcome.failed = self.timed_out || self.exit.code != Some(0);
        outcome
    }
}

/// The end of a command that we have stopped.
pub(super) fn terminated() -> CommandExit {
    CommandExit { code: None, signal: Some("SIGTERM".to_owned()) }
}

//! The terminals of a session.

use std::{collections::HashMap, io, sync::Arc};

use nudge_wire::{
    Environment, Error, ErrorCode,
    acp::v1::{CreateTerminalRequest, EnvVariable},
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    IdSource, RunningCommand, WorkspacePath, in_environment, line,
    terminal::CommandTerminal,
    update,
    updates::{TerminalUpdates, UpdateBoard, UpdateSource},
};

/// How many terminals may be open.
const MOST_OPEN: usize = 64;
/// How many may be in memory: those that are open, and those of which not all has been told.
const MOST_UNTOLD: usize = 2 * MOST_OPEN;
/// How much output a terminal keeps unless it is said.
const DEFAULT_KEPT: u64 = 1024 * 1024;
/// How much it keeps at most, whatever is said.
const MOST_KEPT: u64 = 8 * 1024 * 1024;

/// The terminals that are open, by id. Dropping them ends their commands.
#[derive(Debug)]
pub(crate) struct OpenTerminals {
    open: Mutex<HashMap<String, Open>>,
    ids: Mutex<IdSource>,
    slots: Arc<Semaphore>,
    shares: Arc<Semaphore>,
    board: UpdateSource,
}

struct Open {
    terminal: Arc<CommandTerminal>,
    _slot: OwnedSemaphorePermit,
}

/// What a terminal is made of, before its command is started.
pub(crate) struct TerminalSetup {
    slot: OwnedSemaphorePermit,
    share: OwnedSemaphorePermit,
}

impl OpenTerminals {
    pub(crate) fn new() -> Self {
        Self {
            open: Mutex::default(),
            ids: Mutex::new(IdSource::new()),
            slots: Arc::new(Semaphore::new(MOST_OPEN)),
            shares: Arc::new(Semaphore::new(MOST_UNTOLD)),
            board: UpdateSource::new(Arc::<UpdateBoard>::default()),
        }
    }

    pub(crate) fn updates(&self) -> Option<TerminalUpdates> {
        self.board.listen()
    }

    /// Room for one more. Refused if too many are open; waits while too much has not been told.
    pub(crate) async fn room(&self) -> Result<TerminalSetup, Error> {
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| {
            Error::invalid_params(format!(
                "There are {MOST_OPEN} terminals open, which is the most. Release one first."
            ))
        })?;
        let share = Arc::clone(&self.shares).acquire_owned().await.expect("it is never closed");
        Ok(TerminalSetup { slot, share })
    }

    /// Starts a command and gives its terminal's id.
    pub(crate) fn create(
        &self,
        room: TerminalSetup,
        asked: &CreateTerminalRequest,
        folder: &WorkspacePath,
        environment: Option<&Environment>,
    ) -> Result<String, Error> {
        let mut command =
            line::command(&asked.command, &asked.args, folder.real()).current_dir(folder.real());
        if let Some(environment) = environment {
            command = in_environment(environment, command);
        }
        for EnvVariable { name, value, .. } in &asked.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::invalid_params(
                    "The name of a variable is empty or has a sign no name has.",
                ));
            }
            command = command.env(name, value);
        }
        let (running, tree) = RunningCommand::start(command).map_err(|error| not_started(&error))?;
        let id = self.ids.lock().mint("term");
        let started = self.board.is_heard().then(|| {
            let told = line::command_line(&asked.command, &asked.args, folder.real());
            update::terminal_started(&id, &told, &folder.shown().to_string_lossy())
        });
        let limit = asked.output_byte_limit.unwrap_or(DEFAULT_KEPT).min(MOST_KEPT);
        let limit = usize::try_from(limit).expect("8 MiB can be counted");
        let terminal = Arc::new(CommandTerminal::new(id.clone(), limit, tree, started, room.share));
        tokio::spawn(Arc::clone(&terminal).attend(running, self.board.another()));
        self.open().insert(id.clone(), Open { terminal, _slot: room.slot });
        Ok(id)
    }

    pub(crate) fn get(&self, id: &str) -> Result<Arc<CommandTerminal>, Error> {
        self.open().get(id).map(|open| Arc::clone(&open.terminal)).ok_or_else(no_such_terminal)
    }

    /// Takes it out; nobody else finds it any more.
    pub(crate) fn take(&self, id: &str) -> Result<Arc<CommandTerminal>, Error> {
        self.open().remove(id).map(|open| open.terminal).ok_or_else(no_such_terminal)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock()
    }
}

impl Drop for OpenTerminals {
    fn drop(&mut self) {
        for open in self.open().values() {
            open.terminal.end();
        }
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open")
    }
}

fn no_such_terminal() -> Error {
    Error::new(
        ErrorCode::RESOURCE_NOT_FOUND,
        "Resource not found: there is no such terminal. It may have been released.",
    )
}

fn not_started(error: &io::Error) -> Error {
    let message = format!("The command could not be started: {}.", error.kind());
    match error.kind() {
        io::ErrorKind::NotFound => {
            Error::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found: there is no such program.")
        }
        io::ErrorKind::InvalidInput
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::ArgumentListTooLong => Error::invalid_params(message),
        _ => Error::internal(message),
    }
}

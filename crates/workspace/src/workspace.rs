//! Answering what a version 1 agent asks of its client.

use std::{path::PathBuf, sync::Arc};

use nudge_wire::{Environment, Error, ErrorCode, RawJson, Request, acp::v1};
use serde::Serialize;

use crate::{
    CommandExit, PathError, SessionDirectories, TerminalUpdates, WorkspacePath, blocking, files,
    terminals::OpenTerminals,
};

/// The largest file that is read.
const MOST_READ: u64 = 32 * 1024 * 1024;

/// The files and terminals of one session. Dropping it ends all its terminals, with everything they have started.
///
/// Dropping it looks at all processes of the machine for each command that still runs, which takes some milliseconds; where
/// that is too long, it is to be dropped on a thread for it.
#[derive(Debug)]
pub struct Workspace {
    directories: Arc<SessionDirectories>,
    terminals: OpenTerminals,
}

impl Workspace {
    /// The working directory and others that may be reached, all absolute.
    pub fn new(cwd: PathBuf, additional: Vec<PathBuf>) -> Self {
        let directories = Arc::new(SessionDirectories::new(cwd, additional));
        Self { directories, terminals: OpenTerminals::new() }
    }

    /// Answers a request: version 1 params in, version 1 result out. The session's id is not looked at. A command sees this
    /// environment; that of this process unless given. Needs a tokio runtime.
    ///
    /// Requests may take long and go on beside each other and beside the [`TerminalUpdates`]. One that is given up is not answered, but
    /// what it began is done: a terminal that was to be killed is killed.
    pub async fn request(
        &self,
        method: &str,
        params: &RawJson,
        environment: Option<&Environment>,
    ) -> Result<RawJson, Error> {
        match method {
            v1::ReadTextFileRequest::METHOD => answer(&self.read(of(params)?).await?),
            v1::WriteTextFileRequest::METHOD => answer(&self.write(of(params)?).await?),
            v1::CreateTerminalRequest::METHOD => answer(&self.create(of(params)?, environment).await?),
            v1::TerminalOutputRequest::METHOD => answer(&self.output(&of(params)?)?),
            v1::WaitForTerminalExitRequest::METHOD => answer(&self.wait(&of(params)?).await?),
            v1::KillTerminalRequest::METHOD => answer(&self.kill(&of(params)?).await?),
            v1::ReleaseTerminalRequest::METHOD => answer(&self.release(&of(params)?).await?),
            _ => Err(Error::method_not_found(method)),
        }
    }

    /// What a version 2 client is shown of the terminals that are created from now on. `None` the second time.
    ///
    /// While nobody takes them, up to 1 MiB a terminal is kept, and after 128 terminals no other is created.
    pub fn updates(&self) -> Option<TerminalUpdates> {
        self.terminals.updates()
    }
}

impl Workspace {
    async fn read(&self, asked: v1::ReadTextFileRequest) -> Result<v1::ReadTextFileResponse, Error> {
        let directories = Arc::clone(&self.directories);
        blocking(move || {
            let text = files::read(&directories.resolve_absolute(&asked.path)?, MOST_READ)?;
            Ok(v1::ReadTextFileResponse::new(part(text, asked.line, asked.limit)?))
        })
        .await
    }

    async fn write(&self, asked: v1::WriteTextFileRequest) -> Result<v1::WriteTextFileResponse, Error> {
        let directories = Arc::clone(&self.directories);
        blocking(move || {
            files::write(&directories.resolve_absolute(&asked.path)?, &asked.content)?;
            Ok(v1::WriteTextFileResponse::new())
        })
        .await
    }

    async fn create(
        &self,
        asked: v1::CreateTerminalRequest,
        environment: Option<&Environment>,
    ) -> Result<v1::CreateTerminalResponse, Error> {
        let folder = self.folder(asked.cwd.clone()).await?;
        let room = self.terminals.room().await?;
        // No waiting from here on: a request that is given up leaves no terminal whose id nobody has.
        let id = self.terminals.create(room, &asked, &folder, environment)?;
        Ok(v1::CreateTerminalResponse::new(id))
    }

    fn output(&self, asked: &v1::TerminalOutputRequest) -> Result<v1::TerminalOutputResponse, Error> {
        let (text, is_cut, exit) = self.terminals.get(&asked.terminal_id.0)?.output();
        Ok(v1::TerminalOutputResponse::new(text, is_cut).exit_status(exit.map(status)))
    }

    async fn wait(
        &self,
        asked: &v1::WaitForTerminalExitRequest,
    ) -> Result<v1::WaitForTerminalExitResponse, Error> {
        let terminal = self.terminals.get(&asked.terminal_id.0)?;
        Ok(v1::WaitForTerminalExitResponse::new(status(terminal.exit().await)))
    }

    async fn kill(&self, asked: &v1::KillTerminalRequest) -> Result<v1::KillTerminalResponse, Error> {
        self.terminals.get(&asked.terminal_id.0)?.kill().await;
        Ok(v1::KillTerminalResponse::new())
    }

    async fn release(
        &self,
        asked: &v1::ReleaseTerminalRequest,
    ) -> Result<v1::ReleaseTerminalResponse, Error> {
        self.terminals.take(&asked.terminal_id.0)?.kill().await;
        Ok(v1::ReleaseTerminalResponse::new())
    }

    /// The folder a command is to run in.
    async fn folder(&self, asked: Option<PathBuf>) -> Result<WorkspacePath, Error> {
        let directories = Arc::clone(&self.directories);
        blocking(move || {
            let is_given = asked.is_some();
            let path = asked.unwrap_or_else(|| directories.cwd().to_owned());
            let place = match directories.resolve_absolute(&path) {
                // The working directory is outside only if it is nowhere.
                Err(PathError::Outside) if !is_given => None,
                place => Some(place?),
            };
            place.filter(|place| place.real().is_dir()).ok_or_else(|| {
                Error::new(
                    ErrorCode::RESOURCE_NOT_FOUND,
                    "Resource not found: there is no such folder to run the command in.",
                )
            })
        })
        .await
    }
}

fn of<T: Request>(params: &RawJson) -> Result<T, Error> {
    params.to().map_err(|error| Error::bad_params(T::METHOD, &error))
}

fn answer(result: &impl Serialize) -> Result<RawJson, Error> {
    RawJson::of(result).map_err(|_| Error::internal("The answer could not be written"))
}

/// The lines that are wanted: from one, counted from one, and so many.
fn part(mut text: String, line: Option<u32>, limit: Option<u32>) -> Result<String, Error> {
    let skipped = line.map_or(0, |line| line.saturating_sub(1)) as usize;
    let Some(start) = files::offset_of_line(&text, skipped) else {
        let message = format!("The file has {} lines. Ask for one of them.", text.lines().count());
        return Err(Error::invalid_params(message));
    };
    let end = limit.and_then(|limit| files::offset_of_line(&text[start..], limit as usize));
    text.truncate(end.map_or(text.len(), |end| start + end));
    text.drain(..start);
    Ok(text)
}

fn status(exit: CommandExit) -> v1::TerminalExitStatus {
    let code = exit.code.and_then(|code| u32::try_from(code).ok());
    v1::TerminalExitStatus::new().exit_code(code).signal(exit.signal)
}

//! Starting a child.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::{ProcessTree, shim};

/// A program to be started in a process group of its own. Its standard streams are the owner's unless set.
#[derive(Debug)]
pub struct ProcessCommand {
    program: OsString,
    args: Vec<OsString>,
    /// `None` takes a variable away.
    variables: Vec<(OsString, Option<OsString>)>,
    directory: Option<PathBuf>,
    stdin: Option<Stdio>,
    stdout: Option<Stdio>,
    stderr: Option<Stdio>,
    leaves_nothing: bool,
}

impl ProcessCommand {
    /// A program found as the shell would find it.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            variables: Vec::new(),
            directory: None,
            stdin: None,
            stdout: None,
            stderr: None,
            leaves_nothing: false,
        }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes an environment variable away.
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.variables.push((key.as_ref().to_owned(), None));
        self
    }

    /// Sets the directory it runs in.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets its standard input.
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = Some(stdin.into());
        self
    }

    /// Sets its standard output.
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Sets its standard error.
    pub fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.stderr = Some(stderr.into());
        self
    }

    /// When it ends, whatever it has started ends as well, also what has left its group and dropped its environment. Only
    /// a keeper (see [`shim`](crate::shim)) can see to that; without one it is up to the tree, which does not find those.
    pub fn leave_nothing(mut self) -> Self {
        self.leaves_nothing = true;
        self
    }

    /// Starts it; needs a tokio runtime. Descriptors given to it are closed here.
    pub fn spawn(self) -> io::Result<RunningChild> {
        let keeper = shim::program();
        let mut command = match keeper {
            Some(keeper) => {
                self.must_be_startable()?;
                let mut command = tokio::process::Command::new(keeper);
                command.args(shim::keeper_args(std::process::id(), self.leaves_nothing)).arg(&self.program);
                command
            }
            None => tokio::process::Command::new(&self.program),
        };
        command.args(&self.args);
        for (key, value) in &self.variables {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let tag = ProcessTree::fresh_tag();
        command.env(&tag, "1").process_group(0).kill_on_drop(keeper.is_none());
        self.stdin.map(|stdin| command.stdin(stdin));
        self.stdout.map(|stdout| command.stdout(stdout));
        self.stderr.map(|stderr| command.stderr(stderr));
        let mut child = command.spawn()?;
        let tree = ProcessTree::new(child.id(), keeper.is_some(), tag);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = StartedProcess { reaped: Arc::clone(&tree.reaped), child };
        Ok(RunningChild { stdin, stdout, stderr, process, tree })
    }

    /// A keeper can tell only its standard error that a program does not start, so that is looked into before.
    fn must_be_startable(&self) -> io::Result<()> {
        let directory = self.directory.as_deref().unwrap_or(Path::new("."));
        if !directory.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the directory to run it in does not exist"));
        }
        if self.program.as_encoded_bytes().contains(&b'/') {
            return executable(&directory.join(&self.program));
        }
        let set = self.variables.iter().rev().find(|(key, _)| key == "PATH").map(|(_, value)| value.clone());
        let path = set.unwrap_or_else(|| env::var_os("PATH")).unwrap_or_default();
        let mut outcome = Err(io::ErrorKind::NotFound.into());
        for folder in env::split_paths(&path) {
            match executable(&directory.join(folder).join(&self.program)) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => outcome = Err(error),
                Err(_) => {}
            }
        }
        outcome
    }
}

fn executable(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

/// A child that has been started. Dropping it kills it with everything it has started.
#[derive(Debug)]
pub struct RunningChild {
    /// Its standard input, if it is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if it is a pipe.
    pub stdout: Option<ChildStdout>,
    /// Its standard error, if it is a pipe.
    pub stderr: Option<ChildStderr>,
    process: StartedProcess,
    tree: ProcessTree,
}

impl RunningChild {
    /// The number of the process that was started: the child's, or its keeper's. `None` once it has ended.
    pub fn id(&self) -> Option<u32> {
        self.process.child.id()
    }

    /// Waits for its end. What it has started may live on, unless it was to [leave nothing](ProcessCommand::leave_nothing).
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Asks it and everything it has started to leave, kills what is left after `grace`, and gives its exit status.
    pub async fn kill_tree(self, grace: Duration) -> io::Result<ExitStatus> {
        let Self { mut process, tree, .. } = self;
        let stop = tree.stop(grace);
        let (status, ()) = tokio::join!(process.wait(), stop);
        status
    }

    /// The process, to be waited for, and the tree, to be killed, apart. The streams must have been taken before.
    pub fn split(self) -> (StartedProcess, ProcessTree) {
        (self.process, self.tree)
    }
}

/// A process to be waited for.
#[derive(Debug)]
pub struct StartedProcess {
    child: tokio::process::Child,
    reaped: Arc<AtomicBool>,
}

impl StartedProcess {
    /// Waits for its end. May be called again, also after a wait that was given up.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.reaped.store(true, Ordering::Release);
        status
    }
}

//! Where an agent runs: a HOME, a folder to work in, and a record of what is said to it, all of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::{
    install::Cache,
    recipe::{Recipe, filled},
    tee,
};

/// A shell script that says when it has begun and waits to be let go, for twenty seconds at most.
const WAIT: &str = "touch started-$1; i=0\n\
    while [ ! -e go-$1 ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i+1)); done\necho output-$1\n";

/// How the client reaches the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// As its client.
    Direct,
    /// Through this program, as `nudge acp --no-daemon -- AGENT`.
    Nudge(PathBuf),
}

/// The folders of one run. They are outside of any repository, because agents look for one around them.
#[derive(Debug)]
pub struct Place {
    dir: TempDir,
}

impl Place {
    /// Makes the folders and writes the agent's files; `base` is the provider's address.
    pub fn new(recipe: &Recipe, base: &str) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("nudge-run-").tempdir()?;
        let place = Self { dir };
        for folder in [place.home(), place.work(), place.taps()] {
            fs::create_dir_all(folder)?;
        }
        let home = place.home().display().to_string();
        for file in &recipe.files {
            let path = place.home().join(&file.path);
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, filled(&file.text, &[("base", base), ("home", &home)]))?;
        }
        fs::write(place.work().join("wait.sh"), WAIT)?;
        Ok(place)
    }

    /// The folder that all of it is in.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// The agent's HOME.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The folder it works in.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// What was said to the agent and by it; see [`tee`].
    pub fn taps(&self) -> PathBuf {
        self.dir.path().join("taps")
    }

    /// What the started program writes to its standard error.
    pub fn errors(&self) -> PathBuf {
        self.dir.path().join("stderr.log")
    }

    /// The command that starts the agent, or Nudge in front of it. The agent is always recorded.
    pub fn command(&self, cache: &Cache, recipe: &Recipe, base: &str, route: &Route) -> Result<Command> {
        let own = std::env::current_exe().context("the path of this program")?;
        let mut command = match route {
            Route::Direct => Command::new(own),
            Route::Nudge(nudge) => {
                let mut command = Command::new(nudge);
                command.args(["acp", "--no-daemon", "--"]).arg(own);
                command
            }
        };
        command.arg("tee").arg("--folder").arg(self.taps()).arg("--");
        command.arg(cache.program(recipe)).args(&recipe.args);
        self.set_environment(&mut command, cache, recipe, base);
        Ok(command)
    }

    /// The command by which a user signs in on a terminal: that of the agent, or of Nudge in front of it, with these arguments
    /// behind it and these variables. It is not recorded, because a record has no terminal.
    pub fn sign_in_command(
        &self,
        cache: &Cache,
        recipe: &Recipe,
        base: &str,
        route: &Route,
        (args, env): (&[String], &[(String, String)]),
    ) -> Command {
        let program = cache.program(recipe);
        let mut command = match route {
            Route::Direct => Command::new(program),
            Route::Nudge(nudge) => {
                let mut command = Command::new(nudge);
                command.args(["acp", "--no-daemon", "--"]).arg(program);
                command
            }
        };
        command.args(&recipe.args).args(args);
        self.set_environment(&mut command, cache, recipe, base);
        command.env("TERM", "xterm").envs(env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn set_environment(&self, command: &mut Command, cache: &Cache, recipe: &Recipe, base: &str) {
        let home = self.home();
        command.env_clear().current_dir(self.work()).env("HOME", &home).env("PATH", cache.path(recipe));
        command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("NUDGE_DATA", self.dir.path().join("data"));
        let folders = [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
        ];
        command.envs(folders.map(|(name, folder)| (name, home.join(folder))));
        let gaps = [("base", base), ("home", &home.display().to_string())];
        command.envs(recipe.env.iter().map(|(name, value)| (name, filled(value, &gaps))));
        if let Some(level) = std::env::var_os("NUDGE_LOG") {
            command.env("NUDGE_LOG", level);
        }
    }

    /// Kills the agent, and it alone, the way `kill -9` does.
    pub fn kill_agent(&self) -> Result<()> {
        let pid =
            rustix::process::Pid::from_raw(tee::pid(&self.taps())?).context("a process id is positive")?;
        rustix::process::kill_process(pid, rustix::process::Signal::KILL)
            .context("the agent cannot be killed")
    }

    /// Copies the records to `folder`, in place of those of an earlier run.
    pub fn keep(&self, folder: &Path) -> Result<()> {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder)?;
        let taps = fs::read_dir(self.taps()).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in taps.chain([self.errors()]).filter(|path| path.is_file()) {
            let name = file.file_name().context("a file has a name")?;
            fs::copy(&file, folder.join(name))?;
        }
        Ok(())
    }
}

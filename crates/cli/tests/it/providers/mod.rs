//! `nudge login`, `nudge logout` and `nudge providers`, with a provider that is a real server.

mod daemon;
mod keyring;
mod login;
mod reports;
mod terminal;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use nudge_stage::{ModelReply, StageProvider};
use serde_json::Value;
use tempfile::TempDir;

/// A key that must not be seen anywhere.
const KEY: &str = "sk-hush-hush-0123456789";

/// A home with nothing kept, and a provider that answers.
struct Home {
    dir: TempDir,
    provider: StageProvider,
}

impl Home {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().expect("a temporary folder"),
            provider: StageProvider::start_blocking(),
        }
    }

    /// A home whose provider takes no key.
    fn refusing() -> Self {
        let home = Self::new();
        home.provider.otherwise(ModelReply::error(401, format!("bad key {KEY}")));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("it is there").join(name)
    }

    /// A file that is kept; empty if there is none.
    fn kept(&self, name: &str) -> String {
        fs::read_to_string(self.path("data").join(name)).unwrap_or_default()
    }

    /// The address of the provider for those who speak like `OpenAI`.
    fn url(&self) -> String {
        format!("{}/v1", self.provider.url())
    }

    /// The variables that a command has, and no others.
    fn env(&self) -> Vec<(String, String)> {
        let data = self.path("data").to_str().expect("its name is text").to_owned();
        let home = self.path("").to_str().expect("its name is text").to_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        let own =
            [("HOME", home), ("PATH", path), ("NUDGE_DATA", data), ("NUDGE_KEYRING", "false".to_owned())];
        own.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nudge"));
        command.args(args).env_clear().envs(self.env()).current_dir(self.path(""));
        command
    }

    /// The status of a command with this input, and all that it says.
    fn run_with(&self, args: &[&str], env: &[(&str, &str)], input: &str) -> (i32, String) {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("nudge starts");
        // It may not want any.
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(!told.contains("hush"), "{args:?} shows a key: {told}");
        (output.status.code().expect("it ends by itself"), told)
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        self.run_with(args, &[], "")
    }

    /// What a command says that goes well.
    fn said(&self, args: &[&str], input: &str) -> String {
        let (code, told) = self.run_with(args, &[], input);
        assert_eq!(code, 0, "{args:?}: {told}");
        told
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.said(args, "")).expect("it is JSON")
    }

    /// Signs in to the provider as a server of its own.
    fn sign_in(&self) {
        self.said(&["login", "custom", "--url", &self.url(), "--key-stdin"], KEY);
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A daemon that was started here goes.
        let _ = self.command(&["stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

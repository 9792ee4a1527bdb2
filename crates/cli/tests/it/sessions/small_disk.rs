//! A place whose data is on a small disk of its own, which can be filled up and made free again.

use std::{fs, io::Write as _, path::PathBuf, process::Command};

use nudge_testkit::{Process, skipped};
use serde_json::{Value, json};

use super::{Client, Place};

/// A place with a small disk, and a client there with a session.
pub(super) struct Small {
    pub(super) place: Place,
    pub(super) client: Client,
    daemon: &'static str,
    /// The disk is there for as long as this process.
    holder: Process,
}

impl Small {
    /// A client of a process of its own; `None` where nobody may mount a file system.
    pub(super) fn new(version: u64) -> Option<Self> {
        Self::start(version, "off")
    }

    /// A client of a daemon.
    pub(super) fn shared(version: u64) -> Option<Self> {
        Self::start(version, "on")
    }

    fn start(version: u64, daemon: &'static str) -> Option<Self> {
        if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success()) {
            skipped("only root on Linux may mount a small disk");
            return None;
        }
        let place = Place::new();
        let data = place.data.path().to_str().expect("its name is text").to_owned();
        let script = r#"mount -t tmpfs -o size=8m,mode=700 small "$0" && echo there && exec cat"#;
        let mut holder = Process::start("unshare", &["-m", "sh", "-c", script, &data], &[]);
        assert_eq!(holder.next_line().as_deref(), Some("there"));
        let process = nudge(&place, &holder, &["acp"], daemon);
        let mut client = Client::new(process, version, &files());
        client.new_session(&place.cwd());
        Some(Self { place, client, daemon, holder })
    }

    /// `nudge` with these arguments, where the small disk is.
    pub(super) fn nudge(&self, args: &[&str]) -> Process {
        nudge(&self.place, &self.holder, args, self.daemon)
    }

    /// Another client with the same session.
    pub(super) fn beside(&self, version: u64) -> Client {
        let mut client = Client::new(self.nudge(&["acp"]), version, &files());
        client.load(&self.client.session, &self.place.cwd());
        client
    }

    fn filler(&self) -> PathBuf {
        let data = self.place.data.path().strip_prefix("/").expect("it is absolute");
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(data).join("filler")
    }

    /// Takes up all the room there is.
    pub(super) fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).expect("it can be made");
        for block in [&[0; 8192][..], &[0; 512], &[0; 1]] {
            while filler.write_all(block).is_ok() {}
        }
    }

    pub(super) fn free(&self) {
        fs::remove_file(self.filler()).expect("it is there");
    }

    /// The story of the session as somebody reads it who loads it.
    pub(super) fn loaded(&mut self) -> Vec<String> {
        let (session, from) = (self.client.session.clone(), self.client.log.len());
        self.client.load(&session, &self.place.cwd());
        self.client.log.drain(..from);
        self.client.story()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // A daemon that was started there goes.
        drop(self.nudge(&["stop"]).finish());
    }
}

fn files() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

fn nudge(place: &Place, holder: &Process, args: &[&str], daemon: &str) -> Process {
    let pid = holder.id().to_string();
    let mut all = vec!["-m", "-t", &pid, env!("CARGO_BIN_EXE_nudge")];
    all.extend(args);
    let mut env = place.env();
    env.push(("NUDGE_DAEMON", daemon.to_owned()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Process::start("nsenter", &all, &env)
}

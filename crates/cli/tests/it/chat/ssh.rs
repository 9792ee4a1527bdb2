//! A chat on another computer, reached by ssh. The server is started by the client, so that no port is opened.

use std::{fs, process::Command};

use nudge_testkit::Terminal;
use portable_pty::CommandBuilder;
use tempfile::TempDir;

use super::{rehearsal, started, steered::WAITS};
use crate::{adapt::kill, sessions::Place};

const SERVER: &str = "/usr/sbin/sshd";

/// Keys and settings of a server and of its only user.
struct SshServer {
    folder: TempDir,
}

impl SshServer {
    fn new() -> Option<Self> {
        let server = Self { folder: tempfile::tempdir().expect("a folder for the keys") };
        let is_made = ["host", "user"].iter().all(|name| {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &server.path(name)]);
            keygen.status().is_ok_and(|status| status.success())
        });
        if !is_made {
            nudge_testkit::skipped("ssh is not installed");
            return None;
        }
        let settings = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n",
            server.path("host"),
            server.path("user.pub")
        );
        fs::write(server.path("settings"), settings).expect("the folder can be written to");
        let checked = Command::new(SERVER).args(["-t", "-f", &server.path("settings")]).output();
        match checked {
            Ok(output) if output.status.success() => return Some(server),
            Ok(output) => nudge_testkit::skipped(&String::from_utf8_lossy(&output.stderr)),
            Err(_) => nudge_testkit::skipped("the server of ssh is not installed"),
        }
        None
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("its name is text").to_owned()
    }

    /// A terminal in which `nudge` runs behind ssh, with these arguments.
    fn terminal(&self, place: &Place, args: &str) -> Terminal {
        let mut command = CommandBuilder::new("ssh");
        command.args(["-F", "none", "-tt", "-i", &self.path("user")]);
        let proxy = format!("ProxyCommand={SERVER} -i -f {}", self.path("settings"));
        for option in [
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "LogLevel=ERROR",
            &proxy,
        ] {
            command.args(["-o", option]);
        }
        let mut env = place.env();
        env.push(("NUDGE_REHEARSAL", rehearsal(place, WAITS)));
        env.extend([("NUDGE_MODEL", "rehearsal".to_owned()), ("LC_ALL", "C.UTF-8".to_owned())]);
        let env: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let nudge = env!("CARGO_BIN_EXE_nudge");
        command
            .args(["elsewhere", &format!("cd {} && exec env {} {nudge} {args}", place.cwd(), env.join(" "))]);
        started(place, command, &[], (24, 80))
    }
}

#[test]
fn it_is_steered_over_ssh_and_goes_on_when_the_connection_breaks() {
    let Some(server) = SshServer::new() else { return };
    let place = Place::new();
    let first = server.terminal(&place, "chat");
    first.wait_text("○ idle");
    first.send("begin\r");
    first.wait_text("I begin.");
    first.resize(30, 60);
    first.wait("it to be drawn anew", |screen| screen.contents().matches("● working").count() == 1);
    first.send("afterwards\r");
    first.wait_text("⧗ queued afterwards");
    // The connection breaks, and nothing else.
    kill(first.process_id().expect("it runs"));
    drop(first);
    let second = server.terminal(&place, "chat --resume last");
    second.wait_text("● working");
    second.wait_text("⧗ queued afterwards");
    second.send("to the left\x13");
    second.wait_text("Right: to the left.");
    second.wait_text("heard afterwards");
    second.wait_text("○ idle");
}

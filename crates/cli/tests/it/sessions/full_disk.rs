//! A disk that is full: what is asked is refused and says why, nothing is lost, and with room again all goes on.

use std::{fs, io::Write as _, path::PathBuf, process::Command};

use nudge_testkit::{Process, skipped};
use serde_json::{Value, json};

use super::{Client, Place, content};

/// A process whose data is on a small disk of its own.
struct Small {
    place: Place,
    client: Client,
    filler: PathBuf,
}

impl Small {
    /// `None` where nobody may mount a file system.
    fn new(version: u64) -> Option<Self> {
        if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success()) {
            skipped("only root on Linux may mount a small disk");
            return None;
        }
        let place = Place::new();
        let mut env = place.env();
        env.push(("NUDGE_DAEMON", "off".to_owned()));
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let script = r#"mount -t tmpfs -o size=8m,mode=700 small "$NUDGE_DATA" && exec "$0" acp"#;
        let args = ["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_nudge")];
        let process = Process::start("unshare", &args, &env);
        let data = place.data.path().strip_prefix("/").expect("it is absolute").to_owned();
        let filler = PathBuf::from(format!("/proc/{}/root", process.id())).join(data).join("filler");
        let mut client = Client::new(process, version, &json!({}));
        client.new_session(&place.cwd());
        Some(Self { place, client, filler })
    }

    /// Takes up all the room there is.
    fn fill(&self) {
        let mut filler = fs::File::create(&self.filler).expect("it can be made");
        for block in [&[0; 8192][..], &[0; 512], &[0; 1]] {
            while filler.write_all(block).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(&self.filler).expect("it is there");
    }

    /// The story of the session as somebody reads it who loads it.
    fn loaded(&mut self) -> Vec<String> {
        let (session, from) = (self.client.session.clone(), self.client.log.len());
        self.client.load(&session, &self.place.cwd());
        self.client.log.drain(..from);
        self.client.story()
    }
}

fn is_full(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    message.contains("disk is full") && error["data"]["reason"] == "disk_full"
}

#[test]
fn what_cannot_be_stored_is_refused_and_the_session_goes_on_with_room_again() {
    super::both(|version| {
        let Some(mut small) = Small::new(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        small.fill();
        let refused = [
            ("session/prompt", json!({"sessionId": small.client.session, "prompt": content("second")})),
            (
                "session/inject",
                json!({"sessionId": small.client.session, "mode": "queue", "content": content("third")}),
            ),
            ("session/new", json!({"cwd": small.place.cwd(), "mcpServers": []})),
        ];
        for (method, params) in refused {
            let id = small.client.send(method, &params);
            let error = small.client.response(id)["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let id = small.client.prompt("fourth");
        let answer = small.client.response(id);
        assert!(answer.get("error").is_none(), "{answer}");
        small.client.said("heard fourth");
        let told = small.loaded();
        let told: Vec<_> =
            told.iter().filter(|line| line.starts_with("user") || line.starts_with("agent")).collect();
        assert_eq!(told, ["user: first", "agent: heard first", "user: fourth", "agent: heard fourth"]);
    });
}

#[test]
fn a_turn_that_fills_the_disk_ends_and_what_was_shown_and_accepted_is_kept() {
    super::both(|version| {
        let Some(mut small) = Small::new(version) else { return };
        let prompt = small.client.prompt("talk");
        small.client.said("word");
        let kept = small.client.inject("queue", "kept");
        small.fill();
        if version == 1 {
            let error = small.client.response(prompt)["error"].clone();
            assert!(is_full(&error), "{error}");
        } else {
            let end =
                small.client.until("the end", |message| message["params"]["update"]["stopReason"] == "error");
            assert!(is_full(&end["params"]["update"]["error"]), "{end}");
        }
        let words = |story: &[String]| story.concat().matches("word").count();
        let shown = words(&small.client.story());
        small.free();
        // By itself: nobody asks for anything.
        assert_eq!(small.client.delivered(&kept), "kept");
        small.client.said("heard kept");
        let told = small.loaded();
        assert_eq!(words(&told), shown, "{told:#?}");
        assert!(told.iter().any(|line| line.contains("interrupted")), "{told:#?}");
    });
}

#[test]
fn a_session_that_cannot_be_closed_or_deleted_is_loaded_at_once_with_room_again() {
    for (version, method) in [(1, "session/close"), (2, "session/delete")] {
        let Some(mut small) = Small::new(version) else { return };
        small.client.prompt("first");
        small.client.turn_end(1);
        small.fill();
        let params = json!({"sessionId": small.client.session, "cwd": small.place.cwd(), "mcpServers": []});
        let load = if version == 1 { "session/load" } else { "session/resume" };
        for method in [method, load] {
            let id = small.client.send(method, &params);
            let error = small.client.response(id)["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let told = small.loaded();
        assert!(told.contains(&"user: first".to_owned()), "{told:#?}");
        small.client.prompt("second");
        small.client.said("heard second");
    }
}

//! A key in the environment, and what is seen of it from outside: nothing in logs, files, the process list and commands.

use std::{fs, path::Path};

use nudge_stage::{ModelReply, StageProvider};
use serde_json::json;

use super::{Client, Place};
use crate::nudge_with;

/// No shape by which it could be told.
const KEY: &str = "qvPlanted9XkLmN/+wZ7RtYpQ";

/// What the key is looked for by: neither half may be seen.
const HALVES: [&str; 2] = ["qvPlanted9XkLmN", "wZ7RtYpQ"];

#[track_caller]
fn check_absent(what: &str, bytes: &[u8]) {
    for half in HALVES {
        let is_there = bytes.windows(half.len()).any(|window| window == half.as_bytes());
        assert!(!is_there, "{half} is in {what}");
    }
}

/// Every file below a folder.
fn check_files(folder: &Path) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("it has a kind"));
        if kind.is_dir() {
            check_files(&path);
        } else if kind.is_file() {
            check_absent(&path.display().to_string(), &fs::read(&path).unwrap_or_default());
        }
    }
}

/// What is seen of these processes, which are ours: their command lines, and the environment of those that work in the session's
/// folder. Nobody else's is looked at.
fn check_processes(own: &[u32], cwd: &str) {
    let mut commands = 0;
    for process in own.iter().flat_map(|pid| with_descendants(*pid)) {
        let folder = Path::new("/proc").join(process.to_string());
        check_absent("the process list", &fs::read(folder.join("cmdline")).unwrap_or_default());
        if fs::read_link(folder.join("cwd")).is_ok_and(|dir| dir == Path::new(cwd)) {
            commands += 1;
            check_absent(
                "the environment of a command",
                &fs::read(folder.join("environ")).unwrap_or_default(),
            );
        }
    }
    assert!(commands > 0, "the command runs");
}

/// A process, and all that it has started.
fn with_descendants(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = listed
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    std::iter::once(pid).chain(children.into_iter().flat_map(with_descendants)).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_of_the_environment_is_seen_nowhere() {
    let (place, stage, trace) = (Place::new(), StageProvider::start_blocking(), tempfile::tempdir().unwrap());
    // Its own environment, and that of the process that runs it, which is ours; of both only what is planted.
    let command = "cat key.txt; env | grep ^OPENAI; tr '\\0' '\\n' < /proc/$PPID/environ | grep ^OPENAI; \
        while [ ! -e go ]; do sleep 0.01; done";
    fs::write(place.work.path().join("key.txt"), KEY).expect("the folder can be written to");
    stage.on("go").times(1).reply(ModelReply::call("run", json!({ "command": command })));
    stage.on("wrong").times(1).reply(ModelReply::error(401, format!("Incorrect API key: {KEY}")));
    for daemon in ["on", "off"] {
        let url = format!("{}/v1", stage.url());
        let trace_file = trace.path().join(daemon);
        let env = [
            ("NUDGE_DATA", place.data.path().to_str().unwrap()),
            ("NUDGE_DAEMON", daemon),
            ("NUDGE_LOG", "trace"),
            ("NUDGE_MODEL", "custom/fake-model"),
            ("NUDGE_TRACE", trace_file.to_str().unwrap()),
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", &url),
        ];
        let mut client = Client::new(nudge_with(&["acp"], &env), 1, &json!({}));
        let headers = json!({ "x-key": KEY });
        let set = json!({ "providerId": "custom", "apiType": "openai", "baseUrl": url, "headers": headers });
        client.ask("providers/set", &set);
        client.new_session(&place.cwd());
        client.prompt(if daemon == "on" { "go" } else { "go on" });
        if daemon == "on" {
            let request = client.agent_request();
            client.permit(&request, "allow_once");
            client.tool("in_progress");
            let daemon = client.ask("_nudge/status", &json!({}))["pid"].as_u64().expect("it has a number");
            let own = [client.process.id(), u32::try_from(daemon).expect("it is small")];
            check_processes(&own, &place.cwd());
            place.touch("go");
        }
        assert_eq!(client.turn_end(1), "end_turn");
        let wrong = json!({ "sessionId": client.session, "prompt": super::content("wrong") });
        if daemon == "on" {
            assert_eq!(client.refused("session/prompt", &wrong).0, -32000);
        }
        let log: Vec<String> = client.log.iter().map(ToString::to_string).collect();
        check_absent("what the client hears", log.join("\n").as_bytes());
        let (_, lines, errors) = client.process.finish();
        check_absent("what the client hears", lines.join("\n").as_bytes());
        check_absent("the log", errors.as_bytes());
    }
    let sent: String = stage.requests().iter().map(|seen| seen.body.to_string()).collect();
    assert!(sent.contains("***"), "the command has seen the key");
    check_absent("what went to the model", sent.as_bytes());
    check_files(trace.path());
    check_files(place.data.path());
}

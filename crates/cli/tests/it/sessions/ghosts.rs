//! Clients that are gone: nobody counts them, nobody asks them, and nothing stays for their sake.

use std::{
    fs::File,
    io::Write,
    process::{Child, Command, Stdio},
};

use nudge_testkit::{eventually, is_alive};
use serde_json::{Value, json};

use super::{Client, Place, both, content, handover::signal};

/// Runs until the file `go` is there.
const LONG: &str = "run while [ ! -e go ]; do sleep 0.01; done";

/// How many clients the one session has, and what it does.
fn status(place: &Place) -> (u64, String) {
    let status: Value = serde_json::from_str(&place.command(&["status", "--json"])).unwrap();
    let live = &status["sessions"][0][1];
    (live["clients"].as_u64().unwrap_or_default(), live["state"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_client_that_is_killed_in_mid_turn_is_not_attached_any_more() {
    both(|version| {
        for name in ["KILL", "TERM"] {
            let place = Place::new();
            let mut client = place.shared_client(version);
            client.new_session(&place.cwd());
            client.prompt(LONG);
            let request = client.agent_request();
            client.permit(&request, "allow_once");
            client.tool("in_progress");
            assert_eq!(status(&place), (1, "running".into()));
            signal(name, client.process.id());
            eventually("the detachment", || status(&place).0 == 0);
            assert_eq!(status(&place).1, "running", "the turn goes on");
            place.touch("go");
            eventually("the end of the turn", || status(&place).1 == "idle");
        }
    });
}

/// `nudge acp` that writes to a file, so that its bytes are carried, as those of a terminal are.
fn carried(place: &Place) -> Child {
    // Whoever runs the tests may have them ignore that the terminal is closed.
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_nudge"), "acp"]);
    command.envs(place.env()).env("NUDGE_DAEMON", "on");
    let output = File::create(place.work.path().join("output")).unwrap();
    command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null()).spawn().unwrap()
}

/// What is written in the file so far that fits.
fn written(place: &Place, fits: impl Fn(&Value) -> bool) -> Value {
    let mut found = Value::Null;
    eventually("a message", || {
        let text = std::fs::read_to_string(place.work.path().join("output")).unwrap();
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        found = messages.into_iter().find(|message| fits(message)).unwrap_or_default();
        !found.is_null()
    });
    found
}

#[test]
fn a_client_whose_bytes_are_carried_is_not_attached_any_more_when_it_is_killed() {
    for name in ["KILL", "HUP"] {
        let place = Place::new();
        let mut child = carried(&place);
        let mut input = child.stdin.take().unwrap();
        let mut send = |id: u64, method: &str, params: Value| {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(input, "{request}").unwrap();
            written(&place, |message| {
                message["id"] == id || message["method"] == "session/request_permission"
            })
        };
        send(1, "initialize", json!({"protocolVersion": 1}));
        let opened = send(2, "session/new", json!({"cwd": place.cwd(), "mcpServers": []}));
        let session = &opened["result"]["sessionId"];
        send(3, "session/prompt", json!({"sessionId": session, "prompt": content("run true")}));
        assert_eq!(status(&place), (1, "requires_action".into()));
        signal(name, child.id());
        eventually("the detachment", || status(&place).0 == 0);
        assert_eq!(status(&place).1, "requires_action", "what is asked waits for somebody else");
        child.wait().unwrap();
        drop(input);
    }
}

/// A client whose turn waits for permission, and the process of its daemon.
fn asked(place: &Place, version: u64) -> (Client, u32) {
    let mut client = place.shared_client(version);
    let pid = client.ask("_nudge/status", &json!({}))["pid"].as_u64().unwrap();
    client.new_session(&place.cwd());
    client.prompt("run true");
    client.agent_request();
    (client, u32::try_from(pid).unwrap())
}

#[test]
fn a_daemon_does_not_stay_for_a_question_that_nobody_is_there_to_answer() {
    let mut place = Place::new();
    place.linger = 1;
    let (client, daemon) = asked(&place, 1);
    let session = client.session.clone();
    drop(client);
    eventually("the end of the daemon", || !is_alive(daemon));
    let mut again = place.shared_client(2);
    again.load(&session, &place.cwd());
    assert!(again.story().join("\n").contains("interrupted"), "{:?}", again.story());
    again.prompt("hello");
    again.said("heard hello");
}

#[test]
fn a_client_that_says_nothing_more_cannot_answer_and_goes() {
    both(|version| {
        let place = Place::new();
        let (mut client, _) = asked(&place, version);
        client.process.close_input();
        if version == 1 {
            let told = client.until("an answer", |message| message.get("error").is_some());
            assert_eq!(told["error"]["data"]["reason"], "requires_action", "{told}");
        }
        let session = client.session.clone();
        let (status, _, errors) = client.process.finish();
        assert!(status.success() && errors.is_empty(), "{errors}");
        let mut again = place.shared_client(version);
        again.load(&session, &place.cwd());
        let request = again.agent_request();
        again.permit(&request, "allow_once");
        again.said("ran");
    });
}

#[test]
fn without_a_daemon_a_question_to_a_client_that_says_nothing_more_counts_as_cancelled() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::with_session(&place, version);
        client.prompt("run true");
        client.agent_request();
        client.process.close_input();
        if version == 1 {
            assert_eq!(client.turn_end(1), "cancelled");
        }
        let (status, _, errors) = client.process.finish();
        assert!(status.success() && errors.is_empty(), "{errors}");
    });
}

#[test]
fn a_prompt_that_is_sent_again_is_answered_at_the_end_of_its_turn() {
    let place = Place::new();
    let keyed = |client: &mut Client| {
        let prompt = content("run true");
        let params =
            json!({"sessionId": client.session, "prompt": prompt, "_meta": {"idempotencyKey": "once"}});
        client.send("session/prompt", &params)
    };
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    keyed(&mut client);
    client.agent_request();
    let session = client.session.clone();
    drop(client.process.finish());
    let mut again = place.shared_client(1);
    again.load(&session, &place.cwd());
    let prompt = keyed(&mut again);
    let request = again.agent_request();
    again.permit(&request, "allow_once");
    assert_eq!(again.response(prompt)["result"]["stopReason"], "end_turn");
    assert!(again.story().iter().any(|line| line == "agent: ran"), "{:?}", again.story());
}

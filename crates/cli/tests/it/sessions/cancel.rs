//! `session/cancel` ends what the turn has started; `tool_call/cancel` and `terminal/cancel` a part of it.

use serde_json::{Value, json};

use super::{Client, Place, both};

#[test]
fn a_running_command_ends_with_everything_it_started() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run setsid sleep 987.25 & sleep 987.25");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        let left = || {
            let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            processes
                .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
                .filter(|line| line.windows(6).any(|part| part == b"987.25") && line.starts_with(b"sleep"))
                .count()
        };
        let patience = std::time::Instant::now() + nudge_testkit::PATIENCE;
        while left() > 0 {
            assert!(std::time::Instant::now() < patience, "{} processes are left", left());
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_call_is_cancelled_and_the_turn_goes_on() {
    let place = Place::new();
    let mut client = Client::running(&place, 2, "run echo begun; sleep 986.5");
    let mut other = Client::with_session(&place, 1);
    let told = client.until("the terminal", |message| {
        let update = &message["params"]["update"];
        update["terminalId"].is_string() && update["capabilities"]["cancel"].is_object()
    });
    let terminal = told["params"]["update"]["terminalId"].clone();
    let call = client.tool("in_progress")["params"]["update"]["toolCallId"].clone();
    let session = client.session.clone();
    let of_call = |call: &Value| json!({ "sessionId": session, "toolCallId": call });
    assert_eq!(
        client.refused("tool_call/cancel", &of_call(&json!("call_of_nobody"))),
        (-32602, "not_cancellable".to_owned())
    );
    assert_eq!(client.refused("tool_call/cancel", &json!({ "sessionId": session })).0, -32602);
    // Version 1 has no such thing.
    assert_eq!(other.refused("tool_call/cancel", &of_call(&call)).0, -32601);
    assert_eq!(client.ask("tool_call/cancel", &of_call(&call)), json!({}));
    client.tool("cancelled");
    client.said("ran");
    assert_eq!(client.turn_end(1), "end_turn");
    assert_eq!(client.refused("tool_call/cancel", &of_call(&call)).0, -32602);
    let of_terminal = json!({ "sessionId": session, "terminalId": terminal });
    assert_eq!(client.refused("terminal/cancel", &of_terminal).0, -32602);
}

#[test]
fn a_command_is_stopped_in_its_terminal_and_the_call_says_so() {
    let place = Place::new();
    let mut client = Client::running(&place, 2, "run echo begun; sleep 986.5");
    let told = client.until("its output", |message| {
        message["params"]["update"]["sessionUpdate"] == "terminal_output_chunk"
    });
    let of_terminal =
        json!({ "sessionId": client.session, "terminalId": told["params"]["update"]["terminalId"] });
    client.ask("terminal/cancel", &of_terminal);
    let ended = client.tool("failed");
    let output = &ended["params"]["update"]["rawOutput"]["output"];
    assert_eq!(output, "begun\nEnded by SIGTERM.");
    assert_eq!(client.turn_end(1), "end_turn");
}

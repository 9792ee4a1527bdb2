//! The daemon and the commands that speak to it.

use serde_json::{Value, json};

use super::{Client, Place};

#[test]
fn a_session_outlives_its_window() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    client.prompt("run while [ ! -e go ]; do sleep 0.01; done");
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.tool("in_progress");
    let session = client.session.clone();
    drop(client);
    std::fs::write(place.work.path().join("go"), "").unwrap();
    let mut again = place.shared_client(1);
    again.load(&session, &place.cwd());
    again.said("ran");
    let story = again.story().join("\n");
    assert!(!story.contains("interrupted"), "{story}");
}

#[test]
fn a_session_is_steered_from_any_terminal() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    client.prompt("talk");
    client.said("word");
    let queued = place.command(&["queue", "last", "and", "then"]);
    let revoked = place.command(&["queue", &client.session, "not this"]);
    assert_eq!(place.command(&["revoke", &client.session, &revoked]), format!("revoked {revoked}"));
    let shown: Value = serde_json::from_str(&place.command(&["sessions", "show", "last", "--json"])).unwrap();
    assert_eq!(shown["state"], "running");
    assert_eq!(shown["pending"][0]["messageId"], queued.as_str());
    assert_eq!(shown["pending"].as_array().unwrap().len(), 1);
    let steered = place.command(&["steer", "last", "look left"]);
    assert_eq!(client.delivered(&steered), "look left");
    assert_eq!(client.delivered(&queued), "and then");
    client.turn_end(2);
    let (status, _, errors) = place.start(&["steer", "last", "x"], "on").finish();
    assert!(!status.success() && errors.contains("nudge queue"), "{errors}");
}

#[test]
fn sessions_are_listed_shown_exported_and_deleted() {
    let place = Place::new();
    assert_eq!(place.command(&["sessions"]), "no sessions");
    let mut client = place.shared_client(2);
    client.new_session(&place.cwd());
    client.prompt("hello there");
    client.turn_end(1);
    let id = client.session.clone();
    let listed = place.command(&["sessions"]);
    assert!(listed.starts_with(&id) && listed.contains("hello there"), "{listed}");
    let listed: Value = serde_json::from_str(&place.command(&["sessions", "--json"])).unwrap();
    assert_eq!(listed[0]["sessionId"], id.as_str());
    let markdown = place.command(&["sessions", "export", &id[..12]]);
    assert!(markdown.contains("**You:** hello there") && markdown.contains("**Agent:** heard hello there"));
    let exported: Value =
        serde_json::from_str(&place.command(&["sessions", "export", "last", "--format", "json"])).unwrap();
    assert_eq!(exported["updates"][0]["sessionUpdate"], "user_message", "{exported}");
    assert_eq!(place.command(&["sessions", "delete", &id]), format!("deleted {id}"));
    assert_eq!(place.command(&["sessions"]), "no sessions");
}

#[test]
fn a_session_is_watched() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    client.prompt("first");
    client.turn_end(1);
    let mut watch = place.start(&["watch", "last", "--json"], "on");
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "agent_message") {
        kinds.push(watch.next_json().expect("the history")["sessionUpdate"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds[0], "user_message");
    client.prompt("second");
    loop {
        let update = watch.next_json().expect("what comes");
        if update["sessionUpdate"] == "user_message" && update.to_string().contains("second") {
            break;
        }
    }
}

#[test]
fn status_and_stop_tell_of_the_daemon() {
    let place = Place::new();
    assert!(place.command(&["status"]).contains("no daemon runs"));
    assert_eq!(place.command(&["stop"]), "no daemon runs");
    let mut client = place.shared_client(1);
    client.new_session(&place.cwd());
    let status: Value = serde_json::from_str(&place.command(&["status", "--json"])).unwrap();
    assert_eq!(status["sessions"][0][0], client.session.as_str());
    assert_eq!(status["sessions"][0][1]["clients"], 1);
    assert_eq!(place.command(&["stop"]), "the daemon has ended");
    let (status, _, errors) = client.process.finish();
    assert!(!status.success() || errors.is_empty(), "{errors}");
}

#[test]
fn many_that_start_at_once_share_one_daemon() {
    let place = Place::new();
    let starting: Vec<_> = (0..6).map(|_| place.start(&["acp"], "on")).collect();
    let mut clients: Vec<_> =
        starting.into_iter().map(|process| Client::new(process, 2, &json!({}))).collect();
    let pids: Vec<Value> =
        clients.iter_mut().map(|client| client.ask("_nudge/status", &json!({}))["pid"].clone()).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
}

#[test]
fn after_kill_9_of_the_daemon_a_new_one_goes_on() {
    let place = Place::new();
    let mut client = place.shared_client(2);
    client.new_session(&place.cwd());
    client.prompt("talk");
    client.said("word");
    let id = client.inject("queue", "still here");
    let pid = client.ask("_nudge/status", &json!({}))["pid"].to_string();
    let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
    assert!(killed.success());
    let session = client.session.clone();
    assert!(!client.process.wait_with_input_open().success(), "the editor is told");
    let mut again = place.shared_client(2);
    again.load(&session, &place.cwd());
    assert!(again.story().join("\n").contains("interrupted"));
    assert_eq!(again.delivered(&id), "still here");
}

#[test]
fn a_daemon_and_a_process_alone_never_hold_one_session() {
    let place = Place::new();
    let mut shared = place.shared_client(1);
    shared.new_session(&place.cwd());
    let mut alone = place.client(1);
    let params = json!({"sessionId": shared.session, "cwd": place.cwd(), "mcpServers": []});
    assert_eq!(alone.refused("session/load", &params), (-32600, "session_in_use".into()));
}

#[test]
fn the_socket_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let _client = place.shared_client(1);
    let sockets: Vec<_> = std::fs::read_dir(place.data.path())
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|name| name == "sock"))
        .collect();
    assert_eq!(sockets.len(), 1);
    assert_eq!(sockets[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn commands_see_the_environment_of_the_editor() {
    let place = Place::new();
    // The daemon is started by somebody else.
    drop(place.shared_client(1));
    let mut env = place.env();
    env.extend([("NUDGE_DAEMON", "on".to_owned()), ("BIRD", "wren".to_owned())]);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut client = Client::new(crate::nudge_with(&["acp"], &env), 2, &json!({}));
    client.new_session(&place.cwd());
    client.prompt("run echo $BIRD > bird");
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.turn_end(1);
    assert_eq!(std::fs::read_to_string(place.work.path().join("bird")).unwrap().trim(), "wren");
}

#[test]
fn a_revoke_from_a_terminal_does_not_set_off_what_waits() {
    let place = Place::new();
    let mut client = place.client(2);
    client.new_session(&place.cwd());
    client.prompt("talk");
    client.said("word");
    let gone = client.inject("queue", "gone");
    let session = client.session.clone();
    drop(client);
    assert_eq!(place.command(&["revoke", &session, &gone]), format!("revoked {gone}"));
    let mut again = place.shared_client(2);
    let opened = again.load(&session, &place.cwd());
    assert_eq!(opened["_meta"]["inject"]["pending"], json!([]));
}

#[test]
fn a_daemon_that_is_stopped_makes_room_for_the_next_though_clients_are_left() {
    let place = Place::new();
    let mut client = place.shared_client(2);
    client.new_session(&place.cwd());
    client.prompt("talk");
    client.said("word");
    let session = client.session.clone();
    let stop = place.start(&["stop"], "on");
    // It may try to come back to the one that ends, if that is not gone yet.
    let params = json!({"sessionId": session, "cwd": place.cwd()});
    let resume = json!({"jsonrpc": "2.0", "id": 99, "method": "session/resume", "params": params});
    let _ = client.process.try_line(resume.to_string());
    assert!(stop.finish().0.success());
    let mut again = place.shared_client(2);
    again.load(&session, &place.cwd());
    again.prompt("hello");
    again.said("heard hello");
}

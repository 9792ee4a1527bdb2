//! Commands see the environment of the client whose message they serve.

use serde_json::json;

use super::{Client, Place};

/// A client of the daemon whose environment has this bird.
fn client(place: &Place, bird: &str) -> Client {
    let mut env = place.env();
    env.extend([("NUDGE_DAEMON", "on".to_owned()), ("BIRD", bird.to_owned())]);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Client::new(crate::nudge_with(&["acp"], &env), 2, &json!({}))
}

/// Permits the next request of the agent, and waits for the end of that turn.
fn permit(client: &mut Client, turns: usize) {
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.turn_end(turns);
}

fn bird(place: &Place) -> String {
    std::fs::read_to_string(place.work.path().join("bird")).unwrap().trim().to_owned()
}

const LOOK: &str = "run echo $BIRD > bird";

#[test]
fn a_session_that_is_shared_serves_each_with_its_own() {
    let place = Place::new();
    let mut wren = client(&place, "wren");
    wren.new_session(&place.cwd());
    wren.prompt(LOOK);
    permit(&mut wren, 1);
    assert_eq!(bird(&place), "wren");
    let session = wren.session.clone();
    let mut lark = client(&place, "lark");
    lark.load(&session, &place.cwd());
    lark.prompt(LOOK);
    let ends = lark.log.iter().filter(|message| super::is_turn_end(message)).count();
    permit(&mut lark, ends + 1);
    assert_eq!(bird(&place), "lark");
    wren.prompt(LOOK);
    wren.turn_end(2);
    // Both are asked; the question of the turn of the other is over.
    wren.agent_request();
    permit(&mut wren, 3);
    assert_eq!(bird(&place), "wren");
    drop(wren);
    lark.turn_end(ends + 2);
    lark.agent_request();
    lark.prompt(LOOK);
    permit(&mut lark, ends + 3);
    assert_eq!(bird(&place), "lark");
}

#[test]
fn a_message_that_waits_keeps_that_of_who_said_it() {
    let place = Place::new();
    let mut wren = client(&place, "wren");
    wren.new_session(&place.cwd());
    wren.prompt("run while [ ! -e go ]; do sleep 0.01; done; echo $BIRD > first");
    let request = wren.agent_request();
    wren.permit(&request, "allow_once");
    wren.tool("in_progress");
    let mut lark = client(&place, "lark");
    lark.load(&wren.session.clone(), &place.cwd());
    lark.inject("queue", LOOK);
    drop(lark);
    place.touch("go");
    wren.turn_end(1);
    permit(&mut wren, 2);
    assert_eq!(std::fs::read_to_string(place.work.path().join("first")).unwrap().trim(), "wren");
    assert_eq!(bird(&place), "lark");
}

#[test]
fn after_a_restart_it_is_that_of_who_resumes() {
    let place = Place::new();
    let mut wren = client(&place, "wren");
    wren.new_session(&place.cwd());
    wren.prompt("talk");
    wren.said("word");
    wren.inject("queue", LOOK);
    let session = wren.session.clone();
    let pid = wren.ask("_nudge/status", &json!({}))["pid"].as_u64().unwrap();
    super::handover::signal("KILL", u32::try_from(pid).unwrap());
    drop(wren);
    // Somebody only looks first.
    place.command(&["sessions", "show", "last"]);
    let mut lark = client(&place, "lark");
    lark.load(&session, &place.cwd());
    let ends = lark.log.iter().filter(|message| super::is_turn_end(message)).count();
    permit(&mut lark, ends + 1);
    assert_eq!(bird(&place), "lark");
}

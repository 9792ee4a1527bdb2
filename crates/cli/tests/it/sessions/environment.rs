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

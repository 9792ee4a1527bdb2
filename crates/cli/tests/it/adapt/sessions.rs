//! Sessions outlive clients, agents and Nudge, whatever the agent can do itself.

use std::time::{Duration, Instant};

use nudge_testkit::{eventually, is_alive};
use serde_json::{Value, json};

use super::{Place, check_each, client::Client};

fn listed(client: &mut Client) -> Vec<String> {
    let sessions = client.ask("session/list", &json!({}))["sessions"].clone();
    let sessions = sessions.as_array().cloned().unwrap_or_default();
    sessions.iter().filter_map(|session| session["sessionId"].as_str()).map(str::to_owned).collect()
}

fn about(client: &Client) -> Value {
    json!({"sessionId": client.session})
}

#[test]
fn what_an_agent_cannot_do_with_sessions_is_done_for_it() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("", version);
        client.turn("say one");
        let first = client.session.clone();
        assert_eq!(listed(&mut client), [&*first]);
        client.ask("session/close", &about(&client));
        client.load(&first, &place.cwd());
        let story = client.story();
        assert_eq!(story[story.len() - 2..], ["user: say one", "agent: one"], "{story:?}");
        let told = client.turn("recall");
        assert!(told.contains("say one"), "{told}");
        client.ask("session/resume", &json!({"sessionId": first, "cwd": place.cwd(), "mcpServers": []}));
        client.ask("session/delete", &about(&client));
        assert!(listed(&mut client).is_empty());
        let params = json!({"sessionId": first, "cwd": place.cwd(), "mcpServers": []});
        assert_eq!(client.refused("session/resume", &params)["code"], -32002);
        let log = place.log();
        for method in ["session/list", "session/close", "session/delete", "session/load", "session/resume"] {
            assert!(log.heard(method).is_empty(), "the agent has no {method}");
        }
    }
}

#[test]
fn two_clients_share_a_session_and_its_agent() {
    let cases = [("", [1, 1]), ("", [2, 2]), ("", [1, 2]), ("--v2", [1, 2]), ("--v2", [2, 1])];
    check_each(cases, |(options, versions)| {
        let place = Place::new();
        let [first, second] = versions;
        let mut a = place.shared_client(options, first);
        a.new_session(&place.cwd());
        let mut b = place.shared_client(options, second);
        b.load(&a.session, &place.cwd());
        a.prompt("say from a; until go");
        b.said("from a");
        b.delivered_text("say from a; until go");
        let id = b.inject("queue", "say from b");
        place.touch("go");
        for client in [&mut a, &mut b] {
            assert_eq!(client.delivered(&id), "say from b");
            client.said("from b");
            client.turn_end(2);
        }
        let prompted = place.log().0.into_iter().filter(|line| line.text.contains("session/prompt"));
        let pids: std::collections::BTreeSet<u32> = prompted.map(|line| line.pid).collect();
        assert_eq!(pids.len(), 1);
    });
}

#[test]
fn after_kill_9_of_nudge_a_session_is_loaded_again_and_what_waits_follows() {
    let agents = ["", "--load --memory MEMORY", "--v2 --memory MEMORY"];
    let cases = agents.into_iter().flat_map(|options| [(options, 1), (options, 2)]);
    check_each(cases, |(options, version)| {
        let place = Place::new();
        let mut client = place.in_a_tool(options, version);
        let queue = client.inject("queue", "say queued");
        let steer = client.inject("steer", "say steered");
        let (session, agent) = (client.session.clone(), place.log().newest());
        client.process.kill();
        eventually("the end of the agent", || !is_alive(agent));
        let mut again = place.client(options, version);
        let opened = again.load(&session, &place.cwd());
        assert_eq!(opened["_meta"]["inject"]["pending"].as_array().map(Vec::len), Some(2), "{opened}");
        again.delivered(&steer);
        again.delivered(&queue);
        again.said("queued");
        let story = again.story().join("\n");
        assert!(story.contains("t in_progress") && story.contains("interrupted"), "{story}");
        again.turn_end(2);
        let all = again.turn("recall");
        for words in ["tool t go; say after", "say steered", "say queued"] {
            assert_eq!(all.matches(words).count(), 1, "{words} is told once: {all}");
        }
    });
}

#[test]
fn after_kill_9_of_the_daemon_no_agent_is_left() {
    let place = Place::new();
    let mut client = place.shared_client("", 1);
    client.new_session(&place.cwd());
    client.prompt("say one; hang");
    client.said("one");
    let daemon = client.ask("_nudge/status", &json!({}))["pid"].to_string();
    let agent = place.log().newest();
    assert!(is_alive(agent));
    assert!(
        std::process::Command::new("kill")
            .args(["-9", &daemon])
            .status()
            .is_ok_and(|status| status.success())
    );
    eventually("the end of the agent", || !is_alive(agent));
}

#[test]
fn an_agent_that_only_loads_takes_a_session_up_as_fast_as_one_that_resumes() {
    let ways = ["--resume --memory MEMORY", "--load --memory MEMORY"];
    let places = ways.map(|options| {
        let place = Place::new();
        let session = place.session(options, 1).session;
        (place, session)
    });
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..5 {
        for (way, (place, session)) in places.iter().enumerate() {
            let mut client = place.client(ways[way], 1);
            let began = Instant::now();
            client.load(session, &place.cwd());
            shortest[way] = shortest[way].min(began.elapsed());
        }
    }
    let [resumed, loaded] = shortest;
    println!("resumed in {resumed:?}, loaded in {loaded:?}");
    assert!(loaded < resumed + Duration::from_millis(250), "{resumed:?} {loaded:?}");
}

//! Commands see the environment of the client whose message they serve.

use std::collections::BTreeMap;

use nudge_hub::Environment;
use serde_json::json;

use super::{Client, Place};

/// A client of the daemon whose environment has this bird.
async fn client(place: &Place, bird: &str) -> Client {
    let mut variables: BTreeMap<String, String> = std::env::vars().collect();
    variables.insert("BIRD".to_owned(), bird.to_owned());
    let connection = place.connect(None, Some(Environment::new(variables)));
    Client::new(connection, 2, &json!({})).await
}

/// Permits the next request of the agent, and waits for the end of that turn.
async fn permit(client: &mut Client, turns: usize) {
    let request = client.agent_request().await;
    client.permit(&request, "allow_once");
    client.turn_end(turns).await;
}

fn bird(place: &Place) -> String {
    std::fs::read_to_string(place.work.path().join("bird")).unwrap().trim().to_owned()
}

const LOOK: &str = "run echo $BIRD > bird";

#[tokio::test]
async fn a_session_that_is_shared_serves_each_with_its_own() {
    let place = Place::new();
    let mut wren = client(&place, "wren").await;
    wren.new_session(&place.cwd()).await;
    wren.prompt(LOOK);
    permit(&mut wren, 1).await;
    assert_eq!(bird(&place), "wren");
    let session = wren.session.clone();
    let mut lark = client(&place, "lark").await;
    lark.load(&session, &place.cwd()).await;
    lark.prompt(LOOK);
    let ends = lark.messages().filter(|message| super::is_turn_end(message)).count();
    permit(&mut lark, ends + 1).await;
    assert_eq!(bird(&place), "lark");
    wren.prompt(LOOK);
    wren.turn_end(2).await;
    // Both are asked; the question of the turn of the other is over.
    wren.agent_request().await;
    permit(&mut wren, 3).await;
    assert_eq!(bird(&place), "wren");
    drop(wren);
    lark.turn_end(ends + 2).await;
    lark.agent_request().await;
    lark.prompt(LOOK);
    permit(&mut lark, ends + 3).await;
    assert_eq!(bird(&place), "lark");
}

#[tokio::test]
async fn a_message_that_waits_keeps_that_of_who_said_it() {
    let place = Place::new();
    let mut wren = client(&place, "wren").await;
    wren.new_session(&place.cwd()).await;
    wren.prompt("run while [ ! -e go ]; do sleep 0.01; done; echo $BIRD > first");
    let request = wren.agent_request().await;
    wren.permit(&request, "allow_once");
    wren.tool("in_progress").await;
    let mut lark = client(&place, "lark").await;
    lark.load(&wren.session.clone(), &place.cwd()).await;
    lark.inject("queue", LOOK).await;
    drop(lark);
    place.touch("go");
    wren.turn_end(1).await;
    permit(&mut wren, 2).await;
    assert_eq!(std::fs::read_to_string(place.work.path().join("first")).unwrap().trim(), "wren");
    assert_eq!(bird(&place), "lark");
}

//! What an agent asks about sessions that nobody has, or of clients that do not offer it.

use serde_json::{Value, json};

use super::{Client, Place};

/// What clients are asked for, by the protocol.
const ASKED: [&str; 6] = [
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "session/request_permission",
    "elicitation/create",
];

/// Has the agent ask, and gives the code of the error that it gets.
async fn asked(client: &mut Client, what: &str) -> String {
    let said = client.turn(what).await;
    said.rsplit(' ').next().unwrap_or_default().to_owned()
}

/// The methods that the client was asked under.
fn reached(client: &Client) -> Vec<&Value> {
    let methods = client.log.iter().filter(|message| message.value.get("id").is_some());
    methods.map(|message| &message.value["method"]).filter(|method| !method.is_null()).collect()
}

#[tokio::test]
async fn what_names_a_session_that_nobody_has_reaches_no_client() {
    // Also one that offers everything: it cannot know the session either.
    let everything = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true, "elicitation": {"form": {}}});
    for capabilities in [json!({}), everything] {
        let place = Place::new();
        let mut client = Client::new(place.alone(""), 1, &capabilities).await;
        client.new_session(&place.cwd()).await;
        for method in ASKED {
            assert_eq!(asked(&mut client, &format!("stray {method}")).await, "-32002", "{method}");
        }
        assert_eq!(reached(&client), Vec::<&Value>::new());
    }
}

#[tokio::test]
async fn what_names_no_session_though_it_has_to_reaches_no_client() {
    for version in [1, 2] {
        let place = Place::new();
        let mut client = place.session("", version).await;
        for method in ASKED.into_iter().filter(|method| !method.starts_with("elicitation/")) {
            assert_eq!(asked(&mut client, &format!("stray global {method}")).await, "-32602", "{method}");
        }
        assert_eq!(reached(&client), Vec::<&Value>::new());
    }
}

#[tokio::test]
async fn a_form_goes_to_a_client_that_offers_forms() {
    for (version, options) in [(1, ""), (2, "--v2")] {
        for offers in [true, false] {
            let place = Place::new();
            let capabilities = if offers { json!({"elicitation": {"form": {}}}) } else { json!({}) };
            let mut client = Client::new(place.alone(options), version, &capabilities).await;
            client.new_session(&place.cwd()).await;
            if offers {
                client.prompt("stray global elicitation/create");
                let request = client.agent_request().await;
                assert_eq!(request["method"], "elicitation/create");
                client.answer_raw(&request, r#"{"action":"cancel"}"#);
                client.said("elicitation/create: null").await;
            } else {
                assert_eq!(asked(&mut client, "stray global elicitation/create").await, "-32601");
                assert_eq!(reached(&client), Vec::<&Value>::new());
            }
        }
    }
}

//! A client of one version and an agent of the other.

use serde_json::{Value, json};

use super::{Client, Place, check_each, for_mixed, raw, text};

/// A version 2 client in front of a version 1 agent.
async fn new_client(place: &Place) -> Client {
    place.session("", 2).await
}

/// A version 1 client in front of a version 2 agent.
async fn old_client(place: &Place) -> Client {
    place.session("--v2", 1).await
}

/// The updates of these kinds.
fn of_kind(client: &Client, kind: &str) -> Vec<Value> {
    client.updates().filter(|update| update["sessionUpdate"] == kind).cloned().collect()
}

#[tokio::test]
async fn a_turn_in_version_2_of_an_agent_of_version_1() {
    let place = Place::new();
    let mut client = new_client(&place).await;
    let id = client.prompt("say a; say b; tool t 1; say c");
    let message =
        client.result(id).await["messageId"].as_str().expect("version 2 has message ids").to_owned();
    assert_eq!(client.delivered(&message).await, "say a; say b; tool t 1; say c");
    assert_eq!(client.turn_end(1).await, "end_turn");
    let states: Vec<_> =
        of_kind(&client, "state_update").iter().map(|update| update["state"].clone()).collect();
    assert_eq!(states, ["running", "idle"]);
    let ids: Vec<_> =
        of_kind(&client, "agent_message_chunk").iter().map(|chunk| chunk["messageId"].clone()).collect();
    assert!(ids[0].is_string() && ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    let tools = of_kind(&client, "tool_call_update");
    let statuses: Vec<_> = tools.iter().map(|update| update["status"].clone()).collect();
    assert_eq!(statuses, ["pending", "in_progress", "completed"]);
    assert_eq!(tools[0]["title"], "Tool t");
    assert!(of_kind(&client, "tool_call").is_empty());
}

/// Version 1 may name a file by where it is in the session's directory; version 2 may not.
#[tokio::test]
async fn places_in_files_are_told_in_full() {
    let place = Place::new();
    let mut client = new_client(&place).await;
    let call =
        r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","locations":[{"path":"src/a.rs"}]}"#;
    client.turn(&format!("updates 1 {call}")).await;
    let told = of_kind(&client, "tool_call_update");
    assert_eq!(told[0]["locations"], json!([{ "path": format!("{}/src/a.rs", place.cwd()) }]));
}

#[tokio::test]
async fn a_turn_in_version_1_of_an_agent_of_version_2() {
    let place = Place::new();
    let mut client = old_client(&place).await;
    let id = client.prompt("say a; tool t 1; say c");
    assert_eq!(client.result(id).await["stopReason"], "end_turn");
    let answer = client.log.iter().position(|message| message.value["id"] == id).unwrap();
    assert_eq!(client.said_since(0), "ac");
    let late = client.log[answer + 1..].iter().any(|message| message.value["params"]["update"].is_object());
    assert!(!late, "the answer comes last");
    assert_eq!(of_kind(&client, "tool_call").len(), 1);
    assert_eq!(of_kind(&client, "tool_call_update").len(), 2);
    for kind in ["user_message", "state_update", "user_message_chunk"] {
        assert!(of_kind(&client, kind).is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn permission_is_asked_in_the_words_of_the_client() {
    for_mixed(async |options, version| {
        for (option, status) in [("yes", "completed"), ("no", "failed")] {
            let place = Place::new();
            let mut client = place.session(options, version).await;
            client.prompt("ask a");
            let request = client.agent_request().await;
            let params = &request["params"];
            let call = if version == 1 { &params["toolCall"] } else { &params["subject"]["toolCall"] };
            assert_eq!(call["toolCallId"], "a", "{request}");
            assert_eq!(params["options"][0]["optionId"], "yes");
            if version == 2 {
                assert_eq!(params["title"], "Tool a");
            }
            client.answer_raw(
                &request,
                &json!({"outcome": {"outcome": "selected", "optionId": option}}).to_string(),
            );
            client.said(&format!("a: selected {option}")).await;
            client.tool(status).await;
            assert_eq!(client.turn_end(1).await, "end_turn");
        }
    })
    .await;
}

#[tokio::test]
async fn plans() {
    let place = Place::new();
    let mut client = new_client(&place).await;
    client.turn("plan").await;
    let plan = &of_kind(&client, "plan_update")[0]["plan"];
    assert_eq!((&plan["type"], &plan["entries"][1]["content"]), (&json!("items"), &json!("Log")), "{plan}");
    let place = Place::new();
    let mut client = old_client(&place).await;
    client.turn("plan").await;
    let plan = &of_kind(&client, "plan")[0];
    assert_eq!(plan["entries"][0]["status"], "completed", "{plan}");
}

#[tokio::test]
async fn modes_are_an_option_in_version_2() {
    let place = Place::new();
    let mut client = place.client("", 2).await;
    let opened = client.ask("session/new", &json!({"cwd": place.cwd(), "mcpServers": []})).await;
    client.session = opened["sessionId"].as_str().expect("a new session has an id").to_owned();
    let mode = |options: &Value| {
        let options = options.as_array().cloned().unwrap_or_default();
        options
            .into_iter()
            .find(|option| option["category"] == "mode")
            .map(|option| option["currentValue"].clone())
    };
    assert_eq!(mode(&opened["configOptions"]), Some(json!("ask")), "{opened}");
    assert!(opened.get("modes").is_none(), "{opened}");
    client.turn("mode code").await;
    assert_eq!(mode(&of_kind(&client, "config_option_update")[0]["configOptions"]), Some(json!("code")));
    let set = json!({"sessionId": client.session, "configId": "mode", "type": "id", "value": "ask"});
    assert_eq!(
        mode(&client.ask("session/set_config_option", &set).await["configOptions"]),
        Some(json!("ask"))
    );
    let heard: Value = serde_json::from_str(&place.log().heard("session/set_mode")[0]).unwrap();
    assert_eq!(heard["params"]["modeId"], "ask");
    let set = json!({"sessionId": client.session, "configId": "pace", "type": "id", "value": "fast"});
    client.ask("session/set_config_option", &set).await;
    let heard: Value = serde_json::from_str(&place.log().heard("session/set_config_option")[0]).unwrap();
    assert_eq!((&heard["params"]["configId"], &heard["params"]["value"]), (&json!("pace"), &json!("fast")));
}

#[tokio::test]
async fn an_option_is_the_mode_in_version_1() {
    let place = Place::new();
    let mut client = place.client("--v2", 1).await;
    let opened = client.ask("session/new", &json!({"cwd": place.cwd(), "mcpServers": []})).await;
    client.session = opened["sessionId"].as_str().expect("a new session has an id").to_owned();
    assert_eq!(opened["modes"]["currentModeId"], "ask", "{opened}");
    assert_eq!(opened["configOptions"][1]["id"], "pace", "{opened}");
    client.turn("mode code").await;
    assert_eq!(of_kind(&client, "current_mode_update")[0]["currentModeId"], "code");
    client.ask("session/set_mode", &json!({"sessionId": client.session, "modeId": "ask"})).await;
    let heard: Value = serde_json::from_str(&place.log().heard("session/set_config_option")[0]).unwrap();
    assert_eq!((&heard["params"]["configId"], &heard["params"]["value"]), (&json!("mode"), &json!("ask")));
}

/// What was said: who, in which message, what.
fn told(client: &Client) -> Vec<(String, String, String)> {
    let mut told: Vec<(String, String, String)> = Vec::new();
    for update in client.updates() {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let Some(who) = kind.split_once("_message").map(|(who, _)| who.to_owned()) else { continue };
        let (id, words) =
            (update["messageId"].as_str().unwrap_or_default().to_owned(), text(&update["content"]));
        match told.last_mut() {
            Some(last) if last.0 == who && last.1 == id => last.2.push_str(&words),
            _ => told.push((who, id, words)),
        }
    }
    told
}

#[tokio::test]
async fn messages_keep_their_ids_when_a_session_is_loaded_again() {
    check_each(["", "--load --memory MEMORY", "--v2", "--v2 --memory MEMORY"], async |options| {
        let place = Place::new();
        let mut client = place.session(options, 2).await;
        client.turn("say a; say b; tool t 1; say c").await;
        client.turn("say d").await;
        let before = told(&client);
        assert_eq!(before.len(), 5, "{before:?}");
        let session = client.session.clone();
        client.leave().await;
        for _ in 0..2 {
            let mut again = place.client(options, 2).await;
            again.load(&session, &place.cwd()).await;
            assert_eq!(told(&again), before);
            again.leave().await;
        }
    })
    .await;
}

/// Agents have files and terminals of their own; only one that insists is served.
#[tokio::test]
async fn files_and_terminals_are_not_offered_in_the_name_of_a_version_2_client() {
    let place = Place::new();
    let mut client = new_client(&place).await;
    assert_eq!(client.turn("read /etc/hostname").await, "read: not offered");
    assert_eq!(client.turn("term true").await, "term: not offered");
}

#[tokio::test]
async fn files_are_served_inside_the_folders_of_a_version_2_session() {
    let place = Place::new();
    let mut client = place.session("--bold", 2).await;
    let cwd = place.cwd();
    std::fs::write(place.connected.work.path().join("a.txt"), "from disk").unwrap();
    assert_eq!(client.turn(&format!("read {cwd}/a.txt")).await, "read: from disk");
    assert_eq!(client.turn(&format!("write {cwd}/b.txt hello")).await, "write: done");
    assert_eq!(std::fs::read_to_string(place.connected.work.path().join("b.txt")).unwrap(), "hello");
    let outside = place.desk("secret");
    std::fs::write(&outside, "secret").unwrap();
    let refused = client.turn(&format!("read {outside}")).await;
    assert!(refused.starts_with("read: error"), "{refused}");
    let refused = client.turn(&format!("write {outside} gone")).await;
    assert!(refused.starts_with("write: error"), "{refused}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "secret");
}

#[tokio::test]
async fn terminals_are_served_to_an_agent_of_a_version_2_client() {
    let place = Place::new();
    let mut client = place.session("--bold", 2).await;
    let cwd = place.cwd();
    assert_eq!(client.turn("term pwd").await, format!("term: {cwd} (0)"));
    assert_eq!(client.turn("term echo out && exit 3").await, "term: out (3)");
}

#[tokio::test]
async fn files_and_terminals_of_an_editor_of_version_1_are_its_own() {
    let place = Place::new();
    let offers = json!({"fs": {"readTextFile": true, "writeTextFile": false}, "terminal": false});
    let mut client = Client::new(place.alone(""), 1, &offers).await;
    client.new_session(&place.cwd()).await;
    client.prompt("read /no/such/file");
    let request = client.agent_request().await;
    assert_eq!(
        (&request["method"], &request["params"]["path"]),
        (&json!("fs/read_text_file"), &json!("/no/such/file"))
    );
    client.answer_raw(&request, r#"{"content":"from the editor"}"#);
    client.said("read: from the editor").await;
    client.turn_end(1).await;
    assert_eq!(client.turn("write /no/such/file x").await, "write: not offered");
    assert_eq!(client.turn("term true").await, "term: not offered");
}

#[tokio::test]
async fn the_greeting_of_a_client_reaches_an_agent_of_its_version_as_it_came() {
    let place = Place::new();
    let mut client = Client::silent(place.alone(""), 1);
    let params = format!(
        r#"{{"clientCapabilities":{{ "x":{odd}}}, "protocolVersion":1,"_meta":{odd} }}"#,
        odd = raw::ODD
    );
    let id = client.send_raw("initialize", &params);
    client.result(id).await;
    assert_eq!(raw::member(&place.log().heard("initialize")[0], "params").unwrap(), params);
}

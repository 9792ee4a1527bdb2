//! What a client of version 1 is sent of an agent of version 2 grows with what the agent says.

use serde_json::{Value, json};

use super::{Client, Place};

const CHUNKS: usize = 1000;

/// The bytes of all updates, and the text of the tool call as it was last told.
fn told(client: &Client) -> (usize, String) {
    let is_update = |line: &str| line.contains("session/update");
    let bytes =
        client.log.iter().map(|message| &message.line).filter(|line| is_update(line)).map(String::len).sum();
    let content = client.updates().filter_map(|update| update["content"].as_array()).last();
    let text = |item: &Value| item["content"]["text"].as_str().unwrap_or_default().to_owned();
    (bytes, content.into_iter().flatten().map(text).collect())
}

fn said(place: &Place) -> usize {
    place.log().said("session/update").iter().map(String::len).sum()
}

fn chunk(text: &str) -> Value {
    let content = json!({"type": "content", "content": {"type": "text", "text": text}});
    json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "t", "content": content})
}

#[tokio::test]
async fn the_content_of_a_tool_call_is_not_sent_with_every_chunk() {
    let place = Place::new();
    let mut client = place.session("--v2 --load --memory MEMORY", 1).await;
    let (line, last) = (chunk(&"x".repeat(100)), chunk("last"));
    client.turn(&format!("updates {CHUNKS} {line}; updates 1 {last}")).await;
    let (bytes, text) = told(&client);
    assert_eq!(text.len(), CHUNKS * 100 + 4);
    assert!(text.ends_with("last"), "before the turn ends");
    let came = said(&place);
    assert!(bytes < 8 * came, "{came} bytes became {bytes}");

    let session = client.session.clone();
    client.leave().await;
    let mut again = place.client("--v2 --load --memory MEMORY", 1).await;
    again.load(&session, &place.cwd()).await;
    let (bytes, text) = told(&again);
    assert!(text.ends_with("last"), "what was said before is told whole");
    assert!(bytes < 8 * came, "{came} bytes became {bytes}");
}

#[tokio::test]
async fn a_user_who_looks_on_sees_how_it_goes() {
    let place = Place::new();
    let mut client = place.session("--v2", 1).await;
    let (line, last) = (chunk(&"x".repeat(5000)), chunk("last"));
    // The turn goes on until the test has seen what was held back.
    client.prompt(&format!("updates 1 {line}; updates 1 {last}; until go; say done"));
    client
        .until("what was held back", |message| {
            message["params"]["update"]["content"]
                .as_array()
                .is_some_and(|content| content.last().is_some_and(|item| item["content"]["text"] == "last"))
        })
        .await;
    place.touch("go");
    client.turn_end(1).await;
}

#[tokio::test]
async fn the_output_of_a_terminal_is_not_sent_with_every_chunk() {
    let place = Place::new();
    let mut client = place.session("--v2", 1).await;
    let call = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Run", "status": "in_progress",
        "content": [{"type": "terminal", "terminalId": "x"}],
    });
    let output =
        |data: &str| json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": data});
    let line = output("eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4Cg==");
    let last = output("bGFzdA==");
    client.turn(&format!("updates 1 {call}; updates {CHUNKS} {line}; updates 1 {last}")).await;
    let (bytes, text) = told(&client);
    assert!(text.contains("last"), "before the turn ends");
    let came = said(&place);
    assert!(bytes < 8 * came, "{came} bytes became {bytes}");
}

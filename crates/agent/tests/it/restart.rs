//! What is remembered of a session after a restart.

use nudge_agent::Conversation;
use nudge_model::{AnswerPart, ChatMessage};
use nudge_wire::RawJson;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Driver;

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "work"
    [[turn.step]]
    play = [{ text = "I work. " }, { call = "write", input = { path = "a", content = "x" } }, { call = "run", input = { command = "echo hi" } }]
    [[turn.step]]
    play = [{ call = "list" }]
    [[turn.step]]
    play = [{ thought = "hm" }, { text = "Done." }]

    [[turn]]
    [[turn.step]]
    play = [{ text = "Hello." }]
"#;

fn update(history: &mut Conversation, update: &Value) {
    history.update(&RawJson::of(update).unwrap());
}

/// What a model is told after a restart, but for the last message.
async fn told(history: Conversation) -> Vec<ChatMessage> {
    let mut driver = Driver::with(REHEARSAL, TempDir::new().unwrap(), None, history);
    driver.turn("x").await;
    let mut told = driver.asked();
    told.pop();
    told
}

/// Ids differ: the model's own are not part of the transcript.
fn without_ids(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let strip = |message| match message {
        ChatMessage::Agent { mut parts } => {
            for part in &mut parts {
                if let AnswerPart::Call(call) = part {
                    call.id.clear();
                }
            }
            ChatMessage::Agent { parts }
        }
        ChatMessage::Tool { output, failed, .. } => ChatMessage::Tool { id: String::new(), output, failed },
        user @ ChatMessage::User { .. } => user,
    };
    messages.into_iter().map(strip).collect()
}

#[tokio::test]
async fn a_transcript_tells_the_model_what_it_knew() {
    let mut driver = Driver::new(REHEARSAL);
    driver.turn("work").await;
    let mut history = Conversation::new();
    let said = json!([{ "type": "text", "text": "work" }]);
    update(&mut history, &json!({ "sessionUpdate": "user_message", "messageId": "u", "content": said }));
    for reported in &driver.updates {
        update(&mut history, reported);
    }
    driver.turn("x").await;
    let mut before = driver.asked();
    before.pop();
    assert_eq!(before.len(), 7);
    assert_eq!(without_ids(told(history).await), without_ids(before));
}

#[tokio::test]
async fn chunks_and_whole_messages_come_to_the_same() {
    let block = |text: &str| json!({ "type": "text", "text": text });
    let mut chunks = Conversation::new();
    let mut whole = Conversation::new();
    for text in ["a ", "b"] {
        update(
            &mut chunks,
            &json!({ "sessionUpdate": "user_message_chunk", "messageId": "1", "content": block(text) }),
        );
    }
    for text in ["c ", "d"] {
        update(
            &mut chunks,
            &json!({ "sessionUpdate": "agent_message_chunk", "messageId": "2", "content": block(text) }),
        );
    }
    update(
        &mut whole,
        &json!({ "sessionUpdate": "user_message", "messageId": "1", "content": [block("a "), block("b")] }),
    );
    update(
        &mut whole,
        &json!({ "sessionUpdate": "agent_message_chunk", "messageId": "2", "content": block("draft") }),
    );
    update(
        &mut whole,
        &json!({ "sessionUpdate": "agent_message", "messageId": "2", "content": [block("c d")] }),
    );
    let (chunks, whole) = (told(chunks).await, told(whole).await);
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1], whole[1]);
    let (ChatMessage::User { content: a, .. }, ChatMessage::User { content: b, .. }) =
        (&chunks[0], &whole[0])
    else {
        panic!("the user spoke first")
    };
    assert_eq!(a, b);
}

#[tokio::test]
async fn a_call_that_never_ended_has_a_result() {
    let mut history = Conversation::new();
    update(&mut history, &json!({ "sessionUpdate": "user_message", "messageId": "u", "content": [] }));
    update(
        &mut history,
        &json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "name": "run", "status": "in_progress" }),
    );
    let told = told(history).await;
    assert_eq!(told[1].calls().count(), 1);
    assert!(matches!(&told[2], ChatMessage::Tool { id, failed: true, .. } if id == "c"));
    assert_eq!(told.len(), 3);
}

#[tokio::test]
async fn a_long_history_is_cut_at_a_turn() {
    let mut history = Conversation::new();
    for turn in 0..3000 {
        let block = json!({ "type": "text", "text": format!("{turn} {}", "x".repeat(1000)) });
        update(
            &mut history,
            &json!({ "sessionUpdate": "user_message", "messageId": format!("u{turn}"), "content": [block] }),
        );
        update(
            &mut history,
            &json!({ "sessionUpdate": "agent_message", "messageId": format!("a{turn}"), "content": [block] }),
        );
    }
    let told = told(history).await;
    assert!(told.len() <= 1000 && told.len() > 100, "{}", told.len());
    assert!(matches!(&told[0], ChatMessage::User { .. }));
    assert!(told.last().unwrap().text().starts_with("2999 "));
}

#[tokio::test]
async fn anything_else_in_a_transcript_is_passed_over() {
    let mut history = Conversation::new();
    for odd in [
        json!(null),
        json!([]),
        json!({}),
        json!({ "sessionUpdate": 7 }),
        json!({ "sessionUpdate": "state_update", "state": "running" }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "x", "status": "completed" }),
        json!({ "sessionUpdate": "_custom", "content": { "deep": [] } }),
    ] {
        update(&mut history, &odd);
    }
    assert!(told(history).await.is_empty());
}

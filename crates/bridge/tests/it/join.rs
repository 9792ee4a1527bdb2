//! Chunks joined to whole messages are JSON, and say what the chunks said, in their order.

use nudge_bridge::JoinChunks;
use nudge_wire::RawJson;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What each update adds to each message: its id, its `_meta`, and its blocks, with neighbours that are only text joined.
fn said(updates: &[RawJson]) -> Vec<(String, Value, Vec<Value>)> {
    let mut said: Vec<(String, Value, Vec<Value>)> = Vec::new();
    for update in updates {
        let update: Value = serde_json::from_str(update.as_str()).expect("what is sent is JSON");
        let id = update["messageId"].as_str().unwrap_or_default().to_owned();
        let blocks = match &update["content"] {
            Value::Array(blocks) => blocks.clone(),
            block => vec![block.clone()],
        };
        match said.last_mut().filter(|(last, meta, _)| *last == id && *meta == update["_meta"]) {
            Some((_, _, known)) => known.extend(blocks),
            None => said.push((id, update["_meta"].clone(), blocks)),
        }
    }
    for (_, _, blocks) in &mut said {
        *blocks = joined(blocks);
    }
    said
}

fn joined(blocks: &[Value]) -> Vec<Value> {
    let text = |block: &Value| {
        let is_plain = block["type"] == "text" && block.as_object().is_some_and(|members| members.len() == 2);
        block["text"].as_str().filter(|_| is_plain).map(str::to_owned)
    };
    let mut joined: Vec<Value> = Vec::new();
    for block in blocks {
        match (joined.last().and_then(text), text(block)) {
            (Some(before), Some(more)) => {
                *joined.last_mut().expect("there is one") = json!({ "type": "text", "text": before + &more });
            }
            _ => joined.push(block.clone()),
        }
    }
    joined
}

fn join(updates: &[String]) -> (Vec<RawJson>, Vec<RawJson>) {
    let updates: Vec<RawJson> =
        updates.iter().map(|update| serde_json::from_str(update).expect("JSON")).collect();
    let mut join = JoinChunks::default();
    let mut given: Vec<RawJson> = updates.iter().flat_map(|update| join.update(update)).collect();
    given.extend(join.finish());
    (updates, given)
}

fn chunk(id: &str, block: &str, meta: &str) -> String {
    format!(r#"{{"sessionUpdate":"agent_message_chunk","messageId":"{id}","content":{block}{meta}}}"#)
}

#[test]
fn text_is_not_joined_to_a_block_with_more_than_text() {
    for more in [r#","annotations":{"priority":1}"#, r#","_meta":{"a":"b"}"#, r#","a":"b""#] {
        let first = format!(r#"{{"type":"text","text":"a"{more}}}"#);
        let (came, given) =
            join(&[&*first, r#"{"type":"text","text":"b"}"#].map(|block| chunk("m", block, "")));
        assert_eq!(said(&given), said(&came), "{more}");
    }
}

/// A block as an agent may write it.
fn block() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-c\"\\\\\n😀é]{0,4}".prop_map(|text| serde_json::to_string(&text).expect("JSON")),
        Just(r#""\u0041\/\ud83d\ude00""#.to_owned()),
        Just(r#""text""#.to_owned()),
    ];
    (text, 0..8_u8).prop_map(|(text, form)| match form {
        0 | 1 => format!(r#"{{"type":"text","text":{text}}}"#),
        2 => format!(r#"{{ "text" : {text} , "type" : "text" }}"#),
        3 => format!(r#"{{"type":"text","text":{text},"annotations":{{"priority":1}}}}"#),
        4 => format!(r#"{{"type":"text","text":{text},"_meta":{{"a":"}}"}}}}"#),
        5 => format!(r#"{{"type":"text","text":{text},"a":"b"}}"#),
        6 => format!(r#"{{"type":"other","text":{text}}}"#),
        _ => r#"{"type":"image","data":"AA","mimeType":"image/png"}"#.to_owned(),
    })
}

proptest! {
    #[test]
    fn whatever_the_chunks_are_the_same_is_said(
        chunks in prop::collection::vec((prop::sample::select(vec!["m", "n"]), block(), 0..6_u8), 1..20),
    ) {
        let meta = |form: &u8| match form {
            0 => r#","_meta":{"step":1}"#,
            1 => r#","more":1"#,
            _ => "",
        };
        let chunks: Vec<String> =
            chunks.iter().map(|(id, block, form)| chunk(id, block, meta(form))).collect();
        let (came, given) = join(&chunks);
        prop_assert_eq!(said(&given), said(&came));
    }
}

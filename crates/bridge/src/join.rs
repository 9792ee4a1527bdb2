//! Chunks of messages joined to whole ones, for a v2 client that is shown what was said before.

use std::collections::BTreeSet;

use nudge_wire::RawJson;

use crate::{
    UpdateKind,
    object::{JsonObject, raw},
};

/// How much of one message is joined; what follows is appended to it.
const LONGEST: usize = 1024 * 1024;

/// Joins the chunks of each message in v2 updates, which are all updates of a session from its beginning, in order.
///
/// A message that something else interrupts goes on with chunks: sent whole again, it would be sent as often as it was
/// interrupted.
#[derive(Debug, Clone, Default)]
pub struct JoinChunks {
    open: Option<Open>,
    /// Hashes of the ids of messages that were begun. One that is taken for another is begun by a chunk, which is as good.
    begun: BTreeSet<u64>,
}

/// A message whose chunks come.
#[derive(Debug, Clone)]
struct Open {
    /// The kind of the whole message.
    kind: String,
    id: String,
    /// `_meta` that all of its chunks have.
    meta: Option<String>,
    blocks: Vec<String>,
    /// Whether the last block is text and nothing else, so that more can be joined to it.
    ends_plain: bool,
    bytes: usize,
}

impl JoinChunks {
    /// What is to be sent now that this update has come; chunks wait for what follows.
    pub fn update(&mut self, update: &RawJson) -> Vec<RawJson> {
        let object = JsonObject::read(update.as_str());
        let kind = object.as_ref().and_then(|object| object.string("sessionUpdate")).unwrap_or_default();
        let id = object.as_ref().and_then(|object| object.string("messageId"));
        let known = UpdateKind::of(&kind);
        let message = kind.strip_suffix("_chunk").filter(|_| known.is_message_chunk());
        let chunk = message.zip(id.as_deref()).zip(object.as_ref()).filter(|(_, object)| is_plain(object));
        if let Some(((message, id), object)) = chunk {
            return self.chunk(message, id, object);
        }
        let mut updates = self.finish();
        if let Some(id) = id.filter(|_| known.is_message()) {
            self.begun.insert(hash(&id));
        }
        updates.push(update.clone());
        updates
    }

    /// What still waits.
    pub fn finish(&mut self) -> Vec<RawJson> {
        let Some(open) = self.open.take() else { return Vec::new() };
        if self.begun.insert(hash(&open.id)) {
            return vec![open.whole()];
        }
        open.chunks()
    }

    fn chunk(&mut self, message: &str, id: &str, object: &JsonObject<'_>) -> Vec<RawJson> {
        let block = object.get("content").unwrap_or_default();
        let meta = object.get("_meta");
        let goes_on = self.open.as_ref().is_some_and(|open| {
            (&*open.kind, &*open.id, open.meta.as_deref()) == (message, id, meta)
                && open.bytes + block.len() <= LONGEST
        });
        let before = if goes_on { Vec::new() } else { self.finish() };
        let open = self.open.get_or_insert_with(|| Open {
            kind: message.to_owned(),
            id: id.to_owned(),
            meta: meta.map(str::to_owned),
            blocks: Vec::new(),
            ends_plain: false,
            bytes: 0,
        });
        open.push(block);
        before
    }
}

impl Open {
    fn push(&mut self, block: &str) {
        self.bytes += block.len();
        let text = plain_text(block);
        let joined_to = self.blocks.last_mut().filter(|_| self.ends_plain);
        self.ends_plain = text.is_some();
        match (joined_to, text) {
            (Some(last), Some(text)) => {
                last.truncate(last.len() - 2);
                last.push_str(text);
                last.push_str("\"}");
            }
            (None, Some(text)) => self.blocks.push(format!("{TEXT}{text}\"}}")),
            (_, None) => self.blocks.push(block.to_owned()),
        }
    }

    fn whole(&self) -> RawJson {
        let object = JsonObject::default().with("sessionUpdate", format!("\"{}\"", self.kind));
        let content = format!("[{}]", self.blocks.join(","));
        self.with_meta(object.with_str("messageId", &self.id).with("content", content))
    }

    fn chunks(&self) -> Vec<RawJson> {
        let chunk = |block: &String| {
            let object = JsonObject::default().with("sessionUpdate", format!("\"{}_chunk\"", self.kind));
            self.with_meta(object.with_str("messageId", &self.id).with("content", block.clone()))
        };
        self.blocks.iter().map(chunk).collect()
    }

    fn with_meta(&self, mut object: JsonObject<'_>) -> RawJson {
        if let Some(meta) = &self.meta {
            object.set("_meta", meta.clone());
        }
        raw(object.text())
    }
}

/// How a text block begins that is text and nothing else.
const TEXT: &str = r#"{"type":"text","text":""#;

/// The text of a block that has nothing else, as it is written between its quotes.
fn plain_text(block: &str) -> Option<&str> {
    if let Some(text) = block.strip_prefix(TEXT).and_then(|rest| rest.strip_suffix("\"}"))
        && !text.contains(['"', '\\'])
    {
        return Some(text);
    }
    let object = JsonObject::read(block)?;
    let is_plain = object.is("type", "text") && object.keys().all(|key| matches!(key, "type" | "text"));
    let at = object.get("text").filter(|text| is_plain && text.starts_with('"'))?;
    // A slice of the block rather than of the members that were read from it.
    let start = block.find(at)?;
    block.get(start + 1..start + at.len() - 1)
}

/// Whether a chunk has nothing that a whole message of several would have no place for.
fn is_plain(object: &JsonObject<'_>) -> bool {
    let is_known = |key: &str| matches!(key, "sessionUpdate" | "messageId" | "content" | "_meta");
    object.get("content").is_some() && object.keys().all(is_known)
}

/// FNV-1a.
fn hash(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(updates: &[&str], expected: &[&str]) {
        let mut join = JoinChunks::default();
        let mut joined: Vec<RawJson> =
            updates.iter().flat_map(|update| join.update(&raw((*update).to_owned()))).collect();
        joined.extend(join.finish());
        assert_eq!(joined.iter().map(RawJson::as_str).collect::<Vec<_>>(), expected);
    }

    fn chunk(id: &str, content: &str) -> String {
        format!(r#"{{"sessionUpdate":"agent_message_chunk","messageId":"{id}","content":{content}}}"#)
    }

    fn text(words: &str) -> String {
        format!(r#"{{"type":"text","text":"{words}"}}"#)
    }

    #[test]
    fn chunks_become_one_message() {
        let image = r#"{"type":"image","data":"AA"}"#;
        let odd = r#"{"text":"\"c\\", "type":"text"}"#;
        let updates = [text("a"), text("b\\n"), image.to_owned(), odd.to_owned(), text("d")];
        let updates = updates.map(|content| chunk("m", &content));
        let content = format!("{},{image},{}", text("ab\\n"), text(r#"\"c\\d"#));
        let whole = format!(r#"{{"sessionUpdate":"agent_message","messageId":"m","content":[{content}]}}"#);
        check(&updates.each_ref().map(|update| &**update), &[&whole]);
    }

    #[test]
    fn what_was_begun_goes_on_with_chunks() {
        let plan = r#"{"sessionUpdate":"plan_update"}"#;
        let whole = |id: &str, words: &str| {
            format!(r#"{{"sessionUpdate":"agent_message","messageId":"{id}","content":[{}]}}"#, text(words))
        };
        let (a, b, c) = (chunk("m", &text("a")), chunk("m", &text("b")), chunk("m", &text("c")));
        check(&[&a, plan, &b, &c], &[&whole("m", "a"), plan, &chunk("m", &text("bc"))]);
        check(&[&whole("m", "x"), &b], &[&whole("m", "x"), &b]);
        check(&[&a, &chunk("n", &text("b"))], &[&whole("m", "a"), &whole("n", "b")]);
        let annotated =
            r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{},"_meta":{"a":1}}"#;
        check(&[&a, annotated], &[&whole("m", "a"), annotated]);
        let more = r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{},"more":1}"#;
        check(&[more, &a], &[more, &a]);
    }

    #[test]
    fn a_message_is_joined_up_to_a_length() {
        let long = "x".repeat(LONGEST - 100);
        let updates = [chunk("m", &text(&long)), chunk("m", &text(&long)), chunk("m", &text("y"))];
        let whole =
            format!(r#"{{"sessionUpdate":"agent_message","messageId":"m","content":[{}]}}"#, text(&long));
        check(
            &updates.each_ref().map(|update| &**update),
            &[&whole, &chunk("m", &text(&format!("{long}y")))],
        );
    }
}

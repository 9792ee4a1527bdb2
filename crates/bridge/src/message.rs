//! Messages for a reader that can only append: what it has been shown of each, and what to show it next.

use nudge_wire::RawJson;

use crate::{
    content::block_to_v1,
    object::{JsonObject, items, quote, raw},
    recent::RecentValues,
};

/// How many messages are remembered. One that is older is shown whole again if it is sent whole again.
const MESSAGES: usize = 1024;

/// What a v1 client has been shown of each message.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownMessages(RecentValues<Shown, MESSAGES>);

/// What has been shown of one message: not the text, only enough to recognise it as the beginning of a longer one.
#[derive(Debug, Clone, Default)]
struct Shown {
    stream: Stream,
    /// How often something else took the place of what was shown.
    rewrites: u32,
    /// The next chunk begins a rewrite.
    fresh: bool,
}

impl ShownMessages {
    /// A chunk of a message.
    pub(crate) fn chunk(&mut self, update: &RawJson, mut object: JsonObject<'_>) -> RawJson {
        let (Some(id), Some(block)) = (object.string("messageId"), object.get("content")) else {
            return update.clone();
        };
        let shown = self.0.entry(&id);
        shown.stream.feed(&Block::read(block));
        let converted = block_to_v1(block);
        if shown.rewrites == 0 && converted == block {
            return update.clone();
        }
        object.set("content", converted.into_owned());
        shown.name(&id, &mut object);
        object.raw()
    }

    /// A whole message, as chunks of what has not been shown.
    pub(crate) fn whole(&mut self, chunk_kind: &str, mut object: JsonObject<'_>) -> Vec<RawJson> {
        let (Some(id), Some(content)) = (object.string("messageId"), object.take("content")) else {
            return Vec::new();
        };
        let blocks: Vec<Block<'_>> =
            items(&content).unwrap_or_default().into_iter().map(Block::read).collect();
        let shown = self.0.entry(&id);
        let rest = if blocks.is_empty() { None } else { shown.stream.rest(&blocks) };
        let rest = rest.unwrap_or_else(|| {
            shown.clear();
            blocks
        });
        object.put("sessionUpdate", chunk_kind);
        if object.is_null("_meta") {
            object.take("_meta");
        }
        let mut chunks = Vec::new();
        for block in rest {
            shown.stream.feed(&block);
            let mut chunk = std::mem::take(&mut object);
            chunk.set("content", block_to_v1(&block.text()).into_owned());
            shown.name(&id, &mut chunk);
            chunks.push(chunk.raw());
            object = JsonObject::default().with_str("sessionUpdate", chunk_kind).with_str("messageId", &id);
        }
        chunks
    }
}

impl Shown {
    /// What was shown cannot be taken back; what comes next is shown as a message of its own.
    fn clear(&mut self) {
        if self.stream != Stream::default() {
            *self =
                Self { stream: Stream::default(), rewrites: self.rewrites.saturating_add(1), fresh: true };
        }
    }

    /// Puts the id under which the message is shown now.
    fn name(&mut self, id: &str, chunk: &mut JsonObject<'_>) {
        if self.rewrites == 0 {
            return;
        }
        chunk.put("messageId", &format!("{id}~{}", self.rewrites));
        chunk.note("messageId", &quote(id));
        if std::mem::take(&mut self.fresh) {
            chunk.note("replaces", "true");
        }
    }
}

/// A v1 chunk that carries what [`ShownMessages`] did, as the v2 update it came from.
pub(crate) fn chunk_to_v2(mut object: JsonObject<'_>, whole_kind: &str) -> RawJson {
    object.restore("messageId");
    if object.recall("replaces").is_some() {
        object.put("sessionUpdate", whole_kind);
        let block = object.take("content").unwrap_or_default();
        object.set("content", format!("[{block}]"));
    }
    raw(object.text())
}

/// A content block as it counts for what has been shown.
enum Block<'a> {
    Text(String, JsonObject<'a>),
    Opaque(&'a str),
}

impl<'a> Block<'a> {
    fn read(text: &'a str) -> Self {
        let object = JsonObject::read(text).filter(|object| object.is("type", "text"));
        match object.and_then(|object| Some((object.string("text")?, object))) {
            Some((words, object)) => Self::Text(words, object),
            None => Self::Opaque(text),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Text(words, object) => object.clone().with_str("text", words).text(),
            Self::Opaque(text) => (*text).to_owned(),
        }
    }
}

/// Length and hash of everything shown so far, texts run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stream {
    len: usize,
    hash: u64,
}

impl Default for Stream {
    fn default() -> Self {
        Self { len: 0, hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Stream {
    fn feed(&mut self, block: &Block<'_>) {
        match block {
            Block::Text(words, _) => self.bytes(words.as_bytes()),
            Block::Opaque(text) => {
                // No UTF-8 has this byte, so no text is taken for such a block.
                self.bytes(&[0xff]);
                self.bytes(text.as_bytes());
            }
        }
    }

    /// FNV-1a: by bytes, so that it does not matter how a text was cut into chunks.
    fn bytes(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// What follows in `blocks` after what this is the stream of; `None` if they begin with something else.
    fn rest<'a>(&self, blocks: &[Block<'a>]) -> Option<Vec<Block<'a>>> {
        let mut stream = Self::default();
        for (index, block) in blocks.iter().enumerate() {
            let left = self.len.checked_sub(stream.len)?;
            if let Block::Text(words, object) = block
                && left > 0
                && left < words.len()
            {
                let (shown, rest) = words.split_at_checked(left)?;
                stream.bytes(shown.as_bytes());
                let rest = Block::Text(rest.to_owned(), object.clone());
                let after = blocks[index + 1..].iter().map(Block::again);
                return (stream == *self).then(|| std::iter::once(rest).chain(after).collect());
            }
            if left == 0 {
                return (stream == *self).then(|| blocks[index..].iter().map(Block::again).collect());
            }
            stream.feed(block);
        }
        (stream == *self).then(Vec::new)
    }
}

impl<'a> Block<'a> {
    fn again(&self) -> Block<'a> {
        match self {
            Self::Text(words, object) => Self::Text(words.clone(), object.clone()),
            Self::Opaque(text) => Self::Opaque(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &[&str], whole: &[&str], expected: Option<&[&str]>) {
        let mut stream = Stream::default();
        for text in shown {
            stream.feed(&Block::read(text));
        }
        let blocks: Vec<Block<'_>> = whole.iter().map(|text| Block::read(text)).collect();
        let rest = stream.rest(&blocks).map(|rest| rest.iter().map(Block::text).collect::<Vec<_>>());
        assert_eq!(rest, expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect()));
    }

    #[test]
    fn what_extends_is_told_from_what_replaces() {
        let (hel, lo, hello) = (
            r#"{"type":"text","text":"Hé"}"#,
            r#"{"type":"text","text":"llo"}"#,
            r#"{"type":"text","text":"Héllo"}"#,
        );
        let image = r#"{"type":"image","data":""}"#;
        check(&[], &[hello], Some(&[hello]));
        check(&[hel], &[hello], Some(&[lo]));
        check(&[hel, lo], &[hello], Some(&[]));
        check(&[hel, lo], &[hello, image], Some(&[image]));
        check(&[hel, image], &[hel, image, lo], Some(&[lo]));
        check(&[hello], &[hel], None);
        check(&[lo], &[hello], None);
        check(&[hel], &[image], None);
        check(&[r#"{"type":"text","text":"Hello"}"#], &[r#"{"type":"text","text":"Höllo"}"#], None);
    }
}

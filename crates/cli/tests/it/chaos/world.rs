//! What the client was told, and what must therefore hold.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

/// Everything one client has asked for in a session, over all lives of the process.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) session: Option<String>,
    pub(crate) messages: Vec<Known>,
    pub(crate) told: Told,
}

/// How much was tried.
#[derive(Debug, Default, Clone)]
pub(crate) struct Told {
    pub(crate) accepted: u64,
    pub(crate) revoked: u64,
    pub(crate) replaced: u64,
    pub(crate) retried: u64,
    pub(crate) crashes: u64,
    pub(crate) delivered: u64,
}

/// A message the client has sent.
#[derive(Debug)]
pub(crate) struct Known {
    /// Its number, which is in its text and in its key.
    pub(crate) number: usize,
    pub(crate) mode: &'static str,
    /// Its id, once the client was told.
    pub(crate) id: Option<String>,
    /// Whether the first attempt was answered: then its place in the order is known.
    pub(crate) at_first: bool,
    /// What it may say: what was sent last and confirmed, and what was sent later and is not.
    pub(crate) texts: Vec<String>,
    pub(crate) revoke: Revoke,
    pub(crate) is_refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revoke {
    No,
    /// Asked for, and the answer is not known.
    Asked,
    Done,
}

/// What a session holds, as a load tells it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Id and text of each message of the user, in order.
    pub(crate) delivered: Vec<(String, String)>,
    pub(crate) pending: Vec<(String, String)>,
}

impl World {
    pub(crate) fn by_id(&mut self, id: &str) -> Option<&mut Known> {
        self.messages.iter_mut().find(|known| known.id.as_deref() == Some(id))
    }

    /// The invariants, after a crash or at the end.
    pub(crate) fn check(&self, held: &Held) {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        for (id, text) in held.delivered.iter().chain(&held.pending) {
            let number = number(text);
            *places.entry(number).or_default() += 1;
            let known = &self.messages[number];
            assert!(known.id.as_deref().is_none_or(|known| known == id), "{text} has another id: {known:?}");
            assert!(known.texts.contains(text), "{text} is not what {known:?} may say");
        }
        for known in &self.messages {
            let count = places.get(&known.number).copied().unwrap_or(0);
            assert!(count <= 1, "message {} is there {count} times: {held:?}", known.number);
            match known.revoke {
                Revoke::Done => assert_eq!(count, 0, "{known:?} was revoked: {held:?}"),
                Revoke::No if known.id.is_some() => assert_eq!(count, 1, "{known:?} is lost: {held:?}"),
                Revoke::No | Revoke::Asked => {}
            }
        }
        self.check_order(&held.delivered);
    }

    /// Messages of one mode are delivered in the order of acceptance.
    fn check_order(&self, delivered: &[(String, String)]) {
        for mode in ["queue", "steer"] {
            let numbers = delivered.iter().map(|(_, text)| number(text));
            let of_mode: Vec<usize> = numbers
                .filter(|number| self.messages[*number].mode == mode && self.messages[*number].at_first)
                .collect();
            assert!(of_mode.is_sorted(), "{mode} is out of order: {of_mode:?}");
        }
    }
}

/// The number in a text such as `long 17 a`.
pub(crate) fn number(text: &str) -> usize {
    let word = text.split(' ').nth(1).unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("not a message of the test: {text}"))
}

/// The text of content blocks.
pub(crate) fn text(content: &Value) -> String {
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

impl Told {
    pub(crate) fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.revoked += other.revoked;
        self.replaced += other.replaced;
        self.retried += other.retried;
        self.crashes += other.crashes;
        self.delivered += other.delivered;
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accepted, revoked, replaced, retried, crashes, delivered } = self;
        write!(f, "{crashes} crashes, {accepted} accepted, {retried} sent again, {revoked} revoked, ")?;
        write!(f, "{replaced} replaced, {delivered} delivered")
    }
}

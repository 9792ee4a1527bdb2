//! The sessions it has, and those it remembers from before.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::script::Command;

/// A session.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Session {
    pub(super) cwd: String,
    /// All that the user has said, in the order in which it was heard.
    pub(super) told: Vec<String>,
    /// What a replay shows.
    pub(super) history: Vec<Spoken>,
    pub(super) mode: String,
    /// Whether it was opened in this process.
    #[serde(skip)]
    pub(super) is_open: bool,
    #[serde(skip)]
    pub(super) turn: Option<Turn>,
}

/// A message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Spoken {
    pub(super) is_user: bool,
    pub(super) id: String,
    pub(super) text: String,
}

/// A running turn.
#[derive(Debug, Default, Clone)]
pub(super) struct Turn {
    pub(super) is_cancelled: bool,
    /// What was put in while it runs.
    pub(super) steers: Vec<Command>,
}

impl Session {
    pub(super) fn new(cwd: &str) -> Self {
        Self { cwd: cwd.to_owned(), mode: "ask".to_owned(), is_open: true, ..Self::default() }
    }

    /// The user says this.
    pub(super) fn hear(&mut self, id: &str, texts: &[String]) {
        self.told.extend_from_slice(texts);
        for text in texts {
            self.history.push(Spoken { is_user: true, id: id.to_owned(), text: text.clone() });
        }
    }

    /// It says this itself.
    pub(super) fn say(&mut self, id: &str, text: &str) {
        self.history.push(Spoken { is_user: false, id: id.to_owned(), text: text.to_owned() });
    }
}

/// Sessions by id.
pub(super) type Sessions = BTreeMap<String, Session>;

/// All that is kept in a file.
pub(super) fn recalled(file: Option<&Path>) -> Sessions {
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Writes one session down, or strikes it out.
pub(super) fn keep(file: Option<&Path>, id: &str, session: Option<&Session>) {
    let Some(file) = file else { return };
    let mut kept = recalled(Some(file));
    match session {
        Some(session) => kept.insert(id.to_owned(), session.clone()),
        None => kept.remove(id),
    };
    let text = serde_json::to_string(&kept).expect("sessions are plain data");
    // Whoever reads meanwhile finds the old file or the new one.
    let fresh = file.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&fresh, text)
        .and_then(|()| std::fs::rename(&fresh, file))
        .expect("the memory can be written");
}

//! What was left out of an answer, and why: counted, with a few names.

use std::{collections::BTreeMap, path::Path};

use nudge_workspace::SessionDirectories;

/// How many names are given for one reason.
const MOST_NAMES: usize = 3;
/// How long a name is that is given.
const MOST_NAME: usize = 100;

/// What happened to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WalkTopic {
    /// It was not looked at.
    LeftOut,
    /// It was looked at, but not as it should be.
    Roughly,
    /// Its rules about what to leave out were not followed.
    Rules,
}

/// What is to be told at the end of an answer.
pub(crate) struct WalkReport<'a> {
    roots: &'a SessionDirectories,
    /// By reason: how many, and the first of them.
    notes: BTreeMap<(WalkTopic, String), (usize, Vec<String>)>,
}

impl<'a> WalkReport<'a> {
    pub(crate) fn new(roots: &'a SessionDirectories) -> Self {
        Self { roots, notes: BTreeMap::new() }
    }

    /// Notes that something was left out. There are few reasons, whatever the files are.
    pub(crate) fn note(&mut self, topic: WalkTopic, reason: &str, path: &Path) {
        let (count, names) = self.notes.entry((topic, reason.to_owned())).or_default();
        *count += 1;
        if names.len() < MOST_NAMES {
            names.push(short(&self.roots.tell(path)));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// One line for each topic, in brackets.
    pub(crate) fn lines(&self) -> Vec<String> {
        let headings = [
            (WalkTopic::LeftOut, "Left out"),
            (WalkTopic::Roughly, "Searched roughly"),
            (WalkTopic::Rules, "Ignore rules that were not followed"),
        ];
        let line = |(topic, heading): (WalkTopic, &str)| {
            let notes = self.notes.iter().filter(|((of, _), _)| *of == topic);
            let told: Vec<String> = notes.map(|((_, reason), note)| tell(reason, note)).collect();
            (!told.is_empty()).then(|| format!("[{heading}: {}]", told.join("; ")))
        };
        headings.into_iter().filter_map(line).collect()
    }
}

fn tell(reason: &str, (count, names): &(usize, Vec<String>)) -> String {
    let more = count - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{reason}: {}{more}", names.join(", "))
}

/// A name without signs that would make something else of the line it is put on: it may hold line breaks.
pub(crate) fn on_one_line(name: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if is_hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

fn short(name: &str) -> String {
    let shown = on_one_line(name);
    if shown.len() <= MOST_NAME {
        return shown;
    }
    format!("…{}", &shown[shown.ceil_char_boundary(shown.len() - MOST_NAME)..])
}

//! Finds in the recent changes which name became which.

use std::ops::Range;

use nudge_syntax::{AnalysedDocument, placed, token::is_word};
use nudge_text::{diff, history::LineChange};

use crate::{Scene, engine::find};

/// Changes that are looked at, the newest first.
const MAX_CHANGES: usize = 12;
/// Renames that are followed up.
const MAX_PAIRS: usize = 6;
/// A change with more text than this is not taken apart.
const MAX_CHANGE: usize = 8 * 1024;

/// A place where a document has the new name now.
#[derive(Debug, Clone)]
pub(super) struct RenameSite<'a> {
    pub(super) source: &'a AnalysedDocument,
    pub(super) range: Range<usize>,
    /// Nothing else was changed on its line.
    pub(super) alone: bool,
}

/// A name that became another.
#[derive(Debug, Clone)]
pub(super) struct RenamePair<'a> {
    pub(super) old: String,
    pub(super) new: String,
    /// Where it did, the newest first.
    pub(super) sites: Vec<RenameSite<'a>>,
    /// How many changes did it.
    pub(super) support: usize,
    /// Every change that did it did something else too.
    pub(super) mixed: bool,
    /// It is being typed.
    pub(super) open: bool,
    /// In how many parts the newest change that did it differs from what was.
    pub(super) parts: usize,
    /// How many changes came after the newest that did it.
    pub(super) age: usize,
}

/// The names that recent changes put in the place of others, the newest first.
pub(super) fn pairs<'a>(scene: &Scene<'a>) -> Vec<RenamePair<'a>> {
    let mut found: Vec<RenamePair<'a>> = Vec::new();
    for (age, change) in scene.changes.iter().rev().take(MAX_CHANGES).enumerate() {
        let Some(source) = find(scene, &change.uri) else { continue };
        learn(source, change, age, &mut found);
    }
    let opposite =
        |pair: &RenamePair<'_>| found.iter().any(|other| other.old == pair.new && other.new == pair.old);
    let opposed: Vec<bool> = found.iter().map(opposite).collect();
    let mut opposed = opposed.into_iter();
    found.retain(|_| !opposed.next().unwrap_or(false));
    // What was renamed twice has the later name.
    for at in 1..found.len() {
        let (newer, older) = found.split_at_mut(at);
        let pair = &mut older[0];
        if let Some(later) = newer.iter().find(|later| later.old == pair.new && later.new != pair.old) {
            pair.new.clone_from(&later.new);
            pair.sites.extend(later.sites.iter().cloned());
        }
    }
    found.truncate(MAX_PAIRS);
    found
}

fn learn<'a>(source: &'a AnalysedDocument, change: &LineChange, age: usize, found: &mut Vec<RenamePair<'a>>) {
    if change.before.is_empty()
        || change.after.is_empty()
        || change.before.len() + change.after.len() > MAX_CHANGE
    {
        return;
    }
    let parts = diff::words(&change.before, &change.after);
    let mut here: Vec<&str> = Vec::new();
    for (from, to) in &parts {
        let (old, new) = (&change.before[from.clone()], &change.after[to.clone()]);
        if !is_name(old) || !is_name(new) {
            continue;
        }
        let mixed =
            parts.iter().any(|(a, b)| change.before[a.clone()] != *old || change.after[b.clone()] != *new);
        let line = line_around(&change.after, to);
        let alone = !parts.iter().any(|(a, b)| {
            let other = change.before[a.clone()] != *old || change.after[b.clone()] != *new;
            other && b.start <= line.end && line.start <= b.end
        });
        let site = placed(source, change, to).map(|range| RenameSite { source, range, alone });
        match found.iter_mut().find(|pair| pair.old == old && pair.new == new) {
            Some(pair) => {
                pair.sites.extend(site);
                pair.support += usize::from(!here.contains(&old));
                pair.mixed &= mixed;
            }
            None => found.push(RenamePair {
                old: old.to_owned(),
                new: new.to_owned(),
                sites: site.into_iter().collect(),
                support: 1,
                mixed,
                open: change.open,
                age,
                parts: parts.len(),
            }),
        }
        here.push(old);
    }
}

fn line_around(text: &str, piece: &Range<usize>) -> Range<usize> {
    let start = text[..piece.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[piece.end..].find('\n').map_or(text.len(), |at| piece.end + at);
    start..end
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_word)
        && text.starts_with(|c: char| !c.is_ascii_digit())
        && !KEYWORDS.split(' ').any(|keyword| keyword == text)
}

/// Words that are no names wherever they are; those of one language only are told by its grammar.
const KEYWORDS: &str = "\
    as async await bool boolean break case catch char class const continue def default delete do \
    double elif else enum except export extends extern f32 f64 false False final float fn for from \
    func function i16 i32 i64 i8 if impl import in int interface is isize lambda let long loop match \
    mod mut new nil None not null or override package pass private protected pub public raise \
    readonly ref return self Self short static str string String struct super switch this throw \
    throws trait true True try type typedef u16 u32 u64 u8 undefined unsafe unsigned use using usize \
    var virtual void where while with yield";

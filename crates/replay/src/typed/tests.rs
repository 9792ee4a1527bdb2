use std::collections::HashMap;

use nudge_text::Edits;

use super::*;
use crate::{
    case::{ChangedFile, ReplayCase},
    driver::EngineAnswer,
    walk::ReplayLog,
};

/// An engine that says the same of every text.
struct Scripted<F> {
    texts: HashMap<String, Text>,
    says: F,
    refused: usize,
}

impl<F: Fn(&str, usize) -> Option<Edit>> EngineDriver for Scripted<F> {
    fn open(&mut self, uri: &str, _: &str, text: &str) -> Result<(), ReplayError> {
        self.texts.insert(uri.to_owned(), Text::new(text));
        Ok(())
    }

    fn focus(&mut self, _: &str, _: usize) -> Result<(), ReplayError> {
        Ok(())
    }

    fn change(&mut self, uri: &str, edits: &[Edit]) -> Result<(), ReplayError> {
        let text = self.texts.get_mut(uri).expect("it is open");
        edits.iter().rev().for_each(|edit| text.replace(edit.range.clone(), &edit.text));
        Ok(())
    }

    fn suggest(&mut self, uri: &str, cursor: usize) -> Result<EngineAnswer, ReplayError> {
        let edit = (self.says)(&self.texts[uri].to_string(), cursor);
        let shown = edit.map(|edit| ShownEdit {
            uri: uri.to_owned(),
            cursor: edit.range.start + edit.text.len(),
            edits: Edits::from(edit),
            ..ShownEdit::not_an_edit("1".to_owned())
        });
        Ok(EngineAnswer { shown, micros: 0 })
    }

    fn accept(&mut self, _: &str) -> Result<(), ReplayError> {
        Ok(())
    }

    fn reject(&mut self, _: &str, _: RejectReason) -> Result<(), ReplayError> {
        self.refused += 1;
        Ok(())
    }
}

fn typed(before: &str, after: &str, says: impl Fn(&str, usize) -> Option<Edit>) -> (TypedScore, usize) {
    let file = ChangedFile { path: "a.rs".to_owned(), before: before.to_owned(), after: after.to_owned() };
    let case = ReplayCase {
        repo: "r".into(),
        commit: "c".to_owned(),
        files: vec![file],
        context: Vec::new(),
        untouched: Vec::new(),
    };
    let mut driver = Scripted { texts: HashMap::new(), says, refused: 0 };
    let mut walk = CommitWalk::begin(&case, &mut driver, ReplayLog::default()).expect("it begins");
    let outcome = run(&mut walk).expect("it is typed");
    let typed = outcome.all();
    let saved: usize = outcome.predictors.values().map(|typed| typed.keys - typed.pressed).sum();
    assert_eq!(typed.keys - typed.pressed, saved, "each key saved was saved by somebody");
    assert_eq!(walk.drafts[0].text(), after);
    let text = driver.texts.values().next().expect("a file").to_string();
    assert_eq!(text, after, "both sides have the same text");
    (typed, driver.refused)
}

#[test]
fn without_suggestions_every_key_is_pressed() {
    let (typed, _) = typed("a\nb\nc\n", "a\nbe\nc\nd\n", |_, _| None);
    assert_eq!((typed.keys, typed.pressed, typed.saved_share), (3, 3, Some(0.0)));
    // After the last key nothing is left to ask for.
    assert_eq!(typed.asks, 2);
}

#[test]
fn what_goes_on_typing_saves_its_keys_but_one() {
    let says = |text: &str, cursor: usize| {
        text[..cursor].ends_with("long").then(|| Edit::new(cursor..cursor, "_name"))
    };
    let (typed, _) = typed("a\nb\n", "a\nlong_name;\nb\n", says);
    // A line break and four keys, one to take it, and the semicolon.
    assert_eq!((typed.keys, typed.pressed), (11, 7));
    assert_eq!((typed.shown, typed.right, typed.wrong), (1, 1, 0));
}

#[test]
fn a_wrong_one_that_stays_counts_once() {
    let says = |text: &str, cursor: usize| {
        let typed = text[..cursor].rfind('\n').map_or(0, |at| at + 1);
        "other".strip_prefix(&text[typed..cursor]).map(|rest| Edit::new(cursor..cursor, rest))
    };
    let (typed, refused) = typed("a\nb\n", "a\noth\nb\nc\n", says);
    // It stays for four keys of the first hunk and is there again for one of the second.
    assert_eq!((typed.shown, typed.right, refused), (2, 0, 5));
}

#[test]
fn a_half_typed_line_is_not_given_up() {
    let says = |text: &str, cursor: usize| {
        let start = text[..cursor].rfind('\n')?;
        (cursor > start + 1).then(|| Edit::new(start..cursor, ""))
    };
    let (typed, _) = typed("a\nb\n", "a\nlong\nb\nc\n", says);
    assert_eq!((typed.pressed, typed.right), (typed.keys, 0));
}

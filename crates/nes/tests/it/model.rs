//! Any sequence of events, against a model that keeps whole strings.

use std::collections::HashMap;

use nudge_wire::document::DidClose;
use proptest::prelude::*;

use crate::editor::{Editor, full, manual, piece};

#[derive(Debug, Clone)]
enum Event {
    Open { uri: usize, version: i64, text: String },
    Change { uri: usize, version: i64, line: u32, character: u32, delete: u32, text: String },
    Full { uri: usize, version: i64, text: String },
    Close { uri: usize },
    Ask { uri: usize, version: i64 },
}

/// What a document is supposed to be.
#[derive(Debug, Clone)]
enum Model {
    Open {
        version: i64,
        text: String,
    },
    /// Out of sync; with the last version if it ever was open.
    Lost {
        version: Option<i64>,
    },
}

const URIS: [&str; 2] = ["file:///w/a.rs", "file:///w/b.rs"];

fn events() -> impl Strategy<Value = Vec<Event>> {
    let uri = 0..URIS.len();
    let version = 0..12i64;
    let text = "[a-c\n😀]{0,12}";
    let event = prop_oneof![
        2 => (uri.clone(), version.clone(), text).prop_map(|(uri, version, text)| Event::Open { uri, version, text }),
        8 => (uri.clone(), version.clone(), 0..4u32, 0..6u32, 0..4u32, text).prop_map(
            |(uri, version, line, character, delete, text)| Event::Change { uri, version, line, character, delete, text }
        ),
        1 => (uri.clone(), version.clone(), text).prop_map(|(uri, version, text)| Event::Full { uri, version, text }),
        1 => uri.clone().prop_map(|uri| Event::Close { uri }),
        8 => (uri, version).prop_map(|(uri, version)| Event::Ask { uri, version }),
    ];
    prop::collection::vec(event, 1..40)
}

/// The offset of a place in UTF-16 units; `None` if there is no such line or it is within a character.
fn offset(text: &str, line: u32, character: u32) -> Option<usize> {
    let start: usize = if line == 0 { 0 } else { text.match_indices('\n').nth(line as usize - 1)?.0 + 1 };
    let line = &text[start..text[start..].find('\n').map_or(text.len(), |at| start + at)];
    let mut units = 0;
    for (at, char) in line.char_indices() {
        if units >= character {
            return (units == character).then_some(start + at);
        }
        units += u32::try_from(char.len_utf16()).unwrap();
    }
    (units <= character).then_some(start + line.len())
}

fn model_change(
    model: &mut HashMap<usize, Model>,
    uri: usize,
    version: i64,
    make: impl Fn(&str) -> Option<String>,
    full: bool,
) {
    let changed = match model.get(&uri) {
        Some(Model::Open { version: have, text }) if version > *have => {
            make(text).map_or(Model::Lost { version: Some(*have) }, |text| Model::Open { version, text })
        }
        Some(Model::Lost { version: have }) if full && have.is_none_or(|have| version > have) => {
            make("").map_or(Model::Lost { version: *have }, |text| Model::Open { version, text })
        }
        Some(Model::Open { version: have, .. }) => Model::Lost { version: Some(*have) },
        Some(Model::Lost { version }) => Model::Lost { version: *version },
        None if full => make("").map_or(Model::Lost { version: None }, |text| Model::Open { version, text }),
        None => Model::Lost { version: None },
    };
    model.insert(uri, changed);
}

fn apply(editor: &Editor, model: &mut HashMap<usize, Model>, event: &Event) {
    match event {
        Event::Open { uri, version, text } => {
            editor.open(URIS[*uri], *version, text);
            model.insert(*uri, Model::Open { version: *version, text: text.clone() });
        }
        Event::Change { uri, version, line, character, delete, text } => {
            let range = (*line, *character, *line, character + delete);
            editor.change(URIS[*uri], *version, vec![piece(range, text)]);
            let make = |old: &str| {
                // The line behind the last is the end of the text, as editors have it that delete everything.
                let lines = u32::try_from(old.matches('\n').count()).unwrap() + 1;
                let place = |character: u32| {
                    let end = (*line == lines && character == 0).then_some(old.len());
                    offset(old, *line, character).or(end)
                };
                let (start, end) = (place(*character)?, place(character + delete)?);
                let mut new = old.to_owned();
                new.replace_range(start..end, text);
                Some(new)
            };
            model_change(model, *uri, *version, make, false);
        }
        Event::Full { uri, version, text } => {
            editor.change(URIS[*uri], *version, vec![full(text)]);
            model_change(model, *uri, *version, |_| Some(text.clone()), true);
        }
        Event::Close { uri } => {
            editor.connection.did_close(&DidClose::new(&editor.session, URIS[*uri]));
            model.remove(uri);
        }
        Event::Ask { uri, version } => ask(editor, model.get(uri), *uri, *version),
    }
}

fn ask(editor: &Editor, model: Option<&Model>, uri: usize, version: i64) {
    let before = editor.engine.asked();
    let mut request = manual(editor.ask(version, 0, 0));
    URIS[uri].clone_into(&mut request.uri);
    let answer =
        editor.suggest(request).map(|_| (editor.engine.asked() > before).then(|| editor.engine.last().text));
    let expected = match model {
        None => Err("unknown_document".to_owned()),
        Some(Model::Lost { .. }) => Err("document_out_of_sync".to_owned()),
        Some(Model::Open { version: have, .. }) if version > *have => Err("document_out_of_sync".to_owned()),
        Some(Model::Open { version: have, .. }) if version < *have => Ok(None),
        Some(Model::Open { text, .. }) => Ok(Some(text.clone())),
    };
    assert_eq!(answer, expected);
}

proptest! {
    #[test]
    fn documents_are_what_a_naive_model_says(events in events()) {
        let editor = Editor::new();
        let mut model = HashMap::new();
        for event in &events {
            apply(&editor, &mut model, event);
        }
        for uri in 0..URIS.len() {
            for version in 0..12 {
                ask(&editor, model.get(&uri), uri, version);
            }
        }
    }
}

//! The same edits told to three sessions, each in another encoding: the same documents, and the same suggestions of the real
//! engine, which fit the model's own copy of the text.

use std::{ops::Range, sync::Arc};

use nudge_nes::{LocalEngine, NesConnection, NesEngine, NesOptions, NesService, Scene, SuggestOutcome};
use nudge_wire::{
    Version,
    document::{DidChange, DidOpen},
    nes::v1::SuggestRequest,
};
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::editor::{begin, client};

const ENCODINGS: [&str; 3] = ["utf-8", "utf-16", "utf-32"];
const DOCUMENTS: [(&str, &str); 3] = [
    (
        "file:///w/a.rs",
        "/* ä€😀 */ pub fn sum(items: &[u32]) -> u32 {\n    let mut item_count = 0;\n    for item in items {\n        /* 😀ä */ item_count += item;\n    }\n    println!(\"😀 {}\", item_count);\n    item_count\n}\n",
    ),
    (
        "file:///w/b.rs",
        "use crate::a::sum;\r\n\r\n/* € */ fn show(größe: u32) -> u32 {\r\n    let total = sum(&[größe]);\r\n    /* 😀 */ print(total, größe);\r\n    total\r\n}\r\n",
    ),
    ("file:///w/c.py", "def total(größe):\r    total = größe + 1 # 😀\r    return total\r"),
];
const NAMES: [&str; 6] = ["item_count", "total", "größe", "sum", "länge", "n"];
/// Bytes of text that have syntax trees: enough for one or two of the documents.
const PARSED_BYTES: usize = 420;

#[derive(Debug, Clone)]
enum Step {
    /// Puts a text in the place of another.
    Edit { document: usize, at: usize, delete: usize, text: String },
    /// Puts a name in the place of one occurrence of another, and asks there.
    Rename { document: usize, old: usize, nth: usize, new: usize, take: bool },
    /// Asks, and takes the first edit that is suggested.
    Ask { document: usize, at: usize, take: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (document, at, name) = (0..DOCUMENTS.len(), 0..400_usize, 0..NAMES.len());
    let text = prop_oneof!["[a-c(){};=\r\n😀ä ]{0,6}", "(\r\n|\n    )(total|größe)\\(\\);"];
    let step = prop_oneof![
        2 => (document.clone(), at.clone(), 0..12_usize, text)
            .prop_map(|(document, at, delete, text)| Step::Edit { document, at, delete, text }),
        3 => (document.clone(), name.clone(), 0..4_usize, name, any::<bool>())
            .prop_map(|(document, old, nth, new, take)| Step::Rename { document, old, nth, new, take }),
        2 => (document, at, any::<bool>()).prop_map(|(document, at, take)| Step::Ask { document, at, take }),
    ];
    prop::collection::vec(step, 1..20)
}

/// The real engine, and what it was asked last.
#[derive(Default)]
struct Watched(Mutex<Option<(String, usize)>>);

impl NesEngine for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        *self.0.lock() = Some((scene.source.text().to_string(), scene.cursor));
        LocalEngine.suggest(scene)
    }
}

/// One session, which is told everything in one encoding.
struct Told {
    encoding: &'static str,
    engine: Arc<Watched>,
    connection: NesConnection,
    session: String,
}

impl Told {
    fn new(encoding: &'static str) -> Self {
        let engine = Arc::new(Watched::default());
        let options = NesOptions {
            engine: engine.clone(),
            index: false,
            parsed_bytes: PARSED_BYTES,
            ..NesOptions::default()
        };
        let all = json!({"jump": {}, "rename": {}, "searchAndReplace": {}});
        let capabilities = json!({"nes": all, "positionEncodings": [encoding]});
        let connection = NesService::new(options).connect(&client(Version::V1, &capabilities));
        let session = begin(&connection, &json!({}));
        Self { encoding, engine, connection, session }
    }

    fn change(&self, uri: &str, version: i64, text: &str, edits: &[(Range<usize>, String)], now: u64) {
        let piece = |(range, new): &(Range<usize>, String)| {
            let [start, end] = [range.start, range.end].map(|at| position(text, at, self.encoding));
            json!({"range": {"start": start, "end": end}, "text": new})
        };
        // The last first, so that none moves another.
        let changes: Vec<Value> = edits.iter().rev().map(piece).collect();
        let event =
            json!({"sessionId": self.session, "uri": uri, "version": version, "contentChanges": changes});
        self.connection.did_change(serde_json::from_value::<DidChange>(event).unwrap(), now);
    }

    fn ask(&self, uri: &str, version: i64, text: &str, at: usize, now: u64) -> Vec<Value> {
        let ask = json!({
            "sessionId": self.session, "uri": uri, "version": version,
            "position": position(text, at, self.encoding), "triggerKind": "automatic",
        });
        let ask: SuggestRequest = serde_json::from_value(ask).unwrap();
        *self.engine.0.lock() = None;
        let answer = self.connection.suggest(ask, now).unwrap().run().unwrap();
        if let Some(seen) = &*self.engine.0.lock() {
            assert_eq!(*seen, (text.to_owned(), at), "{}", self.encoding);
        }
        let held = self.connection.held(&self.session);
        assert!(held.trees <= PARSED_BYTES, "there are trees of {} bytes", held.trees);
        let answer: nudge_wire::nes::v1::SuggestResponse = answer.into();
        json!(answer)["suggestions"].as_array().unwrap().clone()
    }
}

/// Three sessions and the texts that they are about.
struct Game {
    told: [Told; 3],
    texts: [String; DOCUMENTS.len()],
    versions: [i64; DOCUMENTS.len()],
    now: u64,
    /// The kinds of all that was suggested.
    kinds: Vec<String>,
}

impl Game {
    fn new() -> Self {
        let told = ENCODINGS.map(Told::new);
        for (uri, text) in DOCUMENTS {
            for told in &told {
                told.connection.did_open(DidOpen::new(&told.session, uri, "", 1, text));
            }
        }
        let texts = DOCUMENTS.map(|(_, text)| text.to_owned());
        Self { told, texts, versions: [1; DOCUMENTS.len()], now: 0, kinds: Vec::new() }
    }

    fn play(&mut self, step: &Step) {
        self.now += 700;
        match step {
            Step::Edit { document, at, delete, text } => {
                let content = &self.texts[*document];
                let [start, end] = [*at, at + delete].map(|at| floor(content, at));
                self.change(*document, &[(start..end, text.clone())]);
            }
            Step::Rename { document, old, nth, new, take } => {
                let (old, new) = (NAMES[*old], NAMES[*new]);
                let found = self.texts[*document].match_indices(old).nth(*nth).map(|(at, _)| at);
                let Some(at) = found else { return };
                self.change(*document, &[(at..at + old.len(), new.to_owned())]);
                self.ask(*document, at + new.len(), *take);
            }
            Step::Ask { document, at, take } => {
                let at = floor(&self.texts[*document], *at);
                self.ask(*document, at, *take);
            }
        }
    }

    fn change(&mut self, document: usize, edits: &[(Range<usize>, String)]) {
        self.versions[document] += 1;
        for told in &self.told {
            told.change(
                DOCUMENTS[document].0,
                self.versions[document],
                &self.texts[document],
                edits,
                self.now,
            );
        }
        self.texts[document] = applied(&self.texts[document], edits);
    }

    fn ask(&mut self, document: usize, at: usize, take: bool) {
        let (uri, version, text) = (DOCUMENTS[document].0, self.versions[document], &self.texts[document]);
        let answers =
            self.told.each_ref().map(|told| told.ask(uri, version, text, floor(text, at), self.now));
        let plain = |(answer, encoding): (&Vec<Value>, &str)| -> Vec<Value> {
            answer.iter().map(|suggestion| self.plain(suggestion, encoding)).collect()
        };
        let mut plain = answers.iter().zip(ENCODINGS).map(plain);
        let first = plain.next().unwrap();
        assert!(plain.all(|other| other == first), "{answers:#?}");
        self.kinds.extend(first.iter().map(|suggestion| suggestion["kind"].as_str().unwrap().to_owned()));
        let edit = first.iter().find(|suggestion| suggestion["kind"] == "edit").filter(|_| take);
        if let Some(edit) = edit {
            for told in &self.told {
                told.connection.accept(&told.session, edit["id"].as_str().unwrap());
            }
            let edits: Vec<(Range<usize>, String)> = serde_json::from_value(edit["edits"].clone()).unwrap();
            self.change(number(&edit["uri"]), &edits);
        }
    }

    /// A suggestion with offsets in the place of positions, which must be exact, and the text that comes of it.
    fn plain(&self, suggestion: &Value, encoding: &str) -> Value {
        let mut plain = suggestion.clone();
        let about = &suggestion["_meta"]["nudge"];
        match suggestion["kind"].as_str().unwrap() {
            "edit" => {
                let text = self.text(&suggestion["uri"]);
                let edits = plain_edits(text, &suggestion["edits"], encoding);
                let after = applied(text, &edits);
                plain["cursorPosition"] = json!(offset(&after, &suggestion["cursorPosition"], encoding));
                plain["uri"] = json!(document(&suggestion["uri"]));
                plain["edits"] = json!(edits);
                plain["after"] = json!(after);
            }
            "jump" | "rename" => {
                let text = self.text(&suggestion["uri"]);
                plain["position"] = json!(offset(text, &suggestion["position"], encoding));
                for (uri, edits) in about["changes"].as_object().into_iter().flatten() {
                    let text = self.text(&json!(uri));
                    let edits = plain_edits(text, edits, encoding);
                    plain["_meta"]["nudge"]["changes"][uri] = json!(applied(text, &edits));
                }
            }
            "searchAndReplace" => assert!(!suggestion["search"].as_str().unwrap().is_empty()),
            other => panic!("unknown kind {other}"),
        }
        plain
    }

    fn text(&self, uri: &Value) -> &str {
        &self.texts[document(uri)]
    }
}

/// Which document has this address.
fn document(uri: &Value) -> usize {
    DOCUMENTS.iter().position(|(known, _)| uri == known).expect("a document that is open")
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn plain_edits(text: &str, edits: &Value, encoding: &str) -> Vec<(Range<usize>, String)> {
    let plain = |edit: &Value| {
        let [start, end] = ["start", "end"].map(|member| offset(text, &edit["range"][member], encoding));
        (start..end, edit["newText"].as_str().unwrap().to_owned())
    };
    edits.as_array().unwrap().iter().map(plain).collect()
}

/// The text after edits, which must be sorted and apart.
fn applied(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut after = String::new();
    let mut done = 0;
    for (range, new) in edits {
        assert!(done <= range.start && range.start <= range.end, "{edits:?}");
        after.push_str(&text[done..range.start]);
        after.push_str(new);
        done = range.end;
    }
    after + &text[done..]
}

/// The lines of a text without their breaks.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, char) in text.char_indices() {
        let is_first_half = char == '\r' && text[at + 1..].starts_with('\n');
        if char == '\n' || char == '\r' && !is_first_half {
            let is_second_half = char == '\n' && at > start && text[..at].ends_with('\r');
            lines.push(start..at - usize::from(is_second_half));
            start = at + 1;
        }
    }
    lines.push(start..text.len());
    lines
}

fn width(text: &str, encoding: &str) -> usize {
    match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

/// The offset of a position, which must be that of a place.
fn offset(text: &str, position: &Value, encoding: &str) -> usize {
    let line = lines(text).get(number(&position["line"])).expect("a line of the text").clone();
    let content = &text[line.clone()];
    let mut places = content.char_indices().map(|(at, _)| at).chain([content.len()]);
    let character = number(&position["character"]);
    let at = places.find(|at| width(&content[..*at], encoding) == character);
    line.start + at.unwrap_or_else(|| panic!("{position} is no place in {content:?}"))
}

fn position(text: &str, at: usize, encoding: &str) -> Value {
    let lines = lines(text);
    let number = lines.iter().rposition(|line| line.start <= at).expect("the first line begins at 0");
    json!({"line": number, "character": width(&text[lines[number].start..at], encoding)})
}

/// The nearest place before an offset: neither inside of a character nor of a line break.
fn floor(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at.min(text.len()));
    at - usize::from(text[..at].ends_with('\r') && text[at..].starts_with('\n'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn suggestions_are_the_same_in_every_encoding(steps in steps()) {
        let mut game = Game::new();
        for step in &steps {
            game.play(step);
        }
    }
}

/// What the property says holds of something: such streams bring suggestions.
#[test]
fn a_rename_is_suggested_in_every_encoding() {
    let mut game = Game::new();
    let rename =
        |document: usize, old: usize, new: usize| Step::Rename { document, old, nth: 0, new, take: true };
    game.play(&rename(0, 0, 4));
    for _ in 0..4 {
        let document = 0;
        game.play(&Step::Ask { document, at: game.texts[0].find("länge").unwrap(), take: true });
    }
    assert!(!game.texts[0].contains("item_count"), "{}", game.texts[0]);
    game.play(&rename(1, 2, 4));
    game.play(&rename(2, 2, 4));
    let made = game.kinds.iter().filter(|kind| *kind == "edit").count();
    assert!(made >= 5, "{:?}", game.kinds);
}

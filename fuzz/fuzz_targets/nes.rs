//! The same edits told to three sessions, each in another encoding: the same suggestions, which fit a plain copy of the text,
//! and no more syntax trees than there may be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nudge_nes::{NesConnection, NesOptions, NesService};
use nudge_text::{Encoding, Point, Text};
use nudge_wire::{
    RawJson, Version,
    caps::ClientInit,
    document::{DidChange, DidOpen},
    nes::v1::{StartRequest, SuggestRequest, SuggestResponse},
};
use serde_json::{Value, json};

const ENCODINGS: [(&str, Encoding); 3] =
    [("utf-8", Encoding::Utf8), ("utf-16", Encoding::Utf16), ("utf-32", Encoding::Utf32)];
const URIS: [&str; 2] = ["file:///w/a.rs", "file:///w/b.py"];
const TEXTS: [&str; 2] = [
    "/* ä€😀 */ fn sum(items: &[u32]) -> u32 {\n    let mut total = 0;\n    for item in items {\n        total += item;\n    }\n    total\n}\n",
    "def sum(items):\r\n    total = 0 # 😀\r\n    for item in items:\r\n        total += item\r\n    return total\r\n",
];
/// What can be typed: names, what goes between them, every line break, and code points of every width.
const PIECES: [&str; 16] = [
    "", "total", "größe", "count", "sum", "(", ")", ";\n", "\r\n", "\r", "    ", "😀", "{", "}", " = ",
    "item",
];
/// Bytes of text that have syntax trees: one document has room, two have not.
const PARSED_BYTES: usize = 200;
/// The longest text that is played with.
const LONGEST: usize = 2048;

fuzz_target!(|stream: &[u8]| {
    let told = ENCODINGS.map(Told::new);
    let mut texts = TEXTS.map(str::to_owned);
    for (turn, step) in stream.chunks_exact(5).take(48).enumerate() {
        let (which, version) = (usize::from(step[0] & 1), turn as i64 + 2);
        let text = Text::new(&texts[which]);
        let now = turn as u64 * u64::from(step[0]) * 20;
        let start = place(&texts[which], usize::from(step[1]) + usize::from(step[2] >> 4) * 256);
        let len = if texts[which].len() > LONGEST { LONGEST / 2 } else { usize::from(step[2] & 15) };
        let end = place(&texts[which], (start + len).min(text.len()));
        let new = [PIECES[usize::from(step[3] & 15)], PIECES[usize::from(step[3] >> 4)]].concat();
        for told in &told {
            told.change(
                URIS[which],
                version,
                [text.point(start, told.encoding), text.point(end, told.encoding)],
                &new,
                now,
            );
        }
        texts[which].replace_range(start..end, &new);
        if step[4] & 3 != 0 {
            let cursor = place(&texts[which], start + new.len());
            let mut answers =
                told.iter().map(|told| told.ask(URIS[which], version, &texts, which, cursor, now));
            let first = answers.next().expect("there are three");
            assert!(answers.all(|other| other == first), "{first:?}");
        }
    }
});

/// One session, which is told everything in one encoding.
struct Told {
    encoding: Encoding,
    connection: NesConnection,
    session: String,
}

impl Told {
    fn new((name, encoding): (&str, Encoding)) -> Self {
        let service =
            NesService::new(NesOptions { index: false, parsed_bytes: PARSED_BYTES, ..NesOptions::default() });
        let nes = json!({"jump": {}, "rename": {}, "searchAndReplace": {}});
        let init = json!({"clientCapabilities": {"nes": nes, "positionEncodings": [name]}});
        let connection =
            service.connect(&ClientInit::new(Version::V1, RawJson::of(&init).expect("it is JSON")));
        let session = connection.start(&StartRequest::default()).expect("a session begins").session_id;
        for (uri, text) in URIS.into_iter().zip(TEXTS) {
            connection.did_open(DidOpen::new(&session, uri, "", 1, text));
        }
        Self { encoding, connection, session }
    }

    fn change(&self, uri: &str, version: i64, [start, end]: [Point; 2], text: &str, now: u64) {
        let range = json!({"start": told(start), "end": told(end)});
        let changes = json!([{"range": range, "text": text}]);
        let event =
            json!({"sessionId": self.session, "uri": uri, "version": version, "contentChanges": changes});
        self.connection.did_change(serde_json::from_value::<DidChange>(event).expect("an event"), now);
    }

    /// What is suggested, with the text that comes of it in the place of positions.
    fn ask(
        &self,
        uri: &str,
        version: i64,
        texts: &[String; 2],
        which: usize,
        cursor: usize,
        now: u64,
    ) -> Vec<Value> {
        let position = told(Text::new(&texts[which]).point(cursor, self.encoding));
        let ask = json!({"sessionId": self.session, "uri": uri, "version": version, "position": position, "triggerKind": "automatic"});
        let ask: SuggestRequest = serde_json::from_value(ask).expect("a question");
        let answer = self.connection.suggest(ask, now).expect("it is in sync").run().expect("an answer");
        assert!(self.connection.held(&self.session).trees <= PARSED_BYTES);
        let mut answer = json!(SuggestResponse::from(answer));
        let suggestions = answer["suggestions"].as_array_mut().expect("a list");
        suggestions.iter_mut().for_each(|suggestion| self.plain(suggestion, texts));
        std::mem::take(suggestions)
    }

    fn plain(&self, suggestion: &mut Value, texts: &[String; 2]) {
        let text = |uri: &str| {
            texts[URIS.iter().position(|known| *known == uri).expect("an open document")].as_str()
        };
        let about = text(suggestion["uri"].as_str().expect("an address")).to_owned();
        if suggestion["kind"] == "edit" {
            let after = self.applied(&about, &suggestion["edits"]);
            suggestion["cursorPosition"] = json!(self.offset(&after, &suggestion["cursorPosition"]));
            suggestion["edits"] = json!(after);
        } else if suggestion["kind"] != "searchAndReplace" {
            suggestion["position"] = json!(self.offset(&about, &suggestion["position"]));
        }
        for (uri, edits) in suggestion["_meta"]["nudge"]["changes"].as_object_mut().into_iter().flatten() {
            *edits = json!(self.applied(text(uri), edits));
        }
    }

    /// The text after edits, which must be sorted and apart.
    fn applied(&self, text: &str, edits: &Value) -> String {
        let (mut after, mut done) = (String::new(), 0);
        for edit in edits.as_array().expect("a list") {
            let [start, end] = ["start", "end"].map(|member| self.offset(text, &edit["range"][member]));
            assert!(done <= start && start <= end, "{edits}");
            after.push_str(&text[done..start]);
            after.push_str(edit["newText"].as_str().expect("a text"));
            done = end;
        }
        after + &text[done..]
    }

    /// The offset of a position, which must be exact.
    fn offset(&self, text: &str, position: &Value) -> usize {
        let number = |member: &str| {
            u32::try_from(position[member].as_u64().expect("a number")).expect("a small number")
        };
        let (text, point) = (Text::new(text), Point { line: number("line"), character: number("character") });
        let offset = text.offset(point, self.encoding);
        assert_eq!(told(text.point(offset, self.encoding)), *position);
        offset
    }
}

fn told(point: Point) -> Value {
    json!({"line": point.line, "character": point.character})
}

/// The nearest place before an offset: neither inside of a character nor of a line break.
fn place(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at % (text.len() + 1));
    at - usize::from(text[..at].ends_with('\r') && text[at..].starts_with('\n'))
}

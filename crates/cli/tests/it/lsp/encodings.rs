//! Positions in every encoding, through text where they differ.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Editor, FILE};

/// Emoji, accents and both kinds of line break stand before what is edited.
const LINES: [&str; 5] = [
    "fn main() {",
    "    /* 🙂é */ let total = 1;",
    "    print(\"🙂👩‍🚀\", total);",
    "    keep(\"ä\", total, \"🙂\", total);",
    "}",
];

/// How long a text is in an encoding.
pub(super) fn units(encoding: &str, text: &str) -> usize {
    match encoding {
        "utf-8" => text.len(),
        "utf-16" => text.encode_utf16().count(),
        _ => text.chars().count(),
    }
}

/// A text as an editor holds it, in lines.
pub(super) struct Lines(pub(super) Vec<String>);

impl Lines {
    /// The byte at which a position is on its line.
    fn byte(&self, encoding: &str, position: &Value) -> (usize, usize) {
        let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        let character = usize::try_from(position["character"].as_u64().unwrap()).unwrap();
        let text = &self.0[line];
        let at = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
        let at = at.into_iter().find(|at| units(encoding, &text[..*at]) == character);
        (line, at.unwrap_or_else(|| panic!("{position} is no place in {text:?}")))
    }

    pub(super) fn apply(&mut self, encoding: &str, edits: &Value) {
        for edit in edits.as_array().unwrap().iter().rev() {
            let (line, start) = self.byte(encoding, &edit["range"]["start"]);
            let (last, end) = self.byte(encoding, &edit["range"]["end"]);
            assert_eq!(line, last, "{edit}");
            self.0[line].replace_range(start..end, edit["newText"].as_str().unwrap());
        }
    }
}

#[test]
fn suggestions_fit_the_text_in_every_encoding_and_with_every_line_break() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        for line_break in ["\n", "\r\n"] {
            check(encoding, line_break);
        }
    }
}

fn check(encoding: &str, line_break: &str) {
    let general = json!({ "positionEncodings": [encoding] });
    let mut editor = Editor::new(&json!({ "capabilities": { "general": general } }));
    let text = LINES.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "{line}{line_break}");
        text
    });
    editor.open(FILE, &text);
    let before = units(encoding, LINES[1].split_once("total").unwrap().0);
    let before = u32::try_from(before).unwrap();
    editor.change(1, before..before + 5, "summe");
    let answer = editor.suggest(1, before + 5);
    let mut lines = Lines(LINES.iter().map(ToString::to_string).collect());
    lines.0[1] = lines.0[1].replace("total", "summe");
    let mut taken = 0;
    for suggestion in answer["suggestions"].as_array().unwrap().iter().take(1) {
        lines.apply(encoding, &suggestion["edits"]);
        taken += 1;
    }
    assert_eq!(taken, 1, "{encoding} {line_break:?}: {answer}");
    let expected: Vec<_> = LINES.iter().map(|line| line.replace("total", "summe")).collect();
    assert_eq!(lines.0, expected, "{encoding} {line_break:?}");
}

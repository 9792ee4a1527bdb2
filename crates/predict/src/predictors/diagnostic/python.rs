//! What Python asks for by its own words.

use nudge_syntax::Language;
use nudge_text::Edit;

use super::{Problem, Solution};

/// Words that begin a line which ends with a colon.
const COMPOUND: [&str; 13] = [
    "def ", "class ", "if ", "elif ", "else", "for ", "while ", "try", "except", "finally", "with ",
    "match ", "async ",
];

impl Problem<'_> {
    /// The colon at the end of a line that begins a block.
    pub(super) fn colon(&self) -> Option<Solution> {
        let (text, lines) = (self.source.content(), self.source.text());
        let line = lines.line_of(self.diagnostic.range.start);
        let start = lines.line_start(line);
        let code = text[start..lines.line_end(line)].split('#').next()?.trim_end();
        let begins = COMPOUND.iter().any(|word| code.trim_start().starts_with(word));
        let is_whole = ["()", "[]", "{}"]
            .iter()
            .all(|pair| code.matches(&pair[..1]).count() == code.matches(&pair[1..]).count());
        let is_open = self.source.language() == Language::Python && self.source.is_sound() != Some(true);
        if !is_open || !begins || !is_whole || code.ends_with([':', ',', '\\', '"', '\'']) {
            return None;
        }
        let at = start + code.len();
        let what = "ends the line that begins a block".to_owned();
        Some(Solution { edits: vec![Edit::new(at..at, ":")], prior: 0.7, what })
    }

    /// The `f` before a string without any values in it.
    pub(super) fn plain_string(&self) -> Option<Solution> {
        let text = self.source.content();
        let range = &self.diagnostic.range;
        let code = &text[range.clone()];
        let quote = code.find(['"', '\'']).filter(|at| *at <= 2)?;
        let at = code[..quote].find(['f', 'F'])?;
        if code.contains(['{', '\n']) || !code.ends_with(['"', '\'']) {
            return None;
        }
        let place = range.start + at..range.start + at + 1;
        let what = "takes away an `f` that is not needed".to_owned();
        Some(Solution { edits: vec![Edit::new(place, "")], prior: 0.68, what })
    }
}

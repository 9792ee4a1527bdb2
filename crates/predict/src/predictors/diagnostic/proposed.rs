//! Replacements that a diagnostic proposes, without saying of what.

use nudge_syntax::{
    Language,
    token::{TokenKind, is_word, solid},
};
use nudge_text::Edit;

use super::{Problem, Solution, brief};
use crate::{SceneDiagnostic, Severity};

/// What has no single answer, or is a choice and not a mistake.
const UNDECIDED: [&str; 5] = ["/*", "todo!", "if this is intentional", "`, `", "remove `return`"];

impl Problem<'_> {
    /// Does what a hint says to be done with just what it marks. rust-analyzer makes one of every help of the compiler.
    pub(super) fn hinted(&self) -> Option<Solution> {
        let SceneDiagnostic { severity, message, range, .. } = self.diagnostic;
        let is_undecided = UNDECIDED.iter().any(|undecided| message.contains(undecided));
        if *severity != Severity::Hint || self.source.language() != Language::Rust || is_undecided {
            return None;
        }
        let new = message.strip_suffix('`').and_then(|rest| Some(rest.rsplit_once(": `")?.1));
        let is_removal = ["remove ", "consider removing "].iter().any(|start| message.starts_with(start));
        let old = &self.source.content()[range.clone()];
        let new = new.or(is_removal.then_some("")).filter(|new| *new != old)?;
        // Of a hint about several places there is only the first here; imports have their own place.
        if brackets(old) != brackets(new) || new.trim_start().starts_with("use ") {
            return None;
        }
        let what = if new.is_empty() {
            format!("removes `{}`, as the diagnostic proposes", brief(old))
        } else {
            format!("writes `{}`, as the diagnostic proposes", brief(new))
        };
        // A name in the place of quite another may be one part of several, of which the hint has only the first.
        let are_alike = old.contains(new) || new.contains(old) || message.contains("similar name");
        let prior = match new {
            "" => self.removal(!old.contains(is_word) || self.is_dropped(old.trim()) || self.is_broken()),
            _ if is_name(old) && is_name(new) && !are_alike => 0.45,
            _ => 0.66,
        };
        Some(Solution { edits: vec![Edit::new(range.clone(), new)], prior, what })
    }

    /// Whether the line is said to be wrong, and not just to be of no use.
    fn is_broken(&self) -> bool {
        let SceneDiagnostic { uri, range, .. } = self.diagnostic;
        let line = |offset: usize| self.source.text().line_of(offset);
        self.scene.diagnostics.iter().any(|other| {
            other.severity == Severity::Error
                && other.uri == *uri
                && (line(other.range.start)..=line(other.range.end)).contains(&line(range.start))
        })
    }

    /// Takes `return` from the marked statement, and what ends it.
    pub(super) fn unreturned(&self) -> Option<Solution> {
        let text = self.source.content();
        let range = &self.diagnostic.range;
        let value = text[range.clone()].strip_prefix("return ")?.trim_end_matches(';');
        let end = if text[range.end..].starts_with(';') { range.end + 1 } else { range.end };
        let what = "takes `return` away".to_owned();
        Some(Solution { edits: vec![Edit::new(range.start..end, value)], prior: 0.7, what })
    }

    /// Puts the name that is proposed in the place of the marked one, unless it is only the end of it, or of the only one in
    /// what is marked that begins alike.
    pub(super) fn instead(&self, to: &str, is_end: bool) -> Option<Solution> {
        let text = self.source.content();
        let marked = self.diagnostic.range.clone();
        let old = &text[marked.clone()];
        let alike =
            |word: &str| word.len() > 2 && word != to && (to.starts_with(word) || word.starts_with(to));
        let mut found = solid(old).into_iter().filter(|token| alike(token.text(old)));
        let marked_name = self.place(None).filter(|_| !is_end);
        let place = marked_name.or_else(|| {
            let token = found.next().filter(|token| token.kind == TokenKind::Word)?;
            found.next().is_none().then(|| marked.start + token.range.start..marked.start + token.range.end)
        })?;
        let what = format!("writes `{to}`, as the diagnostic proposes");
        Some(Solution { edits: vec![Edit::new(place, to)], prior: 0.64, what })
    }
}

/// How many brackets of each sort are open at the end of a text.
fn brackets(text: &str) -> [isize; 3] {
    ["()", "[]", "{}"].map(|pair| {
        let count = |bracket: &str| text.matches(bracket).count().cast_signed();
        count(&pair[..1]) - count(&pair[1..])
    })
}

fn is_name(text: &str) -> bool {
    text.len() > 2 && text.chars().all(is_word)
}

//! A file on its way from the text before a commit to the text after it.

use nudge_text::{Edit, Edits, Text, diff};

use crate::{
    case::{ChangedFile, uri},
    paths,
};

/// A file that is being changed: text that stays as it is, and between it the places that the commit changes.
#[derive(Debug, Clone)]
pub(crate) struct FileDraft {
    pub(crate) path: String,
    pub(crate) uri: String,
    pub(crate) language: &'static str,
    /// What stays; one piece more than there are places.
    pub(crate) kept: Vec<String>,
    pub(crate) places: Vec<ChangedPlace>,
}

/// A run of whole lines that the commit changes: one hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedPlace {
    /// What stands there.
    pub(crate) now: String,
    /// What the commit has there.
    pub(crate) want: String,
}

impl ChangedPlace {
    pub(crate) fn is_done(&self) -> bool {
        self.now == self.want
    }

    /// Whether nothing but imports changes there.
    fn is_import(&self) -> bool {
        const STARTS: [&str; 6] = ["import ", "from ", "use ", "pub use ", "using ", "#include "];
        let lines =
            || self.now.lines().chain(self.want.lines()).map(str::trim).filter(|line| !line.is_empty());
        lines().next().is_some() && lines().all(|line| STARTS.iter().any(|start| line.starts_with(start)))
    }
}

impl FileDraft {
    /// The file before the commit.
    pub(crate) fn new(file: &ChangedFile) -> Self {
        let (old, new) = (Text::new(&file.before), Text::new(&file.after));
        let (mut kept, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        for hunk in diff::lines(&old, &new) {
            let start = old.line_start(hunk.old.start);
            let end = old.line_start(hunk.old.end);
            kept.push(file.before[at..start].to_owned());
            places.push(ChangedPlace {
                now: file.before[start..end].to_owned(),
                want: file.after[new.line_start(hunk.new.start)..new.line_start(hunk.new.end)].to_owned(),
            });
            at = end;
        }
        kept.push(file.before[at..].to_owned());
        let language = paths::language(&file.path);
        Self { path: file.path.clone(), uri: uri(&file.path), language, kept, places }
    }

    /// How many hunks there are.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// The text as it is now.
    pub(crate) fn text(&self) -> String {
        let mut text = self.kept[0].clone();
        for (place, kept) in self.places.iter().zip(&self.kept[1..]) {
            text.push_str(&place.now);
            text.push_str(kept);
        }
        text
    }

    /// The first hunk that is not done; a name is used before it is imported, so imports come last.
    pub(crate) fn next(&self) -> Option<usize> {
        let open = |imports: bool| {
            self.places.iter().position(|place| !place.is_done() && place.is_import() == imports)
        };
        open(false).or_else(|| open(true))
    }

    /// How many hunks are not done.
    pub(crate) fn remaining(&self) -> usize {
        self.places.iter().filter(|place| !place.is_done()).count()
    }

    /// Where a place begins.
    pub(crate) fn start(&self, place: usize) -> usize {
        let kept: usize = self.kept[..=place].iter().map(String::len).sum();
        kept + self.places[..place].iter().map(|place| place.now.len()).sum::<usize>()
    }

    /// What a person does to finish a hunk: one replacement, no larger than needed.
    pub(crate) fn by_hand(&self, place: usize) -> Edit {
        let text = self.text();
        let start = self.start(place);
        let ChangedPlace { now, want } = &self.places[place];
        let whole = Edits::one(start..start + now.len(), want.clone());
        let trimmed = whole.trimmed(&Text::new(&text));
        let edit = trimmed.iter().next().cloned().unwrap_or_else(|| Edit::new(start..start, ""));
        below_the_line(edit, &text)
    }

    /// What a person does next in a hunk whose lines become others one by one: the first of those that are left. None if
    /// it is the last, or if lines come or go.
    pub(crate) fn line_by_hand(&self, place: usize) -> Option<Edit> {
        let ChangedPlace { now, want } = &self.places[place];
        let (now, want): (Vec<&str>, Vec<&str>) =
            (now.split_inclusive('\n').collect(), want.split_inclusive('\n').collect());
        let mut left = (0..now.len()).filter(|line| now.get(*line) != want.get(*line));
        let line = left.next().filter(|_| now.len() == want.len() && left.next().is_some())?;
        let start = self.start(place) + now[..line].iter().map(|line| line.len()).sum::<usize>();
        let whole = Edits::one(start..start + now[line].len(), want[line]);
        whole.trimmed(&Text::new(&self.text())).iter().next().cloned()
    }

    /// What stands in a place after an edit that stays inside it.
    pub(crate) fn with(&self, place: usize, edit: &Edit) -> String {
        let start = self.start(place);
        let end = start + self.places[place].now.len() + edit.text.len() - edit.range.len();
        let mut text = self.text();
        text.replace_range(edit.range.clone(), &edit.text);
        text[start..end].to_owned()
    }

    /// The hunk is done, by whatever means.
    pub(crate) fn finish(&mut self, place: usize) {
        let place = &mut self.places[place];
        place.now.clone_from(&place.want);
    }
}

/// New lines are begun at the end of the line above, not in front of the line below.
fn below_the_line(edit: Edit, text: &str) -> Edit {
    let line_break = if edit.text.ends_with("\r\n") { "\r\n" } else { "\n" };
    match edit.text.strip_suffix(line_break) {
        Some(rest) if edit.range.is_empty() && ends_with_break(&text[..edit.range.start], line_break) => {
            let at = edit.range.start - line_break.len();
            Edit::new(at..at, format!("{line_break}{rest}"))
        }
        _ => edit,
    }
}

fn ends_with_break(text: &str, line_break: &str) -> bool {
    text.ends_with(line_break) && (line_break == "\r\n" || !text.ends_with("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(before: &str, after: &str) -> FileDraft {
        FileDraft::new(&ChangedFile {
            path: "a.rs".to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }

    #[test]
    fn by_hand_leads_to_the_commit() {
        let cases = [
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\nb\nc\n", "a\nb\nx\ny\nc\nz\n"),
            ("a\nb\nc", "b\nc\n"),
            ("", "a\nb\n"),
            ("a\r\nb\r\nc\r\n", "a\r\nx\r\nb\r\nc2\r\n"),
            ("a\n", ""),
        ];
        for (before, after) in cases {
            let mut draft = draft(before, after);
            let mut text = before.to_owned();
            while let Some(place) = draft.next() {
                let edit = draft.by_hand(place);
                text.replace_range(edit.range, &edit.text);
                draft.finish(place);
                assert_eq!(draft.text(), text, "{before:?} to {after:?}");
            }
            assert_eq!(text, after);
        }
    }

    #[test]
    fn lines_are_done_one_by_one() {
        let mut draft = draft("a\nb\nc\nd\n", "A\nB\nC\nd\nx\n");
        for (at, letter) in ["A", "B"].into_iter().enumerate() {
            let edit = draft.line_by_hand(0).expect("a line is left");
            assert_eq!(edit, Edit::new(2 * at..2 * at + 1, letter));
            draft.places[0].now = draft.with(0, &edit);
        }
        assert_eq!(draft.line_by_hand(0), None, "the last one ends the hunk");
        assert_eq!(draft.line_by_hand(1), None, "a line comes");
    }

    #[test]
    fn a_new_line_is_begun_at_the_end_of_the_one_above() {
        let draft = draft("one\nthree\n", "one\ntwo\nthree\n");
        assert_eq!(draft.by_hand(0), Edit::new(3..3, "\ntwo"));
    }
}

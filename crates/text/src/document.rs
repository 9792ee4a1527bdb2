//! A document of an editor, kept in step by its changes.

use std::ops::Range;

use thiserror::Error;

use crate::{Edits, Encoding, Point, Text, diff};

/// The text an editor shows, as far as it has told.
///
/// A change that cannot be made leaves the text as it was and the document out of step, see
/// [`in_sync`](Self::in_sync). Then only a change that has the full text helps.
#[derive(Debug, Clone)]
pub struct Document {
    text: Text,
    version: i64,
    in_sync: bool,
}

/// One change as an editor tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextChange {
    /// The whole text anew.
    Full(String),
    /// A part of the text anew.
    Range {
        /// Where the part starts.
        start: Point,
        /// Where the part ends.
        end: Point,
        /// What stands there now.
        text: String,
    },
}

/// Why a change could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum OutOfSync {
    /// The version does not follow the one at hand.
    #[error("expected a version after {have}, got {got}; open the document anew")]
    VersionNotNewer {
        /// The version at hand.
        have: i64,
        /// The version that came.
        got: i64,
    },
    /// A change is about lines the document does not have.
    #[error(
        "a change ends or starts on line {line}, counted from zero, but there are {lines}; send the full text"
    )]
    RangeOutside {
        /// The line that came.
        line: u32,
        /// How many there are.
        lines: usize,
    },
    /// A change begins or ends within a character, such as between the halves of a surrogate pair.
    #[error(
        "a change starts or ends within a character of line {line}, counted from zero; send the full text"
    )]
    WithinCharacter {
        /// The line.
        line: u32,
    },
    /// A change ends before it starts.
    #[error("a change ends before it starts; send the full text")]
    RangeReversed,
    /// An earlier change could not be made, and this one has no full text.
    #[error("an earlier change could not be made; send the full text")]
    NotInSync,
}

impl Document {
    /// A document that was opened with this text.
    pub fn open(version: i64, text: &str) -> Self {
        Self { text: Text::new(text), version, in_sync: true }
    }

    /// Its text.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The version of the text.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Whether every change since the last full text could be made.
    pub fn in_sync(&self) -> bool {
        self.in_sync
    }

    /// A change was missed: from now on only a full text helps.
    pub fn lose_sync(&mut self) {
        self.in_sync = false;
    }

    /// Makes the changes of one notification, each to the result of the one before, and returns them as edits of the
    /// text before all of them.
    ///
    /// A full text is compared with the one at hand, so that places can be carried through it.
    pub fn change(
        &mut self,
        version: i64,
        changes: &[TextChange],
        encoding: Encoding,
    ) -> Result<Edits, OutOfSync> {
        let made = self.try_change(version, changes, encoding);
        match &made {
            Ok((text, _)) => {
                self.text = text.clone();
                self.version = version;
            }
            Err(_) => self.in_sync = false,
        }
        made.map(|(_, edits)| edits)
    }

    fn try_change(
        &mut self,
        version: i64,
        changes: &[TextChange],
        encoding: Encoding,
    ) -> Result<(Text, Edits), OutOfSync> {
        if version <= self.version {
            return Err(OutOfSync::VersionNotNewer { have: self.version, got: version });
        }
        let full = changes.iter().rposition(|change| matches!(change, TextChange::Full(_)));
        if full.is_none() && !self.in_sync {
            return Err(OutOfSync::NotInSync);
        }
        let mut text = self.text.clone();
        let mut steps = Vec::with_capacity(changes.len());
        for change in &changes[full.unwrap_or(0)..] {
            steps.push(step(&mut text, change, encoding)?);
        }
        self.in_sync = true;
        Ok((text, composed(steps)))
    }
}

/// Makes one change.
fn step(text: &mut Text, change: &TextChange, encoding: Encoding) -> Result<Edits, OutOfSync> {
    match change {
        TextChange::Full(full) => {
            let new = Text::new(full);
            let edits = diff::edits(text, &new);
            *text = new;
            Ok(edits)
        }
        TextChange::Range { start, end, text: new } => {
            let range = resolve(text, *start, *end, encoding)?;
            text.replace(range.clone(), new);
            Ok(Edits::one(range, new))
        }
    }
}

fn resolve(text: &Text, start: Point, end: Point, encoding: Encoding) -> Result<Range<usize>, OutOfSync> {
    let find = |at: Point| {
        let lines = text.line_count();
        let past_last = at.line as usize == lines && at.character == 0;
        let end = past_last.then(|| text.len());
        let found = text.offset_exact(at, encoding).or(end);
        let found = found.ok_or(OutOfSync::RangeOutside { line: at.line, lines })?;
        let is_clamped = past_last || found >= text.line_end(at.line as usize);
        if !is_clamped && text.point(found, encoding).character != at.character {
            return Err(OutOfSync::WithinCharacter { line: at.line });
        }
        Ok(found)
    };
    let from = find(start)?;
    let range = from..if start == end { from } else { find(end)? };
    if range.start > range.end { Err(OutOfSync::RangeReversed) } else { Ok(range) }
}

/// One value for steps that follow each other, joined in pairs so that many of them do not cost their square.
fn composed(mut steps: Vec<Edits>) -> Edits {
    while steps.len() > 1 {
        let pairs = steps.chunks(2);
        steps = pairs
            .map(|pair| match pair {
                [first, second] => first.compose(second),
                rest => rest[0].clone(),
            })
            .collect();
    }
    steps.pop().unwrap_or_default()
}

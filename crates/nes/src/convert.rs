//! Places between the wire and the text: lines and characters there, bytes here.

use std::{ops, sync::Arc};

use nudge_predict::{EngineSuggestion, Severity, SuggestTrigger, SuggestionKind};
use nudge_text::{Edit, Edits, Encoding, Point, Text, TextChange};
use nudge_wire::{
    document,
    nes::{DiagnosticSeverity, Position, PositionEncoding, Range, TextEdit, TriggerKind},
};

use crate::answer::{NesAction, PositionedSuggestion};

pub(crate) fn encoding(encoding: &PositionEncoding) -> Encoding {
    match encoding {
        PositionEncoding::Utf8 => Encoding::Utf8,
        PositionEncoding::Utf32 => Encoding::Utf32,
        PositionEncoding::Utf16 | PositionEncoding::Other(_) => Encoding::Utf16,
    }
}

pub(crate) fn point(position: &Position) -> Point {
    Point::new(position.line, position.character)
}

/// Where a position is, clamped to the text.
pub(crate) fn offset(text: &Text, position: &Position, encoding: Encoding) -> usize {
    text.offset(point(position), encoding)
}

/// Where a range is, clamped to the text and turned the right way round.
pub(crate) fn range(text: &Text, range: &Range, encoding: Encoding) -> ops::Range<usize> {
    let (a, b) = (offset(text, &range.start, encoding), offset(text, &range.end, encoding));
    a.min(b)..a.max(b)
}

pub(crate) fn changes(changes: Vec<document::ContentChange>) -> Vec<TextChange> {
    let convert = |change: document::ContentChange| match change.range {
        None => TextChange::Full(change.text),
        Some(range) => {
            TextChange::Range { start: point(&range.start), end: point(&range.end), text: change.text }
        }
    };
    changes.into_iter().map(convert).collect()
}

pub(crate) fn trigger(trigger: &TriggerKind) -> SuggestTrigger {
    match trigger {
        TriggerKind::Manual => SuggestTrigger::Manual,
        TriggerKind::Diagnostic => SuggestTrigger::Diagnostic,
        TriggerKind::Automatic | TriggerKind::Other(_) => SuggestTrigger::Automatic,
    }
}

pub(crate) fn severity(severity: &DiagnosticSeverity) -> Severity {
    match severity {
        DiagnosticSeverity::Error => Severity::Error,
        DiagnosticSeverity::Warning => Severity::Warning,
        DiagnosticSeverity::Information | DiagnosticSeverity::Other(_) => Severity::Information,
        DiagnosticSeverity::Hint => Severity::Hint,
    }
}

/// A suggestion in the words of the wire, without an id. `text` gives that of a document; `None` if the suggestion does
/// not fit its own.
pub(crate) fn answer<'a>(
    suggestion: &EngineSuggestion,
    text: impl Fn(&str) -> Option<&'a Text>,
    encoding: Encoding,
) -> Option<PositionedSuggestion> {
    let own = text(suggestion.kind.uri());
    let action = match &suggestion.kind {
        SuggestionKind::Edit { edits, cursor, .. } => {
            let (made, after) = edited(edits, own?, encoding)?;
            NesAction::Edit { edits: made, cursor: position(&after, *cursor, encoding) }
        }
        SuggestionKind::Jump { offset, .. } => NesAction::Jump { position: exact(own?, *offset, encoding)? },
        SuggestionKind::Rename { offset, name, edits, .. } => {
            let change = |(uri, edits): &(Arc<str>, Edits)| {
                Some((uri.to_string(), edited(edits, text(uri)?, encoding)?.0))
            };
            NesAction::Rename {
                position: exact(own?, *offset, encoding)?,
                name: name.clone(),
                // A part of a rename does harm.
                changes: edits.iter().map(change).collect::<Option<_>>().unwrap_or_default(),
            }
        }
        SuggestionKind::Replace { search, replace, regex, .. } => {
            NesAction::Replace { search: search.clone(), replace: replace.clone(), regex: *regex }
        }
    };
    Some(PositionedSuggestion {
        id: String::new(),
        uri: suggestion.kind.uri().to_string(),
        action,
        predictor: suggestion.predictor.name(),
        reason: suggestion.reason.clone(),
        confidence: suggestion.confidence,
    })
}

/// Edits in the words of the wire, and the text after them; `None` if they do not fit the text or change nothing.
fn edited(edits: &Edits, text: &Text, encoding: Encoding) -> Option<(Vec<TextEdit>, Text)> {
    edits.fits(text).then_some(())?;
    let after = edits.apply(text);
    let made = outside_breaks(edits, text);
    let made = made.iter().map(|edit| text_edit(text, edit, encoding)).collect();
    (after != *text).then_some((made, after))
}

/// The same edits with no edge between `\r` and `\n`, where no position can point.
fn outside_breaks(edits: &Edits, text: &Text) -> Edits {
    let splits = |at: usize| at > 0 && text.slice(at - 1..at + 1) == "\r\n";
    if !edits.iter().any(|edit| splits(edit.range.start) || splits(edit.range.end)) {
        return edits.clone();
    }
    let mut whole: Vec<Edit> = Vec::new();
    for edit in edits {
        let mut edit = edit.clone();
        match whole.last_mut() {
            // The break was taken in by the edit before, and with it the place where this one begins.
            Some(last) if last.range.end > edit.range.start => {
                last.text.pop();
                last.text.push_str(&edit.text);
                last.range.end = edit.range.end;
            }
            _ => {
                if splits(edit.range.start) {
                    edit.range.start -= 1;
                    edit.text.insert(0, '\r');
                }
                whole.push(edit);
            }
        }
        if let Some(last) = whole.last_mut()
            && splits(last.range.end)
        {
            last.range.end += 1;
            last.text.push('\n');
        }
    }
    Edits::new(whole).unwrap_or_else(|_| edits.clone())
}

fn text_edit(text: &Text, edit: &Edit, encoding: Encoding) -> TextEdit {
    let start = position(text, edit.range.start, encoding);
    let end = position(text, edit.range.end, encoding);
    TextEdit::new(Range::new(start, end), edit.text.clone())
}

/// The position of an offset that must lie in the text.
fn exact(text: &Text, offset: usize, encoding: Encoding) -> Option<Position> {
    text.is_boundary(offset).then(|| position(text, offset, encoding))
}

fn position(text: &Text, offset: usize, encoding: Encoding) -> Position {
    let point = text.point(offset, encoding);
    Position::new(point.line, point.character)
}

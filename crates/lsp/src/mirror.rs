//! The editor's documents, kept so that they can be told anew to somebody who knows nothing of them.
//!
//! What was changed lately is kept as changes, in the order in which they came, on top of the texts before them: who is
//! told this way also learns what the user has just done, which suggestions are made from.

use std::{
    collections::{HashMap, VecDeque},
    ops,
};

use nudge_text::{Document, Encoding, OutOfSync, Point, Text};
use nudge_wire::{
    document::{ContentChange, DidChange, DidOpen},
    nes::{Diagnostic, DiagnosticSeverity, Position, Range},
};

use crate::params::{self, LspDocumentItem};

/// The longest document that is followed; nobody makes suggestions for longer ones.
const DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// How much of all documents is held.
const TOTAL_BYTES: usize = 128 * 1024 * 1024;
/// How many documents are followed.
const DOCUMENTS: usize = 4096;
/// How many changes are kept as such, and how much text they may have.
const CHANGES: usize = 512;
const CHANGE_BYTES: usize = 256 * 1024;
/// How many diagnostics of one document are kept.
const DIAGNOSTICS: usize = 256;

/// The documents of an editor.
#[derive(Debug, Default)]
pub(crate) struct DocumentMirror {
    documents: HashMap<String, MirroredDocument>,
    bytes: usize,
    recent: VecDeque<Recent>,
    recent_bytes: usize,
    encoding: Encoding,
    /// Counts what was opened, changed and closed.
    moves: u64,
}

/// One document.
#[derive(Debug)]
pub(crate) struct MirroredDocument {
    language: String,
    document: Document,
    /// As it was before the changes that are kept.
    base: Document,
    diagnostics: Vec<Noted>,
}

/// A diagnostic, which moves with the text.
#[derive(Debug, Clone)]
struct Noted {
    range: ops::Range<usize>,
    severity: DiagnosticSeverity,
    message: String,
}

#[derive(Debug)]
struct Recent {
    uri: String,
    version: i64,
    changes: Vec<ContentChange>,
}

/// What to tell somebody who knows nothing.
#[derive(Debug, PartialEq)]
pub(crate) enum MirrorEvent {
    Open(DidOpen),
    Change(DidChange),
}

/// Why a document is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotFollowed {
    #[error("the document is not open")]
    NotOpen,
    #[error("the document is too long, or too many are open")]
    TooMuch,
    #[error("{0}")]
    OutOfSync(#[from] OutOfSync),
}

impl DocumentMirror {
    /// With positions counted in this encoding.
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { encoding, ..Self::default() }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// A number that is another one whenever a document was opened, changed or closed.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    /// A document that is followed.
    pub(crate) fn get(&self, uri: &str) -> Option<&MirroredDocument> {
        self.documents.get(uri)
    }

    /// Takes up a document, again if it was open.
    pub(crate) fn open(&mut self, opened: &LspDocumentItem) -> Result<(), NotFollowed> {
        self.close(&opened.uri);
        self.moves += 1;
        let length = opened.text.len();
        if length > DOCUMENT_BYTES || self.bytes + length > TOTAL_BYTES || self.documents.len() >= DOCUMENTS {
            return Err(NotFollowed::TooMuch);
        }
        let document = Document::open(opened.version, &opened.text);
        self.bytes += length;
        let language = opened.language_id.clone();
        let mirrored =
            MirroredDocument { language, base: document.clone(), document, diagnostics: Vec::new() };
        self.documents.insert(opened.uri.clone(), mirrored);
        Ok(())
    }

    /// Makes the changes of one notification.
    pub(crate) fn change(&mut self, change: &params::LspDidChange) -> Result<(), NotFollowed> {
        let (uri, version) = (&change.text_document.uri, change.text_document.version);
        let mirrored = self.documents.get_mut(uri).ok_or(NotFollowed::NotOpen)?;
        self.moves += 1;
        let before = mirrored.document.text().len();
        let edits = mirrored.document.change(version, &pieces(&change.content_changes), self.encoding)?;
        for noted in &mut mirrored.diagnostics {
            noted.range = edits.map_range(noted.range.clone());
        }
        let after = mirrored.document.text().len();
        self.bytes = (self.bytes + after).saturating_sub(before);
        if after > DOCUMENT_BYTES || self.bytes > TOTAL_BYTES {
            self.close(uri);
            return Err(NotFollowed::TooMuch);
        }
        let changes = change.content_changes.clone();
        self.recent_bytes += size(&changes);
        self.recent.push_back(Recent { uri: uri.clone(), version, changes });
        self.settle();
        Ok(())
    }

    /// A change of this document was missed, or of any if none is named. Gives those that are out of step only now.
    pub(crate) fn lose(&mut self, uri: Option<&str>) -> Vec<String> {
        let is_meant = |other: &str| uri.is_none_or(|uri| uri == other);
        let mut lost = Vec::new();
        for (uri, mirrored) in self.documents.iter_mut().filter(|(other, _)| is_meant(other)) {
            if mirrored.in_sync() {
                lost.push(uri.clone());
            }
            mirrored.document.lose_sync();
        }
        self.moves += 1;
        lost
    }

    /// What makes the other side know that a document is out of step: a change that does not follow.
    pub(crate) fn lost(&self, session: &str, uri: &str) -> DidChange {
        let version = self.get(uri).map_or(i64::MIN, MirroredDocument::version);
        DidChange::new(session, uri, version, Vec::new())
    }

    /// Lets a document go; whether it was followed.
    pub(crate) fn close(&mut self, uri: &str) -> bool {
        let Some(mirrored) = self.documents.remove(uri) else { return false };
        self.moves += 1;
        self.bytes = self.bytes.saturating_sub(mirrored.document.text().len());
        let freed: usize =
            self.recent.iter().filter(|recent| recent.uri == uri).map(|recent| size(&recent.changes)).sum();
        self.recent.retain(|recent| recent.uri != uri);
        self.recent_bytes = self.recent_bytes.saturating_sub(freed);
        true
    }

    /// Everything there is to tell, in order.
    pub(crate) fn retell(&self, session: &str) -> Vec<MirrorEvent> {
        let mut opened: Vec<_> = self.documents.iter().collect();
        opened.sort_by_key(|(uri, _)| *uri);
        let opens = opened.into_iter().map(|(uri, mirrored)| {
            let (base, language) = (&mirrored.base, mirrored.language.as_str());
            MirrorEvent::Open(DidOpen::new(
                session,
                uri.as_str(),
                language,
                base.version(),
                base.text().to_string(),
            ))
        });
        let changes = self.recent.iter().map(|recent| {
            MirrorEvent::Change(DidChange::new(
                session,
                recent.uri.as_str(),
                recent.version,
                recent.changes.clone(),
            ))
        });
        let out_of_step = self.documents.iter().filter(|(_, mirrored)| !mirrored.in_sync());
        let lost = out_of_step.map(|(uri, _)| MirrorEvent::Change(self.lost(session, uri)));
        opens.chain(changes).chain(lost).collect()
    }

    /// Takes what other language servers say of a document, in place of what they said before.
    pub(crate) fn diagnose(&mut self, uri: &str, diagnostics: &[params::LspDiagnostic]) {
        let encoding = self.encoding;
        let Some(mirrored) = self.documents.get_mut(uri) else { return };
        let text = mirrored.document.text().clone();
        let note = |said: &params::LspDiagnostic| Noted {
            range: bytes(&text, &said.range, encoding),
            severity: severity(said.severity),
            message: message(&said.message),
        };
        mirrored.diagnostics = diagnostics.iter().take(DIAGNOSTICS).map(note).collect();
    }

    /// What other language servers say of a document, where it now stands.
    pub(crate) fn diagnostics(&self, uri: &str) -> Vec<Diagnostic> {
        let Some(mirrored) = self.documents.get(uri) else { return Vec::new() };
        let text = mirrored.document.text();
        let say = |noted: &Noted| {
            let (start, end) = (noted.range.start, noted.range.end);
            let range = Range::new(position(text, start, self.encoding), position(text, end, self.encoding));
            Diagnostic::new(uri, range, noted.severity.clone(), noted.message.as_str())
        };
        mirrored.diagnostics.iter().map(say).collect()
    }

    /// Makes the oldest changes part of what they changed, where there are too many.
    fn settle(&mut self) {
        while self.recent.len() > CHANGES || self.recent_bytes > CHANGE_BYTES {
            let Some(oldest) = self.recent.pop_front() else { return };
            self.recent_bytes = self.recent_bytes.saturating_sub(size(&oldest.changes));
            if let Some(mirrored) = self.documents.get_mut(&oldest.uri) {
                let made = mirrored.base.change(oldest.version, &pieces(&oldest.changes), self.encoding);
                debug_assert!(made.is_ok(), "the same change of the same text was made before");
            }
        }
    }
}

impl MirroredDocument {
    pub(crate) fn text(&self) -> &Text {
        self.document.text()
    }

    pub(crate) fn version(&self) -> i64 {
        self.document.version()
    }

    pub(crate) fn language(&self) -> &str {
        &self.language
    }

    /// Whether every change could be made; if not, nobody knows the text.
    pub(crate) fn in_sync(&self) -> bool {
        self.document.in_sync()
    }
}

/// Where a position is, clamped to the text.
pub(crate) fn offset(text: &Text, at: &Position, encoding: Encoding) -> usize {
    text.offset(Point::new(at.line, at.character), encoding)
}

/// Where a range is, clamped to the text and turned the right way round.
pub(crate) fn bytes(text: &Text, range: &Range, encoding: Encoding) -> ops::Range<usize> {
    let (a, b) = (offset(text, &range.start, encoding), offset(text, &range.end, encoding));
    a.min(b)..a.max(b)
}

/// The position of an offset.
pub(crate) fn position(text: &Text, offset: usize, encoding: Encoding) -> Position {
    let Point { line, character } = text.point(offset, encoding);
    Position::new(line, character)
}

/// A diagnostic's severity as ACP says it.
pub(crate) fn severity(said: Option<u8>) -> DiagnosticSeverity {
    match said {
        Some(2) => DiagnosticSeverity::Warning,
        Some(3) => DiagnosticSeverity::Information,
        Some(4) => DiagnosticSeverity::Hint,
        _ => DiagnosticSeverity::Error,
    }
}

/// A diagnostic's message, which may be plain or have a kind beside it.
pub(crate) fn message(said: &serde_json::Value) -> String {
    said.as_str().or_else(|| said["value"].as_str()).unwrap_or_default().to_owned()
}

fn pieces(changes: &[ContentChange]) -> Vec<nudge_text::TextChange> {
    let point = |at: &Position| Point::new(at.line, at.character);
    let piece = |change: &ContentChange| match &change.range {
        None => nudge_text::TextChange::Full(change.text.clone()),
        Some(range) => nudge_text::TextChange::Range {
            start: point(&range.start),
            end: point(&range.end),
            text: change.text.clone(),
        },
    };
    changes.iter().map(piece).collect()
}

fn size(changes: &[ContentChange]) -> usize {
    changes.iter().map(|change| change.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn opened(uri: &str, version: i64, text: &str) -> LspDocumentItem {
        let said = json!({ "uri": uri, "languageId": "rust", "version": version, "text": text });
        serde_json::from_value(said).unwrap()
    }

    fn change(uri: &str, version: i64, at: (u32, u32), end: (u32, u32), text: &str) -> params::LspDidChange {
        let point = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
        let range = json!({ "start": point(at), "end": point(end) });
        let document = json!({ "uri": uri, "version": version });
        let changes = json!([{ "range": range, "text": text, "rangeLength": 3 }]);
        serde_json::from_value(json!({ "textDocument": document, "contentChanges": changes })).unwrap()
    }

    /// A mirror of one who was only told.
    fn retold(mirror: &DocumentMirror) -> DocumentMirror {
        let mut other = DocumentMirror::new(mirror.encoding);
        for event in mirror.retell("s") {
            match event {
                MirrorEvent::Open(open) => other.open(&opened(&open.uri, open.version, &open.text)).unwrap(),
                MirrorEvent::Change(change) => {
                    let document = params::LspChangedDocument { uri: change.uri, version: change.version };
                    let changes = change.content_changes;
                    other
                        .change(&params::LspDidChange { text_document: document, content_changes: changes })
                        .unwrap();
                }
            }
        }
        other
    }

    fn texts(mirror: &DocumentMirror) -> Vec<(String, i64, String)> {
        let text =
            |(uri, one): (&String, &MirroredDocument)| (uri.clone(), one.version(), one.text().to_string());
        let mut texts: Vec<_> = mirror.documents.iter().map(text).collect();
        texts.sort();
        texts
    }

    #[test]
    fn who_is_told_anew_has_the_same_texts_however_much_was_typed() {
        let mut mirror = DocumentMirror::new(Encoding::Utf16);
        for uri in ["a", "b"] {
            mirror.open(&opened(uri, 0, "🙂\r\nx\n")).unwrap();
        }
        for version in 1..2000 {
            let uri = if version % 3 == 0 { "a" } else { "b" };
            let (end, text) = if version % 7 == 0 { ((0, 4), "é\n🙂") } else { ((0, 2), "ab🙂") };
            mirror.change(&change(uri, version, (0, 2), end, text)).unwrap();
            if version % 97 == 0 {
                assert_eq!(texts(&retold(&mirror)), texts(&mirror));
            }
        }
        assert_eq!(mirror.recent.len(), CHANGES);
        assert!(mirror.close("b"));
        assert_eq!(texts(&retold(&mirror)), texts(&mirror));
        let left: usize = mirror.recent.iter().map(|recent| size(&recent.changes)).sum();
        assert_eq!((mirror.recent_bytes, mirror.bytes), (left, mirror.get("a").unwrap().text().len()));
    }

    #[test]
    fn long_changes_are_not_kept_as_such() {
        let mut mirror = DocumentMirror::new(Encoding::Utf8);
        mirror.open(&opened("a", 0, "")).unwrap();
        mirror.change(&change("a", 1, (0, 0), (0, 0), &"x".repeat(CHANGE_BYTES + 1))).unwrap();
        assert!(mirror.recent.is_empty());
        assert_eq!(texts(&retold(&mirror)), texts(&mirror));
    }

    #[test]
    fn what_is_too_long_is_let_go() {
        let mut mirror = DocumentMirror::new(Encoding::Utf8);
        let long = "x".repeat(DOCUMENT_BYTES);
        assert_eq!(mirror.open(&opened("a", 0, &format!("{long}x"))), Err(NotFollowed::TooMuch));
        mirror.open(&opened("a", 0, &long)).unwrap();
        let grown = mirror.change(&change("a", 1, (0, 0), (0, 0), "x"));
        assert_eq!((grown, mirror.bytes), (Err(NotFollowed::TooMuch), 0));
        assert_eq!(mirror.change(&change("a", 2, (0, 0), (0, 0), "x")), Err(NotFollowed::NotOpen));
        for at in 0..8 {
            mirror.open(&opened(&at.to_string(), 0, &long)).unwrap();
        }
        assert_eq!(mirror.open(&opened("9", 0, "x")), Err(NotFollowed::TooMuch));
    }
}

//! Replays recorded edits and compares what is suggested then with what people said of possible suggestions.
//!
//! A recording is a folder with `recording.w.json`, a log of what happened in an editor, and `scoredEdits.w.json`,
//! suggestions with a label each. Offsets in both count units of UTF-16.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use nudge_text::{Edit, Edits, Text, diff};
use serde::{Deserialize, Serialize};

use crate::{
    ReplayError,
    case::uri,
    driver::{EngineDriver, ShownEdit},
    paths,
    tally::mean,
};

const LOG: &str = "recording.w.json";
const LABELS: &str = "scoredEdits.w.json";

/// What became of recorded edits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingsScore {
    /// Each recording.
    pub cases: Vec<RecordingScore>,
    /// The mean of their scores.
    pub mean: Option<f64>,
}

/// What became of one recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingScore {
    /// The name of its folder.
    pub name: String,
    /// How what was suggested is labelled: `nextEdit`, `valid`, `bad`, or `unlisted`.
    pub label: String,
    /// 1 for the next edit, 0.1 for a valid one, 0 otherwise.
    pub score: f64,
    /// Who made the suggestion; nothing if nothing was shown.
    pub predictor: Option<String>,
    /// What it would have changed.
    pub diff: String,
}

#[derive(Deserialize)]
struct Log {
    log: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Entry {
    #[serde(rename_all = "camelCase")]
    DocumentEncountered {
        id: u64,
        relative_path: String,
    },
    SetContent {
        id: u64,
        content: String,
    },
    Changed {
        id: u64,
        edit: Vec<(usize, usize, String)>,
    },
    SelectionChanged {
        id: u64,
        selection: Vec<(usize, usize)>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Labels {
    edits: Vec<Label>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Label {
    document_uri: String,
    edit: Option<Vec<(usize, usize, String)>>,
    score_category: String,
}

impl RecordingsScore {
    pub(crate) fn new(cases: Vec<RecordingScore>) -> Self {
        Self { mean: mean(cases.iter().map(|case| Some(case.score))), cases }
    }
}

/// The folders with recordings in and below a folder, by name.
pub(crate) fn find(folder: &Path) -> Result<Vec<PathBuf>, ReplayError> {
    if folder.join(LOG).is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let failed = |error| ReplayError::Read { path: folder.to_owned(), error };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.join(LOG).is_file() {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(ReplayError::NoRecording { path: folder.to_owned() });
    }
    Ok(found)
}

/// Replays one recording and asks at its end.
pub(crate) fn run<D: EngineDriver>(folder: &Path, driver: &mut D) -> Result<RecordingScore, ReplayError> {
    let log: Log = read(&folder.join(LOG))?;
    let labels: Labels = read(&folder.join(LABELS))?;
    let mut editor = Editor { driver, documents: BTreeMap::new(), at: None };
    for entry in log.log {
        editor.play(entry)?;
    }
    let shown = editor.ask()?;
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(editor.recorded(name, shown.as_ref(), &labels.edits))
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, ReplayError> {
    let text =
        fs::read_to_string(path).map_err(|error| ReplayError::Read { path: path.to_owned(), error })?;
    serde_json::from_str(&text).map_err(|error| ReplayError::Recording { path: path.to_owned(), error })
}

/// The documents of a recording, and where the user is.
struct Editor<'a, D> {
    driver: &'a mut D,
    documents: BTreeMap<u64, Document>,
    at: Option<(u64, usize)>,
}

struct Document {
    path: String,
    text: Option<String>,
}

impl Document {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    fn edits(&self, edits: &[(usize, usize, String)]) -> Edits {
        let text = self.text();
        let edits = edits
            .iter()
            .map(|(start, end, new)| Edit::new(offset(text, *start)..offset(text, *end), new.clone()));
        Edits::new(edits.collect()).unwrap_or_default()
    }

    fn after(&self, edits: &Edits) -> String {
        edits.apply(&Text::new(self.text())).to_string()
    }
}

impl<D: EngineDriver> Editor<'_, D> {
    fn play(&mut self, entry: Entry) -> Result<(), ReplayError> {
        match entry {
            Entry::DocumentEncountered { id, relative_path } => {
                let document = Document { path: relative_path.replace('\\', "/"), text: None };
                self.documents.insert(id, document);
            }
            Entry::SetContent { id, content } => {
                let Some(document) = self.documents.get_mut(&id) else { return Ok(()) };
                self.driver.open(&uri(&document.path), paths::language(&document.path), &content)?;
                document.text = Some(content);
            }
            Entry::Changed { id, edit } => {
                let Some(document) = self.documents.get_mut(&id) else { return Ok(()) };
                let edits = document.edits(&edit);
                let Some(last) = edits.iter().last() else { return Ok(()) };
                let after = document.after(&edits);
                // What is behind the last edit stays as long as it is.
                let cursor = after.len() - (document.text().len() - last.range.end);
                self.at = Some((id, cursor));
                let all: Vec<Edit> = edits.iter().cloned().collect();
                self.driver.change(&uri(&document.path), &all)?;
                document.text = Some(after);
            }
            Entry::SelectionChanged { id, selection } => {
                let Some(document) = self.documents.get(&id) else { return Ok(()) };
                let Some((_, end)) = selection.first() else { return Ok(()) };
                self.at = Some((id, offset(document.text(), *end)));
            }
            Entry::Other => {}
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<Option<ShownEdit>, ReplayError> {
        let Some((id, cursor)) = self.at else { return Ok(None) };
        let uri = uri(&self.documents[&id].path);
        self.driver.focus(&uri, cursor)?;
        Ok(self.driver.suggest(&uri, cursor)?.shown)
    }

    fn recorded(&self, name: String, shown: Option<&ShownEdit>, labels: &[Label]) -> RecordingScore {
        let found =
            shown.and_then(|shown| self.documents.values().find(|document| uri(&document.path) == shown.uri));
        let after = found.zip(shown).map(|(document, shown)| document.after(&shown.edits));
        let fits = |label: &&Label| match (&label.edit, found, &after) {
            (None, None, None) => shown.is_none(),
            (Some(edit), Some(document), Some(after)) => {
                is_about(&label.document_uri, &document.path)
                    && same_lines(&document.after(&document.edits(edit)), after)
            }
            _ => false,
        };
        // One and the same edit may have been labelled twice; the better one counts.
        let best = labels.iter().filter(fits).max_by(|a, b| points(a).total_cmp(&points(b)));
        let diff = match (found, after) {
            (Some(document), Some(after)) => {
                diff::unified(&Text::new(document.text()), &Text::new(&after), &document.path, 1)
            }
            _ => String::new(),
        };
        RecordingScore {
            name,
            label: best.map_or_else(|| "unlisted".to_owned(), |label| label.score_category.clone()),
            score: best.map_or(0.0, points),
            predictor: shown.map(|shown| shown.predictor.clone()),
            diff,
        }
    }
}

fn points(label: &Label) -> f64 {
    match label.score_category.as_str() {
        "nextEdit" => 1.0,
        "valid" => 0.1,
        _ => 0.0,
    }
}

/// Whether an address of the recording's machine is that of a document.
fn is_about(address: &str, path: &str) -> bool {
    address.to_lowercase().replace("%20", " ").ends_with(&path.to_lowercase())
}

/// Whether two texts are the same but for the way their lines end: labels were made in an editor that mends that.
fn same_lines(a: &str, b: &str) -> bool {
    a.replace('\r', "") == b.replace('\r', "")
}

/// The byte offset of an offset in units of UTF-16.
fn offset(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, char) in text.char_indices() {
        if left < char.len_utf16() {
            return at;
        }
        left -= char.len_utf16();
    }
    text.len()
}

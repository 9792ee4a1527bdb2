//! Every question and what came of it, as JSON lines: for people who improve an engine.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use nudge_predict::SuggestionKind;
use nudge_text::{Text, diff};

use crate::{
    ReplayError,
    ask::{AskMode, ConsideredDetail, DumpDetail, ReplayHunk, SuggestedDetail},
    case::uri,
    driver::{EngineDriver, ShownEdit},
    judge::{SuggestionJudgement, SuggestionVerdict},
    walk::CommitWalk,
};

/// The file that every question is written to.
pub(crate) struct QuestionDump {
    path: PathBuf,
    file: BufWriter<File>,
}

impl QuestionDump {
    pub(crate) fn create(path: &Path) -> Result<Self, ReplayError> {
        let file = File::create(path).map_err(|error| ReplayError::Write { path: path.to_owned(), error })?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    pub(crate) fn write(&mut self, details: &[DumpDetail]) -> Result<(), ReplayError> {
        let mut write = || {
            for detail in details {
                serde_json::to_writer(&mut self.file, detail)?;
                self.file.write_all(b"\n")?;
            }
            Ok(())
        };
        write().map_err(|error| ReplayError::Write { path: self.path.clone(), error })
    }

    pub(crate) fn finish(mut self) -> Result<(), ReplayError> {
        self.file.flush().map_err(|error| ReplayError::Write { path: self.path, error })
    }
}

impl<D: EngineDriver> CommitWalk<'_, D> {
    /// Writes down what was asked where the user is, and what was shown, if that is wanted.
    pub(crate) fn write_down(&mut self, mode: AskMode, shown: Option<(&ShownEdit, &SuggestionJudgement)>) {
        if self.log.wanted {
            let draft = &self.drafts[self.file];
            let detail = self.detail(mode, &draft.path, draft.language, &draft.text(), shown);
            self.log.details.push(detail);
        }
    }

    /// The same in a file that the commit does not touch.
    pub(crate) fn write_down_elsewhere(
        &mut self,
        path: &str,
        language: &'static str,
        text: &str,
        shown: (&ShownEdit, &SuggestionJudgement),
    ) {
        if self.log.wanted {
            let detail = self.detail(AskMode::Quiet, path, language, text, Some(shown));
            self.log.details.push(detail);
        }
    }

    pub(crate) fn hunk(&self, file: usize, place: usize) -> ReplayHunk {
        let draft = &self.drafts[file];
        let line = Text::new(&draft.text()).line_of(draft.start(place)) + 1;
        let place = &draft.places[place];
        ReplayHunk { file: draft.path.clone(), line, before: place.now.clone(), after: place.want.clone() }
    }

    fn detail(
        &self,
        mode: AskMode,
        path: &str,
        language: &'static str,
        text: &str,
        shown: Option<(&ShownEdit, &SuggestionJudgement)>,
    ) -> DumpDetail {
        let text = Text::new(text);
        let line = text.line_of(self.cursor);
        let (before, behind) = (text.line_start(line)..self.cursor, self.cursor..text.line_end(line));
        let outcome = match shown.map(|(_, judgement)| judgement.verdict) {
            Some(SuggestionVerdict::Exact) => "exact",
            Some(SuggestionVerdict::Partial) => "partial",
            Some(SuggestionVerdict::Wrong) => "wrong",
            None => "none",
        };
        let wanted = shown.filter(|(_, judgement)| judgement.verdict != SuggestionVerdict::Exact);
        let wanted = wanted.and_then(|(shown, judgement)| {
            Some(self.hunk(self.file_of(shown)?, judgement.places.first()?.0))
        });
        DumpDetail {
            mode,
            outcome,
            repo: self.case.repo.to_string(),
            commit: self.case.commit.clone(),
            eagerness: self.log.eagerness,
            file: path.to_owned(),
            line: line + 1,
            at: format!("{}│{}", text.slice(before), text.slice(behind)),
            language,
            step: self.step,
            remaining: self.remaining(),
            last: self.log.last.clone(),
            suggestion: shown.map(|(shown, judgement)| self.suggested(shown, judgement)),
            wanted,
            next: self.next().map(|(file, place)| self.hunk(file, place)),
            considered: self.considered(),
        }
    }

    /// What the engine thought of, and what that is worth.
    fn considered(&self) -> Vec<ConsideredDetail> {
        let seen = self.log.watched.as_ref().map(|watched| watched.take()).unwrap_or_default();
        let considered = seen.into_iter().filter_map(|suggestion| {
            let SuggestionKind::Edit { uri, edits, .. } = &suggestion.kind else { return None };
            Some(ConsideredDetail {
                predictor: suggestion.predictor.name(),
                outcome: self.judge_edits(uri, edits).verdict,
                confidence: suggestion.confidence,
                evidence: suggestion.evidence.iter().copied().collect(),
            })
        });
        considered.collect()
    }

    fn suggested(&self, shown: &ShownEdit, judgement: &SuggestionJudgement) -> SuggestedDetail {
        let (file, text) = self.text_of(&shown.uri);
        let before = Text::new(&text);
        let after = shown.edits.apply(&before);
        SuggestedDetail {
            diff: diff::unified(&before, &after, &file, 1),
            file,
            predictor: shown.predictor.clone(),
            confidence: shown.confidence,
            reason: shown.reason.clone(),
            near: judgement.near,
        }
    }

    /// The path and text of an open document.
    fn text_of(&self, address: &str) -> (String, String) {
        if let Some(draft) = self.drafts.iter().find(|draft| draft.uri == address) {
            return (draft.path.clone(), draft.text());
        }
        let mut others = self.case.context.iter().chain(&self.case.untouched);
        match others.find(|context| uri(&context.path) == address) {
            Some(context) => (context.path.clone(), context.text.clone()),
            None => (address.to_owned(), String::new()),
        }
    }
}

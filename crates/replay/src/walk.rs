//! Does a commit again, hunk by hunk, and asks at each half-done state what comes next.

use std::sync::Arc;

use nudge_text::{Edit, Edits, Text};
use nudge_wire::nes::RejectReason;

use crate::{
    ReplayError,
    ask::{AskMode, DumpDetail, ReplayHunk, ReplayQuestion, ShownDetail},
    case::{ReplayCase, uri},
    draft::FileDraft,
    driver::{EngineDriver, ShownEdit},
    judge::{SuggestionJudgement, SuggestionVerdict},
    paths,
    watched::WatchedEngine,
};

/// A commit half done: its files, and where the user is.
pub(crate) struct CommitWalk<'a, D> {
    pub(crate) case: &'a ReplayCase,
    pub(crate) driver: &'a mut D,
    pub(crate) drafts: Vec<FileDraft>,
    /// The file the user is in, and the place in it.
    pub(crate) file: usize,
    pub(crate) cursor: usize,
    /// Hunks done by hand, and lines of hunks.
    pub(crate) step: usize,
    /// Whether the lines of a hunk are done one after the other.
    pub(crate) by_line: bool,
    pub(crate) log: ReplayLog,
}

/// What is written down for people who want to see what happened.
#[derive(Debug, Default)]
pub(crate) struct ReplayLog {
    pub(crate) wanted: bool,
    pub(crate) eagerness: &'static str,
    /// The engine, if what it thinks is wanted as well.
    pub(crate) watched: Option<Arc<WatchedEngine>>,
    /// What was edited last.
    pub(crate) last: Option<ReplayHunk>,
    pub(crate) details: Vec<DumpDetail>,
}

impl<'a, D: EngineDriver> CommitWalk<'a, D> {
    /// Opens the files as they were before the commit, and beside them those that are only looked at.
    pub(crate) fn begin(
        case: &'a ReplayCase,
        driver: &'a mut D,
        log: ReplayLog,
    ) -> Result<Self, ReplayError> {
        let drafts: Vec<FileDraft> = case.files.iter().map(FileDraft::new).collect();
        for context in &case.context {
            driver.open(&uri(&context.path), paths::language(&context.path), &context.text)?;
        }
        // The last one opened is the one the user is in.
        for draft in drafts.iter().rev() {
            driver.open(&draft.uri, draft.language, &draft.text())?;
        }
        Ok(Self { case, driver, drafts, file: 0, cursor: 0, step: 0, by_line: false, log })
    }

    /// Does the commit to its end.
    pub(crate) fn run(&mut self) -> Result<Vec<ReplayQuestion>, ReplayError> {
        let mut asks = Vec::new();
        let most = 4 * self.drafts.iter().map(FileDraft::places).sum::<usize>();
        while let Some((file, place)) = self.next() {
            let mut goes_on = self.step > 0 && asks.len() < most && {
                self.arrive(file, place)?;
                self.ask_once(AskMode::Came, &mut asks)?
            };
            if !goes_on {
                match self.drafts[file].line_by_hand(place).filter(|_| self.by_line) {
                    Some(edit) => self.do_line_by_hand(file, place, edit)?,
                    None => self.do_by_hand(file, place)?,
                }
                goes_on = true;
            }
            while goes_on && self.remaining() > 0 && asks.len() < most {
                goes_on = self.ask_once(AskMode::Hunk, &mut asks)?;
            }
        }
        Ok(asks)
    }

    /// Asks once; says whether what was shown was taken.
    fn ask_once(&mut self, mode: AskMode, asks: &mut Vec<ReplayQuestion>) -> Result<bool, ReplayError> {
        let ask = self.ask(mode)?;
        let is_taken =
            ask.showing.as_ref().is_some_and(|showing| showing.verdict != SuggestionVerdict::Wrong);
        asks.push(ask);
        Ok(is_taken)
    }

    /// The next hunk in the order of the commit.
    pub(crate) fn next(&self) -> Option<(usize, usize)> {
        self.drafts.iter().enumerate().find_map(|(file, draft)| Some((file, draft.next()?)))
    }

    pub(crate) fn remaining(&self) -> usize {
        self.drafts.iter().map(FileDraft::remaining).sum()
    }

    /// The user goes to the line of the next hunk, or to the end of the line that new lines go below.
    fn arrive(&mut self, file: usize, place: usize) -> Result<(), ReplayError> {
        let edit = self.drafts[file].by_hand(place);
        let text = Text::new(&self.drafts[file].text());
        let line = text.line_of(edit.range.start);
        let is_below = edit.range.is_empty() && edit.text.starts_with(['\r', '\n']);
        let cursor = if is_below {
            text.line_end(line)
        } else {
            let line_text = text.line(line);
            text.line_start(line) + line_text.len() - line_text.trim_start().len()
        };
        self.driver.focus(&self.drafts[file].uri, cursor)?;
        (self.file, self.cursor) = (file, cursor);
        Ok(())
    }

    /// The user does a hunk.
    pub(crate) fn do_by_hand(&mut self, file: usize, place: usize) -> Result<(), ReplayError> {
        let edit = self.drafts[file].by_hand(place);
        self.go(file, edit.range.start)?;
        self.set_out(file, place);
        self.cursor = edit.range.start + edit.text.len();
        self.driver.change(&self.drafts[file].uri, &[edit])?;
        self.drafts[file].finish(place);
        Ok(())
    }

    /// The user does one line of a hunk.
    fn do_line_by_hand(&mut self, file: usize, place: usize, edit: Edit) -> Result<(), ReplayError> {
        self.go(file, edit.range.start)?;
        self.set_out(file, place);
        self.press(file, place, edit)
    }

    /// The user sets out to do a hunk.
    pub(crate) fn set_out(&mut self, file: usize, place: usize) {
        self.step += 1;
        self.log.last = self.log.wanted.then(|| self.hunk(file, place));
    }

    /// The user makes an edit on the way to finishing a hunk.
    pub(crate) fn press(&mut self, file: usize, place: usize, edit: Edit) -> Result<(), ReplayError> {
        self.drafts[file].places[place].now = self.drafts[file].with(place, &edit);
        self.cursor = edit.range.start + edit.text.len();
        self.driver.change(&self.drafts[file].uri, &[edit])
    }

    /// The user goes to a place; the engine is told if that is in another file.
    pub(crate) fn go(&mut self, file: usize, cursor: usize) -> Result<(), ReplayError> {
        if file != self.file || self.step == 0 {
            self.driver.focus(&self.drafts[file].uri, cursor)?;
        }
        (self.file, self.cursor) = (file, cursor);
        Ok(())
    }

    /// Asks once and lets the user take what is right.
    fn ask(&mut self, mode: AskMode) -> Result<ReplayQuestion, ReplayError> {
        let answer = self.driver.suggest(&self.drafts[self.file].uri, self.cursor)?;
        let language = self.drafts[self.file].language;
        let Some(shown) = answer.shown else {
            self.write_down(mode, None);
            return Ok(ReplayQuestion { language, micros: answer.micros, showing: None });
        };
        let judgement = self.judge(&shown);
        let showing = self.showing(&shown, &judgement);
        self.write_down(mode, Some((&shown, &judgement)));
        if judgement.verdict == SuggestionVerdict::Wrong {
            self.driver.reject(&shown.id, RejectReason::Rejected)?;
        } else {
            self.take(&shown, &judgement)?;
        }
        Ok(ReplayQuestion { language, micros: answer.micros, showing: Some(showing) })
    }

    /// What a suggestion is worth.
    pub(crate) fn judge(&self, shown: &ShownEdit) -> SuggestionJudgement {
        self.judge_edits(&shown.uri, &shown.edits)
    }

    /// What edits of a document are worth.
    pub(crate) fn judge_edits(&self, uri: &str, edits: &Edits) -> SuggestionJudgement {
        match self.drafts.iter().find(|draft| *draft.uri == *uri) {
            Some(draft) => draft.judge(&edits.apply(&Text::new(&draft.text())).to_string()),
            None => SuggestionJudgement::wrong(),
        }
    }

    fn showing(&self, shown: &ShownEdit, judgement: &SuggestionJudgement) -> ShownDetail {
        let finished = match (judgement.verdict, self.file_of(shown)) {
            (SuggestionVerdict::Exact | SuggestionVerdict::Partial, Some(file)) => {
                let places = &self.drafts[file].places;
                judgement.places.iter().filter(|(place, then)| places[*place].want == *then).count()
            }
            _ => 0,
        };
        ShownDetail {
            verdict: judgement.verdict,
            near: judgement.near,
            finished,
            predictor: shown.predictor.clone(),
            language: paths::language(&shown.uri),
        }
    }

    /// The user takes a suggestion.
    pub(crate) fn take(
        &mut self,
        shown: &ShownEdit,
        judgement: &SuggestionJudgement,
    ) -> Result<(), ReplayError> {
        let file = self.file_of(shown).expect("only suggestions in files of the commit are right");
        let first = judgement.places.first().filter(|_| self.log.wanted);
        self.log.last =
            first.map(|(place, then)| ReplayHunk { after: then.clone(), ..self.hunk(file, *place) });
        self.driver.accept(&shown.id)?;
        let edits: Vec<Edit> = shown.edits.iter().cloned().collect();
        self.driver.change(&self.drafts[file].uri, &edits)?;
        self.drafts[file].take(judgement);
        self.go(file, shown.cursor)
    }

    pub(crate) fn file_of(&self, shown: &ShownEdit) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.uri == shown.uri)
    }
}

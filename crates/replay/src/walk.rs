//! Does a commit again, hunk by hunk, and asks at each half-done state what comes next.

use std::sync::Arc;

use nudge_text::{Edit, Edits, Text};
use nudge_wire::nes::RejectReason;

use crate::{
    Error,
    ask::{Ask, Detail, Hunk, Mode, Showing},
    case::{Case, uri},
    draft::Draft,
    driver::{Driver, Shown},
    judge::{Judgement, Verdict},
    paths,
    watched::Watched,
};

/// A commit half done: its files, and where the user is.
pub(crate) struct Walk<'a, D> {
    pub(crate) case: &'a Case,
    pub(crate) driver: &'a mut D,
    pub(crate) drafts: Vec<Draft>,
    /// The file the user is in, and the place in it.
    pub(crate) file: usize,
    pub(crate) cursor: usize,
    /// Hunks done by hand, and lines of hunks.
    pub(crate) step: usize,
    /// Whether the lines of a hunk are done one after the other.
    pub(crate) by_line: bool,
    pub(crate) log: Log,
}

/// What is written down for people who want to see what happened.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) wanted: bool,
    pub(crate) eagerness: &'static str,
    /// The engine, if what it thinks is wanted as well.
    pub(crate) watched: Option<Arc<Watched>>,
    /// What was edited last.
    pub(crate) last: Option<Hunk>,
    pub(crate) details: Vec<Detail>,
}

impl<'a, D: Driver> Walk<'a, D> {
    /// Opens the files as they were before the commit, and beside them those that are only looked at.
    pub(crate) fn begin(case: &'a Case, driver: &'a mut D, log: Log) -> Result<Self, Error> {
        let drafts: Vec<Draft> = case.files.iter().map(Draft::new).collect();
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
    pub(crate) fn run(&mut self) -> Result<Vec<Ask>, Error> {
        let mut asks = Vec::new();
        let most = 4 * self.drafts.iter().map(Draft::places).sum::<usize>();
        while let Some((file, place)) = self.next() {
            let mut goes_on = self.step > 0 && asks.len() < most && {
                self.arrive(file, place)?;
                self.ask_once(Mode::Came, &mut asks)?
            };
            if !goes_on {
                match self.drafts[file].line_by_hand(place).filter(|_| self.by_line) {
                    Some(edit) => self.do_line_by_hand(file, place, edit)?,
                    None => self.do_by_hand(file, place)?,
                }
                goes_on = true;
            }
            while goes_on && self.remaining() > 0 && asks.len() < most {
                goes_on = self.ask_once(Mode::Hunk, &mut asks)?;
            }
        }
        Ok(asks)
    }

    /// Asks once; says whether what was shown was taken.
    fn ask_once(&mut self, mode: Mode, asks: &mut Vec<Ask>) -> Result<bool, Error> {
        let ask = self.ask(mode)?;
        let is_taken = ask.showing.as_ref().is_some_and(|showing| showing.verdict != Verdict::Wrong);
        asks.push(ask);
        Ok(is_taken)
    }

    /// The next hunk in the order of the commit.
    pub(crate) fn next(&self) -> Option<(usize, usize)> {
        self.drafts.iter().enumerate().find_map(|(file, draft)| Some((file, draft.next()?)))
    }

    pub(crate) fn remaining(&self) -> usize {
        self.drafts.iter().map(Draft::remaining).sum()
    }

    /// The user goes to the line of the next hunk, or to the end of the line that new lines go below.
    fn arrive(&mut self, file: usize, place: usize) -> Result<(), Error> {
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
    pub(crate) fn do_by_hand(&mut self, file: usize, place: usize) -> Result<(), Error> {
        let edit = self.drafts[file].by_hand(place);
        self.go(file, edit.range.start)?;
        self.set_out(file, place);
        self.cursor = edit.range.start + edit.text.len();
        self.driver.change(&self.drafts[file].uri, &[edit])?;
        self.drafts[file].finish(place);
        Ok(())
    }

    /// The user does one line of a hunk.
    fn do_line_by_hand(&mut self, file: usize, place: usize, edit: Edit) -> Result<(), Error> {
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
    pub(crate) fn press(&mut self, file: usize, place: usize, edit: Edit) -> Result<(), Error> {
        self.drafts[file].places[place].now = self.drafts[file].with(place, &edit);
        self.cursor = edit.range.start + edit.text.len();
        self.driver.change(&self.drafts[file].uri, &[edit])
    }

    /// The user goes to a place; the engine is told if that is in another file.
    pub(crate) fn go(&mut self, file: usize, cursor: usize) -> Result<(), Error> {
        if file != self.file || self.step == 0 {
            self.driver.focus(&self.drafts[file].uri, cursor)?;
        }
        (self.file, self.cursor) = (file, cursor);
        Ok(())
    }

    /// Asks once and lets the user take what is right.
    fn ask(&mut self, mode: Mode) -> Result<Ask, Error> {
        let answer = self.driver.suggest(&self.drafts[self.file].uri, self.cursor)?;
        let language = self.drafts[self.file].language;
        let Some(shown) = answer.shown else {
            self.write_down(mode, None);
            return Ok(Ask { language, micros: answer.micros, showing: None });
        };
        let judgement = self.judge(&shown);
        let showing = self.showing(&shown, &judgement);
        self.write_down(mode, Some((&shown, &judgement)));
        if judgement.verdict == Verdict::Wrong {
            self.driver.reject(&shown.id, RejectReason::Rejected)?;
        } else {
            self.take(&shown, &judgement)?;
        }
        Ok(Ask { language, micros: answer.micros, showing: Some(showing) })
    }

    /// What a suggestion is worth.
    pub(crate) fn judge(&self, shown: &Shown) -> Judgement {
        self.judge_edits(&shown.uri, &shown.edits)
    }

    /// What edits of a document are worth.
    pub(crate) fn judge_edits(&self, uri: &str, edits: &Edits) -> Judgement {
        match self.drafts.iter().find(|draft| *draft.uri == *uri) {
            Some(draft) => draft.judge(&edits.apply(&Text::new(&draft.text())).to_string()),
            None => Judgement::wrong(),
        }
    }

    fn showing(&self, shown: &Shown, judgement: &Judgement) -> Showing {
        let finished = match (judgement.verdict, self.file_of(shown)) {
            (Verdict::Exact | Verdict::Partial, Some(file)) => {
                let places = &self.drafts[file].places;
                judgement.places.iter().filter(|(place, then)| places[*place].want == *then).count()
            }
            _ => 0,
        };
        Showing {
            verdict: judgement.verdict,
            near: judgement.near,
            finished,
            predictor: shown.predictor.clone(),
            language: paths::language(&shown.uri),
        }
    }

    /// The user takes a suggestion.
    pub(crate) fn take(&mut self, shown: &Shown, judgement: &Judgement) -> Result<(), Error> {
        let file = self.file_of(shown).expect("only suggestions in files of the commit are right");
        let first = judgement.places.first().filter(|_| self.log.wanted);
        self.log.last = first.map(|(place, then)| Hunk { after: then.clone(), ..self.hunk(file, *place) });
        self.driver.accept(&shown.id)?;
        let edits: Vec<Edit> = shown.edits.iter().cloned().collect();
        self.driver.change(&self.drafts[file].uri, &edits)?;
        self.drafts[file].take(judgement);
        self.go(file, shown.cursor)
    }

    pub(crate) fn file_of(&self, shown: &Shown) -> Option<usize> {
        self.drafts.iter().position(|draft| draft.uri == shown.uri)
    }
}

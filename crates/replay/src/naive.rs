//! The yardstick: an engine that does the last replacement again on the next line that has the same words.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use nudge_nes::NesEngine;
use nudge_predict::{
    EngineSuggestion, PredictorName, Scene, SuggestOutcome, SuggestionEffect, SuggestionFeatures,
    SuggestionKind,
};
use nudge_syntax::AnalysedDocument;
use nudge_text::{Edit, Edits, history::LineChange};

/// How sure it says it is, always.
const CONFIDENCE: f32 = 0.9;

/// Repeats the last replacement of words.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NaiveEngine;

impl NesEngine for NaiveEngine {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        let Some(change) = scene.changes.last() else { return nothing("nothing was changed yet") };
        let Some(substitution) = Substitution::of(change) else { return nothing("no words were replaced") };
        let sources = std::iter::once(scene.source).chain(scene.others);
        match sources
            .flat_map(|source| substitution.in_source(source, change))
            .find(|suggestion| !scene.memory.refuses(&suggestion.effect))
        {
            Some(suggestion) => SuggestOutcome { suggestions: vec![suggestion], why_nothing: "" },
            None => nothing("the words are nowhere else"),
        }
    }
}

fn nothing(why_nothing: &'static str) -> SuggestOutcome {
    SuggestOutcome { suggestions: Vec::new(), why_nothing }
}

/// Some words of a line and what came in their place.
struct Substitution {
    old: String,
    new: String,
}

impl Substitution {
    /// What a change of lines one by one did to the first line that differs.
    fn of(change: &LineChange) -> Option<Self> {
        if change.before_lines != change.after_lines {
            return None;
        }
        let (before, after) =
            change.before.lines().zip(change.after.lines()).find(|(old, new)| old != new)?;
        let (old, new) = (words(before), words(after));
        let front =
            old.iter().zip(&new).take_while(|(a, b)| before[a.0.clone()] == after[b.0.clone()]).count();
        let back = old[front..]
            .iter()
            .rev()
            .zip(new[front..].iter().rev())
            .take_while(|(a, b)| before[a.0.clone()] == after[b.0.clone()])
            .count();
        let (old, new) = (&old[front..old.len() - back], &new[front..new.len() - back]);
        let part = |text: &str, words: &[Word]| match words {
            [] => String::new(),
            [first, .., last] => text[first.0.start..last.0.end].to_owned(),
            [one] => text[one.0.clone()].to_owned(),
        };
        let (old, new) = (part(before, old), part(after, new));
        old.chars().any(char::is_alphanumeric).then_some(Self { old, new })
    }

    /// The lines of a document that have the old words, those below the change first.
    fn in_source(&self, source: &AnalysedDocument, change: &LineChange) -> Vec<EngineSuggestion> {
        let here = source.uri() == &change.uri;
        let first = if here { change.line + change.after_lines } else { 0 };
        let mut found: Vec<(usize, EngineSuggestion)> = Vec::new();
        let mut start = 0;
        for (number, line) in source.content().split_inclusive('\n').enumerate() {
            let changed = here && (change.line..first).contains(&number);
            let edits: Vec<Edit> = if changed { Vec::new() } else { self.in_line(line, start) };
            if !edits.is_empty() {
                found.push((number, self.suggestion(source, edits, here)));
            }
            start += line.len();
        }
        found.sort_by_key(|(number, _)| (*number < first, *number));
        found.into_iter().map(|(_, suggestion)| suggestion).collect()
    }

    fn in_line(&self, line: &str, start: usize) -> Vec<Edit> {
        let edges: Vec<usize> =
            words(line).iter().map(|word| word.0.start).chain(std::iter::once(line.len())).collect();
        line.match_indices(&self.old)
            .filter(|(at, old)| edges.contains(at) && edges.contains(&(at + old.len())))
            .map(|(at, old)| Edit::new(start + at..start + at + old.len(), self.new.clone()))
            .collect()
    }

    fn suggestion(&self, source: &AnalysedDocument, edits: Vec<Edit>, here: bool) -> EngineSuggestion {
        let mut hasher = DefaultHasher::new();
        (&self.old, &self.new).hash(&mut hasher);
        let chain = hasher.finish();
        let cursor = edits[0].range.start + self.new.len();
        let edits = Edits::new(edits).expect("matches do not overlap");
        let kind = SuggestionKind::Edit { uri: Arc::clone(source.uri()), edits, cursor };
        EngineSuggestion {
            effect: SuggestionEffect::of(&kind, |_| Some(source.text())),
            kind,
            predictor: PredictorName::Repeat,
            reason: "does the last replacement again".to_owned(),
            confidence: CONFIDENCE,
            features: SuggestionFeatures {
                predictor: PredictorName::Repeat,
                language: source.language(),
                here,
                prior: CONFIDENCE,
            },
            group: chain,
            evidence: Vec::new(),
        }
    }
}

/// Where a word, a number or a single other character is.
struct Word(Range<usize>);

fn words(line: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut goes_on = false;
    for (at, char) in line.char_indices() {
        let is_word = char.is_alphanumeric() || char == '_';
        match words.last_mut() {
            Some(last) if is_word && goes_on => last.0.end += char.len_utf8(),
            _ => words.push(Word(at..at + char.len_utf8())),
        }
        goes_on = is_word;
    }
    words
}

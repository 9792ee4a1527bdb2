//! Does again elsewhere what was just done.
//!
//! Each recent change is generalised into rules: a run of tokens that became another, with holes for the names in
//! between; an argument that a call got or lost; the same name in another spelling; whole lines that came, went or were
//! replaced. Then the documents are searched for places where a rule applies, the one with the cursor first.

mod analogy;
mod apply;
mod beside;
mod block;
mod book;
mod call;
mod find;
mod lessons;
mod row;
mod rule;
mod score;
mod sense;
mod stray;
mod template;

use std::{collections::BTreeMap, ops::Range};

use nudge_text::{Edit, Edits};

pub use self::lessons::LessonCache;
use self::{
    analogy::LineAnalogy,
    apply::RuleMatch,
    block::LineBlock,
    book::RuleBook,
    find::{RuleHit, RuleMatches},
    score::{NameUsage, RulePlace, WordSet, example_words},
};
use super::{
    Candidate,
    evidence::{DocumentEvidence, PlaceEvidence, RuleSpread, probability},
};
use crate::{PredictorName, Scene, SuggestionKind};
use nudge_syntax::AnalysedDocument;

/// Below this a place is not even considered together with its neighbours.
const FLOOR: f32 = 0.12;
/// Another rule is applied to a line beside the best one from here on.
const COMPANION: f32 = 0.4;
/// Documents are searched until this much text was seen.
const MAX_BYTES: usize = 6 * 1024 * 1024;
/// Of two adjacent lines the less likely is at least so likely, measured by the other, if they belong together.
const ALIKE: f32 = 0.6;
/// The best places of one document.
const MAX_PLACES: usize = 8;

/// Says where the recent changes may be repeated.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let has_come = DocumentEvidence::of(scene, scene.source, true).has_come();
    let book = RuleBook::learn(scene.changes, has_come, scene.lessons);
    let mut seen = 0;
    for (number, source) in std::iter::once(scene.source).chain(scene.others).enumerate() {
        seen += source.text().len() * (book.rules.len() / 8 + 1);
        if (number > 0 && seen > MAX_BYTES) || (scene.cancelled)() {
            break;
        }
        let mut places = in_document(scene, source, &book, number == 0);
        places.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        places.truncate(MAX_PLACES);
        out.extend(places);
    }
}

fn in_document(scene: &Scene<'_>, source: &AnalysedDocument, book: &RuleBook, here: bool) -> Vec<Candidate> {
    let taken = find::taken(source, scene.changes);
    let mut around = DocumentEvidence::of(scene, source, here);
    let RuleMatches { lines, cuts } = find::lines(source, &book.rules, &taken, here.then_some(around.cursor));
    let below = around.cursor..source.text().line_count();
    around.reaches = below.take_while(|line| lines.contains_key(line)).count();
    let spreads = spreads(scene, source, book, &lines);
    let judge =
        Judge { book, words: book.rules.iter().map(example_words).collect(), around: &around, spreads };
    let mut scored: BTreeMap<usize, Scored> = lines
        .iter()
        .filter_map(|(&line, hits)| Some((line, judge.best(&RulePlace::new(line, cuts.get(&line)?), hits)?)))
        .collect();
    let blocks = blocks(scene, source, book, &taken, &around);
    // What a change did to several lines is not done to one of them, and what was refused is not done with its neighbours.
    scored.retain(|line, place| {
        if scene.memory.refuses_edits(source, &place.edits(source, *line)) {
            return false;
        }
        let change = book.rules[place.rule].examples.first().map(|example| example.change);
        !blocks.iter().any(|block| Some(block.change) == change && block.lines.contains(line))
    });
    let mut lines = group(scene, source, book, scored);
    lines.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    let kept = lines.into_iter().filter(|place| !stray::tears_apart(source, &place.kind));
    let mut found: Vec<Candidate> = kept.take(MAX_PLACES).collect();
    if here {
        found.extend(analogies(scene, source, book, &taken, &around));
    }
    found.extend(blocks.into_iter().map(|block| block.candidate));
    found
}

/// A change of whole lines that is to be done again.
struct Again {
    change: usize,
    lines: Range<usize>,
    candidate: Candidate,
}

fn blocks(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    book: &RuleBook,
    taken: &[Range<usize>],
    around: &DocumentEvidence,
) -> Vec<Again> {
    let mut found = Vec::new();
    for block in &book.blocks {
        let is_same = |other: &&LineBlock| other.before == block.before && other.after == block.after;
        let support = book.blocks.iter().filter(is_same).count();
        let sites = find::places(source, block, taken, around, support > 1);
        let mut lines: Vec<usize> = sites.iter().map(|site| site.line).collect();
        if lines.is_empty() {
            continue;
        }
        lines.sort_unstable();
        let done = done(scene, source, std::iter::once(block.change));
        let usage = NameUsage::of(source, block.names(), lines.len(), done);
        let is_habit = book.takes_away(block) > 1;
        for site in sites {
            // That one line went does not mean that others like it go.
            if block.after.is_empty() && site.mapping.different > 0 && !is_habit {
                continue;
            }
            let sooner = between(&lines, around.cursor, site.line);
            let spread = RuleSpread { lines: lines.len(), sooner, ..RuleSpread::default() };
            let evidence = score::block_evidence(block, &site, around, (spread, &usage), support);
            let lines = site.line..site.line + site.lines;
            let candidate = block_candidate(scene, source, block, (lines.clone(), &site.text), evidence);
            found.extend(candidate.map(|candidate| Again { change: block.change, lines, candidate }));
        }
    }
    found
}

/// What the lines that the user has come to may become, as others like them did.
fn analogies(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    book: &RuleBook,
    taken: &[Range<usize>],
    around: &DocumentEvidence,
) -> Vec<Candidate> {
    let text = source.text();
    let mut found: Vec<(&LineBlock, LineAnalogy)> = Vec::new();
    for block in &book.models {
        let height = block.before.len();
        for lines in [height, height + 1, height - 1] {
            let end = around.cursor + lines;
            let is_free = |line: usize| !find::is_taken(line, taken);
            if lines == 0 || end > text.line_count() || !(around.cursor..end).all(is_free) {
                continue;
            }
            let place: Vec<String> = (around.cursor..end).map(|line| text.line(line).into_owned()).collect();
            found.extend(analogy::of(block, &place).map(|analogy| (block, analogy)));
        }
    }
    let candidates = found.iter().filter_map(|(block, analogy)| {
        let is_same = |(_, other): &&(&LineBlock, LineAnalogy)| {
            other.lines == analogy.lines && other.text == analogy.text
        };
        let support = found.iter().filter(is_same).count();
        let done = done(scene, source, std::iter::once(block.change));
        let usage = NameUsage::of(source, block.names(), 1, done);
        let evidence = score::analogy_evidence(block, analogy, around, &usage, (support, found.len()));
        let lines = around.cursor..around.cursor + analogy.lines;
        block_candidate(scene, source, block, (lines, &analogy.text), evidence)
    });
    candidates.collect()
}

/// What is to be done to one line.
struct Scored {
    matches: Vec<RuleMatch>,
    rule: usize,
    prior: f32,
    evidence: PlaceEvidence,
}

impl Scored {
    fn edits(&self, source: &AnalysedDocument, line: usize) -> Vec<Edit> {
        let start = source.text().line_start(line);
        let edit =
            |hit: &RuleMatch| Edit::new(start + hit.range.start..start + hit.range.end, hit.text.clone());
        self.matches.iter().map(edit).collect()
    }
}

/// What the places of a document are judged by.
struct Judge<'a> {
    book: &'a RuleBook,
    /// By rule: the words of its examples.
    words: Vec<Vec<WordSet<'a>>>,
    around: &'a DocumentEvidence,
    spreads: BTreeMap<usize, Sites<'a>>,
}

impl Judge<'_> {
    fn best(&self, place: &RulePlace<'_>, hits: &[RuleHit]) -> Option<Scored> {
        let rules = &self.book.rules;
        let mut scored: Vec<(f32, &RuleHit, PlaceEvidence)> = hits
            .iter()
            .map(|hit| {
                let sites = &self.spreads[&hit.rule];
                let seen = (sites.seen_from(self.around.cursor, place.line), &sites.usage);
                let (rule, words) = (&rules[hit.rule], &self.words[hit.rule]);
                let evidence = score::rule_evidence(rule, words, &hit.matches, place, self.around, seen);
                let in_row = row::prior(rule, &sites.usage, place.line, &evidence);
                (probability(&evidence).max(in_row), hit, evidence)
            })
            .collect();
        // What does all of the example is preferred to what does a part of it.
        let worth = |(prior, hit, _): &(f32, &RuleHit, PlaceEvidence)| {
            prior * if rules[hit.rule].is_joint { 2.0 } else { 1.0 }
        };
        scored.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.1.rule.cmp(&b.1.rule)));
        let (prior, first, evidence) = scored.first()?;
        if *prior < FLOOR {
            return None;
        }
        let mut matches = first.matches.clone();
        for (prior, hit, _) in &scored[1..] {
            if *prior < COMPANION {
                break;
            }
            // Where it does not apply to all of a line, it is not applied to the rest of it after all.
            if hit.rule == first.rule {
                continue;
            }
            for extra in &hit.matches {
                if matches
                    .iter()
                    .all(|taken| extra.range.end <= taken.range.start || taken.range.end <= extra.range.start)
                {
                    matches.push(extra.clone());
                }
            }
        }
        matches.sort_by_key(|hit| hit.range.start);
        Some(Scored { matches, rule: first.rule, prior: *prior, evidence: evidence.clone() })
    }
}

/// How often each rule applies in the document, and where it was passed over.
fn spreads<'a>(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    book: &'a RuleBook,
    lines: &BTreeMap<usize, Vec<RuleHit>>,
) -> BTreeMap<usize, Sites<'a>> {
    let mut sites: BTreeMap<usize, Sites<'a>> = BTreeMap::new();
    for (&line, hits) in lines {
        for hit in hits {
            sites.entry(hit.rule).or_default().lines.push(line);
        }
    }
    for (rule, found) in &mut sites {
        let rule = &book.rules[*rule];
        let done = done(scene, source, rule.examples.iter().map(|example| example.change));
        let (first, last) = (done.first(), done.last());
        let is_passed = |line: &&usize| first.is_some_and(|first| first < *line) && last > Some(*line);
        let skipped = found.lines.iter().filter(is_passed).count();
        found.spread = RuleSpread { lines: found.lines.len(), skipped, done: done.len(), sooner: 0 };
        found.usage = NameUsage::of(source, rule.names(), found.lines.len(), done);
    }
    sites
}

/// The lines of a document that were changed by some changes, in order.
fn done(scene: &Scene<'_>, source: &AnalysedDocument, changes: impl Iterator<Item = usize>) -> Vec<usize> {
    let changes = changes.filter_map(|number| scene.changes.get(number));
    let own = changes.filter(|change| *change.uri == **source.uri());
    let mut done: Vec<usize> = own.map(|change| change.line).collect();
    done.sort_unstable();
    done.dedup();
    done
}

/// Where a rule applies in a document.
#[derive(Default)]
struct Sites<'a> {
    spread: RuleSpread,
    usage: NameUsage<'a>,
    /// In order.
    lines: Vec<usize>,
}

impl Sites<'_> {
    /// The spread as it is for one of the lines.
    fn seen_from(&self, cursor: usize, line: usize) -> RuleSpread {
        RuleSpread { sooner: between(&self.lines, cursor, line), ..self.spread }
    }
}

/// How many lines lie between the cursor and a line.
fn between(lines: &[usize], cursor: usize, line: usize) -> usize {
    let (from, to) = (cursor.min(line), cursor.max(line));
    let inside = lines.partition_point(|other| *other < to) - lines.partition_point(|other| *other < from);
    inside.saturating_sub(usize::from(line < cursor))
}

/// Joins adjacent lines that are about as likely, since they are one change to a person, and makes candidates of them.
fn group(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    book: &RuleBook,
    scored: BTreeMap<usize, Scored>,
) -> Vec<Candidate> {
    let mut groups: Vec<Vec<(usize, Scored)>> = Vec::new();
    for (line, place) in scored {
        match groups.last_mut() {
            Some(group)
                if group.last().is_some_and(|(last, other)| {
                    last + 1 == line && place.prior.min(other.prior) >= ALIKE * place.prior.max(other.prior)
                }) =>
            {
                group.push((line, place));
            }
            _ => groups.push(vec![(line, place)]),
        }
    }
    groups.into_iter().filter_map(|group| line_candidate(scene, source, book, &group)).collect()
}

fn line_candidate(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    book: &RuleBook,
    group: &[(usize, Scored)],
) -> Option<Candidate> {
    let text = source.text();
    let edits = group.iter().flat_map(|(line, place)| place.edits(source, *line));
    let edits = Edits::new(edits.collect()).ok()?.trimmed(text);
    let (_, best) = group.iter().max_by(|a, b| a.1.prior.total_cmp(&b.1.prior))?;
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let prior = group.iter().map(|(_, place)| place.prior).sum::<f32>() / group.len() as f32;
    let rule = &book.rules[best.rule];
    Some(Candidate {
        kind: edit_kind(source, edits)?,
        predictor: PredictorName::Repeat,
        reason: reason(scene, rule.examples.first()?.change),
        prior,
        group: rule.group,
        evidence: best.evidence.clone(),
    })
}

fn block_candidate(
    scene: &Scene<'_>,
    source: &AnalysedDocument,
    block: &LineBlock,
    (lines, becomes): (Range<usize>, &[String]),
    evidence: PlaceEvidence,
) -> Option<Candidate> {
    let text = source.text();
    let line_break = text.line_break();
    let (start, end) = (text.line_start(lines.start), text.line_start(lines.end));
    let mut with: String = becomes.iter().flat_map(|line| [line.as_str(), line_break]).collect();
    // The last line of a document has no break of its own; what comes behind it brings one.
    if lines.end >= text.line_count() {
        with.truncate(with.len() - line_break.len().min(with.len()));
        if lines.is_empty() {
            with.insert_str(0, line_break);
        }
    }
    let edits = Edits::one(start..end, with).trimmed(text);
    Some(Candidate {
        kind: edit_kind(source, edits)?,
        predictor: PredictorName::Repeat,
        reason: reason(scene, block.change),
        prior: probability(&evidence),
        group: super::group_of(&(&block.before, &block.after)),
        evidence,
    })
}

fn edit_kind(source: &AnalysedDocument, edits: Edits) -> Option<SuggestionKind> {
    let last = edits.as_slice().last()?;
    let cursor = edits.map(last.range.end, nudge_text::InsertBias::After);
    Some(SuggestionKind::Edit { uri: source.uri().clone(), edits, cursor })
}

fn reason(scene: &Scene<'_>, change: usize) -> String {
    match scene.changes.get(change) {
        Some(change) if *change.uri == **scene.source.uri() => {
            format!("repeats your edit on line {}", change.line.saturating_add(1))
        }
        Some(change) => {
            let name = change.uri.rsplit('/').next().unwrap_or_default();
            format!("repeats your edit on line {} of {name}", change.line.saturating_add(1))
        }
        None => "repeats your edit".to_owned(),
    }
}

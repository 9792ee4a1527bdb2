//! Carries an addition to one list of a family to the next list.
//!
//! Where a line was added that is its neighbour with other names (`Red,` → `Green,`), the places that mention the
//! neighbour's name (`Red => "red",`) may want a line for the new one (`Green => "green",`).

use nudge_text::{Edits, Text, history::Change};

use super::{
    Candidate,
    evidence::{self, Around, Evidence, Spread, flag, small},
};
use crate::{
    Kind, Predictor, Scene, Source, case,
    engine::find,
    token::{TokenKind, solid, stands_alone, tokens},
};

/// How many of the newest changes are looked at.
const RECENT: usize = 12;
/// Places looked at in one document.
const MAX_HITS: usize = 60;
/// Documents looked at.
const MAX_DOCUMENTS: usize = 24;
/// Longer members of a family are not copied.
const MAX_UNIT: usize = 16;

/// An addition by analogy: a member of a list was copied with other names.
struct Analogy {
    change: usize,
    /// Names of the model and of the copy.
    pairs: Vec<(String, String)>,
    /// The copy stands below its model.
    below: bool,
    /// How many changes show the same.
    support: usize,
    lines: usize,
}

/// Says where the next list may want the new member.
pub(crate) fn predict(scene: &Scene<'_>, out: &mut Vec<Candidate>) {
    let analogies = learn(scene);
    for (number, source) in std::iter::once(scene.source).chain(scene.others).take(MAX_DOCUMENTS).enumerate()
    {
        for analogy in &analogies {
            if (scene.cancelled)() {
                return;
            }
            in_document(scene, source, analogy, number == 0, out);
        }
    }
}

fn learn(scene: &Scene<'_>) -> Vec<Analogy> {
    let mut found: Vec<Analogy> = Vec::new();
    let from = scene.changes.len().saturating_sub(RECENT);
    for (number, change) in scene.changes.iter().enumerate().skip(from).rev() {
        let Some(analogy) = analogy(scene, change, number) else { continue };
        match found.iter_mut().find(|known| known.pairs.iter().any(|pair| analogy.pairs.contains(pair))) {
            Some(known) => known.support += 1,
            None => found.push(analogy),
        }
    }
    found
}

/// The neighbour that the added lines are a copy of.
fn analogy(scene: &Scene<'_>, change: &Change, number: usize) -> Option<Analogy> {
    if change.before_lines != 0 || change.after_lines == 0 || change.after_lines > MAX_UNIT {
        return None;
    }
    let text = find(scene, &change.uri)?.text();
    let count = change.after_lines;
    let added: Vec<&str> = change.after.split('\n').collect();
    let models = [(change.line.checked_sub(count), true), (Some(change.line + count), false)];
    for (start, below) in models {
        let Some(start) = start else { continue };
        let model: Vec<String> = (start..start + count).map(|line| text.line(line).into_owned()).collect();
        if let Some(pairs) = differences(&model, &added) {
            return Some(Analogy { change: number, pairs, below, support: 1, lines: count });
        }
    }
    None
}

/// The names that differ between two runs of lines that are otherwise alike.
fn differences(model: &[String], copy: &[&str]) -> Option<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let (mut same, mut different) = (0, 0);
    for (model, copy) in model.iter().zip(copy) {
        let (left, right) = (solid(model), solid(copy));
        if left.len() != right.len() {
            return None;
        }
        for (a, b) in left.iter().zip(&right) {
            let (from, to) = (a.text(model), b.text(copy));
            if a.kind != b.kind || (a.kind == TokenKind::Mark && from != to) {
                return None;
            }
            if from == to {
                same += 1;
                continue;
            }
            different += 1;
            match pairs.iter().find(|(known, _)| known == from) {
                Some((_, known)) if known != to => return None,
                Some(_) => {}
                None => pairs.push((from.to_owned(), to.to_owned())),
            }
        }
    }
    pairs.retain(|(from, _)| from.len() >= 3 && from.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    (!pairs.is_empty() && pairs.len() <= 4 && different <= same + 2).then_some(pairs)
}

fn in_document(scene: &Scene<'_>, source: &Source, analogy: &Analogy, here: bool, out: &mut Vec<Candidate>) {
    let all = spellings(&analogy.pairs);
    let text = source.text();
    let taken: Vec<_> = scene
        .changes
        .iter()
        .filter(|change| *change.uri == **source.uri())
        .map(|change| change.line.saturating_sub(1)..change.line + change.after_lines + 1)
        .collect();
    let mut sites: Vec<(usize, usize)> = Vec::new();
    for (from, _) in &all {
        for at in source
            .find(from)
            .take(MAX_HITS)
            .filter(|&at| stands_alone(source.content(), &(at..at + from.len())))
        {
            let line = text.line_of(at);
            if taken.iter().any(|range| range.contains(&line))
                || sites.iter().any(|(start, lines)| (*start..start + lines).contains(&line))
            {
                continue;
            }
            if let Some(lines) = unit(text, line) {
                sites.push((line, lines));
            }
        }
    }
    let around = Around::of(scene, source, here);
    let spread = Spread { lines: sites.len(), skipped: 0 };
    for (line, lines) in sites {
        if let Some(candidate) = candidate(scene, source, analogy, &all, (line, lines), &around, spread) {
            out.push(candidate);
        }
    }
}

/// The pairs in every spelling.
fn spellings(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = pairs.to_vec();
    for (from, to) in pairs {
        for variant in case::variants(from, to) {
            if !all.iter().any(|(known, _)| *known == variant.0) {
                all.push(variant);
            }
        }
    }
    all
}

/// How many lines the member of a list has that begins at `line`.
fn unit(text: &Text, line: usize) -> Option<usize> {
    let first = text.line(line);
    let depth = |line: &str| -> isize {
        line.chars()
            .map(|c| match c {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            })
            .sum()
    };
    let mut open = depth(&first);
    let mut lines = 1;
    while open > 0 {
        if lines == MAX_UNIT || line + lines >= text.line_count() {
            return None;
        }
        open += depth(&text.line(line + lines));
        lines += 1;
    }
    (open == 0).then_some(lines)
}

fn candidate(
    scene: &Scene<'_>,
    source: &Source,
    analogy: &Analogy,
    all: &[(String, String)],
    (line, lines): (usize, usize),
    around: &Around,
    spread: Spread,
) -> Option<Candidate> {
    let text = source.text();
    let mut replaced = 0;
    let copy: Vec<String> = (line..line + lines)
        .map(|line| {
            let original = text.line(line);
            let mut copy = String::with_capacity(original.len());
            for token in tokens(&original) {
                let piece = token.text(&original);
                let mapped = all.iter().find(|(from, _)| from == piece);
                replaced += usize::from(mapped.is_some());
                copy.push_str(mapped.map_or(piece, |(_, to)| to));
            }
            copy
        })
        .collect();
    // Already there.
    let near = line.saturating_sub(lines * 2)..(line + lines * 3).min(text.line_count());
    if near.clone().any(|at| text.line(at).trim() == copy[0].trim()) {
        return None;
    }
    let at = if analogy.below { line + lines } else { line };
    let offset = text.line_start(at);
    let line_break = text.line_break();
    let mut with: String = copy.iter().flat_map(|line| [line.as_str(), line_break]).collect();
    if at >= text.line_count() {
        with = format!("{line_break}{}", with.trim_end_matches(['\r', '\n']));
    }
    let cursor = offset + with.len() - line_break.len().min(with.len());
    let evidence = evidence(analogy, text, (line, lines), replaced, around, spread);
    let model = &analogy.pairs.first()?.0;
    Some(Candidate {
        kind: Kind::Edit { uri: source.uri().clone(), edits: Edits::one(offset..offset, with), cursor },
        predictor: Predictor::Sibling,
        reason: format!(
            "adds `{}` beside `{model}`, as you did on line {}",
            analogy.pairs[0].1,
            scene.changes.get(analogy.change)?.line + 1
        ),
        prior: evidence::probability(&evidence),
        chain: super::chain(&("sibling", &analogy.pairs)),
        evidence,
    })
}

fn evidence(
    analogy: &Analogy,
    text: &Text,
    (line, lines): (usize, usize),
    replaced: usize,
    around: &Around,
    spread: Spread,
) -> Evidence {
    let first = text.line(line);
    let ends = first.trim_end().chars().next_back().unwrap_or(' ');
    let words = solid(&first).iter().filter(|token| token.kind == TokenKind::Word).count();
    let mut evidence = vec![
        ("sibling", 1.0),
        ("sibling support 2", flag(analogy.support >= 2)),
        ("sibling support 3", flag(analogy.support >= 3)),
        ("sibling pairs", small(analogy.pairs.len()) / 4.0),
        ("sibling lines", small(lines.min(8)) / 8.0),
        ("sibling same lines", flag(lines == analogy.lines)),
        ("sibling replaced", small(replaced.min(4)) / 4.0),
        ("sibling comma", flag(ends == ',')),
        ("sibling semicolon", flag(ends == ';')),
        ("sibling short", flag(words <= 3)),
        ("sibling long", flag(words > 8)),
        ("sibling name", flag(analogy.pairs[0].0.len() >= 6)),
    ];
    evidence::of_place(&mut evidence, line, around, spread, analogy.change);
    evidence
}

//! Rewrites of a line, learned from one changed line.

use std::{
    ops::{Deref, Range},
    sync::Arc,
};

use nudge_syntax::token::{Token, TokenKind, solid, stands_alone};
use nudge_text::diff;
use rustc_hash::FxHashMap;

use super::{call::CallEdit, sense, template};
use crate::{case, predictors::group_of};

/// What tells rewrites apart.
type Key<'a> = (Vec<RulePattern>, &'a [RewriteOutput]);

/// Where a rule comes from; how far it can be trusted differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RuleShape {
    /// One run of tokens became another.
    Segment,
    /// Several places of a line changed together.
    Span,
    /// Tokens were put in between others.
    Insertion,
    /// An argument was added to, taken from or changed in a call.
    Call,
    /// The same words in another spelling: `foo_bar`, `FooBar`.
    CaseVariant,
    /// A part of a name became another.
    Part,
    /// A line became another; lines of the same build may follow.
    Line,
    /// Something came or went beside a name, whatever the name.
    Beside,
    /// Something came directly before or behind a name.
    Affix,
}

/// A token of what is to be rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RulePattern {
    /// This and nothing else.
    Hard(String),
    /// This, or another of its kind, which then takes its place in the output too.
    Soft(String, TokenKind),
}

/// A piece of what it becomes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RewriteOutput {
    /// This text.
    Literal(String),
    /// What stood for the soft token of this number.
    Soft(usize),
}

/// How a run of tokens is rewritten.
#[derive(Debug)]
pub(crate) struct TokenRewrite {
    pub(crate) shape: RuleShape,
    pub(crate) pattern: Vec<RulePattern>,
    pub(crate) output: Vec<RewriteOutput>,
    /// The text to search for.
    pub(crate) anchor: String,
    /// Its letters, where it is all there is and may be in another spelling.
    pub(crate) letters: Option<String>,
    /// What happens to the arguments of a call, for rewrites of that shape.
    pub(crate) call: Option<CallEdit>,
    /// Whether it does several things that were done together.
    pub(crate) is_joint: bool,
    /// What it has in common with others that do the same: the names that are left open do not count.
    pub(crate) group: u64,
}

/// A changed line that a rewrite was learned from.
#[derive(Debug)]
pub(crate) struct SeenLine {
    /// The line before.
    pub(crate) before: String,
    /// Tokens before the place, the nearest first.
    pub(crate) left: Vec<String>,
    /// Tokens after the place, the nearest first.
    pub(crate) right: Vec<String>,
    /// Whether what was rewritten still stands in the line after the change.
    pub(crate) residue: bool,
    /// Whether nothing else was changed on the line.
    pub(crate) alone: bool,
    /// The line was indented this far.
    pub(crate) indent: usize,
    /// Whether the place was in a string or a comment, as far as the line tells.
    pub(crate) is_quoted: bool,
}

/// One of the things that a changed line teaches.
#[derive(Debug)]
pub(crate) struct LineLesson {
    pub(crate) rewrite: TokenRewrite,
    pub(crate) seen: SeenLine,
}

/// A rewrite with all recent changes that it was learned from.
#[derive(Debug, Clone)]
pub(crate) struct RewriteRule {
    /// As the newest of them teaches it.
    lesson: Arc<LineLesson>,
    /// Whether it is from so long ago that it is tried at the cursor only.
    pub(crate) is_old: bool,
    /// What it was learned from, the newest first.
    pub(crate) examples: Vec<RuleExample>,
}

/// A change that a rule was learned from.
#[derive(Debug, Clone)]
pub(crate) struct RuleExample {
    /// Which change, counted from the oldest.
    pub(crate) change: usize,
    lesson: Arc<LineLesson>,
}

impl RewriteRule {
    pub(crate) fn new(lesson: Arc<LineLesson>, is_old: bool) -> Self {
        Self { lesson, is_old, examples: Vec::new() }
    }
}

impl Deref for RewriteRule {
    type Target = TokenRewrite;

    fn deref(&self) -> &TokenRewrite {
        &self.lesson.rewrite
    }
}

impl RuleExample {
    pub(crate) fn new(change: usize, lesson: Arc<LineLesson>) -> Self {
        Self { change, lesson }
    }
}

impl Deref for RuleExample {
    type Target = SeenLine;

    fn deref(&self) -> &SeenLine {
        &self.lesson.seen
    }
}

/// Whether what follows this beginning of a line is in a string or a comment, as far as the line tells.
pub(crate) fn is_quoted(before: &str) -> bool {
    let is_open = |mark: char| before.matches(mark).count() % 2 == 1;
    is_open('"') || is_open('`') || before.contains("//") || before.contains("# ")
}

/// How many tokens around a place are kept for comparison.
const CONTEXT: usize = 4;

impl TokenRewrite {
    fn new(shape: RuleShape, pattern: Vec<RulePattern>, output: Vec<RewriteOutput>, anchor: String) -> Self {
        let chain = group_of(&key(&pattern, &output));
        let letters = (pattern.len() == 1).then(|| case::letters(&anchor));
        Self { shape, pattern, output, anchor, letters, call: None, is_joint: false, group: chain }
    }

    /// The longest name that goes and the longest that comes, where these can be told.
    pub(crate) fn names(&self) -> (Option<&str>, Option<&str>) {
        if matches!(self.shape, RuleShape::Call | RuleShape::Part) {
            return (None, None);
        }
        let came = || {
            self.output.iter().filter_map(|piece| match piece {
                RewriteOutput::Literal(text) => Some(text.as_str()),
                RewriteOutput::Soft(_) => None,
            })
        };
        let was = || {
            self.pattern.iter().filter_map(|token| match token {
                RulePattern::Hard(text) => Some(text.as_str()),
                RulePattern::Soft(..) => None,
            })
        };
        (template::longest_new(was(), came()), template::longest_new(came(), was()))
    }

    /// Whether it leaves names open.
    fn is_open(&self) -> bool {
        self.pattern.iter().any(|token| matches!(token, RulePattern::Soft(..)))
    }

    /// How many characters of names and numbers must be found as they are.
    pub(crate) fn hard_length(&self) -> usize {
        self.pattern
            .iter()
            .map(|token| match token {
                RulePattern::Hard(text) if text.starts_with(nudge_syntax::token::is_word) => text.len(),
                _ => 0,
            })
            .sum()
    }
}

/// The same for all rewrites that differ only in the names that are left open.
fn key<'a>(pattern: &[RulePattern], output: &'a [RewriteOutput]) -> Key<'a> {
    let mut open: Vec<&str> = Vec::new();
    let pattern = pattern.iter().map(|token| match token {
        RulePattern::Hard(text) => RulePattern::Hard(text.clone()),
        RulePattern::Soft(text, kind) => {
            let number = open.iter().position(|known| known == text).unwrap_or(open.len());
            if number == open.len() {
                open.push(text);
            }
            RulePattern::Soft(number.to_string(), *kind)
        }
    });
    (pattern.collect(), output)
}

/// What one changed line teaches.
pub(crate) fn learn_line(before: &str, after: &str) -> Vec<LineLesson> {
    let segments = diff::words(before, after);
    let line = LessonLine { before, after, tokens: solid(before) };
    let segments = join_close(&line, snap(&line, segments));
    if segments.is_empty() || segments.len() > 8 {
        return Vec::new();
    }
    let mut lessons = Vec::new();
    let tilts: Vec<Tilt> = segments.iter().map(|segment| line.tilt(segment)).collect();
    for (number, segment) in segments.iter().enumerate() {
        if is_half(&tilts, number) {
            continue;
        }
        // What lies beyond the neighbours has moved.
        let from = number.checked_sub(1).map_or(0, |before| segments[before].0.end);
        let to = segments.get(number + 1).map_or(before.len(), |next| next.0.start);
        let rewrite = line.rewrite(std::slice::from_ref(segment), &(from..to));
        if sense::is_turned(&before[segment.0.clone()], &after[segment.1.clone()]) {
            lessons.extend(rewrite.filter(|lesson| !lesson.rewrite.is_open()));
            continue;
        }
        lessons.extend(rewrite);
        lessons.extend(line.variants(segment));
        lessons.extend(super::beside::learn(&line, std::slice::from_ref(segment), &(from..to)));
        lessons.extend(line.affixes(segment));
    }
    if segments.len() > 1 {
        let limit = 0..before.len();
        let all = line.rewrite(&segments, &limit).into_iter();
        lessons.extend(all.chain(super::beside::learn(&line, &segments, &limit)).map(|mut lesson| {
            lesson.rewrite.is_joint = true;
            lesson
        }));
    }
    lessons.extend(super::call::learn(&line, &segments));
    lessons.extend(line.whole(&segments));
    for lesson in &mut lessons {
        lesson.seen.alone = segments.len() == 1;
    }
    lessons
}

/// Marks that come in pairs: brackets, and quotes, of which the first and the second are the same.
const PAIRS: [(char, char); 7] =
    [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>'), ('"', '"'), ('\'', '\''), ('`', '`')];

/// By how many more marks of each pair are opened than closed after a change.
type Tilt = [i32; PAIRS.len()];

/// Whether one part of a change opens what another part closes: neither is done without the other.
fn is_half(tilts: &[Tilt], number: usize) -> bool {
    (0..PAIRS.len()).any(|pair| {
        let is_quote = PAIRS[pair].0 == PAIRS[pair].1;
        let is_even = |tilt: i32| if is_quote { tilt % 2 == 0 } else { tilt == 0 };
        !is_even(tilts[number][pair]) && is_even(tilts.iter().map(|tilt| tilt[pair]).sum())
    })
}

/// A changed line in the making of lessons.
pub(crate) struct LessonLine<'a> {
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    /// The tokens of `before` that are not space.
    pub(crate) tokens: Vec<Token>,
}

/// A run of bytes before and what it became.
pub(crate) type ChangedSegment = (Range<usize>, Range<usize>);

/// Moves the ends of segments outwards to the borders of tokens.
fn snap(line: &LessonLine<'_>, segments: Vec<ChangedSegment>) -> Vec<ChangedSegment> {
    let after = solid(line.after);
    let mut snapped: Vec<ChangedSegment> = Vec::with_capacity(segments.len());
    for (mut old, mut new) in segments {
        let back = inside(&line.tokens, old.start).map_or(0, |token| old.start - token.start);
        let back = back.max(inside(&after, new.start).map_or(0, |token| new.start - token.start));
        let on = inside(&line.tokens, old.end).map_or(0, |token| token.end - old.end);
        let on = on.max(inside(&after, new.end).map_or(0, |token| token.end - new.end));
        old = old.start.saturating_sub(back)..(old.end + on).min(line.before.len());
        new = new.start.saturating_sub(back)..(new.end + on).min(line.after.len());
        match snapped.last_mut() {
            Some(last) if last.0.end >= old.start || last.1.end >= new.start => {
                *last = (last.0.start..old.end, last.1.start..new.end);
            }
            _ => snapped.push((old, new)),
        }
    }
    let whole = |(old, new): &ChangedSegment| {
        line.before.get(old.clone()).is_some() && line.after.get(new.clone()).is_some()
    };
    snapped.retain(whole);
    snapped
}

/// The token that has `at` inside, not at its edge.
fn inside(tokens: &[Token], at: usize) -> Option<&Range<usize>> {
    tokens.iter().map(|token| &token.range).find(|range| range.start < at && at < range.end)
}

/// Joins segments that have only marks and blanks between them: those are one change to a person.
fn join_close(line: &LessonLine<'_>, segments: Vec<ChangedSegment>) -> Vec<ChangedSegment> {
    let mut joined: Vec<ChangedSegment> = Vec::with_capacity(segments.len());
    for (old, new) in segments {
        if let Some(last) = joined.last_mut() {
            let between = &line.before[last.0.end..old.start];
            if between.len() <= 2 && !between.contains(nudge_syntax::token::is_word) {
                last.0.end = old.end;
                last.1.end = new.end;
                continue;
            }
        }
        joined.push((old, new));
    }
    joined
}

impl LessonLine<'_> {
    fn tilt(&self, (old, new): &ChangedSegment) -> Tilt {
        let count = |text: &str, mark: char| i32::try_from(text.matches(mark).count()).unwrap_or(i32::MAX);
        PAIRS.map(|(open, close)| {
            let of = |text: &str| match (count(text, open), count(text, close)) {
                (quotes, _) if open == close => quotes,
                (opened, closed) => opened - closed,
            };
            of(&self.after[new.clone()]) - of(&self.before[old.clone()])
        })
    }

    /// The rewrite of these segments and what is between them.
    fn rewrite(&self, segments: &[ChangedSegment], limit: &Range<usize>) -> Option<LineLesson> {
        let (first, last) = (segments.first()?, segments.last()?);
        let mut old = first.0.start..last.0.end;
        let mut new = first.1.start..last.1.end;
        self.widen(&mut old, &mut new, limit);
        let mut shape = if segments.len() > 1 { RuleShape::Span } else { RuleShape::Segment };
        let has_hard_word =
            segments.iter().any(|(old, _)| self.before[old.clone()].contains(nudge_syntax::token::is_word));
        if !has_hard_word {
            shape = RuleShape::Insertion;
            self.widen_by_context(&mut old, &mut new, limit)?;
        }
        let (pattern, output) = self.pattern(&old, &new, segments, shape == RuleShape::Insertion)?;
        self.finish(shape, pattern, output, &old)
    }

    pub(crate) fn finish(
        &self,
        shape: RuleShape,
        pattern: Vec<RulePattern>,
        output: Vec<RewriteOutput>,
        old: &Range<usize>,
    ) -> Option<LineLesson> {
        let anchor = pattern
            .iter()
            .filter_map(|token| match token {
                RulePattern::Hard(text) => Some(text),
                RulePattern::Soft(..) => None,
            })
            .max_by_key(|text| (text.starts_with(nudge_syntax::token::is_word), text.len()))?
            .clone();
        let mut seen = self.seen(old);
        // What only stands beside an insertion stays by its nature.
        seen.residue &= !matches!(shape, RuleShape::Insertion | RuleShape::Call | RuleShape::Affix);
        Some(LineLesson { rewrite: TokenRewrite::new(shape, pattern, output, anchor), seen })
    }

    fn seen(&self, old: &Range<usize>) -> SeenLine {
        let text = |token: &Token| token.text(self.before).to_owned();
        let left =
            self.tokens.iter().rev().filter(|token| token.range.end <= old.start).take(CONTEXT).map(text);
        let right = self.tokens.iter().filter(|token| token.range.start >= old.end).take(CONTEXT).map(text);
        let gone = &self.before[old.clone()];
        SeenLine {
            before: self.before.trim().to_owned(),
            left: left.collect(),
            right: right.collect(),
            residue: gone.contains(nudge_syntax::token::is_word) && self.still_has(gone),
            alone: false,
            indent: self.before.len() - self.before.trim_start().len(),
            is_quoted: is_quoted(&self.before[..old.start]),
        }
    }

    /// Whether the line has this after the change, and not as a part of a longer name.
    fn still_has(&self, text: &str) -> bool {
        let mut places = self.after.match_indices(text);
        places.any(|(at, _)| stands_alone(self.after, &(at..at + text.len())))
    }

    /// Moves the ends of a place outwards to where both texts have a token, so that blanks come out right.
    fn widen(&self, old: &mut Range<usize>, new: &mut Range<usize>, limit: &Range<usize>) {
        let open = |text: &str, from_start: bool| {
            let edge = if from_start { text.chars().next() } else { text.chars().next_back() };
            edge.is_none_or(char::is_whitespace)
        };
        if open(&self.before[old.clone()], false) || open(&self.after[new.clone()], false) {
            if let Some(next) = self.next(old, limit) {
                let by = next.range.end - old.end;
                old.end += by;
                new.end += by;
            } else if let Some(previous) = self.previous(old, limit) {
                let by = old.start - previous.range.start;
                old.start -= by;
                new.start -= by;
            }
        }
        if (open(&self.before[old.clone()], true) || open(&self.after[new.clone()], true))
            && let Some(previous) = self.previous(old, limit)
        {
            let by = old.start - previous.range.start;
            old.start -= by;
            new.start -= by;
        }
    }

    /// The token after a place, unless it lies beyond the limit.
    fn next(&self, place: &Range<usize>, limit: &Range<usize>) -> Option<&Token> {
        let found = self.tokens.iter().find(|token| token.range.start >= place.end)?;
        (found.range.end <= limit.end).then_some(found)
    }

    /// The token before a place, unless it lies beyond the limit.
    fn previous(&self, place: &Range<usize>, limit: &Range<usize>) -> Option<&Token> {
        let found = self.tokens.iter().rev().find(|token| token.range.end <= place.start)?;
        (found.range.start >= limit.start).then_some(found)
    }

    /// Takes in neighbours until there is something to recognise the place by.
    fn widen_by_context(
        &self,
        old: &mut Range<usize>,
        new: &mut Range<usize>,
        limit: &Range<usize>,
    ) -> Option<()> {
        for step in 0..6 {
            if step >= 2 && self.has_name(old) {
                break;
            }
            if let Some(previous) = self.previous(old, limit) {
                let by = old.start - previous.range.start;
                old.start -= by;
                new.start -= by;
            }
        }
        if let Some(next) = self.next(old, limit) {
            let by = next.range.end - old.end;
            old.end += by;
            new.end += by;
        }
        self.has_name(old).then_some(())
    }

    /// Whether a word of three letters or more is in the place.
    fn has_name(&self, place: &Range<usize>) -> bool {
        self.tokens.iter().any(|token| {
            token.kind == TokenKind::Word
                && token.range.start >= place.start
                && token.range.end <= place.end
                && token.range.len() >= 3
        })
    }

    /// The tokens of `old`, hard where they changed, and `new` in terms of them.
    fn pattern(
        &self,
        old: &Range<usize>,
        new: &Range<usize>,
        segments: &[ChangedSegment],
        all_hard: bool,
    ) -> Option<(Vec<RulePattern>, Vec<RewriteOutput>)> {
        let mut pattern = Vec::new();
        let mut soft: FxHashMap<&str, usize> = FxHashMap::default();
        for token in &self.tokens {
            if token.range.start < old.start || token.range.end > old.end {
                continue;
            }
            let text = token.text(self.before);
            let changed =
                segments.iter().any(|(old, _)| old.start < token.range.end && token.range.start < old.end);
            let is_soft = !all_hard && !changed && matches!(token.kind, TokenKind::Word | TokenKind::Number);
            if is_soft {
                let next = soft.len();
                soft.entry(text).or_insert(next);
                pattern.push(RulePattern::Soft(text.to_owned(), token.kind));
            } else {
                pattern.push(RulePattern::Hard(text.to_owned()));
            }
        }
        if pattern.is_empty() || pattern.len() > 60 {
            return None;
        }
        Some((pattern, output(&self.after[new.clone()], &soft)))
    }

    /// The rewrite of lines of the same build, whatever their names, but for the first.
    fn whole(&self, segments: &[ChangedSegment]) -> Option<LineLesson> {
        let (first, last) = (self.tokens.first()?, self.tokens.last()?);
        let old = first.range.start..last.range.end;
        let new = self.after.len() - self.after.trim_start().len()..self.after.trim_end().len();
        if self.tokens.len() < 3 || new.is_empty() {
            return None;
        }
        let (pattern, output) = self.pattern(&old, &new, segments, false)?;
        let words =
            pattern.iter().filter(|token| matches!(token, RulePattern::Soft(text, _) if text.len() >= 3));
        let anchor = words.map(|token| match token {
            RulePattern::Soft(text, _) | RulePattern::Hard(text) => text.clone(),
        });
        let anchor = anchor.max_by_key(String::len)?;
        let mut seen = self.seen(&old);
        seen.residue = false;
        Some(LineLesson { rewrite: TokenRewrite::new(RuleShape::Line, pattern, output, anchor), seen })
    }

    /// The rewrites of other spellings and of parts of names, where one name became another.
    fn variants(&self, (old, new): &ChangedSegment) -> Vec<LineLesson> {
        let (gone, come) = (&self.before[old.clone()], &self.after[new.clone()]);
        let mut lessons = Vec::new();
        for (shape, from, to) in case::variants(gone, come)
            .into_iter()
            .map(|(from, to)| (RuleShape::CaseVariant, from, to))
            .chain(case::part(gone, come).map(|(from, to)| (RuleShape::Part, from, to)))
        {
            lessons.extend(self.finish(
                shape,
                vec![RulePattern::Hard(from)],
                vec![RewriteOutput::Literal(to)],
                old,
            ));
        }
        lessons
    }

    /// The rewrites of a name that something came directly before or behind: `string` became `std::string`.
    fn affixes(&self, (old, new): &ChangedSegment) -> Vec<LineLesson> {
        let come = &self.after[new.clone()];
        // What comes into a list is about the list.
        if !old.is_empty() || come.trim().is_empty() || come.contains([',', ';']) {
            return Vec::new();
        }
        let names =
            self.tokens.iter().filter(|token| token.kind == TokenKind::Word && token.range.len() >= 3);
        let lessons = names.filter_map(|token| {
            let name = token.text(self.before);
            let output = if token.range.start == old.start {
                [come, name]
            } else if token.range.end == old.start {
                [name, come]
            } else {
                return None;
            };
            let output = output.map(|text| RewriteOutput::Literal(text.to_owned())).into();
            self.finish(RuleShape::Affix, vec![RulePattern::Hard(name.to_owned())], output, &token.range)
        });
        lessons.collect()
    }
}

/// `text` with the names that are soft left open.
pub(crate) fn output(text: &str, soft: &FxHashMap<&str, usize>) -> Vec<RewriteOutput> {
    let mut pieces: Vec<RewriteOutput> = Vec::new();
    for token in nudge_syntax::token::tokens(text) {
        let piece = token.text(text);
        match soft.get(piece) {
            Some(&number) => pieces.push(RewriteOutput::Soft(number)),
            None => match pieces.last_mut() {
                Some(RewriteOutput::Literal(literal)) => literal.push_str(piece),
                _ => pieces.push(RewriteOutput::Literal(piece.to_owned())),
            },
        }
    }
    pieces
}

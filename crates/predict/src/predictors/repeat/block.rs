//! Lines that were inserted, deleted or replaced as a whole, and where the same may be due.

use nudge_text::history::LineChange;

use super::template::{self, NameMapping};

/// A change of whole lines.
#[derive(Debug, Clone)]
pub(crate) struct LineBlock {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
    /// Neighbours above, the nearest first.
    pub(crate) above: Vec<String>,
    /// Neighbours below, the nearest first.
    pub(crate) below: Vec<String>,
    pub(crate) change: usize,
}

/// A place where a block applies.
#[derive(Debug, Clone)]
pub(crate) struct BlockSite {
    /// The first line that is replaced, or before which lines are inserted.
    pub(crate) line: usize,
    /// How many lines are replaced.
    pub(crate) lines: usize,
    pub(crate) text: Vec<String>,
    /// Neighbours above and below that are as in the example.
    pub(crate) above: usize,
    pub(crate) below: usize,
    pub(crate) mapping: NameMapping,
    /// Nothing around the place is as in the example: it is only where the user has gone to.
    pub(crate) is_blind: bool,
}

/// Longer blocks are not looked for elsewhere.
const MAX_LINES: usize = 60;
/// Lines of a block that it is searched by.
const ANCHORS: usize = 3;

impl LineBlock {
    /// The block a change is, if it is one that can be found again.
    pub(crate) fn learn(change: &LineChange, number: usize) -> Option<Self> {
        let single = change.before_lines == 1 && change.after_lines == 1;
        if single { None } else { Self::of(change, number) }
    }

    /// A change as one of whole lines, if it has not too many of them and they are not all blank.
    pub(crate) fn of(change: &LineChange, number: usize) -> Option<Self> {
        if change.before_lines > MAX_LINES || change.after_lines > MAX_LINES {
            return None;
        }
        let lines = |text: &str, count: usize| -> Vec<String> {
            if count == 0 { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
        };
        let block = Self {
            before: lines(&change.before, change.before_lines),
            after: lines(&change.after, change.after_lines),
            above: change.above.iter().rev().cloned().collect(),
            below: change.below.clone(),
            change: number,
        };
        let blank = |lines: &[String]| lines.iter().all(|line| line.trim().is_empty());
        (!(blank(&block.before) && blank(&block.after))).then_some(block)
    }

    /// The longest name that goes and the longest that comes.
    pub(crate) fn names(&self) -> (Option<&str>, Option<&str>) {
        let (was, came) =
            (|| self.before.iter().map(String::as_str), || self.after.iter().map(String::as_str));
        (template::longest_new(was(), came()), template::longest_new(came(), was()))
    }

    /// The lines to search for, and where each is relative to the place of the block.
    pub(crate) fn anchors(&self) -> Vec<(&str, isize)> {
        if self.before.is_empty() {
            let near = [(self.above.first(), -1), (self.below.first(), 0)];
            let found = near.into_iter().filter_map(|(line, at)| Some((line?.trim(), at)));
            return found.filter(|(line, _)| template::is_telling(line)).collect();
        }
        let lines = self.before.iter().enumerate().map(|(at, line)| (line.trim(), at.cast_signed()));
        let mut telling: Vec<(&str, isize)> = lines.filter(|(line, _)| template::is_telling(line)).collect();
        telling.sort_by_key(|(line, at)| (std::cmp::Reverse(line.len()), *line, *at));
        telling.dedup_by_key(|(line, _)| *line);
        telling.truncate(ANCHORS);
        telling
    }

    /// What the block makes of the place at `line` of a document, if it applies there. New lines may be meant there though
    /// nothing around is as in the example.
    pub(crate) fn at(
        &self,
        line: usize,
        get: &dyn Fn(usize) -> Option<String>,
        may_be_blind: bool,
    ) -> Option<BlockSite> {
        let site: Vec<String> = (0..self.before.len()).map(|at| get(line + at)).collect::<Option<_>>()?;
        let mut mapping = template::map_lines(&self.before, &site)?;
        let above = count(&self.above, |at| line.checked_sub(at + 1).and_then(get));
        let below = count(&self.below, |at| get(line + site.len() + at));
        let mut is_blind = false;
        let (from, to) = if !self.before.is_empty() {
            (self.before[0].clone(), site[0].clone())
        } else if let Some((from, to, mapped)) = self.by_neighbours(line, get, above, below) {
            mapping = mapped;
            (from, to)
        } else if may_be_blind {
            is_blind = true;
            match (self.above.first(), line.checked_sub(1).and_then(get)) {
                (Some(from), Some(to)) => (from.clone(), to),
                // At the top of a document, as there.
                (None, None) => (String::new(), String::new()),
                _ => return None,
            }
        } else {
            return None;
        };
        let is_blank = |line: &str| line.trim().is_empty();
        let measured = if is_blank(&from) || is_blank(&to) { self.measured_by(line, get) } else { None };
        let (from, to) = measured.unwrap_or((from, to));
        let text: Vec<String> = self.after.iter().map(|line| mapping.apply(line, &from, &to)).collect();
        if text == site || self.is_there(line, &text, get) {
            return None;
        }
        Some(BlockSite { line, lines: site.len(), text, above, below, mapping, is_blind })
    }

    /// The nearest lines of the example and of the place that are not blank and so tell how far lines are indented: those
    /// above, or else those below.
    fn measured_by(&self, line: usize, get: &dyn Fn(usize) -> Option<String>) -> Option<(String, String)> {
        let is_telling = |line: &String| !line.trim().is_empty();
        let mut above = (1..=self.above.len()).map_while(|up| line.checked_sub(up).and_then(get));
        let mut below = (0..self.below.len()).map_while(|down| get(line + self.before.len() + down));
        let known = |lines: &[String]| lines.iter().find(|line| is_telling(line)).cloned();
        let sides =
            [(known(&self.above), above.find(is_telling)), (known(&self.below), below.find(is_telling))];
        sides.into_iter().find_map(|(from, to)| from.zip(to))
    }

    /// For an insertion: the neighbours, and what differs between them.
    fn by_neighbours(
        &self,
        line: usize,
        get: &dyn Fn(usize) -> Option<String>,
        above: usize,
        below: usize,
    ) -> Option<(String, String, NameMapping)> {
        let (from, to) = self.neighbours(line, get, above, below)?;
        let mapping = template::map_lines(std::slice::from_ref(&from), std::slice::from_ref(&to))?;
        Some((from, to, mapping))
    }

    /// For an insertion: the neighbour of the example and that of the place that tell what differs.
    fn neighbours(
        &self,
        line: usize,
        get: &dyn Fn(usize) -> Option<String>,
        above: usize,
        below: usize,
    ) -> Option<(String, String)> {
        let there_above = line.checked_sub(1).and_then(get);
        let there_below = get(line);
        let (known_above, known_below) = (self.above.first(), self.below.first());
        if above > 0 && below > 0 {
            let informative = |line: Option<&String>| line.is_some_and(|line| template::is_telling(line));
            if informative(known_above) || above > 1 {
                return Some((known_above?.clone(), there_above?));
            }
            return Some((known_below?.clone(), there_below?));
        }
        let pair = if below > 0 { (known_above?, there_above?) } else { (known_below?, there_below?) };
        let other =
            if above > 0 { Some((known_above?.clone(), line.checked_sub(1).and_then(get)?)) } else { None };
        let mapped = template::map_lines(std::slice::from_ref(pair.0), std::slice::from_ref(&pair.1));
        match (mapped, other) {
            (Some(mapping), _) if mapping.same > 0 => Some((pair.0.clone(), pair.1)),
            (_, Some(other)) if template::is_telling(&other.0) => Some(other),
            _ => None,
        }
    }

    /// Whether the lines to be inserted are already there.
    fn is_there(&self, line: usize, text: &[String], get: &dyn Fn(usize) -> Option<String>) -> bool {
        if !self.before.is_empty() || text.is_empty() {
            return false;
        }
        let at = |from: usize| {
            text.iter()
                .enumerate()
                .all(|(at, wanted)| get(from + at).is_some_and(|there| there.trim() == wanted.trim()))
        };
        at(line) || line.checked_sub(text.len()).is_some_and(at)
    }
}

/// How many neighbours are as in the example, counted from the nearest.
fn count(neighbours: &[String], get: impl Fn(usize) -> Option<String>) -> usize {
    let same = |(at, line): &(usize, &String)| get(*at).is_some_and(|there| there.trim() == line.trim());
    neighbours.iter().enumerate().take_while(same).count()
}

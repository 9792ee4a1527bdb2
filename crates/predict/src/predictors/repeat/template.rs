//! Lines that are alike but for names and numbers.

use nudge_syntax::token::{TokenKind, solid, tokens};

use crate::case;

/// Which names of the example stand for which at the place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameMapping {
    pairs: Vec<(String, String)>,
    /// The words in which these differ, and the name they are from.
    words: Vec<(Vec<String>, Vec<String>, String)>,
    /// Names and numbers that are the same.
    pub(crate) same: usize,
    /// Names and numbers that are others.
    pub(crate) different: usize,
}

/// Words of a name with fewer letters may be in other names by chance.
pub(crate) const MIN_LETTERS: usize = 3;

/// Pairs of names whose words are looked for in others.
const MAX_WORDS: usize = 8;

/// Whether a line says enough to be recognised by.
pub(crate) fn is_telling(line: &str) -> bool {
    line.split(|c| !nudge_syntax::token::is_word(c)).any(|word| word.len() >= 3)
}

/// The longest word of some texts that is not in the others, if it is long enough to say something.
pub(crate) fn longest_new<'a, 'b>(
    texts: impl Iterator<Item = &'a str>,
    others: impl Iterator<Item = &'b str>,
) -> Option<&'a str> {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c| !nudge_syntax::token::is_word(c)).filter(|word| word.len() >= MIN_LETTERS)
    }
    let known: Vec<&str> = others.flat_map(words).collect();
    texts.flat_map(words).filter(|word| !known.contains(word)).max_by_key(|word| word.len())
}

/// The mapping that makes the one run of lines the other, if they have the same marks and kinds of token.
pub(crate) fn map_lines(example: &[String], place: &[String]) -> Option<NameMapping> {
    let mut mapping = NameMapping::default();
    for (example, place) in example.iter().zip(place) {
        if example.trim() == place.trim() {
            mapping.same += 1;
            continue;
        }
        let (left, right) = (solid(example), solid(place));
        if left.len() != right.len() {
            return None;
        }
        for (a, b) in left.iter().zip(&right) {
            mapping.add((a.kind, a.text(example)), (b.kind, b.text(place)))?;
        }
    }
    mapping.find_words();
    (mapping.different <= mapping.same).then_some(mapping)
}

impl NameMapping {
    fn add(&mut self, a: (TokenKind, &str), b: (TokenKind, &str)) -> Option<()> {
        if a.0 != b.0 || (a.0 == TokenKind::Mark && a.1 != b.1) {
            return None;
        }
        if a.0 == TokenKind::Mark {
            return Some(());
        }
        match self.pairs.iter().find(|(from, _)| from == a.1) {
            Some((_, to)) if to != b.1 => return None,
            Some(_) => {}
            None => self.pairs.push((a.1.to_owned(), b.1.to_owned())),
        }
        if a.1 == b.1 {
            self.same += 1;
        } else {
            self.different += 1;
        }
        Some(())
    }

    fn find_words(&mut self) {
        for (from, to) in self.pairs.iter().filter(|(from, to)| from != to) {
            let Some((old, new)) = case::difference(from, to) else { continue };
            let is_telling = old.iter().map(String::len).sum::<usize>() >= MIN_LETTERS;
            if is_telling && self.words.len() < MAX_WORDS {
                self.words.push((old, new, to.clone()));
            }
        }
    }

    /// What a token of the example is at the place.
    fn token(&self, text: &str, kind: TokenKind) -> Option<String> {
        if let Some((_, to)) = self.pairs.iter().find(|(from, _)| from == text) {
            return Some(to.clone());
        }
        if kind != TokenKind::Word {
            return None;
        }
        self.words.iter().find_map(|(old, new, like)| case::with_words(text, old, new, like))
    }

    /// A line of the example as it is at the place; `from` and `to` are lines whose indentation tells the difference.
    pub(crate) fn apply(&self, line: &str, from: &str, to: &str) -> String {
        let line = reindent(line, indent(from), indent(to));
        if self.different == 0 {
            return line;
        }
        let mut text = String::with_capacity(line.len());
        for token in tokens(&line) {
            let piece = token.text(&line);
            text.push_str(self.token(piece, token.kind).as_deref().unwrap_or(piece));
        }
        text
    }
}

pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

pub(crate) fn reindent(line: &str, from: &str, to: &str) -> String {
    if line.trim().is_empty() {
        return line.to_owned();
    }
    match line.strip_prefix(from) {
        Some(rest) => format!("{to}{rest}"),
        // Further out than the line it is measured by.
        None if from.starts_with(indent(line)) => {
            let less = from.len() - indent(line).len();
            format!("{}{}", to.get(..to.len().saturating_sub(less)).unwrap_or(to), line.trim_start())
        }
        None => line.to_owned(),
    }
}

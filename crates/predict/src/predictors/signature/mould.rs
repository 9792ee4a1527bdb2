//! What pieces of code have in common that differ only in a name and its spellings.
//!
//! What repeats an edit maps one example to one place, name by name; here several examples agree on one mould, which is
//! then filled with a name that none of them has, be it in a word, in a string or in prose.

use crate::case;

/// What tells a name from others that are declared with it: `KIND_RED` and `KIND_BLUE` have `RED` and `BLUE`.
#[derive(Debug, Clone)]
pub(super) struct NameStem {
    /// As it is declared.
    own: String,
    /// In every spelling.
    spelt: Vec<String>,
}

impl NameStem {
    /// The stems of names that are declared together.
    pub(super) fn all(names: &[&str]) -> Vec<Self> {
        let words: Vec<Vec<String>> = names.iter().map(|name| case::words(name)).collect();
        let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
        let is_shared = |at: usize| words.iter().all(|other| other[at] == words[0][at]);
        let shared = (0..shortest.saturating_sub(1)).take_while(|&at| is_shared(at)).count();
        let stems = names.iter().zip(&words).map(|(name, words)| {
            let words = &words[shared..];
            let start = name.char_indices().map(|(at, _)| at).rfind(|&at| case::words(&name[at..]) == *words);
            let own = name[start.unwrap_or(0)..].trim_start_matches(['_', '-']).to_owned();
            Self { own, spelt: case::spellings(words) }
        });
        stems.collect()
    }

    /// As it is declared, then in every spelling.
    fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.own).chain(&self.spelt).map(String::as_str)
    }

    /// The longest form that stands at `at` between the borders of words, and which ones it is, as bits.
    fn at(&self, text: &str, at: usize) -> Option<(usize, u32)> {
        let rest = &text[at..];
        let fits =
            |form: &str| !form.is_empty() && rest.starts_with(form) && case::begins(text, at + form.len());
        let longest = self.forms().filter(|form| fits(form)).max_by_key(|form| form.len())?;
        let bits = self.forms().enumerate().filter(|(_, form)| *form == longest);
        Some((longest.len(), bits.fold(0, |bits, (number, _)| bits | 1 << number)))
    }
}

/// Code with holes for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeMould {
    /// What stands before, between and behind the holes.
    fixed: Vec<String>,
    /// For each hole the spellings that it can have, as bits.
    holes: Vec<u32>,
}

impl CodeMould {
    /// The mould of all examples, each with the stem of its name; nothing if they have none in common.
    pub(super) fn of<'a>(examples: impl IntoIterator<Item = (&'a str, &'a NameStem)>) -> Option<Self> {
        let mut moulds = examples.into_iter().map(|(code, stem)| Self::one(code, stem));
        let first = moulds.next()?;
        let mould = moulds.try_fold(first, |mut all, next| {
            (all.fixed == next.fixed).then_some(())?;
            all.holes.iter_mut().zip(next.holes).for_each(|(hole, other)| *hole &= other);
            Some(all)
        })?;
        (!mould.holes.is_empty() && !mould.holes.contains(&0)).then_some(mould)
    }

    fn one(code: &str, stem: &NameStem) -> Self {
        let mut mould = Self { fixed: vec![String::new()], holes: Vec::new() };
        let mut at = 0;
        while let Some(next) = code[at..].chars().next() {
            if let Some((len, bits)) = stem.at(code, at).filter(|_| case::begins(code, at)) {
                mould.holes.push(bits);
                mould.fixed.push(String::new());
                at += len;
                continue;
            }
            if let Some(fixed) = mould.fixed.last_mut() {
                fixed.push(next);
            }
            at += next.len_utf8();
        }
        mould
    }

    /// How often the name is in it.
    pub(super) fn holes(&self) -> usize {
        self.holes.len()
    }

    /// The code for another name; nothing if its spelling cannot be told.
    pub(super) fn filled(&self, stem: &NameStem) -> Option<String> {
        let mut code = self.fixed.first()?.clone();
        for (at, &bits) in self.holes.iter().enumerate() {
            let behind = &self.fixed[at + 1];
            code.push_str(spelt(stem, bits, &self.fixed[at], behind)?);
            code.push_str(behind);
        }
        Some(code)
    }
}

/// The form that a hole between two pieces of code wants.
fn spelt<'a>(stem: &'a NameStem, bits: u32, before: &str, behind: &str) -> Option<&'a str> {
    let forms =
        || stem.forms().enumerate().filter(|(number, _)| bits & (1 << number) != 0).map(|(_, form)| form);
    let first = forms().next()?;
    if forms().all(|form| form == first) {
        return Some(first);
    }
    // Where it is a part of a name, the rest of that tells.
    let (left, right) = (before.chars().next_back(), behind.chars().next());
    let wanted = if left == Some('_') || right == Some('_') {
        forms().find(|form| !form.contains([' ', '-']) && (form.contains('_') || is_one_case(form)))
    } else if left == Some('-') || right == Some('-') {
        forms().find(|form| form.contains('-'))
    } else if [left, right].into_iter().flatten().any(char::is_alphanumeric) {
        forms().find(|form| !form.contains(['_', '-', ' ']))
    } else {
        None
    };
    // Bit 0 is the name as it is declared.
    wanted.or_else(|| (bits & 1 != 0).then_some(first))
}

fn is_one_case(text: &str) -> bool {
    !text.contains(char::is_uppercase) || !text.contains(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code for the last of the names, made from examples for the others.
    fn filled(names: &[&str], examples: &[&str]) -> Option<String> {
        let stems = NameStem::all(names);
        let mould = CodeMould::of(examples.iter().copied().zip(&stems))?;
        mould.filled(stems.last()?)
    }

    #[test]
    fn a_name_is_put_in_the_spellings_of_the_examples() {
        let cases: [(&[&str], &[&str], Option<&str>); 9] = [
            (&["A", "B", "Cee"], &["K::A => \"a\"", "K::B => \"b\""], Some("K::Cee => \"cee\"")),
            (
                &["Red", "BlueSky", "DeepSea"],
                &["Red \"red\"", "BlueSky \"blue-sky\""],
                Some("DeepSea \"deep-sea\""),
            ),
            (
                &["A", "B", "DeepSea"],
                &["A => handleA(x)", "B => handleB(x)"],
                Some("DeepSea => handleDeepSea(x)"),
            ),
            (&["K_A", "K_B", "K_DEEP_SEA"], &["K_A: a_x()", "K_B: b_x()"], Some("K_DEEP_SEA: deep_sea_x()")),
            (&["K_A", "K_B", "K_DEEP_SEA"], &["K_A: onA()", "K_B: onB()"], Some("K_DEEP_SEA: onDeepSea()")),
            (
                &["KindA", "KindB", "KindC"],
                &["KindA: \"Kind A\"", "KindB: \"Kind B\""],
                Some("KindC: \"Kind C\""),
            ),
            (
                &["RedSea", "BlueSky", "Gold"],
                &["RedSea: 'Red sea'", "BlueSky: 'Blue sky'"],
                Some("Gold: 'Gold'"),
            ),
            (&["A", "B", "C"], &["A => 1", "B => 2"], None),
            (&["A", "B", "DeepSea"], &["A => \"a\"", "B => \"b\""], None),
        ];
        for (names, examples, wanted) in cases {
            assert_eq!(filled(names, examples).as_deref(), wanted, "{names:?} {examples:?}");
        }
    }
}

//! Names in their spellings: `foo_bar`, `fooBar`, `FooBar`, `FOO_BAR`, `foo-bar`.

/// The words of a name, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            previous = c;
            continue;
        }
        let next_is_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = !previous.is_alphanumeric()
            || (c.is_uppercase() && (previous.is_lowercase() || previous.is_numeric()))
            || (c.is_uppercase() && previous.is_uppercase() && next_is_lower);
        if begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        previous = c;
    }
    words
}

/// The letters and digits of a text, in lower case: what a name has in common with its other spellings.
pub(crate) fn letters(text: &str) -> String {
    // Whole lines are compared this way, and nearly all are plain.
    if text.is_ascii() {
        let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
        return letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

type Spelling = fn(&[String]) -> String;

const SPELLINGS: [Spelling; 5] = [
    |words| words.join("_"),
    |words| {
        words
            .iter()
            .enumerate()
            .map(|(at, word)| if at == 0 { word.clone() } else { capital(word) })
            .collect()
    },
    |words| words.iter().map(|word| capital(word)).collect(),
    |words| words.join("_").to_uppercase(),
    |words| words.join("-"),
];

/// How prose writes names, and code that leaves out what separates words.
const PROSE: [Spelling; 5] = [
    |words| words.concat(),
    |words| words.concat().to_uppercase(),
    |words| words.join(" "),
    |words| capital(&words.join(" ")),
    |words| words.iter().map(|word| capital(word)).collect::<Vec<String>>().join(" "),
];

/// The words of a name in every spelling, those of prose too; the same spelling is at the same place for every name.
pub(crate) fn spellings(words: &[String]) -> Vec<String> {
    SPELLINGS.iter().chain(&PROSE).map(|spell| spell(words)).collect()
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| nudge_syntax::token::is_word(c) || c == '-')
        && text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// The words in which two names differ: what comes before and behind them is the same.
pub(crate) fn difference(old: &str, new: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (old, new) = (words(old), words(new));
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    (!old.is_empty() && !new.is_empty()).then(|| (old.to_vec(), new.to_vec()))
}

/// A name with some of its words replaced, in its own spelling; in that of `like` if it is a single word in lower case.
pub(crate) fn with_words(name: &str, old: &[String], new: &[String], like: &str) -> Option<String> {
    let own = words(name);
    let at = own.windows(old.len().max(1)).position(|window| window == old)?;
    let front = &name[..name.len() - name.trim_start_matches('_').len()];
    let bare = &name[front.len()..];
    let mut spellings = SPELLINGS.iter().filter(|spell| spell(&own) == bare);
    let spell = match spellings.next()? {
        _ if own.len() == 1 && own[0] == bare && !like.contains(['_', '-']) => &SPELLINGS[1],
        first => first,
    };
    let then = [&own[..at], new, &own[at + old.len()..]].concat();
    Some(format!("{front}{}", spell(&then)))
}

/// The other spellings of a name and what they become when the name becomes `new`.
pub(crate) fn variants(old: &str, new: &str) -> Vec<(String, String)> {
    if !is_name(old) || !is_name(new) {
        return Vec::new();
    }
    let (from, to) = (words(old), words(new));
    if from.len() + to.len() < 3 && old.len() < 5 || to.is_empty() || from.concat().len() < 4 {
        return Vec::new();
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for spell in SPELLINGS {
        let pair = (spell(&from), spell(&to));
        if pair.0 != old && pair.0 != pair.1 && !found.iter().any(|known| known.0 == pair.0) {
            found.push(pair);
        }
    }
    found
}

/// The part of a name that changed, cut at the borders of its words, if a part of it stayed.
pub(crate) fn part(old: &str, new: &str) -> Option<(String, String)> {
    if !is_name(old) || !is_name(new) || old == new {
        return None;
    }
    let prefix = border(old, common(old.chars(), new.chars()));
    let suffix = common(old[prefix..].chars().rev(), new[prefix.min(new.len())..].chars().rev());
    let suffix = old.len() - border_back(old, old.len() - suffix, prefix);
    if prefix + suffix == 0 || prefix + suffix >= old.len() || prefix + suffix > new.len() {
        return None;
    }
    let from = &old[prefix..old.len() - suffix];
    let to = new.get(prefix..new.len() - suffix)?;
    (from.len() >= 4 && !to.is_empty()).then(|| (from.to_owned(), to.to_owned()))
}

fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Whether a word of the name begins at `at`, or ends there.
pub(crate) fn begins(name: &str, at: usize) -> bool {
    if !name.is_char_boundary(at) {
        return false;
    }
    let before = name[..at].chars().next_back();
    let after = name[at..].chars().next();
    match (before, after) {
        (Some(before), Some(after)) => {
            !before.is_alphanumeric()
                || !after.is_alphanumeric()
                || (after.is_uppercase() && !before.is_uppercase())
        }
        _ => true,
    }
}

fn border(name: &str, mut at: usize) -> usize {
    while !begins(name, at) {
        at -= 1;
    }
    at
}

fn border_back(name: &str, mut at: usize, floor: usize) -> usize {
    at = at.max(floor);
    while at < name.len() && !begins(name, at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_words_whatever_its_spelling() {
        for name in ["foo_bar_id", "fooBarId", "FooBarId", "FOO_BAR_ID", "foo-bar-id"] {
            assert_eq!(words(name), ["foo", "bar", "id"], "{name}");
        }
        assert_eq!(words("HTTPServer2"), ["http", "server2"]);
    }

    #[test]
    fn a_renamed_name_is_renamed_in_every_spelling() {
        let found = variants("user_name", "login");
        assert!(found.contains(&("userName".into(), "login".into())));
        assert!(found.contains(&("UserName".into(), "Login".into())));
        assert!(found.contains(&("USER_NAME".into(), "LOGIN".into())));
    }

    #[test]
    fn names_are_made_alike_in_their_own_spelling() {
        let (old, new) = difference("getName", "getGenericType").expect("they differ");
        assert_eq!((old.concat(), new.concat()), ("name".into(), "generictype".into()));
        let named = |name: &str| with_words(name, &old, &new, "getGenericType");
        let cases = [
            ("name", Some("genericType")),
            ("setName", Some("setGenericType")),
            ("NameTest", Some("GenericTypeTest")),
            ("MAX_NAME", Some("MAX_GENERIC_TYPE")),
            ("_name_of", Some("_generic_type_of")),
            ("names", None),
            ("size", None),
        ];
        for (name, wanted) in cases {
            assert_eq!(named(name).as_deref(), wanted, "{name}");
        }
        assert_eq!(with_words("name", &old, &new, "get_generic_type").as_deref(), Some("generic_type"));
        assert_eq!(difference("name", "name"), None);
        assert_eq!(difference("name", "my_name"), None);
    }

    #[test]
    fn the_part_that_changed_is_cut_at_words() {
        assert_eq!(part("getUserName", "getUserTitle"), None.or(Some(("Name".into(), "Title".into()))));
        assert_eq!(
            part("load_config_file", "load_settings_file"),
            Some(("config".into(), "settings".into()))
        );
        assert_eq!(part("abc", "xyz"), None);
        assert_eq!(part("größe_alt", "größe_neu"), None);
    }
}

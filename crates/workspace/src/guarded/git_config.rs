//! The format of git's settings.

use std::{iter::Peekable, str::Chars};

/// A value with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitSetting {
    /// In small letters, without the subsection.
    pub(super) section: String,
    /// In small letters.
    pub(super) key: String,
    pub(super) value: String,
}

/// All settings in a text. Where git would refuse the text, it is read on.
pub(super) fn settings(text: &str) -> Vec<GitSetting> {
    let mut text = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    let (mut section, mut settings) = (String::new(), Vec::new());
    while let Some(&next) = text.peek() {
        match next {
            '#' | ';' => skip_line(&mut text),
            '[' => section = heading(&mut text),
            _ if next.is_whitespace() => {
                text.next();
            }
            _ => settings.extend(setting(&section, &mut text)),
        }
    }
    settings
}

fn skip_line(text: &mut Peekable<Chars<'_>>) {
    text.find(|c| *c == '\n');
}

/// The section of `[section]`, `[section "of something"]` or `[section.of]`.
fn heading(text: &mut Peekable<Chars<'_>>) -> String {
    let (mut inner, mut is_quoted) = (String::new(), false);
    text.next();
    while let Some(c) = text.next_if(|c| *c != '\n') {
        match c {
            ']' if !is_quoted => break,
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => drop(text.next_if(|c| *c != '\n')),
            _ => {}
        }
        inner.push(c);
    }
    let section =
        inner.split(|c: char| c == '"' || c == '.' || c.is_whitespace()).find(|part| !part.is_empty());
    section.unwrap_or_default().to_lowercase()
}

/// A key with its value; `None` if it has none.
fn setting(section: &str, text: &mut Peekable<Chars<'_>>) -> Option<GitSetting> {
    let mut key = String::new();
    while let Some(c) = text.next_if(|c| !"=\n#;".contains(*c)) {
        key.push(c);
    }
    text.next_if_eq(&'=')?;
    Some(GitSetting { section: section.to_owned(), key: key.trim().to_lowercase(), value: value(text) })
}

/// What follows up to the end of the line, without quotes, comments and the space around it.
fn value(text: &mut Peekable<Chars<'_>>) -> String {
    // `solid` is up to where space at the end is part of it.
    let (mut value, mut solid, mut is_quoted) = (String::new(), 0, false);
    while let Some(c) = text.next() {
        match c {
            '\n' => break,
            '#' | ';' if !is_quoted => {
                skip_line(text);
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => value.extend(escaped(text)),
            _ if c.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            _ => value.push(c),
        }
        solid = value.len();
    }
    value.truncate(solid);
    value
}

/// What is meant by a backslash and what follows; nothing at the end of a line, which then goes on.
fn escaped(text: &mut Peekable<Chars<'_>>) -> Option<char> {
    match text.next()? {
        '\n' => None,
        '\r' if text.next_if_eq(&'\n').is_some() => None,
        'n' => Some('\n'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_git_reads_them() {
        for (text, expected) in [
            ("[core]\n\thooksPath = tools/hooks\n", Some("tools/hooks")),
            ("[core]\nhooksPath=tools/hooks", Some("tools/hooks")),
            ("[core]\r\n\thooksPath = tools/hooks\r\n", Some("tools/hooks")),
            ("\u{feff}[CORE] HOOKSPATH = x", Some("x")),
            ("[core]\nhooksPath = tools/hooks ; ours", Some("tools/hooks")),
            ("[core]\nhooksPath = tools/hooks# ours", Some("tools/hooks")),
            ("[core]\nhooksPath = \"tools/hooks\" # ours", Some("tools/hooks")),
            ("[core]\nhooksPath = \"a ; b\"", Some("a ; b")),
            ("[core]\nhooksPath = a\" b\"/c d  ", Some("a b/c d")),
            ("[core]\nhooksPath = \"a \"", Some("a ")),
            ("[core]\nhooksPath = to\\\nols/ho\\\r\noks\n", Some("tools/hooks")),
            ("[core]\nhooksPath = a\\\\b\\\"c\\td", Some("a\\b\"c\td")),
            ("[user]\nname = x ]\n[core] ; [user]\n# hooksPath = b\nhooksPath = a", Some("a")),
            ("[x \"a]\\\"b\"]\n[core]\nhooksPath = a", Some("a")),
            ("[core]\nhooksPath", None),
            ("[core]\nhooksPath ; = x", None),
            ("[user]\nhooksPath = x", None),
            ("; [core]\nhooksPath = x", None),
            ("[core", None),
            ("[core]\nhooksPath = ", Some("")),
            ("[core]\nhooksPath = \\", Some("")),
        ] {
            let found = settings(text).into_iter().find(|of| of.section == "core" && of.key == "hookspath");
            assert_eq!(found.map(|of| of.value).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn subsections_are_left_out() {
        for text in
            ["[includeIf \"gitdir:/x/\"]path=a", "[includeif.x] path = a", "[ includeIf ]\npath = \"a\""]
        {
            let expected = GitSetting { section: "includeif".into(), key: "path".into(), value: "a".into() };
            assert_eq!(settings(text), [expected], "{text}");
        }
    }
}

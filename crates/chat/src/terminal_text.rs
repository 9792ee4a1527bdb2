//! Text of others made safe for a terminal: it is shown, and commands nothing.
//!
//! What an agent says, and what it calls itself, its sessions and its tools, can hold characters that move the cursor,
//! set the title of the window, turn the order of letters around or begin a new row. All that people read goes through
//! here.

use std::{borrow::Cow, fmt::Write};

/// Stands for what would have commanded the terminal.
const MARK: char = '\u{fffd}';
/// The longest text of a name or a title that is shown in a row.
const ROW: usize = 100;

/// Text on one line: breaks of the line and tabs are blanks.
pub fn one_line(text: &str) -> String {
    shown(text, |_| ' ')
}

/// Text on its lines: line feeds and tabs are kept, and any other break of the line is a line feed.
pub fn lines(text: &str) -> String {
    shown(text, |c| if c == '\t' { '\t' } else { '\n' })
}

/// The beginning of a text that has to fit into a row with others.
pub fn row(text: &str) -> String {
    let text = one_line(text);
    let text = text.trim();
    match text.char_indices().nth(ROW) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What is shown of a character by itself: a mark in the place of one that would command the terminal.
pub(crate) fn visible(c: char) -> char {
    match kind(c) {
        Kind::Plain | Kind::Nothing => c,
        Kind::Break | Kind::Command => MARK,
    }
}

/// JSON that means the same and holds none of these characters as they are: a string can name them.
pub fn json(text: &str) -> Cow<'_, str> {
    // Those of ASCII are not in JSON as they are, but for blanks between its parts and the one that deletes.
    let is_named = |c: &char| *c == '\u{7f}' || (!c.is_ascii() && kind(*c) != Kind::Plain);
    if !text.chars().any(|c| is_named(&c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_named(&c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// What a character does to a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// It ends the line, or is a tab.
    Break,
    /// It cannot be seen.
    Nothing,
    /// It commands the terminal, or turns the order of letters around.
    Command,
}

fn kind(c: char) -> Kind {
    match c {
        '\n' | '\t' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Kind::Break,
        c if c.is_control() => Kind::Command,
        // Marks, embeddings, overrides and isolates of text that runs both ways; notes between lines.
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}' => Kind::Command,
        // Of no width: joiners, a hyphen and an operator that are not shown, a byte order mark, and tags.
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => Kind::Nothing,
        _ => Kind::Plain,
    }
}

fn shown(text: &str, on_break: impl Fn(char) -> char) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (shown, length) = match kind(c) {
            Kind::Plain => (Some(c), c.len_utf8()),
            Kind::Nothing => (None, c.len_utf8()),
            Kind::Break => (Some(on_break(c)), if rest.starts_with("\r\n") { 2 } else { c.len_utf8() }),
            Kind::Command => match sequence(rest) {
                // A colour says nothing that is missed.
                Some((length, 'm')) => (None, length),
                Some((length, _)) => (Some(MARK), length),
                None => (Some(MARK), c.len_utf8()),
            },
        };
        safe.extend(shown);
        rest = &rest[length..];
    }
    safe
}

/// The length and last letter of the control sequence that a text begins with. What other sequences carry is not hidden:
/// it may be what the user is asked to permit.
fn sequence(text: &str) -> Option<(usize, char)> {
    let lead = ["\u{1b}[", "\u{9b}"].into_iter().find(|lead| text.starts_with(lead))?;
    let body = &text[lead.len()..];
    let end = body.find(|c: char| !matches!(c, '0'..='9' | ':' | ';' | '<'..='?'))?;
    let last = body[end..].chars().next().filter(|c| matches!(c, '@'..='~'))?;
    Some((lead.len() + end + last.len_utf8(), last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_marked_or_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(lines(text), expected, "{text:?}");
        check("plain, é, 漢字, 🦀", "plain, é, 漢字, 🦀");
        check("a\tb\nc", "a\tb\nc");
        check("\u{1b}[1;31mred\u{1b}[0m", "red");
        check("\u{9b}31mred", "red");
        check("\u{1b}[2Jcleared", "\u{fffd}cleared");
        check("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}");
        check("\u{1b}]52;c;cm0=\u{1b}\\", "\u{fffd}]52;c;cm0=\u{fffd}\\");
        check("half \u{1b}[31", "half \u{fffd}[31");
        check("bell\u{7}back\u{8}del\u{7f}", "bell\u{fffd}back\u{fffd}del\u{fffd}");
        check("a\u{202e}b\u{2066}c\u{200f}d", "a\u{fffd}b\u{fffd}c\u{fffd}d");
        check("r\u{200b}m\u{feff}\u{e0041}", "rm");
        check("1\r2\r\n3\u{2028}4\u{85}5\u{b}6", "1\n2\n3\n4\n5\n6");
    }

    #[test]
    fn one_line_stays_one() {
        assert_eq!(one_line("a\nb\tc\r\nd\u{2029}e"), "a b c d e");
        assert_eq!(row("  a\nb "), "a b");
        assert_eq!(row(&"x".repeat(ROW)), "x".repeat(ROW));
        assert_eq!(row(&"é".repeat(ROW + 1)), format!("{}…", "é".repeat(ROW)));
    }

    #[test]
    fn json_means_what_it_meant() {
        assert!(matches!(json(r#"{"a":"\u001b é"}"#), Cow::Borrowed(_)));
        for text in ["\u{9b}31m", "\u{202e}x", "\u{2028}", "\u{7f}", "\u{e0041}", "é\u{feff}"] {
            let written = serde_json::to_string(text).unwrap();
            let safe = json(&written);
            assert!(safe.chars().all(|c| c.is_ascii() && !c.is_control() || c == 'é'), "{safe:?}");
            assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }

    mod any_text {
        use proptest::prelude::*;

        use super::*;

        /// Text in which what is dangerous is frequent.
        fn text() -> impl Strategy<Value = String> {
            let nasty = prop::sample::select(vec![
                "\u{1b}",
                "[",
                "]0;",
                "31",
                ";",
                "m",
                "H",
                "\u{7}",
                "\u{9b}",
                "\u{9c}",
                "\u{7f}",
                "\r",
                "\n",
                "\t",
                "\u{85}",
                "\u{202e}",
                "\u{2066}",
                "\u{200b}",
                "\u{200d}",
                "\u{2028}",
                "\u{feff}",
                "\u{e0020}",
                "\\",
                "é",
            ]);
            let piece = prop_oneof![nasty.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
            prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
        }

        fn is_harmless(c: char) -> bool {
            let is_unseen =
                matches!(u32::from(c), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0x61c);
            !c.is_control() && !is_unseen
        }

        proptest! {
            #[test]
            fn commands_nothing(text in text()) {
                prop_assert!(one_line(&text).chars().all(is_harmless));
                prop_assert!(row(&text).chars().all(is_harmless));
                prop_assert!(lines(&text).chars().all(|c| is_harmless(c) || c == '\n' || c == '\t'));
                let written = serde_json::to_string(&text).unwrap();
                let safe = json(&written);
                prop_assert!(safe.chars().all(is_harmless));
                prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
            }

            #[test]
            fn made_safe_twice_is_made_safe_once(text in text()) {
                let once = lines(&text);
                prop_assert_eq!(lines(&once), once);
            }

            #[test]
            fn plain_text_is_as_it_was(text in "[a-zA-Z0-9 .,;:é漢\\[\\]]*") {
                prop_assert_eq!(one_line(&text), text);
            }
        }
    }
}

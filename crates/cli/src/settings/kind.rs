//! What a setting may be: how a value of each kind is read, and what is said if it cannot be.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use toml::de::DeValue;

use crate::{data_place, log};

/// A kind of value, with its bounds.
#[derive(Debug)]
pub(crate) enum ValueKind {
    /// Yes or no.
    Switch,
    /// A time.
    Seconds { least: u64, most: u64 },
    /// A size.
    Bytes { least: u64 },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A word or more; what it is, for whoever is told that it was none.
    Text(&'static str),
    /// A file or folder. An empty name says something of its own where it may.
    Path { may_be_empty: bool },
    /// Where sessions are kept. It may have a password in it.
    Store,
    /// What is logged.
    LogFilter,
}

/// A value of some kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParsedValue {
    Switch(bool),
    Number(u64),
    Text(String),
    Path(OsString),
}

impl ValueKind {
    /// The value that a variable or a flag holds, if it is one of this kind.
    pub(crate) fn read_text(&self, text: &OsStr) -> Option<ParsedValue> {
        if let Self::Path { may_be_empty } = self {
            return (*may_be_empty || !text.is_empty()).then(|| ParsedValue::Path(text.to_owned()));
        }
        let text = text.to_str()?;
        match self {
            Self::Switch => switch(text).map(ParsedValue::Switch),
            Self::Seconds { .. } | Self::Bytes { .. } => self.number(text.parse().ok()?),
            Self::Choice(names) => names.contains(&text).then(|| ParsedValue::Text(text.to_owned())),
            // What is wrong with a filter is told where the log begins, and the program goes on.
            Self::Text(_) | Self::Store | Self::LogFilter => {
                (!text.is_empty()).then(|| ParsedValue::Text(text.to_owned()))
            }
            Self::Path { .. } => None,
        }
    }

    /// The value that a file holds, if it is one of this kind. A path in a file does not depend on where the program runs.
    pub(crate) fn read_toml(&self, value: &DeValue<'_>, home: Option<&Path>) -> Option<ParsedValue> {
        match (self, value) {
            (Self::Switch, DeValue::Boolean(is_on)) => Some(ParsedValue::Switch(*is_on)),
            (Self::Seconds { .. } | Self::Bytes { .. }, DeValue::Integer(number)) => {
                self.number(u64::from_str_radix(number.as_str(), number.radix()).ok()?)
            }
            (Self::Choice(_) | Self::Text(_), DeValue::String(text)) => self.read_text(OsStr::new(&**text)),
            (Self::Path { may_be_empty: true }, DeValue::String(text)) if text.is_empty() => {
                Some(ParsedValue::Path(OsString::new()))
            }
            (Self::Path { .. }, DeValue::String(text)) => Some(ParsedValue::Path(anchored(text, home)?)),
            (Self::Store, DeValue::String(text)) => store(text, home).map(ParsedValue::Text),
            (Self::LogFilter, DeValue::String(text)) => {
                log::is_filter(text).then(|| ParsedValue::Text(text.clone().into_owned()))
            }
            _ => None,
        }
    }

    fn number(&self, number: u64) -> Option<ParsedValue> {
        let bounds = match self {
            Self::Seconds { least, most } => *least..=*most,
            Self::Bytes { least } => *least..=u64::MAX,
            _ => return None,
        };
        bounds.contains(&number).then_some(ParsedValue::Number(number))
    }

    /// What was expected, for whoever wrote something else.
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Seconds { least: 0, most: u64::MAX } => "a number of seconds".to_owned(),
            Self::Seconds { least, most } => format!("a number of seconds from {least} to {most}"),
            Self::Bytes { least } => format!("a number of bytes, {least} or more"),
            Self::Choice(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(" or ")
            }
            Self::Text(what) => (*what).to_owned(),
            Self::Path { may_be_empty: false } => "the name of a file".to_owned(),
            Self::Path { may_be_empty: true } => "the name of a folder, or an empty one".to_owned(),
            Self::Store => "`memory`, `sqlite:PATH` or a path".to_owned(),
            Self::LogFilter => log::EXPECTED.to_owned(),
        }
    }

    /// The same, for whoever writes a file.
    pub(crate) fn expected_in_file(&self) -> String {
        let expected = self.expected();
        match self {
            Self::Choice(_) | Self::Text(_) | Self::LogFilter => format!("{expected}, in quotes"),
            Self::Path { .. } | Self::Store => {
                format!("{expected}, in quotes; a path begins with `/` or `~/` in a file")
            }
            Self::Switch | Self::Seconds { .. } | Self::Bytes { .. } => expected,
        }
    }

    /// A value for people to look at: without a password.
    pub(crate) fn shown(&self, value: &ParsedValue) -> String {
        let text = match value {
            ParsedValue::Switch(is_on) => is_on.to_string(),
            ParsedValue::Number(number) => number.to_string(),
            ParsedValue::Text(text) => text.clone(),
            ParsedValue::Path(path) => path.to_string_lossy().into_owned(),
        };
        if matches!(self, Self::Store) { data_place::shown_store(&text) } else { text }
    }
}

/// Yes or no, in the words that variables have for it.
fn switch(text: &str) -> Option<bool> {
    match &*text.to_ascii_lowercase() {
        "y" | "yes" | "t" | "true" | "on" | "1" => Some(true),
        "n" | "no" | "f" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// A path that begins at the root or at home.
fn anchored(text: &str, home: Option<&Path>) -> Option<OsString> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => Path::new(text).to_owned(),
    };
    path.is_absolute().then(|| path.into_os_string())
}

/// The address of a store in a file. What is no file is for the store to refuse.
fn store(url: &str, home: Option<&Path>) -> Option<String> {
    let Some(path) = data_place::path_of_store(url) else { return (!url.is_empty()).then(|| url.to_owned()) };
    anchored(path, home)?.into_string().ok().map(|path| format!("sqlite:{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(kind: &ValueKind, value: &str) -> Option<String> {
        let value = DeValue::parse(value).expect("a value of TOML");
        Some(kind.shown(&kind.read_toml(value.get_ref(), Some(Path::new("/nest/ada")))?))
    }

    fn check(kind: &ValueKind, value: &str, expected: Option<&str>) {
        assert_eq!(in_file(kind, value).as_deref(), expected, "{kind:?}: {value}");
    }

    #[test]
    fn a_value_in_a_file_is_of_its_kind_or_none() {
        let seconds = ValueKind::Seconds { least: 1, most: 60 };
        for (value, expected) in
            [("1", Some("1")), ("60", Some("60")), ("0x10", Some("16")), ("0", None), ("61", None)]
        {
            check(&seconds, value, expected);
        }
        for value in ["-1", "1.0", "\"1\"", "true", "[1]", "{}", "99999999999999999999", "1979-05-27"] {
            check(&seconds, value, None);
        }
        check(&ValueKind::Switch, "true", Some("true"));
        check(&ValueKind::Switch, "\"true\"", None);
        check(&ValueKind::Choice(&["on", "off"]), "\"off\"", Some("off"));
        check(&ValueKind::Choice(&["on", "off"]), "\"no\"", None);
        check(&ValueKind::LogFilter, "\"warn,nudge_peer=debug\"", Some("warn,nudge_peer=debug"));
        check(&ValueKind::LogFilter, "\"loud\"", None);
    }

    #[test]
    fn a_path_in_a_file_begins_at_the_root_or_at_home() {
        let file = ValueKind::Path { may_be_empty: false };
        check(&file, "\"/a/b\"", Some("/a/b"));
        check(&file, "\"~/b\"", Some("/nest/ada/b"));
        for value in ["\"b\"", "\"./b\"", "\"\"", "\"~\"", "\"~bob/b\"", "3"] {
            check(&file, value, None);
        }
        check(&ValueKind::Path { may_be_empty: true }, "\"\"", Some(""));
        check(&ValueKind::Store, "\"memory\"", Some("memory"));
        check(&ValueKind::Store, "\"~/own.db\"", Some("sqlite:/nest/ada/own.db"));
        check(&ValueKind::Store, "\"sqlite:/own.db\"", Some("sqlite:/own.db"));
        check(&ValueKind::Store, "\"own.db\"", None);
        check(&ValueKind::Store, "\"\"", None);
    }

    #[test]
    fn a_password_is_not_shown() {
        check(&ValueKind::Store, "\"postgres://ada:hush@db/nudge\"", Some("postgres://***@db/nudge"));
        check(&ValueKind::Store, "\"postgres://ada:a@b/c?d@db/nudge\"", Some("postgres://***@db/nudge"));
        check(&ValueKind::Store, "\"libsql://hush@db\"", Some("libsql://***@db"));
        check(&ValueKind::Store, "\"sqlite:https://db/x?password=hush\"", Some("sqlite:https://db/x?***"));
        check(&ValueKind::Store, "\"/a?b@c.db\"", Some("sqlite:/a?b@c.db"));
        check(&ValueKind::Store, "\"postgres://db/nudge\"", Some("postgres://db/nudge"));
    }
}

//! A settings file to begin with.

use std::fmt::Write;

use super::{
    kind::{ParsedValue, ValueKind},
    setting::SettingRow,
    table::TABLE,
};

/// A settings file in which every setting stands as a comment.
pub(crate) fn file_template() -> String {
    let mut text = "# Settings of Nudge. Take the mark off a line to choose; `nudge config check` looks at what you wrote.\n\
                    # The environment and the command line come before what stands here.\n"
        .to_owned();
    let mut section = "";
    for setting in TABLE {
        let (own, name) = setting.key.split_once('.').unwrap_or(("", setting.key));
        if own != section {
            let _ = write!(text, "\n[{own}]\n");
            section = own;
        }
        let _ = write!(text, "# {}\n# {name} = {}\n", setting.about, example(setting));
    }
    text
}

/// A value as it stands in a file: the default, or one that could be.
fn example(setting: &SettingRow) -> String {
    let or = match (&setting.kind, setting.default.value()) {
        (_, Some(value)) => return written(&value),
        (ValueKind::Path { may_be_empty: true }, _) => "~/nudge",
        (ValueKind::Path { .. }, _) => "~/nudge.toml",
        (ValueKind::Store, _) => "~/nudge/sessions.db",
        (ValueKind::LogFilter, _) => "warn",
        (ValueKind::Choice(names), _) => names[0],
        _ => "goose",
    };
    written(&ParsedValue::Text(or.to_owned()))
}

/// A value as TOML.
fn written(value: &ParsedValue) -> String {
    match value {
        ParsedValue::Switch(is_on) => is_on.to_string(),
        ParsedValue::Number(number) => number.to_string(),
        ParsedValue::Text(text) => toml_edit::Value::from(text.as_str()).to_string(),
        ParsedValue::Path(path) => toml_edit::Value::from(&*path.to_string_lossy()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::file::{FileOwner, FileSettings};

    #[test]
    fn the_template_is_a_file_without_mistakes_also_when_all_its_marks_are_off() {
        let parse = |text: &str| {
            FileSettings::parse(text, Path::new("c.toml"), FileOwner::User, Some(Path::new("/nest/ada")))
        };
        let found = parse(&file_template());
        assert!(found.problems.is_empty() && found.entries.is_empty(), "{found:?}");
        let is_setting = |line: &str| line.contains(" = ");
        let lines = file_template();
        let lines = lines.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if is_setting(rest) => rest,
            _ => line,
        });
        let found = parse(&lines.collect::<Vec<_>>().join("\n"));
        assert_eq!((found.problems.len(), found.entries.len()), (0, TABLE.len()), "{found:?}");
    }
}

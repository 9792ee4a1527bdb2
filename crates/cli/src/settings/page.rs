//! The table of `docs/settings.md`, which a test writes and checks.

use std::{fmt::Write, path::Path};

use super::{
    setting::{FlagForm, InProject, SettingDefault, SettingRow, SettingScope, SettingVariable},
    table::TABLE,
};

/// Where the table stands in the page.
const MARKS: [&str; 2] = ["<!-- settings -->\n", "<!-- /settings -->"];

#[test]
fn the_page_of_the_settings_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let page = std::fs::read_to_string(&path).expect("docs/settings.md is there");
    let (before, rest) = page.split_once(MARKS[0]).expect("it has a mark where the table begins");
    let (_, after) = rest.split_once(MARKS[1]).expect("it has a mark where the table ends");
    let expected = [before, MARKS[0], &*markdown(), MARKS[1], after].concat();
    if std::env::var_os("NUDGE_BLESS").is_some() {
        std::fs::write(&path, expected).expect("it can be written");
    } else {
        assert_eq!(page, expected, "run the test with NUDGE_BLESS=1 to write the table anew");
    }
}

/// The table as Markdown.
fn markdown() -> String {
    let mut text =
        "| key | what it is for | value | default | environment | command line | commands | project file |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for setting in TABLE {
        let cells = [
            format!("`{}`", setting.key),
            setting.about.to_owned(),
            setting.kind.expected(),
            default(setting),
            variable(setting),
            flag(setting),
            commands(setting),
            match setting.in_project {
                InProject::Allowed => "yes".to_owned(),
                InProject::Refused(why) => format!("no: {why}"),
            },
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn default(setting: &SettingRow) -> String {
    match &setting.default {
        SettingDefault::Unset(what) => (*what).to_owned(),
        value => format!("`{}`", value.shown()),
    }
}

fn variable(setting: &SettingRow) -> String {
    match setting.env {
        SettingVariable::Holds(name) => format!("`{name}`"),
        SettingVariable::TurnsOff(name) => format!("`{name}` turns it off"),
    }
}

fn flag(setting: &SettingRow) -> String {
    let Some(flag) = &setting.flag else { return String::new() };
    match flag.form {
        FlagForm::Takes(what) => format!("`--{} {what}`", flag.name),
        FlagForm::Means(_) => format!("`--{}`", flag.name),
    }
}

fn commands(setting: &SettingRow) -> String {
    match setting.commands {
        SettingScope::All => "all".to_owned(),
        SettingScope::Of(names) => {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
    }
}

//! The table of `docs/settings.md`, which a test writes and checks.

use std::fmt::Write;

use super::{
    setting::{FlagForm, InProject, SettingDefault, SettingRow, SettingScope, SettingVariable},
    table::TABLE,
};

#[test]
fn the_page_of_the_settings_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    nudge_testkit::check_section(page, "settings", &markdown());
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

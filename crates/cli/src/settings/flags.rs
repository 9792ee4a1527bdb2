//! The settings on the command line: their flags, made from the table, and what the help says of those without one.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fmt::Write,
    path::Path,
};

use clap::{
    Arg, ArgAction, ArgMatches, Command, ValueHint,
    builder::{OsStringValueParser, PossibleValuesParser, StyledStr, TypedValueParser, ValueParser},
    parser::ValueSource,
};

use super::{
    kind::{ParsedValue, ValueKind},
    places::CONFIG_VARIABLE,
    setting::{FlagForm, SettingFlag, SettingRow, SettingScope},
    table::TABLE,
};

/// The name of the argument that names the user's file.
const CONFIG_ARGUMENT: &str = "config";

/// The command line with the flags of all settings.
pub(crate) fn with_settings(command: Command) -> Command {
    let for_all = flags().filter(|(_, flag)| matches!(flag.on, SettingScope::All));
    let command = for_all.fold(command.arg(config_file()), |command, (setting, flag)| {
        command.arg(arg(setting, flag).global(true))
    });
    let notes = notes("Settings without a flag", |setting| {
        setting.flag.is_none() && matches!(setting.commands, SettingScope::All)
    });
    with_notes(command, &notes).mut_subcommands(with_own_settings)
}

/// The flag that names the user's file. It is no setting: files are read after it.
fn config_file() -> Arg {
    let help = format!(
        "Read your settings from FILE; an empty name reads no settings file at all [env: {CONFIG_VARIABLE}] \
         [default: `nudge/config.toml` in `$XDG_CONFIG_HOME` or `~/.config`]"
    );
    let arg = Arg::new(CONFIG_ARGUMENT).long("config").value_name("FILE").help(help).global(true);
    arg.value_parser(OsStringValueParser::new()).value_hint(ValueHint::FilePath)
}

/// The file that the flag names.
pub(super) fn named_file(matches: &ArgMatches) -> Option<&Path> {
    innermost(matches).get_one::<OsString>(CONFIG_ARGUMENT).map(Path::new)
}

fn with_own_settings(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let is_own = |scope: SettingScope| matches!(scope, SettingScope::Of(_)) && scope.has(&name);
    let own = flags().filter(|(_, flag)| is_own(flag.on));
    let command = own.fold(command, |command, (setting, flag)| command.arg(arg(setting, flag)));
    let notes = notes("Settings that have no flag here", |setting| {
        is_own(setting.commands) && setting.flag.as_ref().is_none_or(|flag| !flag.on.has(&name))
    });
    with_notes(command, &notes)
}

fn flags() -> impl Iterator<Item = (&'static SettingRow, &'static SettingFlag)> {
    TABLE.iter().filter_map(|setting| Some((setting, setting.flag.as_ref()?)))
}

fn arg(setting: &'static SettingRow, flag: &'static SettingFlag) -> Arg {
    let arg = Arg::new(setting.key).long(flag.name).help(help(setting));
    let arg = match flag.form {
        FlagForm::Takes(what) => arg.value_name(what).value_parser(parser(setting)).value_hint(hint(setting)),
        FlagForm::Means(_) => arg.action(ArgAction::SetTrue),
    };
    flag.excludes.into_iter().fold(arg, Arg::conflicts_with)
}

fn help(setting: &SettingRow) -> String {
    let SettingRow { about, key, .. } = setting;
    let (env, default) = (setting.env.name(), setting.default.shown());
    let chosen = match setting.flag.as_ref().map(|flag| &flag.form) {
        Some(FlagForm::Means(text)) if !matches!(setting.kind, ValueKind::Switch) => {
            format!("; this chooses `{text}`")
        }
        _ => String::new(),
    };
    format!("{about}{chosen} [key: {key}] [env: {env}] [default: {default}]")
}

fn hint(setting: &SettingRow) -> ValueHint {
    match setting.kind {
        ValueKind::Path { may_be_empty: true } => ValueHint::DirPath,
        ValueKind::Path { .. } => ValueHint::FilePath,
        _ => ValueHint::Unknown,
    }
}

fn parser(setting: &'static SettingRow) -> ValueParser {
    if let ValueKind::Choice(names) = setting.kind {
        return PossibleValuesParser::new(names).map(ParsedValue::Text).into();
    }
    let read = |text: OsString| {
        setting.kind.read_text(&text).ok_or_else(|| format!("expected {}", setting.kind.expected()))
    };
    OsStringValueParser::new().try_map(read).into()
}

/// What the flags on the command line choose, by key.
pub(super) fn chosen(matches: &ArgMatches) -> HashMap<&'static str, ParsedValue> {
    let matches = innermost(matches);
    let value = |(setting, flag): (&'static SettingRow, &'static SettingFlag)| {
        // A command that has no such flag does not know it.
        let given = matches.try_contains_id(setting.key).is_ok_and(|is_given| is_given)
            && matches.value_source(setting.key) == Some(ValueSource::CommandLine);
        let value = match flag.form {
            _ if !given => None,
            FlagForm::Takes(_) => matches.get_one::<ParsedValue>(setting.key).cloned(),
            FlagForm::Means(text) => setting.kind.read_text(OsStr::new(text)),
        };
        value.map(|value| (setting.key, value))
    };
    flags().filter_map(value).collect()
}

/// What was said to the innermost command; flags for all commands are there too.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// What the help says of some settings, below a title.
fn notes(title: &str, is_meant: impl Fn(&SettingRow) -> bool) -> String {
    let mut text = String::new();
    for setting in TABLE.iter().filter(|setting| is_meant(setting)) {
        if text.is_empty() {
            let _ = write!(text, "{title} (key, variable); `nudge config show` tells of all:");
        }
        let SettingRow { key, about, .. } = setting;
        let (env, default) = (setting.env.name(), setting.default.shown());
        let _ = write!(text, "\n  {key}, {env}\n      {about} [default: {default}]");
    }
    text
}

/// The command with these words at the end of its help, short and long.
fn with_notes(command: Command, notes: &str) -> Command {
    if notes.is_empty() {
        return command;
    }
    let with = |help: Option<&StyledStr>| help.map(|help| format!("{help}\n\n{notes}"));
    let (short, long) = (with(command.get_after_help()), with(command.get_after_long_help()));
    let command = match long {
        Some(long) => command.after_long_help(long),
        None => command,
    };
    command.after_help(short.unwrap_or_else(|| notes.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command_line;

    /// Every flag that chooses a setting, by command; nothing for all commands.
    fn flags_of(command: &Command) -> Vec<String> {
        let ids = command.get_arguments().map(|arg| arg.get_id().as_str().to_owned());
        ids.filter(|id| TABLE.iter().any(|setting| setting.key == id)).collect()
    }

    #[test]
    fn the_flags_are_those_of_the_table_and_no_others_read_the_environment() {
        fn look(command: &Command, path: &str) {
            for arg in command.get_arguments() {
                assert!(
                    arg.get_env().is_none(),
                    "{path} --{}: a variable belongs into the table",
                    arg.get_id()
                );
            }
            let expected: Vec<&str> = flags()
                .filter(|(_, flag)| match flag.on {
                    SettingScope::All => path.is_empty(),
                    SettingScope::Of(commands) => commands.contains(&path),
                })
                .map(|(setting, _)| setting.key)
                .collect();
            assert_eq!(flags_of(command), expected, "{path}");
            command.get_subcommands().for_each(|inner| look(inner, inner.get_name()));
        }
        look(&command_line(), "");
    }

    #[test]
    fn every_command_of_the_table_is_there() {
        let command = command_line();
        for setting in TABLE {
            let scopes = [Some(setting.commands), setting.flag.as_ref().map(|flag| flag.on)];
            for scope in scopes.into_iter().flatten() {
                let SettingScope::Of(names) = scope else { continue };
                for name in names {
                    assert!(command.find_subcommand(name).is_some(), "{}: {name}", setting.key);
                    assert!(setting.commands.has(name), "{}: --flag on {name}", setting.key);
                }
            }
        }
    }

    #[test]
    fn the_help_of_a_command_names_each_of_its_settings() {
        let mut command = command_line();
        let root = command.render_long_help().to_string();
        for setting in TABLE {
            let names: Vec<String> = match setting.commands {
                SettingScope::All => Vec::new(),
                SettingScope::Of(names) => names.iter().map(|name| (*name).to_owned()).collect(),
            };
            let inner = names.iter().map(|name| {
                command.find_subcommand_mut(name).expect("it is there").render_long_help().to_string()
            });
            let helps: Vec<String> = if names.is_empty() { vec![root.clone()] } else { inner.collect() };
            for help in helps {
                let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
                for word in [setting.key, setting.env.name(), &*setting.default.shown(), setting.about] {
                    assert!(help.contains(word), "{}: {word}: {help}", setting.key);
                }
            }
        }
    }

    #[test]
    fn a_flag_chooses_its_value() {
        let chosen = |line: &str| {
            let matches = command_line().try_get_matches_from(line.split(' ')).expect("it is understood");
            let mut chosen: Vec<_> = chosen(&matches).into_iter().collect();
            chosen.sort_by_key(|(key, _)| *key);
            chosen
        };
        assert_eq!(chosen("nudge acp"), []);
        assert_eq!(
            chosen("nudge --data /d acp --no-daemon --isolate --patience 3"),
            [
                ("agent.isolate", ParsedValue::Switch(true)),
                ("agent.patience", ParsedValue::Number(3)),
                ("daemon.mode", ParsedValue::Text("off".to_owned())),
                ("data.dir", ParsedValue::Path("/d".into())),
            ]
        );
        assert_eq!(chosen("nudge sessions list --data /d"), [("data.dir", ParsedValue::Path("/d".into()))]);
    }
}

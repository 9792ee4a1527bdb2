//! `nudge config`: shows the settings and where each comes from, and changes the user's file.

mod change;
mod edit;
mod show;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::{
    output,
    settings::{FileOwner, FileSettings, LoadedSettings, SettingRow, SettingsProblem, TABLE, nearest_key},
};

/// Show the settings, where each comes from, and change your own
///
/// A setting comes from the command line, else from the environment, else from the file `.nudge.toml` of the project, else
/// from your own settings file, else it is the default. The project file is looked for in this folder and the folders above
/// it, up to the root of the repository; as it comes with the repository, it cannot choose programs, folders or files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge config                          every setting, its value and where it comes from
  nudge config set agent.patience 60    in your own file
  nudge config edit                     the file, in your editor
  nudge config check                    is all well with the files?")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,

    #[command(flatten)]
    show: ShowArgs,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show every setting with its value and where it comes from
    #[command(after_help = "\
Examples:
  nudge config show
  nudge config show --json | jq '.settings[] | select(.origin.from != \"default\")'")]
    Show(ShowArgs),
    /// Show which settings files are looked at, and which are there
    #[command(after_help = "\
Example:
  nudge config path")]
    Path,
    /// Print the value of one setting
    ///
    /// Nothing is printed if nobody has chosen a value and the default is none.
    #[command(after_help = "\
Example:
  nudge config get agent.patience")]
    Get {
        /// The key, such as `agent.patience`
        key: String,
    },
    /// Put a setting into your own settings file; the rest of it stays as it is
    #[command(after_help = "\
Examples:
  nudge config set agent.patience 60
  nudge config set agent.name goose")]
    Set {
        /// The key, such as `agent.patience`
        key: String,
        /// The value, as it is written on the command line
        value: String,
    },
    /// Take a setting out of your own settings file; the rest of it stays as it is
    #[command(after_help = "\
Example:
  nudge config unset agent.patience")]
    Unset {
        /// The key, such as `agent.patience`
        key: String,
    },
    /// Open your own settings file in your editor ($VISUAL or $EDITOR)
    ///
    /// The file is made if it is not there, with every setting in it as a comment. What is wrong with it is told afterwards.
    #[command(after_help = "\
Example:
  EDITOR=nano nudge config edit")]
    Edit,
    /// Look for mistakes in the settings files, or in one file
    ///
    /// The status is 1 if there are some; all are listed.
    #[command(after_help = "\
Examples:
  nudge config check
  nudge config check .nudge.toml     a file of this name is checked as a project file")]
    Check {
        /// The file; those that are looked at, if none is named
        file: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ConfigArgs {
    /// Whether the command lists all mistakes by itself.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self.command, Some(ConfigCommand::Check { .. }))
    }
}

pub(crate) fn run(args: &ConfigArgs, loaded: &LoadedSettings) -> Result<ExitCode> {
    match &args.command {
        None => show::show(loaded, args.show.json)?,
        Some(ConfigCommand::Show(show)) => show::show(loaded, args.show.json || show.json)?,
        Some(ConfigCommand::Path) => show::paths(loaded)?,
        Some(ConfigCommand::Get { key }) => show::get(loaded, known(key)?)?,
        Some(ConfigCommand::Set { key, value }) => change::set(loaded, known(key)?, value)?,
        Some(ConfigCommand::Unset { key }) => change::unset(loaded, known(key)?)?,
        Some(ConfigCommand::Edit) => return edit::edit(loaded),
        Some(ConfigCommand::Check { file: None }) => return report(&loaded.everything_wrong()),
        Some(ConfigCommand::Check { file: Some(file) }) => return report(&check(file)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// The setting of this key.
fn known(key: &str) -> Result<&'static SettingRow> {
    match (TABLE.iter().find(|setting| setting.key == key), nearest_key(key)) {
        (Some(setting), _) => Ok(setting),
        (None, Some(nearest)) => bail!("there is no setting `{key}`; did you mean `{nearest}`?"),
        (None, None) => bail!("there is no setting `{key}`; `nudge config show` lists all"),
    }
}

/// The user's file.
fn user_file(loaded: &LoadedSettings) -> Result<&Path> {
    loaded.places.user.as_deref().context("there is no settings file of yours: name one with --config")
}

/// What is wrong with a file.
fn check(file: &Path) -> Result<Vec<SettingsProblem>> {
    let is_project = file.file_name().is_some_and(|name| name == ".nudge.toml");
    let owner = if is_project { FileOwner::Project } else { FileOwner::User };
    let home = std::env::home_dir();
    let found = FileSettings::read(file, owner, home.as_deref());
    Ok(found.with_context(|| format!("there is no file {}", file.display()))?.problems)
}

/// Lists what is wrong, or says that nothing is.
fn report(problems: &[SettingsProblem]) -> Result<ExitCode> {
    if problems.is_empty() {
        output::say("no mistakes were found")?;
        return Ok(ExitCode::SUCCESS);
    }
    output::tell_problems(problems);
    Ok(ExitCode::FAILURE)
}

//! Providers of models from a terminal: `nudge login`, `nudge logout` and `nudge providers`.

mod ask;
mod desk;
mod login;
mod logout;
#[cfg(test)]
mod page;
mod report;
mod vault_logins;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

pub(crate) use login::{LoginArgs, login};
pub(crate) use logout::{LogoutArgs, logout};
pub(crate) use vault_logins::VaultLogins;

use crate::data_place::DataPlace;

/// List the providers of models, and see whether they work
///
/// A provider is reached as the client has set it (`providers/set`), else as the environment says, else as `nudge login` keeps it.
/// Where there is none, an Ollama of this machine is taken.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge providers                    which there are, and where each comes from
  nudge providers test               does each one that is set up answer?
  nudge providers models anthropic   which models has it?")]
pub(crate) struct ProvidersArgs {
    #[command(subcommand)]
    command: Option<ProvidersCommand>,

    #[command(flatten)]
    list: ProviderArgs,
}

#[derive(Debug, Subcommand)]
enum ProvidersCommand {
    /// List every provider: how it is reached, and where that comes from
    #[command(after_help = "\
Examples:
  nudge providers list
  nudge providers list --json | jq -r '.[] | select(.origin) | .providerId'")]
    List(ProviderArgs),
    /// Ask a model of each provider that is set up for one word
    ///
    /// The status is 1 if one does not answer.
    #[command(after_help = "\
Examples:
  nudge providers test
  nudge providers test ollama")]
    Test(ProviderArgs),
    /// List the models of the providers that are set up, the one first that is taken unless another is chosen
    #[command(after_help = "\
Examples:
  nudge providers models openai
  nudge providers models --json | jq -r '.[].id'")]
    Models(ProviderArgs),
}

/// Which provider is meant, and what is printed.
#[derive(Debug, clap::Args)]
struct ProviderArgs {
    /// One provider, such as `anthropic`; all, if none is named
    provider: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ProvidersArgs, place: &DataPlace) -> Result<ExitCode> {
    let desk = desk::ProviderDesk::open(place, None)?;
    match &args.command {
        None => report::list(&desk, &args.list),
        Some(ProvidersCommand::List(list)) => report::list(&desk, list),
        Some(ProvidersCommand::Test(test)) => report::test(&desk, test),
        Some(ProvidersCommand::Models(models)) => report::models(&desk, models),
    }
}

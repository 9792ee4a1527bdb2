//! `nudge completions` and `nudge man`: what a package of Nudge brings beside the program.

use std::{fs, io, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap_complete::Shell;

use crate::{args::command_line, output};

/// Write the completions for a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge completions bash > ~/.local/share/bash-completion/completions/nudge
  nudge completions zsh > ~/.zfunc/_nudge
  nudge completions fish > ~/.config/fish/completions/nudge.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Write the manual pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  nudge man ~/.local/share/man/man1 && man nudge-steer")]
pub(crate) struct ManArgs {
    /// The folder; it is made if it is not there
    dir: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "nudge", &mut script);
    io::Write::write_all(&mut io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    let dir = args.dir.display();
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot make {dir}"))?;
    let command = command_line().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &args.dir).with_context(|| format!("cannot write into {dir}"))?;
    output::say(format!("the manual pages are in {dir}"))?;
    Ok(ExitCode::SUCCESS)
}

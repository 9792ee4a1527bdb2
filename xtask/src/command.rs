//! How other programs are run.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// Cargo, to be run in `folder`.
pub(crate) fn cargo<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(folder);
    command
}

/// Whether cargo has this subcommand.
pub(crate) fn is_installed(subcommand: &str) -> bool {
    says_version(&mut cargo(Path::new("."), [subcommand, "--version"]))
}

/// Whether there is a program of this name.
pub(crate) fn answers(program: &str) -> bool {
    says_version(Command::new(program).arg("--version"))
}

fn says_version(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a command to its end; it must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("failed ({status}): {}", shown(command));
    }
    Ok(())
}

/// As `run`, and what it prints is shown only if it fails.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let mut errors = std::io::stderr().lock();
        errors.write_all(&output.stdout)?;
        errors.write_all(&output.stderr)?;
        bail!("failed ({}): {}", output.status, shown(command));
    }
    Ok(())
}

/// As `run`, and gives each line of its standard output, which is shown as well, to `see`.
pub(crate) fn run_seeing(command: &mut Command, mut see: impl FnMut(&str)) -> Result<()> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            see(&line);
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("failed ({status}): {}", shown(command));
    }
    Ok(())
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let args: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    format!("{program} {}", args.join(" "))
}

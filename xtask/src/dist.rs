//! `cargo xtask dist`: the program that is handed out, small, with its symbols in a file beside it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use cargo_metadata::MetadataCommand;

use crate::command::{answers, cargo, run as run_command};

pub(crate) fn run(root: &Path) -> Result<()> {
    if !answers("objcopy") {
        bail!("objcopy is needed to take the symbols out (Debian: binutils)");
    }
    run_command(&mut cargo(root, ["build", "--profile=dist", "--bin=nudge"]))?;
    let built = target_folder(root)?.join("dist");
    let folder = built.join("bin");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    split_symbols(&built.join("nudge"), &folder)?;
    for name in ["nudge", "nudge.debug"] {
        println!("{} ({:.1} MB)", folder.join(name).display(), megabytes(&folder.join(name))?);
    }
    Ok(())
}

/// Makes `nudge` and `nudge.debug` in a folder. A debugger finds the second by the link that the first has to it.
fn split_symbols(built: &Path, folder: &Path) -> Result<()> {
    let objcopy = |options: &[&str], output: &str| {
        run_command(Command::new("objcopy").args(options).arg(built).arg(output).current_dir(folder))
    };
    objcopy(&["--only-keep-debug"], "nudge.debug")?;
    objcopy(&["--strip-all", "--add-gnu-debuglink=nudge.debug"], "nudge")
}

fn target_folder(root: &Path) -> Result<PathBuf> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec().context("cannot ask cargo")?;
    Ok(metadata.target_directory.into())
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with one decimal")]
fn megabytes(path: &Path) -> Result<f64> {
    let length = fs::metadata(path).with_context(|| format!("{} is missing", path.display()))?.len();
    Ok(length as f64 / 1e6)
}

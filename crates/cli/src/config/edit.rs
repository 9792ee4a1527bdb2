//! The user's file in the user's editor.

use std::{
    io::{self, IsTerminal},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail};

use super::{change::write, check, report, user_file};
use crate::{
    output,
    settings::{LoadedSettings, file_template},
};

/// The editor where nobody has chosen one.
const USUAL_EDITOR: &str = "vi";

/// Opens the file, which is made if it is not there, and tells what is wrong with it afterwards.
pub(super) fn edit(loaded: &LoadedSettings) -> Result<ExitCode> {
    let path = user_file(loaded)?;
    let shown = path.display();
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        bail!(
            "`nudge config edit` opens an editor and needs a terminal; without one, change {shown} itself, \
             or use `nudge config set`"
        );
    }
    if !path.exists() {
        write(path, &file_template())?;
        output::remark(format!("made {shown}"));
    }
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty()));
    let editor = named.as_deref().unwrap_or(USUAL_EDITOR);
    // The name may have arguments, such as `code --wait`.
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor).arg(path);
    let status = command.status().context("cannot start a shell for the editor")?;
    if !status.success() {
        bail!("the editor `{editor}` ended with {status}; $VISUAL or $EDITOR names another");
    }
    report(&check(path)?)
}

//! What the commands say to people and programs: one way out for each, and what people read is safe for a terminal.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context, Result};

use crate::{settings::SettingsProblem, terminal_text};

/// Whether the user wants colours.
static WANTS_COLOURS: AtomicBool = AtomicBool::new(true);

/// Has colours on terminals, or not.
pub(crate) fn set_colours(are_wanted: bool) {
    WANTS_COLOURS.store(are_wanted, Ordering::Relaxed);
}

/// Says something to whoever reads standard output. Nobody may be there any more; what cannot be written for another reason
/// is an error.
pub(crate) fn say(text: impl Display) -> Result<()> {
    written(writeln!(io::stdout(), "{}", terminal_text::lines(&text.to_string())))
}

/// Says something beside what a program may read, on standard error. Nobody may be there.
pub(crate) fn remark(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", terminal_text::lines(&text.to_string()));
}

/// Tells what is wrong with the settings, a line for each.
pub(crate) fn tell_problems(problems: &[SettingsProblem]) {
    for problem in problems {
        remark(format!("nudge: {}", terminal_text::one_line(&problem.to_string())));
    }
}

/// Says JSON to a program, on one line. It may be a person who looks.
pub(crate) fn say_json(json: impl Display) -> Result<()> {
    let json = json.to_string();
    written(writeln!(io::stdout(), "{}", terminal_text::json(&json)))
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.context("cannot write to standard output"),
    }
}

/// Whether what goes there may have colours: it is a terminal, and the user has not said otherwise.
pub(crate) fn has_colours(to: &impl IsTerminal) -> bool {
    to.is_terminal()
        && WANTS_COLOURS.load(Ordering::Relaxed)
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

//! A user signs in on a terminal.

use std::{
    fs,
    io::{BufRead, IsTerminal, Write},
    process::ExitCode,
};

use super::{Body, options::Options};

/// Asks for the password, and makes the file if it is right.
pub(super) fn ask(options: &Options, input: &mut impl BufRead, mut body: Body) -> ExitCode {
    let place = if std::io::stdin().is_terminal() { "a terminal" } else { "no terminal" };
    let word = std::env::var("SCRIPTED_WORD").unwrap_or_default();
    let _ = write!(body.output, "On {place}, {word} say the password: ");
    let _ = body.output.flush();
    let mut line = String::new();
    let Ok(1..) = input.read_line(&mut line) else { return ExitCode::FAILURE };
    match &options.signed_in {
        Some((file, _)) if line.trim() == "sesame" => {
            let made = fs::write(file, "");
            let _ = writeln!(body.output, "signed in");
            if made.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => ExitCode::from(7),
    }
}

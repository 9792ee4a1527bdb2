//! The scripted agent as a program, for tests that put one behind Nudge.

use std::process::ExitCode;

fn main() -> ExitCode {
    nudge_testkit::scripted::run(std::env::args().skip(1))
}

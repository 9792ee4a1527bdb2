//! The Neovim plugin in Neovim 0.11 and 0.12.

mod diagnostics;
mod diff;
mod editor;
mod edits;
mod failures;
mod ghost;
mod keys;
mod others;
mod places;

use editor::{CTRL_RIGHT, END, ESC, Neovim, TAB};

/// A name that is declared once and used twice.
const TOTAL: &str = "fn main() {\n    let total = 1;\n    print(total);\n    print(total + 2);\n}\n";
/// From its first line, goes to the name and types another; the uses are suggested.
const RENAME: &str = "jwwciwsum";
/// Shows more than is shown unless set.
const EAGER: &str = "require('nudge').eagerness('high')";

/// What is in the buffer once the name has been typed.
fn renamed_once() -> String {
    TOTAL.replacen("total", "sum", 1)
}

/// What is in the buffer once the suggestion is taken.
fn renamed() -> String {
    TOTAL.replace("total", "sum")
}

/// Runs a test in each Neovim that is installed.
fn in_each(test: impl Fn(&str)) {
    for version in ["0.11", "0.12"] {
        test(version);
    }
}

//! The server under pytest-lsp, which reads every message with the protocol's own types.

use std::process::Command;

use crate::programs::{installed, nudge, package};

#[test]
fn pytest_lsp_is_content_in_every_encoding_and_with_what_every_editor_says_of_itself() {
    let Some(pytest) = installed("pytest") else { return };
    let ran = Command::new(pytest)
        .arg(package().join("py"))
        .env("NUDGE_BIN", nudge())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("pytest runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains(" passed"), "{said}");
}

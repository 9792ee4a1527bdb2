//! The pieces in which an edit is shown, without an editor's window.

use std::process::Command;

use super::in_each;
use crate::programs::{installed, repository};

#[test]
fn what_is_drawn_is_what_will_be() {
    in_each(|version| {
        let Some(program) = installed(&format!("nvim-{version}")) else { return };
        let run = Command::new(program)
            .args(["--headless", "-u", "NONE", "-l", "test/diff.lua"])
            .current_dir(repository().join("editors/neovim"))
            .output()
            .expect("Neovim starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    });
}

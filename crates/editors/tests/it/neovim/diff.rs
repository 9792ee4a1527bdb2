//! Parts of the plugin that need no window: the pieces in which an edit is shown, and texts.

use std::process::Command;

use super::in_each;
use crate::programs::{installed, repository};

/// Runs a script of the plugin's own tests in each Neovim.
fn run(script: &str) {
    in_each(|version| {
        let Some(program) = installed(&format!("nvim-{version}")) else { return };
        let run = Command::new(program)
            .args(["--headless", "-u", "NONE", "-l", script])
            .current_dir(repository().join("editors/neovim"))
            .output()
            .expect("Neovim starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    });
}

#[test]
fn what_is_drawn_is_what_will_be() {
    run("test/diff.lua");
}

#[test]
fn what_was_there_before_is_what_the_file_says() {
    run("test/text.lua");
}

//! Processes die while one types.

use std::time::Instant;

use nudge_testkit::PATIENCE;

use super::{ESC, Neovim, RENAME, TAB, TOTAL, in_each, renamed, renamed_once};

/// What is on the screen of our marks, each of which stands for a part of a suggestion.
const MARKS: &str = "#vim.api.nvim_buf_get_extmarks(0, require('nudge.show').namespace, 0, -1, {})";

#[test]
fn the_daemon_dies_in_mid_typing() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(&RENAME[..RENAME.len() - 1]);
        editor.terminal.wait_text("totalsu");
        assert_eq!(editor.kill(&["daemon"]), 1);
        editor.keys("m");
        editor.wait_buffer(&TOTAL.replacen("total", "sum", 1));
        // The same screen as without the accident, and nothing on it twice.
        editor.expect_screen("rename");
        assert_eq!(editor.lua(MARKS), "5");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        assert_eq!(editor.lua(MARKS), "0");
    });
}

#[test]
fn what_was_rejected_stays_away_when_the_daemon_is_another() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.escape();
        editor.expect_screen("rename-normal");
        editor.keys(ESC);
        editor.expect_screen("rejected");
        assert_eq!(editor.kill(&["daemon"]), 1);
        editor.keys("Go// the end");
        editor.wait_lua("require('nudge.status').state", "ready");
        editor.escape();
        editor.settle();
        editor.expect_screen("rejected-later");
    });
}

#[test]
fn the_server_dies_in_mid_typing() {
    let other = "\nfn other() {\n    let count = 1;\n    print(count);\n}\n";
    let before = format!("{TOTAL}{other}");
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", &before)]) else { return };
        editor.keys(&RENAME[..RENAME.len() - 1]);
        editor.terminal.wait_text("totalsu");
        let killed = editor.processes(&["lsp"]);
        assert_eq!(editor.kill(&["lsp"]), 1);
        editor.keys("m");
        let typed = before.replacen("total", "sum", 1);
        editor.wait_buffer(&typed);
        // Another one is started. It has not seen what was typed before, and goes by what is typed from now on.
        wait(|| editor.processes(&["lsp"]).iter().any(|pid| !killed.contains(pid)));
        editor.wait_lua("require('nudge.status').state", "ready");
        editor.escape();
        editor.keys("Gkk0wwciwnumber");
        editor.expect_screen("server-again");
        assert_eq!(editor.lua(MARKS), "3");
        editor.keys(TAB);
        editor.wait_buffer(&typed.replace("count", "number"));
        assert_eq!(editor.lua("#vim.lsp.get_clients({ name = 'nudge' })"), "1");
        let messages = editor.lua("vim.api.nvim_exec2('messages', { output = true }).output");
        assert!(!messages.contains("quit with"), "{messages}");
    });
}

/// The server is one that starts when the file `go` is there.
#[test]
fn what_was_typed_before_the_server_was_there_counts() {
    let late = "require('nudge').setup({ cmd = { 'sh', '-c', 'until [ -e go ]; do sleep 0.01; done; exec nudge lsp' } })";
    in_each(|version| {
        let Some(editor) = Neovim::open_at_once(version, &[("a.rs", TOTAL)], late) else { return };
        editor.keys(RENAME);
        editor.wait_buffer(&renamed_once());
        assert_eq!(editor.lua("require('nudge.status').state"), "connecting");
        editor.write("go", "");
        editor.expect_screen("rename");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
    });
}

#[test]
fn it_is_started_again_by_hand() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        let before = editor.processes(&["lsp"]);
        editor.keys(":Nudge restart\r");
        wait(|| matches!(&*editor.processes(&["lsp"]), [pid] if !before.contains(pid)));
        editor.wait_lua("require('nudge.client').of(0) ~= nil and require('nudge.status').state", "ready");
        editor.keys(RENAME);
        editor.expect_screen("rename");
        assert_eq!(editor.processes(&["lsp"]).len(), 1);
    });
}

#[test]
fn the_server_ends_with_the_editor() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.escape();
        editor.keys(":quit!\r");
        wait(|| editor.processes(&["lsp"]).is_empty());
    });
}

/// Waits for something that has to do with processes.
fn wait(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "a process does not do what it should");
        std::thread::yield_now();
    }
}

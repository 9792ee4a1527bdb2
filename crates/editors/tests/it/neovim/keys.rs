//! Keys mean what they meant when nothing is shown.

use super::{Neovim, RENAME, TAB, TOTAL, in_each, renamed, renamed_once};
use crate::programs::repository;

#[test]
fn tab_indents_when_nothing_is_shown() {
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.txt", "one\n")], "vim.o.expandtab = false")
        else {
            return;
        };
        editor.keys("A\tx");
        editor.wait_buffer("one\tx\n");
        assert_eq!(editor.lua("vim.fn.maparg('<C-Right>', 'i')"), "");
        editor.escape();
    });
}

#[test]
fn a_mapping_of_the_users_is_there_before_and_after() {
    let lua = "vim.keymap.set('i', '<Tab>', 'GLOBAL') \
               vim.keymap.set('i', '<C-Right>', 'LOCAL', { buffer = 0 })";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.rs", TOTAL)], lua) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        editor.settle();
        assert_eq!(editor.lua("vim.fn.maparg('<C-Right>', 'i')"), "LOCAL");
        // What this types may lead to another suggestion.
        editor.keys(TAB);
        editor.wait_buffer(&renamed().replace("sum + 2", "sumGLOBAL + 2"));
    });
}

#[test]
fn it_is_switched_off_and_on() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(":Nudge disable\r");
        editor.wait_lua("require('nudge').statusline()", "nudge off");
        editor.keys(RENAME);
        editor.escape();
        editor.wait_buffer(&renamed_once());
        assert_eq!(editor.lua("require('nudge.suggest').current()"), "nil");
        editor.keys(":Nudge enable\r");
        editor.keys("i");
        editor.escape();
        editor.wait_lua("require('nudge.suggest').current() ~= nil", "true");
        editor.keys(":Nudge accept\r");
        editor.wait_buffer(&renamed());
    });
}

#[test]
fn switching_it_says_what_it_did() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        for (command, said) in [
            ("toggle", "nudge: suggestions are off"),
            ("toggle", "nudge: suggestions are on"),
            ("disable", "nudge: suggestions are off"),
            ("eagerness high", "nudge: eagerness is high"),
        ] {
            editor.keys(&format!(":messages clear | Nudge {command}\r"));
            editor.wait_lua("vim.api.nvim_exec2('messages', { output = true }).output", said);
        }
    });
}

#[test]
fn its_help_is_found_as_installed() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(":help nudge\r");
        editor.wait_lua("vim.fs.basename(vim.api.nvim_buf_get_name(0))", "nudge.txt");
        // The list of tags in the repository is that of the page.
        let tags = "vim.fn.join(vim.fn.readfile(vim.fn.getcwd() .. \"/doc/tags\"), \"\\n\")";
        let page =
            std::fs::read_to_string(repository().join("editors/neovim/doc/nudge.txt")).expect("a page");
        editor.write("doc/nudge.txt", &page);
        editor.lua("vim.cmd.helptags(\"doc\")");
        let listed = std::fs::read_to_string(repository().join("editors/neovim/doc/tags")).expect("its tags");
        assert_eq!(editor.lua(tags), listed.trim_end(), "run :helptags on editors/neovim/doc");
    });
}

#[test]
fn its_health_is_good() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(":checkhealth nudge\r");
        editor.wait_lua("vim.bo.filetype", "checkhealth");
        let report = editor.text();
        assert!(report.contains("connected for") && report.contains("OK"), "{report}");
        assert!(!report.contains("ERROR") && !report.contains("WARNING"), "{report}");
    });
}

#[test]
fn the_user_chooses_the_key_that_takes() {
    let lua = "require('nudge').setup({ keys = { accept = '<C-y>' } })";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.rs", TOTAL)], lua) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.keys("\x19");
        editor.wait_buffer(&renamed());
    });
}

#[test]
fn the_user_chooses_that_one_escape_rejects() {
    let lua = "require('nudge').setup({ insert_reject = 'reject' })";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.rs", TOTAL)], lua) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.escape();
        editor.expect_screen("rejected");
    });
}

#[test]
fn a_suggestion_is_asked_for_and_gone_to() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.escape();
        editor.keys(":Nudge next\r");
        editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", "3");
        editor.expect_screen("next");
    });
}

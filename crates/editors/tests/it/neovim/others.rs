//! Plugins of others that ask for `textDocument/copilotInlineEdit`, with `nudge lsp` for their server.
//!
//! They are in no package registry: a variable of the environment names the folder of each. Both are set up as
//! `editors/README.md` says.

use super::{ESC, Neovim, RENAME, TAB, TOTAL, in_each, renamed, renamed_once};
use crate::programs::{given, snippet};

/// Sidekick knows its answers by something that Neovim 0.11 does not say, and shows none of them there.
const SIDEKICK_RUNS_IN: &str = "0.12";
/// Whether the plugin has the answer about the text as it is.
const IS_ANSWERED: &str = "require('nudge_test').is_answered()";

/// How each shows the uses of what is renamed: sidekick both at once, copilot-lsp one after the other.
const SIDEKICK_SHOWN: [&str; 2] = ["print([-total-]sum);", "print([-total-]sum + 2);"];
const COPILOT_LSP_SHOWN: [&str; 2] =
    ["[-    print(total);-]\n[+    print(sum);+]\n", "[-    print(total + 2);-]\n[+    print(sum + 2);+]\n"];
/// The same lines when nothing is shown.
const NOTHING_SHOWN: &str = "    print(total);\n    print(total + 2);\n";

fn sidekick(text: &str) -> Option<Neovim> {
    let folder = given("NUDGE_TEST_SIDEKICK", "the folder of the Neovim plugin sidekick.nvim")?;
    let config = snippet("sidekick.nvim", "lua");
    Neovim::open_with_plugin(SIDEKICK_RUNS_IN, &folder, &config, &[("a.rs", text)])
}

fn copilot_lsp(version: &str, text: &str) -> Option<Neovim> {
    let folder = given("NUDGE_TEST_COPILOT_LSP", "the folder of the Neovim plugin copilot-lsp")?;
    Neovim::open_with_plugin(version, &folder, &snippet("copilot-lsp", "lua"), &[("a.rs", text)])
}

fn see_all(editor: &Neovim, all: [&str; 2]) {
    for shown in all {
        editor.see(shown);
    }
}

/// Shows what is less sure too: a suggestion that has been there for a while is.
fn be_eager(editor: &Neovim) {
    let command = "{ command = 'nudge.setEagerness', arguments = { 'high' } }";
    let client = "vim.lsp.get_clients({ bufnr = 0 })[1]";
    let said = editor.lua(&format!(
        "{client}:request_sync('workspace/executeCommand', {command}, 10000, 0).result.eagerness"
    ));
    assert_eq!(said, "high");
}

/// Adds a line at the end, and waits until the plugin has asked what is next and has its answer.
fn add_line(editor: &Neovim, line: &str) {
    let text = editor.text();
    editor.keys("G");
    editor.keys(&format!("o{line}"));
    editor.escape();
    editor.wait_buffer(&format!("{text}{line}\n"));
    editor.wait_lua(IS_ANSWERED, "true");
}

#[test]
fn sidekick_shows_a_rename_and_takes_it_by_its_key() {
    let Some(editor) = sidekick(TOTAL) else { return };
    editor.keys(RENAME);
    editor.escape();
    see_all(&editor, SIDEKICK_SHOWN);
    editor.keys(TAB);
    editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", "3");
    editor.keys(TAB);
    editor.wait_buffer(&renamed());
    editor.wait_lua(IS_ANSWERED, "true");
    assert_eq!(editor.lua("require('sidekick.nes').have()"), "false");
    editor.keys("u");
    editor.wait_buffer(&renamed_once());
}

#[test]
fn what_is_dismissed_in_sidekick_stays_away() {
    let Some(editor) = sidekick(TOTAL) else { return };
    be_eager(&editor);
    editor.keys(RENAME);
    editor.escape();
    see_all(&editor, SIDEKICK_SHOWN);
    // Unless the server is told, it comes back.
    editor.keys(":lua require('sidekick').clear()\r");
    editor.see(NOTHING_SHOWN);
    add_line(&editor, "fn one() {}");
    see_all(&editor, SIDEKICK_SHOWN);
    editor.keys(ESC);
    editor.see(NOTHING_SHOWN);
    add_line(&editor, "fn two() {}");
    let edits = editor.lua("vim.inspect(require('sidekick.nes')._edits)");
    assert!(!edits.contains("\"sum\""), "{edits}");
    editor.see(NOTHING_SHOWN);
}

#[test]
fn sidekick_changes_text_of_many_bytes_in_place() {
    let before = "fn main() {\n    let größe = 1;\n    print(\"😀\", größe); print(\"日本語\", größe);\n}\n";
    let Some(editor) = sidekick(before) else { return };
    editor.keys("jwwciwmaß");
    editor.escape();
    editor.see("[-größe-]maß");
    editor.keys(TAB);
    editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", "3");
    editor.keys(TAB);
    editor.wait_buffer(&before.replace("größe", "maß"));
}

#[test]
fn copilot_lsp_shows_one_place_of_a_rename_after_another_and_takes_it_by_its_key() {
    in_each(|version| {
        let Some(editor) = copilot_lsp(version, TOTAL) else { return };
        editor.keys(RENAME);
        editor.escape();
        for (at, shown) in COPILOT_LSP_SHOWN.into_iter().enumerate() {
            editor.see(shown);
            editor.keys(TAB);
            editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", &(at + 3).to_string());
            editor.keys(TAB);
            editor.wait_buffer(&TOTAL.replacen("total", "sum", at + 2));
        }
        editor.wait_lua(IS_ANSWERED, "true");
        assert_eq!(editor.lua("vim.b.nes_state"), "nil");
    });
}

#[test]
fn what_is_dismissed_in_copilot_lsp_stays_away() {
    in_each(|version| {
        let Some(editor) = copilot_lsp(version, TOTAL) else { return };
        be_eager(&editor);
        editor.keys(RENAME);
        editor.escape();
        editor.see(COPILOT_LSP_SHOWN[0]);
        // Unless the server is told, it comes back.
        editor.keys(":lua require('copilot-lsp.nes').clear()\r");
        editor.see(NOTHING_SHOWN);
        add_line(&editor, "fn one() {}");
        editor.see(COPILOT_LSP_SHOWN[0]);
        editor.keys(TAB);
        editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", "3");
        editor.keys(ESC);
        editor.see("    print(▏total);\n    print(total + 2);\n");
        add_line(&editor, "fn two() {}");
        let edit = editor.lua("vim.inspect(vim.b.nes_state)");
        assert!(!edit.contains("\"sum\""), "{edit}");
        editor.see(NOTHING_SHOWN);
    });
}

#[test]
fn copilot_lsp_changes_text_of_many_bytes_in_place() {
    let before = "fn main() {\n    let größe = 1;\n    print(\"😀\", größe);\n}\n";
    in_each(|version| {
        let Some(editor) = copilot_lsp(version, before) else { return };
        editor.keys("jwwciwmaß");
        editor.escape();
        editor.wait_lua("vim.b.nes_state ~= nil and require('nudge_test').is_answered()", "true");
        editor.keys(TAB);
        editor.wait_lua("vim.api.nvim_win_get_cursor(0)[1]", "3");
        editor.keys(TAB);
        editor.wait_buffer(&before.replace("größe", "maß"));
    });
}

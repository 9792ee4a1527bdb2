//! Edits that are elsewhere are gone to.

use super::{EAGER, Neovim, TAB, TOTAL, in_each, renamed};

#[test]
fn an_edit_below_the_screen_is_gone_to_first() {
    let body = "    go();\n".repeat(30);
    let before = format!("fn main() {{\n    let total = 1;\n{body}    print(total);\n}}\n");
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", &before)]) else { return };
        editor.keys("jwwciwsum");
        editor.expect_screen("jump-below");
        editor.keys(TAB);
        editor.expect_screen("jump-below-there");
        editor.keys(TAB);
        editor.wait_buffer(&before.replace("total", "sum"));
    });
}

#[test]
fn an_edit_in_another_file_is_gone_to_first() {
    let declared = "pub fn total(x: u32) -> u32 {\n    x + 1\n}\n";
    let used = "use crate::a::total;\n\nfn main() {\n    println!(\"{}\", total(3));\n}\n";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("b.rs", used), ("a.rs", declared)], EAGER) else {
            return;
        };
        editor.keys(":edit a.rs\r");
        editor.terminal.wait_text("pub fn total");
        editor.wait_lua("require('nudge.client').of(0) ~= nil", "true");
        editor.keys("wwciwamount");
        editor.expect_screen("jump-file");
        editor.keys(TAB);
        editor.expect_screen("jump-file-there");
        editor.keys(TAB);
        editor.wait_buffer(&used.replacen("total", "amount", 1));
        editor.expect_screen("jump-file-next");
        editor.keys(TAB);
        editor.wait_buffer(&used.replace("total", "amount"));
        editor.keys(":buffer a.rs\r");
        editor.wait_buffer(&declared.replace("total", "amount"));
    });
}

/// Puts a suggestion on the screen as if the server had made it: it makes those of several files only when it must.
const OFFER: &str = "function Offer() \
    local function edits(buf) return vim.iter(vim.api.nvim_buf_get_lines(buf, 0, -1, true)):enumerate() \
        :filter(function(_, line) return line:find('total') end):map(function(row, line) \
            local col = line:find('total') - 1 \
            return { newText = 'sum', range = { start = { line = row - 1, character = col }, \
                ['end'] = { line = row - 1, character = col + 5 } } } end):totable() end \
    local here, other = vim.fn.bufnr('a.rs'), vim.fn.bufnr('b.rs') \
    require('nudge.suggest').put({ buf = here, tick = vim.api.nvim_buf_get_changedtick(here), manual = true, \
        cursor = vim.api.nvim_win_get_cursor(0), client = require('nudge.client').of(here) }, \
        { { id = 'offered', kind = 'searchAndReplace', uri = vim.uri_from_bufnr(here), reason = 'replaces all', \
            edit = { changes = { [vim.uri_from_bufnr(here)] = edits(here), \
                                 [vim.uri_from_bufnr(other)] = edits(other) } } } }) end";

#[test]
fn several_files_are_changed_at_once() {
    let used = "fn other() {\n    print(total);\n}\n";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("b.rs", used), ("a.rs", TOTAL)], OFFER) else {
            return;
        };
        editor.keys(":edit a.rs\r");
        editor.terminal.wait_text("fn main");
        editor.wait_lua("require('nudge.client').of(0) ~= nil", "true");
        editor.settle();
        editor.keys(":lua Offer()\r");
        editor.expect_screen("several-files");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        editor.keys("u");
        editor.wait_buffer(TOTAL);
        editor.keys(":buffer b.rs\r");
        editor.wait_buffer(&used.replace("total", "sum"));
    });
}

/// A language server that can rename `total`, and a suggestion that leaves it to that.
const RENAMER: &str = "local here = vim.api.nvim_get_current_buf() \
    local uri = vim.uri_from_bufnr(here) \
    local function at(line, from) return { start = { line = line, character = from }, \
        ['end'] = { line = line, character = from + 5 } } end \
    vim.lsp.start({ name = 'language', cmd = function() return { \
        request = function(method, params, answer) \
            if method == 'initialize' then answer(nil, { capabilities = { renameProvider = true } }) \
            elseif method == 'textDocument/rename' then answer(nil, { changes = { [uri] = { \
                { range = at(1, 8), newText = params.newName }, { range = at(2, 10), newText = params.newName }, \
                { range = at(3, 10), newText = params.newName } } } }) end \
            return true, 1 end, \
        notify = function() return true end, is_closing = function() return false end, terminate = function() end } end }) \
    function Offer() require('nudge.suggest').put({ buf = here, tick = vim.api.nvim_buf_get_changedtick(here), \
        manual = true, cursor = vim.api.nvim_win_get_cursor(0), client = require('nudge.client').of(here) }, \
        { { id = 'offered', kind = 'rename', uri = uri, position = { line = 1, character = 8 }, newName = 'sum', \
            edit = vim.NIL, reason = 'renames it where it is declared' } }) end";

#[test]
fn a_rename_is_left_to_the_languages_own_server() {
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.rs", TOTAL)], RENAMER) else { return };
        editor.settle();
        editor.keys(":lua Offer()\r");
        editor.expect_screen("left-to-server");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
    });
}

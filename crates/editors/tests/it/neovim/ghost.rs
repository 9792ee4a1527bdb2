//! Text at the cursor is seen before it is typed.

use super::{CTRL_RIGHT, EAGER, END, Neovim, TAB, in_each};

const BEFORE: &str = "fn one() {
    let mut reader = Reader::new(b\"a\");
    reader.finish().unwrap();
}

fn two() {
    let mut reader = Reader::new(b\"bc\");
    reader.finish().unwrap();
}
";

/// Begins another function like the two.
const BEGIN: &str = "Go\rfn three() {\rlet mut reader = Reader::new(b\"def\");\rreader.fi";

fn typed(text: &str) -> String {
    format!("{BEFORE}\nfn three() {{\n    let mut reader = Reader::new(b\"def\");\n    {text}\n")
}

/// The rest of the line is on the screen.
fn begun(version: &str) -> Option<Neovim> {
    let editor = Neovim::open_with(version, &[("a.rs", BEFORE)], EAGER)?;
    editor.keys(BEGIN);
    editor.expect_screen("ghost");
    Some(editor)
}

#[test]
fn the_rest_of_the_line_is_taken_whole() {
    in_each(|version| {
        let Some(editor) = begun(version) else { return };
        editor.keys(TAB);
        editor.wait_buffer(&typed("reader.finish().unwrap();\n}"));
        editor.escape();
        editor.keys("u");
        editor.wait_buffer(&typed("reader.fi"));
    });
}

#[test]
fn it_is_typed_into() {
    in_each(|version| {
        let Some(editor) = begun(version) else { return };
        editor.keys("ni");
        editor.expect_screen("ghost-typed");
        editor.keys(TAB);
        editor.wait_buffer(&typed("reader.finish().unwrap();\n}"));
    });
}

#[test]
fn it_is_taken_by_words_and_by_lines() {
    in_each(|version| {
        let Some(editor) = begun(version) else { return };
        editor.keys(CTRL_RIGHT);
        editor.wait_buffer(&typed("reader.finish"));
        editor.expect_screen("ghost-word");
        editor.keys(CTRL_RIGHT);
        editor.wait_buffer(&typed("reader.finish("));
        editor.expect_screen("ghost-words");
        editor.keys(END);
        editor.wait_buffer(&typed("reader.finish().unwrap();"));
        editor.expect_screen("ghost-line");
        editor.keys(TAB);
        editor.wait_buffer(&typed("reader.finish().unwrap();\n}"));
    });
}

#[test]
fn escape_rejects_it_and_leaves_insert_mode() {
    in_each(|version| {
        let Some(editor) = begun(version) else { return };
        editor.escape();
        editor.expect_screen("ghost-rejected");
        editor.keys("A");
        editor.wait_lua("vim.api.nvim_get_mode().mode", "i");
        editor.settle();
        assert_eq!(editor.lua("require('nudge.suggest').current()"), "nil");
        assert_eq!(editor.text(), typed("reader.fi"));
    });
}

#[test]
fn the_editors_own_inline_completion_does_not_show_it_again() {
    in_each(|version| {
        let lua = format!("if vim.lsp.inline_completion then vim.lsp.inline_completion.enable() end {EAGER}");
        let Some(editor) = Neovim::open_with(version, &[("a.rs", BEFORE)], &lua) else { return };
        editor.keys(BEGIN);
        editor.expect_screen("ghost");
        let marks = "#vim.tbl_filter(function(m) return m[4].virt_text end, \
                     vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true }))";
        assert_eq!(editor.lua(marks), "1");
        let lines = marks.replace("virt_text ", "virt_lines ");
        assert_eq!(editor.lua(&lines), "1");
    });
}

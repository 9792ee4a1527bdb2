//! Edits are seen, taken, undone and rejected.

use super::{CTRL_RIGHT, ESC, Neovim, RENAME, TAB, TOTAL, in_each, renamed, renamed_once};

#[test]
fn a_rename_is_shown_and_taken_by_a_key() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        editor.expect_screen("rename-taken");
    });
}

#[test]
fn it_can_be_taken_in_normal_mode() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.escape();
        editor.expect_screen("rename-normal");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        editor.keys("u");
        editor.wait_buffer(&renamed_once());
    });
}

#[test]
fn taking_it_is_one_step_of_undo() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
        editor.keys(" + more");
        editor.escape();
        editor.wait_buffer(&renamed().replace("sum + 2", "sum + more + 2"));
        editor.keys("u");
        editor.wait_buffer(&renamed());
        editor.keys("u");
        editor.wait_buffer(&renamed_once());
        editor.keys("u");
        editor.wait_buffer(TOTAL);
        editor.keys("\x12\x12\x12");
        editor.wait_buffer(&renamed().replace("sum + 2", "sum + more + 2"));
    });
}

#[test]
fn what_is_rejected_stays_away() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        // The first leaves insert mode, the second rejects.
        editor.escape();
        editor.expect_screen("rename-normal");
        editor.keys(ESC);
        editor.expect_screen("rejected");
        // Neither a move nor a change of something else brings it back.
        editor.keys("G");
        editor.keys("o// the end");
        editor.escape();
        editor.wait_buffer(&(renamed_once() + "// the end\n"));
        editor.settle();
        editor.expect_screen("rejected-later");
        assert_eq!(editor.lua("require('nudge.suggest').current()"), "nil");
    });
}

#[test]
fn one_of_several_edits_can_be_taken() {
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", TOTAL)]) else { return };
        editor.keys(RENAME);
        editor.expect_screen("rename");
        editor.keys(CTRL_RIGHT);
        editor.wait_buffer(&TOTAL.replacen("total", "sum", 2));
        editor.expect_screen("rename-rest");
        editor.keys(TAB);
        editor.wait_buffer(&renamed());
    });
}

#[test]
fn text_of_many_bytes_is_shown_and_changed_in_place() {
    let before = "fn main() {\n    let größe = \"日本語\"; // 😀\n    print(\"日本語\", größe); print(\"😀\", größe);\n}\n";
    in_each(|version| {
        let Some(editor) = Neovim::open(version, &[("a.rs", before)]) else { return };
        editor.keys("jwwciwmaß");
        editor.expect_screen("multibyte");
        editor.keys(TAB);
        editor.wait_buffer(&before.replace("größe", "maß"));
        editor.expect_screen("multibyte-taken");
        editor.escape();
        editor.keys("u");
        editor.wait_buffer(&before.replacen("größe", "maß", 1));
    });
}

#[test]
fn it_does_not_flicker_while_one_types() {
    // The fewest marks that any redraw has had since `Watch` was called.
    let lua = "function Watch() \
        Least = 99 \
        vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('watch'), { on_end = function() \
            local marks = vim.api.nvim_buf_get_extmarks(0, require('nudge.show').namespace, 0, -1, {}) \
            Least = math.min(Least, #marks) \
        end }) end";
    in_each(|version| {
        let Some(editor) = Neovim::open_with(version, &[("a.rs", TOTAL)], lua) else { return };
        let (begun, last) = RENAME.split_at(RENAME.len() - 1);
        editor.keys(begun);
        editor.terminal.wait_text("totalsu");
        editor.settle();
        editor.lua("Watch()");
        editor.keys(last);
        editor.expect_screen("rename");
        assert_eq!(editor.lua("Least"), "5");
    });
}

//! What other servers say is passed on.

use super::{EAGER, Neovim, TAB, in_each};

const BEFORE: &str = "use std::fmt;\n\nfn main() {\n    let m = HashMap::new();\n    let y = 1\n}\n";

/// What a compiler would say, until it is asked again.
const SAID: &str = "vim.diagnostic.config({ signs = false, underline = false }) \
    vim.diagnostic.set(vim.api.nvim_create_namespace('compiler'), 0, { \
        { lnum = 3, col = 12, end_lnum = 3, end_col = 19, source = 'rustc', code = 'E0433', \
          message = 'failed to resolve: use of undeclared type `HashMap`\\nconsider importing this struct: \
                     use std::collections::HashMap;' }, \
        { lnum = 4, col = 13, end_lnum = 4, end_col = 13, source = 'rustc', \
          message = 'expected `;`, found `}`' } })";

#[test]
fn what_a_compiler_says_is_done_once() {
    in_each(|version| {
        let lua = format!("{EAGER} vim.keymap.set('n', 'X', function() {SAID} end)");
        let Some(editor) = Neovim::open_with(version, &[("a.rs", BEFORE)], &lua) else { return };
        editor.keys("X");
        editor.expect_screen("diagnostic");
        editor.keys(TAB);
        let ended = BEFORE.replace("= 1", "= 1;");
        editor.wait_buffer(&ended);
        // Above the first line, where the editor shows nothing by itself.
        editor.expect_screen("diagnostic-next");
        editor.keys(TAB);
        editor.wait_buffer(&format!("use std::collections::HashMap;\n{ended}"));
        editor.settle();
        assert_eq!(editor.lua("require('nudge.suggest').current()"), "nil");
    });
}

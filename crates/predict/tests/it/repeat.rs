//! What was done is done again elsewhere.

use nudge_predict::Predictor::Repeat;

use crate::fixture::{Fixture, check, check_silent};

#[test]
fn a_replaced_name_is_replaced_on_other_lines() {
    check(
        Repeat,
        &[(
            "a.rs",
            "fn f() {\n    let a = ⟦foo_count→total⟧(1);\n    let b = 2;\n    let c = ⟨foo_count→total⟩(3);\n}\n",
        )],
    );
}

#[test]
fn a_replaced_expression_keeps_the_names_of_its_place() {
    check(
        Repeat,
        &[(
            "a.js",
            "let a = ⟦legacy.fetch(url, cb)→modern.get(url).then(cb)⟧;\nlet x = 1;\nlet b = ⟨legacy.fetch(path, done)→modern.get(path).then(done)⟩;\n",
        )],
    );
}

#[test]
fn an_argument_is_added_whatever_the_others_are() {
    check(
        Repeat,
        &[(
            "a.go",
            "func f() {\n\tsend(a, b⟦→, ctx⟧)\n\tlog()\n\tsend(c, d⟦→, ctx⟧)\n\tlog()\n\tsend(first(), x.y⟨→, ctx⟩)\n}\n",
        )],
    );
}

#[test]
fn an_argument_is_taken_away() {
    check(Repeat, &[("a.py", "open_it(name⟦, True→⟧)\nother()\nopen_it(path⟨, True→⟩)\n")]);
}

#[test]
fn lines_come_where_the_neighbours_are_the_same() {
    check(
        Repeat,
        &[(
            "a.py",
            "class A:\n    def setup(self):\n        self.base()\n⟦→        self.log()\n⟧        self.run()\n\nclass B:\n    def setup(self):\n        self.base()\n⟨→        self.log()\n⟩        self.run()\n",
        )],
    );
}

#[test]
fn deleted_lines_are_deleted_elsewhere() {
    check(
        Repeat,
        &[(
            "a.c",
            "int f() {\n    debug_print(\"here\");\n⟦    trace_enter(__func__);\n    trace_args();\n→⟧    return 1;\n}\n\nint g() {\n⟨    trace_enter(__func__);\n    trace_args();\n→⟩    return 2;\n}\n",
        )],
    );
}

#[test]
fn a_block_is_replaced_at_its_own_indentation() {
    check(
        Repeat,
        &[(
            "a.ts",
            "function f() {\n⟦  if (done) {\n    stop();\n  }\n→  finish(done);\n⟧  a();\n  {\n⟨    if (done) {\n      stop();\n    }\n→    finish(done);\n⟩  }\n}\n",
        )],
    );
}

#[test]
fn other_spellings_of_a_name_follow() {
    let text = "const ⟦user_name→account_id⟧ = 1;\nfoo();\nconst x = ⟨userName→accountId⟩;\n";
    // One example alone makes it possible, not likely.
    Fixture::new(Repeat, &[("a.ts", text)]).check(0.15);
}

#[test]
fn other_documents_follow() {
    check(
        Repeat,
        &[
            ("a.toml", "version = \"⟦1.2.3→1.2.4⟧\"\n"),
            ("b.toml", "[x]\nneeds = { version = \"⟨1.2.3→1.2.4⟩\" }\n"),
        ],
    );
}

#[test]
fn multibyte_text_is_no_trouble() {
    check(
        Repeat,
        &[("a.py", "größe = ⟦länge→höhe⟧(\"é😀\")\nx = 1\nbreite = ⟨länge→höhe⟩(\"日本\")  # 😀\n")],
    );
}

#[test]
fn a_change_with_nothing_like_it_leads_to_nothing() {
    check_silent(Repeat, &[("a.rs", "fn f() {\n    let a = ⟦one→two⟧;\n    let b = 2;\n}\n")], 0.3);
}

#[test]
fn what_was_passed_over_is_left_alone() {
    check_silent(
        Repeat,
        &[("a.py", "a = ⟦total→count⟧ + 1\nb = total\nc = total\nd = total\ne = ⟦total→count⟧ + 2\n")],
        0.6,
    );
}

#[test]
fn a_word_comes_between_whatever_the_name_behind_it() {
    check(Repeat, &[("a.fish", "set ⟦→-l ⟧first 1\nset ⟦→-l ⟧second 2\necho $first\nset ⟨→-l ⟩third 3\n")]);
}

#[test]
fn something_comes_between_brackets_whatever_their_function() {
    check(
        Repeat,
        &[(
            "a.c",
            "jv jv_true(⟦→void⟧) {\n  return 1;\n}\n\njv jv_false(⟦→void⟧) {\n  return 0;\n}\n\njv jv_null(⟨→void⟩) {\n  return 2;\n}\n",
        )],
    );
}

#[test]
fn only_the_place_with_the_same_neighbours_is_meant() {
    check(
        Repeat,
        &[(
            "a.go",
            "\treturn []⟦string→Item⟧{}\n\treturn []⟦string→Item⟧{}\n\nfunc all(name string) []⟨string→Item⟩ {\n",
        )],
    );
}

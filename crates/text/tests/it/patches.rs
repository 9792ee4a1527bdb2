//! Unified diffs: written and read.

use nudge_text::{
    Text,
    diff::{self, DiffLine, FileDiff, ParseError},
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::naive::{self, lines_text, pick, text};

fn round_trip(old: &str, new: &str, context: usize) {
    let printed = diff::unified(&Text::new(old), &Text::new(new), "src/x.rs", context);
    let files = diff::parse(&printed).unwrap();
    if old == new {
        assert_eq!((printed.as_str(), files.len()), ("", 0));
        return;
    }
    let [file] = files.as_slice() else { panic!("one file, not {files:?}") };
    let paths = [file.old_path.as_deref(), file.new_path.as_deref()];
    assert_eq!(paths, [Some("src/x.rs"); 2]);
    assert_eq!(naive::patched(file, old).as_deref(), Some(new), "{printed}");
}

/// Text that looks like a diff but often is none.
fn nearly() -> impl Strategy<Value = String> {
    let pieces = &[
        "@@",
        "@@ -1,2 +1,3 @@",
        "@@ -0,0 +1 @@ fn x",
        "@@ -99999999999999999999 +1 @@",
        "--- ",
        "--- a/x",
        "+++ ",
        "+++ b/x",
        "+++ /dev/null",
        "-",
        "+",
        " ",
        "\\",
        "\\ No newline at end of file",
        "-- ",
        "diff --git a/x b/y",
        "Index: x",
        "rename from x",
        "new file mode 1",
        "a",
        "é",
        "\r",
        "\n",
        "\n",
        "\n",
        "\"\\303",
        "\t",
        "\"",
        ",",
    ][..];
    vec(select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_can_be_read_and_leads_from_one_to_the_other(old in lines_text(), new in lines_text(), context in 0..5_usize) {
        round_trip(&old, &new, context);
    }

    #[test]
    fn so_can_small_changes_to_any_text(old in text(), picks in vec(pick(), 0..5), context in 0..5_usize) {
        let new = naive::apply(&old, &naive::edits(&old, &picks));
        round_trip(&old, &new, context);
    }

    #[test]
    fn reading_anything_is_harmless(near in nearly(), any in any::<String>()) {
        for diff in [near, any] {
            let _ = diff::parse(&diff);
        }
    }

}

#[test]
fn it_is_printed_as_git_prints_it() {
    let old = "a\nb\nc\nd\ne\nf\ng\nh\ni";
    let new = "a\nb\nC\nd\ne\nf\ng\nh\ni\nj\n";
    let printed = diff::unified(&Text::new(old), &Text::new(new), "dir/file", 1);
    let expected = "\
--- a/dir/file
+++ b/dir/file
@@ -2,3 +2,3 @@
 b
-c
+C
 d
@@ -8,2 +8,3 @@
 h
-i
\\ No newline at end of file
+i
+j
";
    assert_eq!(printed, expected);
}

/// One file, one hunk: its lines with their signs.
fn signed(file: &FileDiff) -> Vec<String> {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let sign = |line: &DiffLine| match line {
        DiffLine::Context(text) => format!(" {text}"),
        DiffLine::Removed(text) => format!("-{text}"),
        DiffLine::Added(text) => format!("+{text}"),
    };
    lines.map(sign).collect()
}

#[test]
fn all_ways_to_write_a_diff_are_read() {
    let cases = [
        (
            "as git prints it",
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn f\n a\n-b\n+c\n",
        ),
        ("no file header", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        ("no numbers", "--- a/x\n+++ b/x\n@@\n a\n-b\n+c\n"),
        ("no hunk header", "--- a/x\n+++ b/x\n-b\n+c\n"),
        ("too few promised", "@@ -1 +1 @@\n a\n-b\n+c\n"),
        ("too many promised", "@@ -1,9 +1,9 @@\n a\n-b\n+c\n"),
        ("sent with carriage returns", "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n"),
        ("times behind the paths", "--- x\t2024-01-01\n+++ x\t2024-01-02\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        (
            "a mail around it",
            "Subject: x\n\nDear all\n---\n x | 2 +-\n\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.40\n",
        ),
        ("no last line feed", "@@ -1,2 +1,2 @@\n a\n-b\n+c"),
        ("in a fence", "```diff\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n```\n"),
    ];
    for (what, diff) in cases {
        let files = diff::parse(diff).unwrap_or_else(|error| panic!("{what}: {error}"));
        let [file] = files.as_slice() else { panic!("{what}: one file, not {files:?}") };
        let lines = signed(file);
        let expected: &[&str] = if lines[0] == " a" { &[" a", "-b", "+c"] } else { &["-b", "+c"] };
        assert_eq!(lines, expected, "{what}");
    }
}

#[test]
fn blank_context_lines_may_have_lost_their_blank() {
    let files = diff::parse("@@ -1,4 +1,3 @@\n a\n\n-b\n c\n").unwrap();
    assert_eq!(signed(&files[0]), [" a", " ", "-b", " c"]);
    let files = diff::parse("@@\n-a\n\n-b\n\n").unwrap();
    assert_eq!(signed(&files[0]), ["-a", " ", "-b"]);
}

#[test]
fn lines_that_look_like_headers_are_lines_where_they_were_promised() {
    let files = diff::parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n@@ -9 +9 @@\n-x\n").unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(signed(&files[0]), ["--- a", "+++ b", "-x"]);
}

#[test]
fn several_files_renamed_new_and_gone() {
    let diff = "\
diff --git a/old.rs b/new.rs
similarity index 100%
rename from old.rs
rename to new.rs
diff --git a/added b/added
new file mode 100644
--- /dev/null
+++ b/added
@@ -0,0 +1 @@
+a
--- \"a/sp\\303\\244t\\t.rs\"
+++ /dev/null
@@ -1 +0,0 @@
-a
";
    let files = diff::parse(diff).unwrap();
    let told: Vec<_> = files
        .iter()
        .map(|file| (file.old_path.as_deref(), file.new_path.as_deref(), signed(file).len()))
        .collect();
    let expected =
        [(Some("old.rs"), Some("new.rs"), 0), (None, Some("added"), 1), (Some("spät\t.rs"), None, 1)];
    assert_eq!(told, expected);
    assert_eq!(naive::patched(&files[1], "").as_deref(), Some("a\n"));
    assert_eq!(naive::patched(&files[2], "a\n").as_deref(), Some(""));
}

#[test]
fn a_text_that_is_no_diff_says_so() {
    assert_eq!(diff::parse("hello\nworld\n"), Err(ParseError::NoHunks));
    assert_eq!(diff::parse(" \n\n"), Ok(Vec::new()));
}

//! Workspaces that are meant to make the tools wait, grow or lie.

use std::{fmt::Write, fs, os::unix::fs::symlink, os::unix::net::UnixListener, process::Command};

use crate::driver::Driver;

fn driver() -> Driver {
    Driver::new(
        r#"
        [[turn]]
        regex = '(?s)^(?<tool>\w+) (?<input>.*)$'
        [[turn.step]]
        play = [{ call = "{tool}", raw_input = "{input}" }]
        [[turn.step]]
        play = []
    "#,
    )
}

async fn completes(driver: &mut Driver, call: &str) -> String {
    driver.turn(call).await;
    let (status, text) = driver.outcome();
    assert_eq!(status, "completed", "{call}: {text}");
    text
}

fn pipe(driver: &Driver, name: &str) {
    assert!(Command::new("mkfifo").arg(driver.path(name)).status().unwrap().success());
}

#[tokio::test]
async fn a_file_that_is_too_large_to_be_read_is_searched() {
    let mut d = driver();
    let mut text = "x".repeat(99) + "\n";
    text = text.repeat(11 * 1024 * 1024 / 100);
    d.write("big.txt", text + "a needle at the end");
    d.turn(r#"read {"path":"big.txt"}"#).await;
    assert!(d.outcome().1.ends_with("Search in it instead."), "{}", d.outcome().1);
    for input in [r#"{"pattern":"needle"}"#, r#"{"pattern":"needle","path":"big.txt"}"#] {
        assert_eq!(
            completes(&mut d, &format!("search {input}")).await,
            "big.txt:115344: a needle at the end"
        );
    }
}

#[tokio::test]
async fn what_a_search_leaves_out_is_said() {
    let mut d = driver();
    d.write("a.txt", "needle");
    d.write("latin.txt", b"caf\xe9 needle");
    for number in 0..5 {
        d.write(&format!("image{number}"), b"needle\n\x00");
    }
    pipe(&d, "pipe");
    let _socket = UnixListener::bind(d.path("socket")).unwrap();
    symlink("a.txt", d.path("link")).unwrap();
    let told = completes(&mut d, r#"search {"pattern":"needle"}"#).await;
    let expected = "a.txt:1: needle\nlatin.txt:1: caf\u{fffd} needle\n\
        [Left out: binary: image0, image1, image2 and 2 more; links, which are not followed: link; \
        pipe, socket or device: pipe, socket]\n\
        [Searched roughly: not UTF-8, so that signs were replaced: latin.txt]";
    assert_eq!(told, expected);
    let none = completes(&mut d, r#"search {"pattern":"haystack"}"#).await;
    assert!(none.starts_with("Nothing was found in what was searched.\n[Left out: "), "{none}");
    for (path, why) in [("pipe", "This is not a regular file."), ("image0", "The file is binary.")] {
        d.turn(&format!(r#"search {{"pattern":"x","path":"{path}"}}"#)).await;
        assert_eq!(d.outcome(), ("failed".to_owned(), why.to_owned()));
    }
    d.turn(r#"read {"path":"pipe"}"#).await;
    assert_eq!(d.outcome().1, "This is not a regular file.");
}

#[tokio::test]
async fn of_ignore_rules_that_are_too_many_the_first_are_followed_and_the_file_is_named() {
    let mut d = driver();
    let mut rules = String::new();
    for number in 0..20_000 {
        let _ = writeln!(rules, "x{number}*y[a-z]");
    }
    d.write("many/.gitignore", &rules);
    d.write("many/a.txt", "needle");
    d.write("many/x1_yb", "needle, which the first of them ignore");
    d.write(".gitignore", "*.log\n");
    d.write("a.log", "needle");
    pipe(&d, "a.fifo");
    d.write("piped/b.txt", "needle");
    pipe(&d, "piped/.gitignore");
    let told = completes(&mut d, r#"search {"pattern":"needle"}"#).await;
    let rules = "[Ignore rules that were not followed: pipe, socket or device: piped/.gitignore; \
        too many patterns, of which only the first are followed: many/.gitignore]";
    assert!(told.starts_with("many/a.txt:1: needle\npiped/b.txt:1: needle\n"), "{told}");
    assert!(told.ends_with(rules), "{told}");
    let listed = completes(&mut d, r#"list {"path":"many"}"#).await;
    let expected = "many/.gitignore\nmany/a.txt\n[Ignore rules that were not followed: \
        too many patterns, of which only the first are followed: many/.gitignore]";
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn a_pattern_that_is_nested_without_end_does_no_harm() {
    let mut d = driver();
    let nested = |depth: usize| format!("{}a{}\n", "{".repeat(depth), "}".repeat(depth));
    d.write("long/.gitignore", nested(30_000) + "b.txt\n");
    d.write("long/b.txt", "needle");
    d.write("short/.gitignore", nested(499) + "d.txt\n");
    d.write("short/d.txt", "needle");
    d.write("short/c.txt", "needle");
    let told = completes(&mut d, r#"search {"pattern":"needle"}"#).await;
    assert!(told.starts_with("short/c.txt:1: needle\n"), "{told}");
    assert!(
        told.contains("patterns that are too long or nested too deeply: long/.gitignore, short/.gitignore"),
        "{told}"
    );
}

#[tokio::test]
async fn ignore_rules_of_nested_folders_do_not_add_up() {
    let mut d = driver();
    let mut rules = String::new();
    for number in 0..1900 {
        let _ = writeln!(rules, "x{number}*y");
    }
    for folder in ["a/", "a/b/", "a/b/c/"] {
        d.write(&format!("{folder}.gitignore"), &rules);
    }
    let told = completes(&mut d, r#"search {"pattern":"needle"}"#).await;
    assert!(
        told.contains("too many patterns, of which only the first are followed: a/b/c/.gitignore]"),
        "{told}"
    );
}

#[tokio::test]
async fn rules_are_followed_as_git_follows_them() {
    let mut d = driver();
    d.write(".git/info/exclude", "excluded\n");
    d.write(".gitignore", "# a comment\n*.log\n/top\nbuild/\n!kept.log\n\\#odd\n");
    d.write("sub/.gitignore", "!back.log\ninner\n");
    d.write("sub/.ignore", "other\n");
    d.write("nested/.git/HEAD", "");
    for name in [
        "a.log",
        "kept.log",
        "top",
        "sub/top",
        "build/x",
        "sub/build/x",
        "sub/back.log",
        "sub/a.log",
        "sub/inner",
        "inner",
        "sub/other",
        "excluded",
        "sub/excluded",
        "#odd",
        "nested/a.log",
        ".hidden",
    ] {
        d.write(name, "");
    }
    let listed = completes(&mut d, r#"list {"depth":3}"#).await;
    let expected = [
        ".gitignore",
        ".hidden",
        "inner",
        "kept.log",
        "nested/",
        "nested/a.log",
        "sub/",
        "sub/.gitignore",
        "sub/.ignore",
        "sub/back.log",
        "sub/top",
    ];
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    let below = completes(&mut d, r#"list {"path":"sub"}"#).await;
    assert_eq!(
        below.lines().collect::<Vec<_>>(),
        ["sub/.gitignore", "sub/.ignore", "sub/back.log", "sub/top"]
    );
    assert_eq!(completes(&mut d, r#"list {"path":"build"}"#).await, "build/x");
}

/// A repository inside another, a worktree, and rules that begin with a mark.
#[tokio::test]
async fn rules_are_those_of_the_repository() {
    let mut d = driver();
    d.write(".git/info/exclude", "outer\n");
    d.write(".gitignore", "\u{feff}first\n");
    d.write("first", "");
    d.write("in/.git/info/exclude", "inner\n");
    d.write("in/worktrees/w/commondir", "../../.git\n");
    d.write("w/.git", "gitdir: ../in/worktrees/w\n");
    for folder in ["", "in/", "w/"] {
        d.write(&format!("{folder}inner"), "");
        d.write(&format!("{folder}outer"), "");
    }
    let listed = completes(&mut d, "list {\"depth\":2}").await;
    let found: Vec<&str> =
        listed.lines().filter(|line| line.contains("er") && !line.ends_with('/')).collect();
    assert_eq!(found, ["in/outer", "inner", "w/outer"], "{listed}");
    assert!(!listed.contains("first"), "{listed}");
}

#[tokio::test]
async fn deep_folders_long_names_and_circles_come_to_an_end() {
    let mut d = driver();
    let mut folder = d.dir.path().to_owned();
    let mut depth = 0;
    // As deep as a path can be, and then one folder more, which no path reaches.
    while folder.as_os_str().len() < 3900 {
        folder.push("d".repeat(120));
        depth += 1;
    }
    fs::create_dir_all(&folder).unwrap();
    let made = Command::new("mkdir").current_dir(&folder).arg("-p").arg("e".repeat(200)).status().unwrap();
    assert!(made.success() && depth > 20);
    fs::write(folder.join("f"), "needle").unwrap();
    symlink("..", d.path("up")).unwrap();
    symlink("circle", d.path("circle")).unwrap();
    let told = completes(&mut d, r#"search {"pattern":"needle"}"#).await;
    assert!(told.lines().next().unwrap().ends_with("/f:1: needle"), "{told}");
    assert!(told.contains("links, which are not followed: circle, up"), "{told}");
    assert!(told.contains("invalid filename"), "a folder that cannot be reached is told: {told}");
    completes(&mut d, r#"list {"depth":10}"#).await;
}

#[tokio::test]
async fn answers_stay_short() {
    let mut d = driver();
    let folder = format!("{0}/{0}/{0}/{0}", "n".repeat(250));
    for number in 0..600 {
        d.write(&format!("{folder}/{number}"), "needle ".repeat(1000));
    }
    for call in [r#"search {"pattern":"needle"}"#, r#"list {"depth":10}"#] {
        let told = completes(&mut d, call).await;
        assert!(told.len() < 140 * 1024 && told.contains("[only the first "), "{}", told.len());
    }
}

#[tokio::test]
async fn an_empty_folder_and_one_of_which_all_is_ignored_are_told_apart() {
    let mut d = driver();
    d.write(".gitignore", "x/*\n");
    d.write("x/a", "");
    fs::create_dir(d.path("y")).unwrap();
    assert_eq!(
        completes(&mut d, r#"list {"path":"x"}"#).await,
        "All that is in the folder is ignored: 1 files and folders."
    );
    assert_eq!(completes(&mut d, r#"list {"path":"y"}"#).await, "The folder is empty.");
}

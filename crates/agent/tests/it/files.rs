//! Tools that read and change files.

use std::{fs, os::unix::fs::PermissionsExt, os::unix::fs::symlink};

use nudge_backend::Backend;

use crate::driver::Driver;

/// Calls one tool, whose name and input are TOML, in edit mode.
async fn call(driver: &mut Driver, tool: &str, input: &str) -> (String, String) {
    driver.set("mode", "edit");
    driver.turn(&format!("{tool} {input}")).await;
    driver.outcome()
}

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

async fn completes(driver: &mut Driver, tool: &str, input: &str, expected: &str) {
    let (status, text) = call(driver, tool, input).await;
    assert_eq!((status.as_str(), text.as_str()), ("completed", expected), "{tool} {input}");
}

async fn fails(driver: &mut Driver, tool: &str, input: &str, says: &str) {
    let (status, text) = call(driver, tool, input).await;
    assert_eq!(status, "failed", "{tool} {input}: {text}");
    assert!(text.contains(says), "{tool} {input}: {text}");
}

#[tokio::test]
async fn read() {
    let mut d = driver();
    d.write("a.txt", "one\ntwo\nthree\n");
    d.write("b.bin", b"\x00\x01");
    d.write("c.txt", b"caf\xe9");
    d.write("long.txt", "x\n".repeat(3000));
    d.write("huge.txt", vec![b'x'; 10 * 1024 * 1024 + 1]);
    d.write("wide.txt", "ä".repeat(200 * 1024));
    completes(&mut d, "read", r#"{"path":"a.txt"}"#, "one\ntwo\nthree\n").await;
    completes(
        &mut d,
        "read",
        r#"{"path":"./x/../a.txt","line":"2","limit":1}"#,
        "two\n\n[more from line 3 on]\n",
    )
    .await;
    completes(&mut d, "read", r#"{"path":"a.txt","line":3}"#, "three\n").await;
    fails(&mut d, "read", r#"{"path":"a.txt","line":4}"#, "The file has 3 lines").await;
    fails(&mut d, "read", r#"{"path":"b.bin"}"#, "The file is binary.").await;
    fails(&mut d, "read", r#"{"path":"c.txt"}"#, "The file is binary.").await;
    fails(&mut d, "read", r#"{"path":"huge.txt"}"#, "The file is too large").await;
    fails(&mut d, "read", r#"{"path":"none.txt"}"#, "There is no such file.").await;
    fails(&mut d, "read", r#"{"path":"a.txt/b"}"#, "There is no such file.").await;
    fails(&mut d, "read", r#"{"path":"."}"#, "This is a folder").await;
    fails(&mut d, "read", r#"{"path":""}"#, "This is a folder").await;
    let (_, long) = call(&mut d, "read", r#"{"path":"long.txt"}"#).await;
    assert!(long.ends_with("[more from line 2001 on]\n"), "{}", long.len());
    let (_, wide) = call(&mut d, "read", r#"{"path":"wide.txt"}"#).await;
    assert!(wide.ends_with("[cut here: the lines are too long]\n") && wide.len() < 300 * 1024);
}

#[tokio::test]
async fn nothing_outside_the_directories_is_reached() {
    let mut d = driver();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    symlink(outside.path(), d.path("link")).unwrap();
    symlink(outside.path().join("secret"), d.path("file")).unwrap();
    symlink("loop", d.path("loop")).unwrap();
    symlink(outside.path().join("not-yet"), d.path("dangling")).unwrap();
    d.write("in/a.txt", "a");
    symlink("in", d.path("inner")).unwrap();
    let absolute = outside.path().join("secret");
    let out = "leads out of the session's directories";
    let paths = [
        "../x",
        "link/secret",
        "link/new/deep",
        "link",
        "file",
        "in/../../x",
        "link/../in/a.txt",
        "/etc/passwd",
    ];
    for path in paths.into_iter().chain([absolute.to_str().unwrap()]) {
        fails(&mut d, "read", &format!(r#"{{"path":"{path}"}}"#), out).await;
        fails(&mut d, "write", &format!(r#"{{"path":"{path}","content":"x"}}"#), out).await;
        fails(&mut d, "edit", &format!(r#"{{"path":"{path}","old":"s","new":"x"}}"#), out).await;
        fails(&mut d, "list", &format!(r#"{{"path":"{path}"}}"#), out).await;
        fails(&mut d, "search", &format!(r#"{{"path":"{path}","pattern":"s"}}"#), out).await;
    }
    for path in ["loop", "dangling", "dangling/x"] {
        fails(&mut d, "write", &format!(r#"{{"path":"{path}","content":"x"}}"#), "leads nowhere").await;
    }
    assert_eq!(fs::read_to_string(&absolute).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    completes(&mut d, "read", r#"{"path":"inner/a.txt"}"#, "a").await;
    // A search does not follow links out.
    let nothing = "Nothing was found in what was searched.\n\
        [Left out: links, which are not followed: dangling, file, inner and 2 more]";
    completes(&mut d, "search", r#"{"pattern":"secret"}"#, nothing).await;
}

#[tokio::test]
async fn other_directories_of_the_session_are_reached() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(there.path().join("a.txt"), "there").unwrap();
    let rehearsal = format!(
        "[[turn]]\n[[turn.step]]\nplay = [{{ call = 'read', input = {{ path = '{}' }} }}]\n[[turn.step]]\nplay = []",
        there.path().join("a.txt").display()
    );
    let script = nudge_model::script::ScriptedModel::parse(&rehearsal).unwrap();
    let setup = nudge_agent::AgentSetup {
        cwd: here.path().to_owned(),
        additional_directories: vec![there.path().to_owned()],
        ..nudge_agent::AgentSetup::default()
    };
    let mut agent = nudge_agent::BuiltInAgent::start(
        std::sync::Arc::new(nudge_model::FixedModel::new(std::sync::Arc::new(script))),
        setup,
    );
    agent.prompt(vec![crate::driver::message("x")], nudge_wire::ClientContext::default());
    let mut told = String::new();
    while let Some(event) = agent.next().await {
        match event {
            nudge_backend::BackendEvent::Update(update) => told += update.raw.as_str(),
            nudge_backend::BackendEvent::Question(question) => {
                agent.answer(question.id, Err(nudge_backend::nobody_answers(&question.method)));
            }
            nudge_backend::BackendEvent::BreakPoint => agent.go_on(Vec::new()),
            nudge_backend::BackendEvent::TurnEnded(_) => break,
            _ => {}
        }
    }
    assert!(
        told.contains(
            r#""status":"completed","content":[{"type":"content","content":{"type":"text","text":"there"}}]"#
        ),
        "{told}"
    );
}

#[tokio::test]
async fn list_and_search_respect_ignore_rules() {
    let mut d = driver();
    d.write(".gitignore", "target/\n*.log\n");
    d.write("src/a.rs", "fn alpha() {}\nfn beta() {}\n");
    d.write("src/deep/b.rs", "// Alpha (x)\n");
    d.write("target/out.rs", "fn alpha() {}");
    d.write("x.log", "alpha");
    d.write(".git/config", "alpha");
    d.write("bin", b"\x00alpha");
    completes(&mut d, "list", "{}", ".gitignore\nbin\nsrc/").await;
    completes(&mut d, "list", r#"{"path":"src","depth":2}"#, "src/a.rs\nsrc/deep/\nsrc/deep/b.rs").await;
    fails(&mut d, "list", r#"{"path":"src/a.rs"}"#, "There is no such folder.").await;
    let binary = "[Left out: binary: bin]";
    let one = format!("src/a.rs:1: fn alpha() {{}}\n{binary}");
    completes(&mut d, "search", r#"{"pattern":"alpha"}"#, &one).await;
    completes(&mut d, "search", r#"{"pattern":"a (","path":"src"}"#, "src/deep/b.rs:1: // Alpha (x)").await;
    let both = &format!("src/a.rs:1: fn alpha() {{}}\nsrc/deep/b.rs:1: // Alpha (x)\n{binary}");
    completes(&mut d, "search", r#"{"pattern":"alpha","ignore_case":true}"#, both).await;
    completes(
        &mut d,
        "search",
        r#"{"pattern":"^fn b","regex":true,"path":"src"}"#,
        "src/a.rs:2: fn beta() {}",
    )
    .await;
    completes(&mut d, "search", r#"{"pattern":"beta","path":"src/a.rs"}"#, "src/a.rs:2: fn beta() {}").await;
    fails(&mut d, "search", r#"{"pattern":"x","path":"nowhere"}"#, "There is no such file or folder.").await;
    fails(&mut d, "search", r#"{"pattern":"x","path":"bin"}"#, "The file is binary.").await;
    d.write("many.txt", "needle\n".repeat(500));
    let (_, many) = call(&mut d, "search", r#"{"pattern":"needle"}"#).await;
    assert!(many.contains("\n[only the first 200 are shown]\n") && many.lines().count() == 202, "{many}");
}

#[tokio::test]
async fn a_name_with_line_breaks_is_told_on_one_line() {
    let mut d = driver();
    d.write("evil\nb.txt:1: fake", "needle");
    d.write("z\r\u{1b}[2J\u{2028}", "needle");
    std::os::unix::fs::symlink("nowhere", d.path("l\n[x]")).unwrap();
    let told = [r"evil\nb.txt:1: fake", r"z\r\u{1b}[2J\u{2028}", r"l\n[x]"];
    completes(&mut d, "list", "{}", &format!("{}\n{}\n{}", told[0], told[2], told[1])).await;
    let links = format!("[Left out: links, which are not followed: {}]", told[2]);
    let found = format!("{}:1: needle\n{}:1: needle\n{links}", told[0], told[1]);
    completes(&mut d, "search", r#"{"pattern":"needle"}"#, &found).await;
}

#[tokio::test]
async fn a_search_says_what_was_ignored() {
    let mut d = driver();
    d.write("a.txt", "needle");
    d.write("b.log", "other");
    completes(&mut d, "search", r#"{"pattern":"no such"}"#, "Nothing was found.").await;
    d.write(".gitignore", "*.txt\n");
    let some = "Nothing was found in what was searched. Files and folders that are ignored: 1.";
    completes(&mut d, "search", r#"{"pattern":"needle"}"#, some).await;
    d.write(".gitignore", "*\n");
    let all = "No file was searched. Files and folders that are ignored: 3.";
    completes(&mut d, "search", r#"{"pattern":"needle"}"#, all).await;
    completes(&mut d, "search", r#"{"pattern":"needle","path":"a.txt"}"#, "a.txt:1: needle").await;
}

#[tokio::test]
async fn write_and_edit() {
    let mut d = driver();
    let made = "The file was made; it has 2 lines now.";
    completes(&mut d, "write", r#"{"path":"new/a.txt","content":"one\ntwo\n"}"#, made).await;
    assert_eq!(d.text("new/a.txt"), "one\ntwo\n");
    let changed = "The file was changed; it has 2 lines now.";
    completes(&mut d, "edit", r#"{"path":"new/a.txt","old":"two","new":"2"}"#, changed).await;
    assert_eq!(d.text("new/a.txt"), "one\n2\n");
    fails(&mut d, "edit", r#"{"path":"new/a.txt","old":"three","new":"3"}"#, "is not in the file").await;
    fails(&mut d, "edit", r#"{"path":"new/a.txt","old":"","new":"3"}"#, "is empty").await;
    fails(&mut d, "edit", r#"{"path":"none","old":"a","new":"b"}"#, "There is no such file.").await;
    fails(&mut d, "edit", r#"{"path":"new/a.txt","old":"\n","new":" "}"#, "2 times").await;
    completes(
        &mut d,
        "edit",
        r#"{"path":"new/a.txt","old":"\n","new":" ","all":true}"#,
        "The file was changed; it has 1 line now.",
    )
    .await;
    assert_eq!(d.text("new/a.txt"), "one 2 ");
    fails(&mut d, "write", r#"{"path":"new","content":""}"#, "This is a folder").await;
    d.write("b.bin", b"\x00");
    fails(&mut d, "write", r#"{"path":"b.bin","content":""}"#, "The file is binary.").await;
    assert_eq!(fs::read_dir(d.path("new")).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn a_file_keeps_its_permissions() {
    let mut d = driver();
    d.write("run.sh", "a");
    fs::set_permissions(d.path("run.sh"), fs::Permissions::from_mode(0o775)).unwrap();
    call(&mut d, "write", r#"{"path":"run.sh","content":"b"}"#).await;
    assert_eq!(fs::metadata(d.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o775);
    d.write("plain", "");
    call(&mut d, "write", r#"{"path":"other","content":""}"#).await;
    let mode = |name: &str| fs::metadata(d.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("other"), mode("plain"), "a new file is made as any other program makes it");
}

#[tokio::test]
async fn a_change_is_shown_as_a_diff_with_absolute_paths() {
    let mut d = driver();
    d.write("a.txt", "one\ntwo\nthree");
    call(&mut d, "edit", r#"{"path":"a.txt","old":"two","new":"2"}"#).await;
    let path = d.path("a.txt").to_string_lossy().into_owned();
    let diff =
        &d.updates.iter().rfind(|update| update["content"][0]["type"] == "diff").unwrap()["content"][0];
    assert_eq!(diff["changes"][0]["path"], *path);
    assert_eq!(diff["changes"][0]["operation"], "modify");
    let expected = format!(
        "diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n"
    );
    assert_eq!(diff["patch"]["text"], *expected);
    call(&mut d, "write", r#"{"path":"b.txt","content":"x\n"}"#).await;
    let path = d.path("b.txt").to_string_lossy().into_owned();
    let diff =
        &d.updates.iter().rfind(|update| update["content"][0]["type"] == "diff").unwrap()["content"][0];
    assert_eq!(diff["changes"][0]["operation"], "add");
    let expected = format!(
        "diff --git {path} {path}\nnew file mode 100644\n--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n"
    );
    assert_eq!(diff["patch"]["text"], *expected);
}

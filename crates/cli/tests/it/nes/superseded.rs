//! A question that is superseded stops working, also while a long file is parsed for it.

use serde_json::json;

use super::{Editor, piece, position};

const GO: &str = "file:///w/main.go";
const KEYS: usize = 20;

/// A long file that does not parse, so that every key makes the parser look at much of it again.
fn broken(lines: usize) -> String {
    let line = |at: usize| format!("\tx{at} := y[{at}](z, \"a\" {{\n");
    "package main\n\nfunc main( {\n".to_owned() + &(0..lines).map(line).collect::<Vec<_>>().concat()
}

/// The seconds that a process has worked.
#[cfg(target_os = "linux")]
fn worked(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

#[cfg(target_os = "linux")]
#[test]
fn superseded_questions_about_a_long_broken_file_stop() {
    let mut editor = Editor::new(1);
    let text = broken(30_000);
    editor.event("didOpen", GO, &json!({"languageId": "go", "version": 1, "text": text}));
    let (mut ids, mut answered) = (Vec::new(), Vec::new());
    let take = |editor: &mut Editor, answered: &mut Vec<u64>, last: u64| {
        let response = editor.receive();
        let id = response["id"].as_u64().unwrap();
        assert!(id != last || response["result"].is_object(), "{response}");
        answered.push(id);
        id
    };
    for key in 0..KEYS {
        let version = i64::try_from(key).unwrap() + 2;
        editor.change(GO, version, &piece((1, key, 1, key), "k"));
        let ask = editor.ask(GO, version, &position(1, key + 1));
        ids.push(editor.send("nes/suggest", &ask));
        // The next key comes when the question has begun.
        let begun = editor.send("nes/close", &json!({"sessionId": "none"}));
        ids.push(begun);
        while take(&mut editor, &mut answered, 0) != begun {}
    }
    // What is superseded may be answered in any order; the last is answered with a result.
    let last = ids[2 * KEYS - 2];
    while answered.len() < 2 * KEYS {
        take(&mut editor, &mut answered, last);
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
    let worked = worked(editor.process.id());
    println!("{worked} s of work for {KEYS} keys");
    assert!(worked < 3.0, "{worked} s of work for {KEYS} keys");
    if let Some(peak) = nudge_testkit::peak_memory(editor.process.id()) {
        assert!(peak < 150 << 20, "{} MB", peak >> 20);
    }
    editor.finish();
}

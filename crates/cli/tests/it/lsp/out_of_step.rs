//! Changes that cannot be read: no document is out of step without anybody knowing, and whoever asks is answered.

use serde_json::{Value, json};

use super::{Editor, FILE, PROGRAM, USES, places};

const OTHER: &str = "file:///project/b.rs";
const OUT_OF_STEP: &str = "a change of the document could not be made; open it anew";

/// A `didChange` of the document that is changed so, written by hand: what stands in it may be no JSON.
fn did_change(version: &str, changes: &str) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"#;
    format!(r#"{head}"{FILE}","version":{version}}},"contentChanges":{changes}}}}}"#).into_bytes()
}

/// Changes that put `text`, which is JSON, at the beginning of the second line.
fn put(text: &str) -> String {
    let at = r#"{"line":1,"character":0}"#;
    format!(r#"[{{"range":{{"start":{at},"end":{at}}},"text":"{text}"}}]"#)
}

fn send(editor: &mut Editor, body: &[u8]) {
    let head = format!("Content-Length: {}\r\n\r\n", body.len());
    assert!(editor.raw(&[head.as_bytes(), body].concat()), "it reads");
}

fn editor(encoding: &str) -> Editor {
    let general = json!({ "positionEncodings": [encoding] });
    let mut editor = Editor::new(&json!({ "capabilities": { "general": general } }));
    editor.open(FILE, PROGRAM);
    editor
}

#[test]
fn half_a_surrogate_pair_is_one_unit_of_utf_16() {
    let mut editor = editor("utf-16");
    // Two lines more, and in one of them each half of a pair, which come one after the other.
    send(&mut editor, &did_change("2", &put(r"    /* \ud83d */ now();\n    // \\ud83d\n")));
    let at = r#"{"line":1,"character":8}"#;
    let second = format!(r#"[{{"range":{{"start":{at},"end":{at}}},"text":"\uDE00"}}]"#);
    send(&mut editor, &did_change("3", &second));
    editor.version = 3;
    editor.change(1, 13..16, "later");
    editor.change(3, 8..13, "sum");
    let answer = editor.suggest(3, 11);
    let expected: Vec<_> = USES.iter().map(|(line, at, text)| (line + 2, *at, *text)).collect();
    assert_eq!(places(&answer["suggestions"][0]), expected, "{answer}");
}

#[test]
fn in_other_encodings_nobody_knows_how_long_it_is() {
    for encoding in ["utf-8", "utf-32"] {
        let mut editor = editor(encoding);
        send(&mut editor, &did_change("2", &put(r"    // \udc00\n")));
        editor.version = 2;
        assert_eq!(editor.suggest(2, 11)["why"], OUT_OF_STEP, "{encoding}");
        editor.rename();
        assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES, "{encoding}");
    }
}

#[test]
fn a_position_between_the_halves_of_a_pair_is_known_to_be_none() {
    let mut editor = editor("utf-16");
    send(&mut editor, &did_change("2", &put(r"    // \ud83d\ude00\n")));
    editor.version = 2;
    editor.change(1, 8..9, "");
    assert_eq!(editor.suggest(2, 11)["why"], OUT_OF_STEP);
}

#[test]
fn a_change_that_cannot_be_read_puts_its_document_out_of_step() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let long = "x".repeat(20_000);
    let last = format!(
        r#"{{"params":{{"contentChanges":{},"textDocument":{{"version":2,"uri":"{FILE}"}}}},"method":"textDocument/didChange"}}"#,
        put(&long)
    );
    let bodies: [Vec<u8>; 9] = [
        did_change("2", &put("\u{1}")),
        [&did_change("2", "[")[..], b"\xff"].concat(),
        did_change("2", &deep),
        did_change("1e999", &put("a")),
        did_change("null", &put("a")),
        did_change("2", r#"[{"text":7}]"#),
        did_change("2", &put(&long)),
        last.into_bytes(),
        did_change("2", &put("a"))[..60].to_vec(),
    ];
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        let mut editor =
            Editor::start_with(&["--no-daemon", "--max-message", "10000"], &[("NUDGE_DATA", "")]);
        editor.initialize(&json!({}));
        editor.open(FILE, PROGRAM);
        send(&mut editor, &body);
        editor.version = 2;
        assert_eq!(editor.suggest(1, 11)["why"], OUT_OF_STEP, "{shown}");
        let told: Vec<_> = editor.seen.iter().map(|seen| seen["method"].as_str().unwrap()).collect();
        assert_eq!(told, ["window/logMessage"], "once, to whoever looks there: {shown}");
        editor.rename();
        assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES, "{shown}");
    }
}

#[test]
fn what_is_about_something_else_leaves_documents_in_step() {
    let mut editor = editor("utf-16");
    let bodies: [&[u8]; 5] = [
        br#"{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"a":1e999}}"#,
        br#"{"jsonrpc":"1.0","method":"window/something"}"#,
        br#"{"jsonrpc":"2.0","id":77,"result":1e999}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
        b"{}",
    ];
    for body in bodies {
        send(&mut editor, body);
    }
    editor.change(1, 8..13, "sum");
    assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES);
}

#[test]
fn every_request_is_answered() {
    let mut editor = Editor::start_with(&["--no-daemon", "--max-message", "10000"], &[("NUDGE_DATA", "")]);
    editor.initialize(&json!({}));
    editor.rename();
    let position = r#""position":{"line":1,"character":11}"#;
    let suggest = |id: u32, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"nudge/suggest","params":{{"textDocument":{{"uri":"{FILE}"}},{position},"trigger":"manual"{more}}}}}"#
        )
    };
    send(&mut editor, suggest(100, r#","_":"\ud83d""#).as_bytes());
    assert_eq!(places(&editor.answer(100)["result"]["suggestions"][0]), USES);
    let cases = [
        suggest(101, r#","_":1e999"#),
        suggest(102, &format!(r#","_":"{}""#, "x".repeat(20_000))),
        suggest(103, &format!(r#","_":{}{}"#, "[".repeat(5000), "]".repeat(5000))),
        suggest(104, r#","_":"#),
        r#"{"jsonrpc":"1.0","id":105,"method":"a"}"#.to_owned(),
    ];
    for (id, case) in (101..).zip(cases) {
        send(&mut editor, case.as_bytes());
        assert_eq!(editor.answer(id)["error"]["code"], -32600, "{id}");
    }
    assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES, "and no document is out of step");
}

#[test]
fn nothing_is_renamed_in_a_document_that_is_out_of_step() {
    let initialize = json!({ "initializationOptions": { "kinds": ["rename"], "eagerness": "high" } });
    let mut editor = Editor::new(&initialize);
    editor.open(OTHER, "use crate::a::count;\nfn more() {\n    keep(count(6));\n}\n");
    let lines = ["pub fn count(n: u32) -> u32 {", "    n", "}", "fn first() {", "    show(count(1));", "}"];
    editor.open(FILE, &lines.map(|line| format!("{line}\n")).concat());
    editor.change(4, 9..14, "number");
    let renamed = |editor: &mut Editor| -> Value {
        let answer = editor.suggest(4, 15);
        let all = answer["suggestions"].as_array().unwrap();
        all.iter()
            .find(|one| one["kind"] == "rename")
            .map_or(Value::Null, |one| one["edit"]["changes"].clone())
    };
    assert!(renamed(&mut editor)[OTHER].is_array());
    // A line more, which the server cannot read.
    let body = String::from_utf8(did_change("2", &put("a\u{1}"))).unwrap().replace(FILE, OTHER);
    send(&mut editor, body.as_bytes());
    assert_eq!(renamed(&mut editor)[OTHER], Value::Null);
}

#[test]
fn a_request_is_answered_under_whatever_id_it_has() {
    let mut editor = editor("utf-16");
    for (id, answered) in [
        ("99999999999", json!(99_999_999_999_i64)),
        ("778.5", json!(778.5)),
        ("[1]", Value::Null),
        ("true", Value::Null),
    ] {
        send(&mut editor, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"shutdown"}}"#).as_bytes());
        let answer = std::iter::from_fn(|| editor.next()).find(|message| message.get("method").is_none());
        let answer = answer.expect("it is answered");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&answered, &json!(-32600)), "{id}");
    }
    editor.rename();
    assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES, "and nothing else has changed");
    assert!(editor.leave().success());
}

#[test]
fn a_message_of_no_length_is_none() {
    let mut editor = editor("utf-16");
    send(&mut editor, b"");
    editor.rename();
    assert_eq!(places(&editor.suggest(1, 11)["suggestions"][0]), USES);
}

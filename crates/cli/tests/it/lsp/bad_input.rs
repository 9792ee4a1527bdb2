//! What no editor should send: the server says nothing wrong, does not fall, and goes on where it can.

use serde_json::{Value, json};

use super::{Editor, FILE, PROGRAM};

fn framed(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

#[test]
fn messages_that_cannot_be_read_are_left_out() {
    let mut editor = Editor::new(&json!({}));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","method":"a","params":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let bodies: Vec<&[u8]> = vec![
        b"",
        b"nothing",
        b"{",
        b"[]",
        b"null",
        b"{}",
        br#"{"jsonrpc":"2.0"}"#,
        br#"{"jsonrpc":"1.0","method":"a"}"#,
        br#"{"jsonrpc":"2.0","method":7}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
        br#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#,
        br#"{"jsonrpc":"2.0","id":99999999999999,"method":"a"}"#,
        br#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
        br#"{"jsonrpc":"2.0","id":7,"error":7}"#,
        br#"{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":"x"}}"#,
        br#"{"jsonrpc":"2.0","id":7,"error":{"code":99999999999,"message":"m"}}"#,
        br#"{"jsonrpc":"2.0","id":7}"#,
        br#"{"jsonrpc":"2.0","method":"a","params":1e999}"#,
        br#"{"jsonrpc":"2.0","method":"a","params":"\ud800"}"#,
        b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":\"\xff\"}",
        br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#,
        deep.as_bytes(),
    ];
    for body in &bodies {
        assert!(editor.raw(&framed(body)));
    }
    assert_eq!(editor.ask("nudge/nothing", &json!({}))["error"]["code"], -32601);
    assert!(editor.leave().success());
}

#[test]
fn headers_are_read_leniently() {
    let mut editor = Editor::start();
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let head = format!("\r\ncontent-type: text\r\nCONTENT-LENGTH:{}\n\r\n", body.len());
    editor.raw(&[head.as_bytes(), body].concat());
    assert!(editor.answer(1)["result"].is_object());
}

#[test]
fn what_is_not_lsp_ends_it_and_says_so() {
    let endless = vec![b'x'; 100_000];
    let many = "A: b\r\n".repeat(1000);
    let inputs: [&[u8]; 6] = [
        br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        &endless,
        many.as_bytes(),
    ];
    for input in inputs {
        let mut editor = Editor::start();
        editor.raw(&[input, b"\n\r\n\r\n"].concat());
        let shown = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
        assert_eq!(editor.next(), None, "{shown}");
        assert_eq!(editor.child.wait().unwrap().code(), Some(1), "{shown}");
    }
}

#[test]
fn what_is_too_long_is_dropped_without_being_held() {
    let mut editor = Editor::start_with(&["--no-daemon", "--max-message", "2000"], &[("NUDGE_DATA", "")]);
    editor.initialize(&json!({}));
    let long = "x".repeat(50_000_000);
    editor.open(FILE, &long);
    assert_eq!(editor.suggest(0, 0)["why"], "the document is not open, or too long");
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 200_000, "{peak} kB");
}

#[test]
fn a_length_that_is_only_claimed_takes_no_memory() {
    let mut editor = Editor::new(&json!({}));
    editor.raw(b"Content-Length: 60000000\r\n\r\n{");
    editor.input = None;
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
}

#[test]
fn params_of_the_wrong_shape_are_refused() {
    let mut editor = Editor::new(&json!({}));
    editor.open(FILE, PROGRAM);
    for params in
        [json!(null), json!([]), json!({ "textDocument": 1 }), json!({ "position": { "line": -1 } })]
    {
        for method in [
            "nudge/suggest",
            "textDocument/inlineCompletion",
            "textDocument/copilotInlineEdit",
            "textDocument/codeAction",
            "workspace/executeCommand",
        ] {
            assert_eq!(editor.ask(method, &params)["error"]["code"], -32602, "{method} {params}");
        }
        for method in [
            "textDocument/didOpen",
            "textDocument/didChange",
            "textDocument/didClose",
            "textDocument/didSave",
            "textDocument/didFocus",
            "nudge/didFocus",
            "nudge/accept",
            "nudge/reject",
            "nudge/diagnostics",
            "workspace/didChangeConfiguration",
            "workspace/didChangeWorkspaceFolders",
            "window/workDoneProgress/cancel",
        ] {
            editor.note(method, &params);
        }
    }
    let unknown = json!({ "command": "rm", "arguments": ["-rf"] });
    assert_eq!(editor.ask("workspace/executeCommand", &unknown)["error"]["code"], -32602);
    assert!(editor.leave().success());
}

fn changed(editor: &mut Editor, uri: &str, version: i64, change: &Value) {
    let document = json!({ "uri": uri, "version": version });
    editor.note("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": [change] }));
}

#[test]
fn a_document_out_of_step_gets_nothing_until_it_is_whole_again() {
    let range = |line: u32| {
        let at = json!({ "line": line, "character": 0 });
        json!({ "range": { "start": at, "end": at }, "text": "x" })
    };
    let reversed = json!({
        "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 1, "character": 0 } }, "text": "x",
    });
    for (version, change) in [(2, range(1000)), (1, range(0)), (-5, range(0)), (2, reversed)] {
        let mut editor = Editor::new(&json!({}));
        editor.open(FILE, PROGRAM);
        changed(&mut editor, FILE, version, &change);
        let position = json!({ "line": 1, "character": 11 });
        let params = json!({ "textDocument": { "uri": FILE }, "position": position, "trigger": "manual" });
        let answer = editor.result("nudge/suggest", &params);
        assert_eq!(answer["why"], "a change of the document could not be made; open it anew", "{change}");
        let told: Vec<_> = editor.seen.iter().map(|seen| seen["method"].as_str().unwrap()).collect();
        assert_eq!(told, ["window/logMessage"], "once, to whoever looks there");
        changed(&mut editor, FILE, 9, &json!({ "text": PROGRAM }));
        editor.version = 9;
        editor.change(1, 8..13, "sum");
        assert_eq!(editor.suggest(1, 11)["suggestions"][0]["kind"], "edit", "{change}");
    }
}

#[test]
fn what_is_not_open_does_no_harm() {
    let mut editor = Editor::new(&json!({}));
    changed(&mut editor, "file:///nowhere.rs", 2, &json!({ "text": "x" }));
    editor.note("textDocument/didClose", &json!({ "textDocument": { "uri": "file:///nowhere.rs" } }));
    editor.note("textDocument/didSave", &json!({ "textDocument": { "uri": "untitled:1" } }));
    editor.rename();
    assert_eq!(editor.suggest(1, 11)["suggestions"][0]["kind"], "edit");
    editor.note("textDocument/didClose", &json!({ "textDocument": { "uri": FILE } }));
    assert_eq!(editor.suggest(1, 11)["why"], "the document is not open, or too long");
}

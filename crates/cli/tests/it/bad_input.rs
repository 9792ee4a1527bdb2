//! What comes in may be anything: each kind gets its documented answer, and the next valid message works.

use nudge_testkit::{Process, peak_memory};
use serde_json::{Value, json};

use crate::{error_of, nudge, ping};

const MIB: usize = 1024 * 1024;

/// Sends `bytes` and a newline, expects these errors (code and id), then a valid request must work.
fn check(bytes: impl AsRef<[u8]>, expected: &[(i64, Value)]) {
    let mut nudge = nudge(&["acp"]);
    check_on(&mut nudge, bytes.as_ref(), expected);
    let (status, rest, errors) = nudge.finish();
    assert!(status.success() && rest.is_empty(), "{status} {rest:?} {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
}

fn check_on(nudge: &mut Process, bytes: &[u8], expected: &[(i64, Value)]) {
    nudge.line(bytes);
    ping(nudge, "\"next\"");
    for wanted in expected {
        let response = nudge.next_json().expect("an answer");
        assert_eq!(&error_of(&response), wanted, "{response}");
        assert!(response.to_string().len() < 400, "an error does not echo the input: {response}");
    }
    let next = nudge.next_json().expect("the connection goes on");
    assert_eq!((&next["id"], &next["result"]["protocolVersion"]), (&json!("next"), &json!(1)));
}

#[test]
fn malformed_json() {
    for text in ["{", "nonsense", r#"{"jsonrpc":"2.0","id":1,"method":"initialize""#, "{}}", r#"{"a":01}"#] {
        check(text, &[(-32700, json!(null))]);
    }
}

#[test]
fn an_error_does_not_quote_the_input() {
    let mut nudge = nudge(&["acp"]);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":"sk-secret-0123456789"}"#,
        "sk-secret-0123456789",
        r#"{"jsonrpc":"sk-secret","id":1,"method":"initialize"}"#,
        r#"{"sk-secret":}"#,
    ] {
        nudge.line(line);
        let response = nudge.next_json().expect("an answer").to_string();
        assert!(!response.contains("secret"), "{response}");
    }
}

#[test]
fn invalid_utf8() {
    check(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"x\":\"\xff\xfe\"}}",
        &[(-32700, json!(null))],
    );
    check(b"\xc3\x28", &[(-32700, json!(null))]);
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    // Deep params are only text until somebody wants them.
    let request = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{params}}}"#)
    };
    check(request("x/y", &deep("[", "]")), &[(-32601, json!(5))]);
    check(request("initialize", &deep("[", "]")), &[(-32602, json!(5))]);
    // A batch whose only entry is no message is answered by a batch.
    let mut nudge = nudge(&["acp"]);
    nudge.line(deep("[", "]"));
    assert_eq!(error_of(&nudge.next_json().unwrap()[0]), (-32600, json!(null)));
    check_on(&mut nudge, b"", &[]);
}

#[test]
fn responses_to_nothing_are_ignored() {
    check(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#, &[]);
    check(r#"{"jsonrpc":"2.0","id":"77","error":{"code":1,"message":"m"}}"#, &[]);
    check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#, &[]);
    check(r#"{"jsonrpc":"2.0","result":1}"#, &[]);
}

#[test]
fn lines_that_are_no_request() {
    let invalid = [(-32600, json!(null))];
    for text in ["1", "null", "\"text\"", "{}", "[]", "true"] {
        check(text, &invalid);
    }
    check(r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, &invalid);
    check(r#"{"jsonrpc":"2.0","id":3,"method":7}"#, &[(-32600, json!(3))]);
    check(r#"{"jsonrpc":"1.0","id":3,"method":"initialize"}"#, &[(-32600, json!(3))]);
    check(r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":"text"}"#, &[(-32600, json!(3))]);
    check(r#"{"jsonrpc":"2.0","id":3,"method":"a","method":"b"}"#, &[(-32600, json!(3))]);
    check(r#"{"jsonrpc":"2.0","id":3,"id":4,"method":"a"}"#, &invalid);
}

#[test]
fn empty_lines_crlf_and_a_byte_order_mark_are_harmless() {
    check("", &[]);
    check("  \t ", &[]);
    check("\r", &[]);
    check("\u{feff}", &[]);
    let mut nudge = nudge(&["acp"]);
    nudge.write("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\r\n");
    assert_eq!(nudge.next_json().unwrap()["result"]["protocolVersion"], 1);
}

#[test]
fn nul_bytes() {
    check(b"\0", &[(-32700, json!(null))]);
    check(b"{\"jsonrpc\":\"2.0\",\0\"id\":1}", &[(-32700, json!(null))]);
}

#[test]
fn ids_come_back_exactly() {
    for id in [
        "1.5",
        "18446744073709551615",
        "18446744073709551616",
        "-7",
        "\"1\"",
        "\"\\u0041\\n\"",
        "null",
        "1e2",
        "0",
    ] {
        let mut nudge = nudge(&["acp"]);
        ping(&mut nudge, id);
        let (_, lines, _) = nudge.finish();
        assert_eq!(lines.len(), 1);
        assert!(
            lines[0].starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\"")),
            "{id}: {}",
            lines[0]
        );
    }
}

#[test]
fn two_requests_under_one_id() {
    // Handled one after the other, the id is free again when the second comes.
    let mut nudge = nudge(&["acp"]);
    nudge.write(
        format!("{}\n", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#)
            .repeat(2),
    );
    let answers: Vec<_> = (0..2).map(|_| nudge.next_json().expect("two answers")).collect();
    assert!(answers.iter().all(|answer| answer["id"] == 1), "{answers:?}");
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32600).count();
    let served = answers.iter().filter(|answer| answer["result"]["protocolVersion"] == 1).count();
    assert_eq!(
        (served, served + refused),
        (1, 2),
        "one is served, the other told that the id is in use: {answers:?}"
    );
    check_on(&mut nudge, b"", &[]);
}

#[test]
fn batches_are_answered_together() {
    let mut nudge = nudge(&["acp"]);
    nudge.line(
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}, 7,
            {"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#
            .replace('\n', ""),
    );
    let answer = nudge.next_json().unwrap();
    let codes: Vec<_> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["id"].clone(), one["error"]["code"].clone()))
        .collect();
    assert_eq!(codes.len(), 3, "{answer}");
    for wanted in [(json!(1), json!(null)), (json!(null), json!(-32600)), (json!(2), json!(-32601))] {
        assert!(codes.contains(&wanted), "{answer}");
    }
    // Nothing to answer: no empty array.
    nudge.line(r#"[{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","id":9,"result":1}]"#);
    check_on(&mut nudge, b"[]", &[(-32600, json!(null))]);
    check_on(&mut nudge, b"[1,", &[(-32700, json!(null))]);
}

#[test]
fn the_end_of_input_in_mid_line() {
    let mut half = nudge(&["acp"]);
    half.write(r#"{"jsonrpc":"2.0","id":1,"method":"initi"#);
    let (status, lines, _) = half.finish();
    assert!(status.success());
    assert_eq!(error_of(&serde_json::from_str(&lines[0]).unwrap()), (-32700, json!(null)));
    let mut whole = nudge(&["acp"]);
    whole.write(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#);
    let (_, lines, _) = whole.finish();
    assert_eq!(lines.len(), 1, "a last line without a newline is a message all the same");
    assert!(lines[0].contains("\"result\""));
}

/// Sends a line of about 100 MB and tells by how much the receiving process grew.
fn growth(filler: &[u8], head: &str, tail: &str, expected: &[(i64, Value)]) -> usize {
    let mut nudge = nudge(&["acp"]);
    ping(&mut nudge, "0");
    nudge.next_json().unwrap();
    let before = peak_memory(nudge.id());
    nudge.write(head);
    let chunk = filler.repeat(MIB / filler.len());
    for _ in 0..100 {
        nudge.write(&chunk);
    }
    check_on(&mut nudge, tail.as_bytes(), expected);
    let after = peak_memory(nudge.id());
    match (before, after) {
        (Some(before), Some(after)) => after - before,
        _ => 0,
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_dropped_and_answered() {
    let head = r#"{"jsonrpc":"2.0","id":41,"method":"initialize","params":{"x":"#;
    let one_string = growth(b"x", &format!("{head}\""), "\"}}", &[(-32600, json!(41))]);
    let small_values = growth(b"1,", &format!("{head}["), "1]}}", &[(-32600, json!(41))]);
    let no_id = growth(b"[", "", "", &[(-32600, json!(null))]);
    // The limit is 64 MiB, so up to that much is buffered before a line is known to be too long.
    for growth in [one_string, small_values, no_id] {
        assert!(growth < 160 * MIB, "{growth}");
    }
}

#[test]
fn the_limit_can_be_set() {
    let mut nudge = crate::nudge_with(&["acp"], &[("NUDGE_MAX_MESSAGE", "2000")]);
    let long = format!(
        r#"{{"jsonrpc":"2.0","method":"initialize","params":{{"x":"{}"}},"id":"late"}}"#,
        "y".repeat(3000)
    );
    check_on(&mut nudge, long.as_bytes(), &[(-32600, json!("late"))]);
    let notification = format!(r#"{{"jsonrpc":"2.0","method":"m","params":["{}"]}}"#, "y".repeat(3000));
    check_on(&mut nudge, notification.as_bytes(), &[]);
}

//! What an editor hears that starts a server with wrong settings: an answer to its first request that says what is wrong.

use std::{
    io::{self, BufRead, IsTerminal, Read, Write},
    sync::mpsc::sync_channel,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// How long to wait for a request.
const WAIT: Duration = Duration::from_secs(2);
/// The longest input that is looked through, in bytes.
const LONGEST_INPUT: u64 = 1024 * 1024;
/// The code of JSON-RPC for what is wrong on this side.
const INTERNAL_ERROR: i32 = -32603;

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalFraming {
    /// One a line, as in ACP.
    Lines,
    /// Behind a header with their length, as in LSP.
    Headers,
}

/// Answers the first request on standard input with an error. Nobody is waited for long, and nobody at a terminal.
pub(crate) fn refuse_first_request(framing: RefusalFraming, why: &str) {
    if io::stdin().is_terminal() {
        return;
    }
    let message = format!("nudge cannot start: {why}");
    let (told, answered) = sync_channel(1);
    thread::spawn(move || {
        if let Some(answer) = answer(framing, io::stdin().lock(), &message) {
            let mut output = io::stdout().lock();
            let _ = output.write_all(answer.as_bytes()).and_then(|()| output.flush());
        }
        let _ = told.send(());
    });
    let _ = answered.recv_timeout(WAIT);
}

/// The answer to the first request, if there is one.
fn answer(framing: RefusalFraming, input: impl BufRead, message: &str) -> Option<String> {
    let mut input = input.take(LONGEST_INPUT);
    let id = loop {
        let text = match framing {
            RefusalFraming::Lines => next_line(&mut input)?,
            RefusalFraming::Headers => next_body(&mut input)?,
        };
        let Ok(mut said) = serde_json::from_slice::<Value>(&text) else { continue };
        if said["method"].is_string() && (said["id"].is_string() || said["id"].is_number()) {
            break said["id"].take();
        }
    };
    let error = json!({ "code": INTERNAL_ERROR, "message": message });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    Some(match framing {
        RefusalFraming::Lines => format!("{answer}\n"),
        RefusalFraming::Headers => format!("Content-Length: {}\r\n\r\n{answer}", answer.len()),
    })
}

fn next_line(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let count = input.read_until(b'\n', &mut line).ok()?;
    (count > 0).then_some(line)
}

fn next_body(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let line = String::from_utf8(next_line(input)?).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().ok()?);
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let length: u64 = length?;
    let mut body = Vec::new();
    let count = input.take(length).read_to_end(&mut body).ok()?;
    (count as u64 == length).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_is_answered_and_nothing_else() {
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#;
        let note = r#"{"jsonrpc":"2.0","method":"note"}"#;
        let headed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let expected = r#"{"error":{"code":-32603,"message":"hush"},"id":7,"jsonrpc":"2.0"}"#;
        let check = |framing: RefusalFraming, input: &str, expected: Option<String>| {
            let said = answer(framing, input.as_bytes(), "hush");
            let sorted = |text: String| {
                let at = text.find('{').expect("it has a body");
                let body: Value = serde_json::from_str(&text[at..]).expect("it is JSON");
                (text[..at].to_owned(), body, text.len())
            };
            assert_eq!(said.map(sorted), expected.map(sorted), "{input}");
        };
        let line = Some(format!("{expected}\n"));
        check(RefusalFraming::Lines, &format!("{request}\n{request}\n"), line.clone());
        check(RefusalFraming::Lines, &format!("no JSON\n\n{note}\n{request}"), line);
        check(RefusalFraming::Lines, &format!("{note}\n"), None);
        check(RefusalFraming::Lines, "", None);
        check(
            RefusalFraming::Headers,
            &format!("{}{}", headed(note), headed(request)),
            Some(headed(expected)),
        );
        check(RefusalFraming::Headers, &headed(request)[..40], None);
        check(RefusalFraming::Headers, "Content-Length: 99999999999999999999\r\n\r\n", None);
        check(RefusalFraming::Headers, "\r\n", None);
    }
}

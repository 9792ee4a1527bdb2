//! Random traffic against a model: every request exactly one answer, in-order messages in order, for any mix of valid
//! and broken lines, cut anywhere.

use std::sync::Arc;

use nudge_peer::Peer;
use nudge_testkit::PATIENCE;
use parking_lot::Mutex;
use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    messages::{Echo, Note, Wait, echo},
    script::open,
};

/// One line of traffic and what it must lead to.
#[derive(Debug, Clone)]
enum Line {
    /// A request handled in order.
    Echo,
    /// A request handled beside the queue.
    Beside,
    /// A request nobody knows.
    Unknown,
    /// A notification, logged.
    Note,
    /// Cancels an earlier request, whatever became of it.
    Cancel(usize),
    /// Something that is answered under `null`.
    Garbage(&'static str),
    /// Something that is not answered.
    Silent(&'static str),
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        4 => Just(Line::Echo),
        3 => Just(Line::Beside),
        1 => Just(Line::Unknown),
        4 => Just(Line::Note),
        1 => (0usize..60).prop_map(Line::Cancel),
        1 => prop::sample::select(vec!["{", "x", "1", "[]", r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#]).prop_map(Line::Garbage),
        1 => prop::sample::select(vec!["", "\r", r#"{"id":7,"result":1}"#, r#"{"jsonrpc":"2.0","method":"z"}"#])
            .prop_map(Line::Silent),
    ]
}

async fn run(lines: Vec<Line>, chunk: usize) {
    let notes: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&notes);
    let peer = Peer::agent()
        .on_request(|request: Echo, _| async move { Ok(request) })
        .on_request_beside(|_: Wait, _| async {
            tokio::task::yield_now().await;
            Ok(echo("beside"))
        })
        .on_notification(move |note: Note, _| {
            log.lock().push(note.text);
            async { Ok(()) }
        });
    let (connection, far) = open(peer);
    let served = tokio::spawn(connection.serve());
    let (mut output, mut input) = tokio::io::split(far);
    let mut text = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let line = match line {
            Line::Echo => {
                format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"test/echo","params":{{"body":"{n}"}}}}"#)
            }
            Line::Beside => format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"test/wait"}}"#),
            Line::Unknown => format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"test/unknown"}}"#),
            Line::Note => format!(r#"{{"jsonrpc":"2.0","method":"test/note","params":{{"text":"{n}"}}}}"#),
            Line::Cancel(id) => {
                format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
            }
            Line::Garbage(text) | Line::Silent(text) => (*text).to_owned(),
        };
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    let write = async {
        for part in text.chunks(chunk) {
            input.write_all(part).await.unwrap();
            tokio::task::yield_now().await;
        }
        input.shutdown().await.unwrap();
    };
    let mut answers = String::new();
    let read = output.read_to_string(&mut answers);
    let (read, ()) =
        tokio::time::timeout(PATIENCE, async { tokio::join!(read, write) }).await.expect("it ends");
    read.unwrap();
    served.await.unwrap().unwrap();
    judge(&lines, &answers, &notes.lock());
}

fn judge(lines: &[Line], answers: &str, notes: &[String]) {
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: usize| answers.iter().filter(|answer| answer["id"] == id).collect::<Vec<_>>();
    for (n, line) in lines.iter().enumerate() {
        let cancelled = lines[n..].iter().any(|later| matches!(later, Line::Cancel(id) if *id == n));
        let right = |answer: &Value| match line {
            Line::Echo => answer["result"]["body"].as_str() == Some(&n.to_string()),
            Line::Beside => answer["result"]["body"] == "beside",
            _ => answer["error"]["code"] == -32601,
        };
        match line {
            Line::Echo | Line::Beside | Line::Unknown => {
                let answers = of(n);
                assert_eq!(answers.len(), 1, "request {n}: {answers:?}");
                let was_cancelled = cancelled && answers[0]["error"]["code"] == -32800;
                assert!(was_cancelled || right(answers[0]), "request {n}: {answers:?}");
            }
            _ => assert!(of(n).is_empty()),
        }
    }
    let garbage = lines.iter().filter(|line| matches!(line, Line::Garbage(_))).count();
    assert_eq!(answers.iter().filter(|answer| answer["id"].is_null()).count(), garbage);
    let expected: Vec<String> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| matches!(line, Line::Note))
        .map(|(n, _)| n.to_string())
        .collect();
    assert_eq!(notes, expected, "notifications in order, each once");
    // Uncancelled in-order requests are answered in order.
    let order: Vec<u64> = answers
        .iter()
        .filter(|answer| answer["result"]["body"].as_str().is_some_and(|body| body != "beside"))
        .filter_map(|answer| answer["id"].as_u64())
        .collect();
    assert!(order.is_sorted(), "{order:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn any_traffic_is_answered_as_the_model_says(lines in prop::collection::vec(line(), 0..60), chunk in 1usize..300) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(lines, chunk));
    }
}

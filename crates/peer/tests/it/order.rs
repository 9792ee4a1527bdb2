//! What is handed over when.

use std::sync::Arc;

use nudge_peer::Peer;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{
    messages::{Echo, Note, Wait, echo, note},
    script::Script,
};

type Log = Arc<Mutex<Vec<String>>>;

fn logging(log: &Log) -> impl Fn(&str) + Send + Sync + Clone + use<> {
    let log = Arc::clone(log);
    move |entry| log.lock().push(entry.to_owned())
}

#[tokio::test]
async fn a_notification_is_applied_before_a_later_request_begins() {
    let log = Log::default();
    let (notes, requests) = (logging(&log), logging(&log));
    let peer = Peer::agent()
        .on_notification(move |note: Note, _| {
            let notes = notes.clone();
            async move {
                notes(&format!("{} begins", note.text));
                // As slow as a handler can be: the request behind it must wait all the same.
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                notes(&format!("{} ends", note.text));
                Ok(())
            }
        })
        .on_request(move |request: Echo, _| {
            let requests = requests.clone();
            async move {
                requests(&request.body);
                Ok(request)
            }
        });
    let mut script = Script::new(peer);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","method":"test/note","params":{"text":"one"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"request"}}"#,
            r#"{"jsonrpc":"2.0","method":"_test/note","params":{"text":"two"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"body":"last"}}"#,
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "request"}})).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 2, "result": {"body": "last"}})).await;
    script.end().await.unwrap();
    let log = log.lock();
    assert_eq!(*log, ["one begins", "one ends", "request", "two begins", "two ends", "last"]);
}

#[tokio::test]
async fn handlers_beside_the_queue_do_not_hold_it_up() {
    let gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&gate);
    let peer = Peer::agent()
        .on_request_beside(move |_: Wait, _| {
            let gate = Arc::clone(&waiting);
            async move {
                gate.acquire().await.unwrap().forget();
                Ok(echo("waited"))
            }
        })
        .on_request(|request: Echo, _| async move { Ok(request) });
    let mut script = Script::new(peer);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":"slow","method":"test/wait"}"#,
            r#"{"jsonrpc":"2.0","id":"fast","method":"test/echo","params":{"body":"b"}}"#,
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "id": "fast", "result": {"body": "b"}})).await;
    gate.add_permits(1);
    script.expect(json!({"jsonrpc": "2.0", "id": "slow", "result": {"body": "waited"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn a_response_overtakes_the_queue() {
    // The handler in order can only end once a task beside it has got its response.
    let done = Arc::new(Semaphore::new(0));
    let (signal, wait) = (Arc::clone(&done), Arc::clone(&done));
    let peer = Peer::agent()
        .on_notification(move |_: Note, cx| {
            let signal = Arc::clone(&signal);
            cx.spawn(|cx| async move {
                cx.request(echo("from the side")).await.unwrap();
                signal.add_permits(1);
            });
            async { Ok(()) }
        })
        .on_request(move |request: Echo, _| {
            let wait = Arc::clone(&wait);
            async move {
                wait.acquire().await.unwrap().forget();
                Ok(request)
            }
        });
    let mut script = Script::new(peer);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","method":"test/note","params":{"text":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"held up"}}"#,
        ])
        .await;
    script
        .expect(
            json!({"jsonrpc": "2.0", "id": 0, "method": "test/echo", "params": {"body": "from the side"}}),
        )
        .await;
    script.send(&[r#"{"jsonrpc":"2.0","id":0,"result":{"body":"answer"}}"#]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "held up"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn what_one_task_sends_arrives_in_its_order() {
    let peer = Peer::agent().on_request_beside(|_: Wait, cx| async move {
        let request = cx.request(echo("first"));
        cx.notify(note("second")).await?;
        request.await.map_err(Into::into)
    });
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","id":7,"method":"test/wait"}"#]).await;
    assert_eq!(script.next().await["params"]["body"], "first");
    assert_eq!(script.next().await["params"]["text"], "second");
    script.send(&[r#"{"jsonrpc":"2.0","id":0,"result":{"body":"third"}}"#]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 7, "result": {"body": "third"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn many_messages_without_a_handler_do_not_hold_up_the_next() {
    let mut script = Script::new(Peer::agent().on_request(|request: Echo, _| async move { Ok(request) }));
    let mut lines = vec![r#"{"jsonrpc":"2.0","method":"nobody/listens"}"#; 5000];
    lines.push(r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"b"}}"#);
    script.send(&[&lines.join("\n")]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "b"}})).await;
    script.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn handlers_beside_the_queue_begin_in_order() {
    let log = Log::default();
    let (waits, notes) = (logging(&log), logging(&log));
    let peer = Peer::agent()
        .on_request_beside(move |_: Wait, cx| {
            let waits = waits.clone();
            async move {
                waits(&format!("request {} begins", cx.id().unwrap()));
                tokio::task::yield_now().await;
                Ok(echo("done"))
            }
        })
        .on_notification(move |note: Note, _| {
            notes(&note.text);
            async { Ok(()) }
        });
    let mut script = Script::new(peer);
    let mut lines = Vec::new();
    for n in 0..100 {
        lines.push(format!(r#"{{"jsonrpc":"2.0","id":{n},"method":"test/wait"}}"#));
        lines.push(format!(r#"{{"jsonrpc":"2.0","method":"test/note","params":{{"text":"note {n}"}}}}"#));
    }
    script.send(&[&lines.join("\n")]).await;
    for _ in 0..100 {
        script.next().await;
    }
    script.end().await.unwrap();
    let expected: Vec<_> =
        (0..100).flat_map(|n| [format!("request {n} begins"), format!("note {n}")]).collect();
    assert_eq!(*log.lock(), expected);
}

/// The other side answers a request with a thousand notes and the response, all in one write.
async fn burst(in_order: bool) -> (usize, usize) {
    let log = Log::default();
    let notes = logging(&log);
    let (connection, far) = crate::script::open(Peer::client().on_notification(move |note: Note, _| {
        notes(&note.text);
        // A handler that waits gives an answer that is already there the chance to overtake.
        async {
            tokio::task::yield_now().await;
            Ok(())
        }
    }));
    let note = |n: usize| format!(r#"{{"jsonrpc":"2.0","method":"test/note","params":{{"text":"{n}"}}}}"#);
    let mut text = (0..1000).map(note).collect::<Vec<_>>().join("\n") + "\n";
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"body\":\"end\"}}\n");
    let (mut reader, mut writer) = tokio::io::split(far);
    let other = tokio::spawn(async move {
        let mut request = [0; 64];
        tokio::io::AsyncReadExt::read(&mut reader, &mut request).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut writer, text.as_bytes()).await.unwrap();
        (reader, writer)
    });
    let seen = connection
        .run_until(async |cx| {
            let request = cx.request(echo("go"));
            let request = if in_order { request.in_order() } else { request };
            assert_eq!(request.await.unwrap().body, "end");
            log.lock().len()
        })
        .await;
    other.await.unwrap();
    (seen, log.lock().len())
}

#[tokio::test]
async fn an_answer_can_be_taken_in_order_and_nothing_received_is_lost_at_the_end() {
    assert_eq!(burst(true).await, (1000, 1000));
    let (seen, handled) = burst(false).await;
    assert!(seen < 1000, "a response is not held up by the queue");
    assert_eq!(handled, 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_an_answer_is_sent_after_it() {
    let peer = Peer::agent().on_request(|request: Echo, cx| async move {
        let text = request.body.clone();
        cx.after_answer(|cx| async move { cx.notify(note(text)).await.unwrap() });
        Ok(request)
    });
    let mut script = Script::new(peer);
    for n in 0..200 {
        script
            .send(&[&format!(
                r#"{{"jsonrpc":"2.0","id":{n},"method":"test/echo","params":{{"body":"{n}"}}}}"#
            )])
            .await;
        assert_eq!(script.next().await["id"], n);
        assert_eq!(script.next().await["params"]["text"], n.to_string());
    }
    script.end().await.unwrap();
}

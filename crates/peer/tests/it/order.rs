//! What is handed over when.

use std::sync::{Arc, Mutex};

use nudge_peer::Peer;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{
    messages::{Echo, Note, Wait, echo, note},
    script::Script,
};

type Log = Arc<Mutex<Vec<String>>>;

fn logging(log: &Log) -> impl Fn(&str) + Send + Sync + Clone + use<> {
    let log = Arc::clone(log);
    move |entry| log.lock().unwrap().push(entry.to_owned())
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
    let log = log.lock().unwrap();
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

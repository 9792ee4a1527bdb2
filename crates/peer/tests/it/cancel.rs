//! Cancellation in both directions.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nudge_peer::{CallError, Peer};
use nudge_wire::Error;
use serde_json::json;

use crate::{
    messages::{Echo, Wait, echo, note},
    script::{Script, open},
};

const WAIT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#;

/// Sets a flag when it is dropped.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_cancelled_handler_is_dropped_where_it_stands() {
    for beside in [false, true] {
        let dropped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&dropped);
        let forever = move |started: Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>| {
            let guard = OnDrop(Arc::clone(&flag));
            async move {
                let _guard = guard;
                started.await?;
                std::future::pending::<()>().await;
                Ok(echo("never"))
            }
        };
        let started = || note("started");
        let peer = if beside {
            Peer::agent().on_request_beside(move |_: Wait, cx| {
                forever(Box::pin(async move { cx.notify(started()).await }))
            })
        } else {
            Peer::agent()
                .on_request(move |_: Wait, cx| forever(Box::pin(async move { cx.notify(started()).await })))
        };
        let mut script = Script::new(peer);
        script.send(&[WAIT]).await;
        assert_eq!(script.next().await["params"]["text"], "started");
        script.send(&[CANCEL]).await;
        script.expect_error(json!(1), -32800).await;
        script.end().await.unwrap();
        assert!(dropped.load(Ordering::SeqCst), "beside: {beside}");
    }
}

#[tokio::test]
async fn a_handler_that_takes_its_token_decides() {
    let peer = Peer::agent()
        .on_request(|_: Wait, cx| async move {
            let token = cx.cancellation();
            cx.notify(note("started")).await?;
            token.cancelled().await;
            Err(Error::cancelled())
        })
        .on_request_beside(|_: Echo, cx| async move {
            let token = cx.cancellation();
            cx.notify(note("started")).await?;
            token.cancelled().await;
            Ok(echo("what I had so far"))
        });
    let mut script = Script::new(peer);
    script.send(&[WAIT]).await;
    script.next().await;
    script.send(&[CANCEL]).await;
    script.expect_error(json!(1), -32800).await;
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":""}}"#]).await;
    script.next().await;
    script.send(&[CANCEL]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "what I had so far"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn a_queued_request_is_cancelled_ahead_of_the_queue() {
    let ran = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ran);
    let peer = Peer::agent()
        .on_request(|_: Wait, _| async {
            std::future::pending::<()>().await;
            Ok(echo("never"))
        })
        .on_request(move |request: Echo, _| {
            flag.store(true, Ordering::SeqCst);
            async { Ok(request) }
        });
    let mut script = Script::new(peer);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":"holds up","method":"test/wait"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"queued"}}"#,
            CANCEL,
        ])
        .await;
    // The handler in front still runs: the reader answered.
    script.expect_error(json!(1), -32800).await;
    script.send(&[&CANCEL.replace('1', "\"holds up\"")]).await;
    script.expect_error(json!("holds up"), -32800).await;
    script.end().await.unwrap();
    assert!(!ran.load(Ordering::SeqCst), "a cancelled request is not handled");
}

#[tokio::test]
async fn a_cancellation_that_comes_too_late_or_means_nobody_is_ignored() {
    let mut script = Script::new(Peer::agent().on_request(|request: Echo, _| async move { Ok(request) }));
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"b"}}"#;
    script.send(&[CANCEL, request]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "b"}})).await;
    script
        .send(&[
            CANCEL,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancel_request"}"#,
            request,
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "b"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn dropping_the_future_of_a_request_cancels_it() {
    let (connection, far) = open(Peer::client());
    let cx = connection.cx();
    let mut script = Script::over(connection, far);
    let request = cx.request(echo("never mind"));
    assert_eq!(script.next().await["id"], 0);
    drop(request);
    script.expect(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}})).await;
    // The answer that comes all the same means nobody.
    script.send(&[r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}}"#]).await;
    // One that was never polled, one that timed out, and one that was answered.
    let timed_out = tokio::time::timeout(Duration::from_millis(1), cx.request(echo("slow"))).await;
    assert!(timed_out.is_err());
    assert_eq!(script.next().await["id"], 1);
    assert_eq!(script.next().await["params"], json!({"requestId": 1}));
    let answered = cx.request(echo("x"));
    assert_eq!(script.next().await["id"], 2);
    script.send(&[r#"{"jsonrpc":"2.0","id":2,"result":{"body":"y"}}"#]).await;
    assert_eq!(answered.await.unwrap().body, "y");
    script.end().await.unwrap();
}

//! How a connection ends and who learns of it.

use std::time::Duration;

use nudge_peer::{CallError, ConnectionClosed, ConnectionLimits, Peer, pair};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    messages::{Echo, Note, Wait, echo, note},
    script::{Script, open},
};

#[tokio::test]
async fn callers_are_told_when_the_other_side_goes() {
    let (connection, far) = open(Peer::client());
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let pending = cx.request(echo("x"));
    drop(far);
    assert!(matches!(pending.await, Err(CallError::Closed(ConnectionClosed::Eof | ConnectionClosed::Io(_)))));
    let _ = served.await.unwrap();
    let Err(error) = cx.request(echo("too late")).await else { panic!("nobody is there") };
    assert!(error.to_string().starts_with("no answer: the connection"), "{error}");
    assert!(cx.notify(note("too late")).await.is_err());
    assert!(matches!(cx.closed().await, ConnectionClosed::Eof | ConnectionClosed::Io(_)));
}

#[tokio::test]
async fn what_was_taken_is_finished_after_the_input_ends() {
    let peer = Peer::agent().on_request_beside(|_: Wait, _| async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        Ok(echo("finished"))
    });
    let (connection, mut far) = open(peer);
    let served = tokio::spawn(connection.serve());
    far.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"test/wait\"}\n").await.unwrap();
    far.shutdown().await.unwrap();
    let mut output = String::new();
    far.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"body\":\"finished\"}}\n");
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_handler_that_awaits_the_side_that_went_is_not_waited_for() {
    let peer = Peer::agent().on_request_beside(|_: Wait, cx| async move {
        cx.request(echo("are you there?")).await.map_err(Into::into)
    });
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#]).await;
    script.next().await;
    // The input ends; the output is still read.
    script.input_mut().shutdown().await.unwrap();
    script.expect_error(json!(1), -32603).await;
    script.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_never_ends_is_given_up_after_the_drain_time() {
    let limits = ConnectionLimits { drain: Duration::from_secs(5), ..ConnectionLimits::default() };
    let peer = Peer::agent().limits(limits).on_request_beside(|_: Wait, _| async {
        std::future::pending::<()>().await;
        Ok(echo("never"))
    });
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#]).await;
    let began = tokio::time::Instant::now();
    script.end().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn run_until_writes_what_is_left_and_closes() {
    let (near, far) = pair();
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let agent = Peer::agent().on_notification(move |note: Note, _| {
        sender.send(note.text).unwrap();
        async { Ok(()) }
    });
    let served = tokio::spawn(agent.serve(far));
    let said = Peer::client()
        .connect(near)
        .unwrap()
        .run_until(async |cx| {
            for n in 0..1000 {
                cx.notify(note(n.to_string())).await.unwrap();
            }
            "done"
        })
        .await;
    assert_eq!(said, "done");
    served.await.unwrap().unwrap();
    let mut count = 0;
    while let Ok(text) = heard.try_recv() {
        assert_eq!(text, count.to_string());
        count += 1;
    }
    assert_eq!(count, 1000);
}

#[tokio::test]
async fn close_ends_it_from_this_side() {
    let (connection, far) = open(Peer::client().on_request(|request: Echo, _| async move { Ok(request) }));
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    cx.notify(note("goodbye")).await.unwrap();
    cx.close();
    served.await.unwrap().unwrap();
    drop(far);
    assert!(matches!(cx.closed().await, ConnectionClosed::Local));
}

#[tokio::test]
async fn closing_answers_what_is_open() {
    let peer = Peer::agent().on_request_beside(|_: Wait, _| async {
        std::future::pending::<()>().await;
        Ok(echo("never"))
    });
    let (connection, far) = open(peer);
    let cx = connection.cx();
    let mut script = Script::over(connection, far);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#,
        ])
        .await;
    script.expect_error(json!(2), -32601).await;
    cx.close();
    script.expect_error(json!(1), -32800).await;
}

#[tokio::test]
async fn a_slow_reader_gets_everything_after_the_input_ended() {
    let limits = ConnectionLimits { drain: Duration::from_millis(200), ..ConnectionLimits::default() };
    let (connection, mut far) =
        open(Peer::agent().limits(limits).on_request(|request: Echo, _| async move { Ok(request) }));
    let served = tokio::spawn(connection.serve());
    let request = |id| {
        let body = "x".repeat(10 * 1024);
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"test/echo\",\"params\":{{\"body\":\"{body}\"}}}}\n"
        )
    };
    let (mut reader, mut writer) = tokio::io::split(far);
    for id in 0..40 {
        writer.write_all(request(id).as_bytes()).await.unwrap();
    }
    writer.shutdown().await.unwrap();
    // Longer than the drain time in all, but never so long without reading.
    let mut output = Vec::new();
    let mut part = vec![0; 16 * 1024];
    loop {
        let count = reader.read(&mut part).await.unwrap();
        if count == 0 {
            break;
        }
        output.extend_from_slice(&part[..count]);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(String::from_utf8(output).unwrap().lines().count(), 40);
    served.await.unwrap().unwrap();
    far = reader.unsplit(writer);
    drop(far);
}

#[tokio::test]
async fn a_reader_that_stops_after_the_input_ended_is_told_in_the_log_and_the_result() {
    let limits = ConnectionLimits { drain: Duration::from_millis(100), ..ConnectionLimits::default() };
    let (connection, mut far) = open(Peer::agent().limits(limits));
    let served = tokio::spawn(connection.serve());
    for id in 0..2000 {
        far.write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\"}}\n").as_bytes())
            .await
            .unwrap();
    }
    far.shutdown().await.unwrap();
    let Err(why) = served.await.unwrap() else { panic!("something was left unwritten") };
    assert!(why.to_string().contains("did not read the last"), "{why}");
}

//! Every request is answered exactly once, whatever its handler does.

use std::time::Duration;

use nudge_peer::{CallError, ConnectionLimits, Peer, UnhandledMessage, pair};
use nudge_wire::{Error, ErrorCode, RawJson};
use serde_json::json;

use crate::{
    messages::{Echo, Note, Wait, echo, note},
    script::Script,
};

const ECHO: &str = r#"{"jsonrpc":"2.0","id":"next","method":"test/echo","params":{"body":"b"}}"#;

fn echoing() -> Peer {
    Peer::agent().on_request(|request: Echo, _| async move { Ok(request) })
}

async fn expect_echo(script: &mut Script) {
    script.send(&[ECHO]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": "next", "result": {"body": "b"}})).await;
}

#[tokio::test]
async fn a_panicking_handler_is_answered_and_the_connection_lives() {
    std::panic::set_hook(Box::new(|_| {}));
    let panics = [
        echoing().on_request(|_: Wait, _| async { panic!("in order") }),
        echoing().on_request_beside(|_: Wait, _| async { panic!("beside") }),
        echoing().on_request(|_: Wait, _| -> std::future::Ready<Result<Echo, Error>> {
            panic!("before it begins")
        }),
        echoing().on_notification(|_: Note, _| async { panic!("nobody to tell") }),
    ];
    for (at, peer) in panics.into_iter().enumerate() {
        let mut script = Script::new(peer);
        if at == 3 {
            script.send(&[r#"{"jsonrpc":"2.0","method":"test/note","params":{"text":""}}"#]).await;
        } else {
            script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#]).await;
            script.expect_error(json!(1), -32603).await;
        }
        expect_echo(&mut script).await;
        script.end().await.unwrap();
    }
    let _ = std::panic::take_hook();
}

#[tokio::test]
async fn a_dropped_request_is_answered() {
    let peer = echoing().on_unknown(|message, _| async move {
        drop(message);
        Ok(())
    });
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#]).await;
    script.expect_error(json!(1), -32603).await;
    expect_echo(&mut script).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn errors_of_handlers_and_of_decoding_are_answers() {
    let refusing = |_: Wait, _| async { Err(Error::not_found("unknown_session")) };
    let mut script = Script::new(echoing().on_request(refusing));
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"body":5}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"test/echo"}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"nobody/knows"}"#,
        ])
        .await;
    let message = script.next().await;
    assert_eq!(message["error"]["data"], json!({"reason": "unknown_session"}));
    let message = script.next().await;
    assert_eq!(message["error"]["message"], "Invalid params for test/echo: expected a string at column 9");
    let message = script.next().await;
    assert_eq!(message["error"]["message"], "Invalid params for test/echo: missing field `body`");
    script.expect_error(json!(4), -32601).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn two_requests_under_one_id_get_one_answer_each() {
    let peer = echoing().on_request_beside(|_: Wait, cx| async move {
        cx.cancellation().cancelled().await;
        Ok(echo("first"))
    });
    let mut script = Script::new(peer);
    let wait = r#"{"jsonrpc":"2.0","id":"\u0041","method":"test/wait"}"#;
    script
        .send(&[wait, r#"{"jsonrpc":"2.0","id":"A","method":"test/echo","params":{"body":"second"}}"#])
        .await;
    script.expect_error(json!("A"), -32600).await;
    script.send(&[r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"A"}}"#]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": "A", "result": {"body": "first"}})).await;
    // The id is free again.
    script.send(&[&ECHO.replace("next", "A")]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": "A", "result": {"body": "b"}})).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn responses_match_once_and_strangers_are_ignored() {
    let peer = echoing().on_notification_beside(|_: Note, cx| async move {
        let answer = cx.request(echo("question")).await?;
        cx.notify(note(answer.body)).await.map_err(Into::into)
    });
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","method":"test/note","params":{"text":""}}"#]).await;
    let id = script.next().await["id"].clone();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"body":"right"}}}}"#);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":999,"result":{"body":"a stranger"}}"#,
            &format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"body":"a string is another id"}}}}"#),
            &answer,
            &answer.replace("right", "again"),
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "method": "test/note", "params": {"text": "right"}})).await;
    expect_echo(&mut script).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn callers_learn_what_went_wrong() {
    let (near, far) = pair();
    let agent = Peer::agent().on_request(|_: Echo, _| async { Err(Error::auth_required()) }).on_unknown(
        |message, _| async move {
            match message {
                UnhandledMessage::Request(request) => {
                    let wrong = RawJson::parse(r#"{"body":["not text"]}"#).unwrap();
                    request.into_responder().respond_raw(&wrong).await
                }
                UnhandledMessage::Notification(_) => Ok(()),
            }
        },
    );
    tokio::spawn(agent.serve(far));
    let client = Peer::client().connect(near).unwrap();
    client
        .run_until(async |cx| {
            let Err(CallError::Rpc(error)) = cx.request(echo("x")).await else {
                panic!("an error of the other side")
            };
            assert_eq!(
                (error.code, error.get_reason().as_deref()),
                (ErrorCode::AUTH_REQUIRED, Some("auth_required"))
            );
            let Err(CallError::Decode { method, expectation }) = cx.request(Wait {}).await else {
                panic!("a result of another shape")
            };
            assert_eq!(
                (method.as_str(), expectation.as_str()),
                ("test/wait", "expected a string at column 8")
            );
        })
        .await;
}

#[tokio::test]
async fn a_batch_is_answered_when_its_last_request_is() {
    let peer = echoing()
        .on_request_beside(|_: Wait, cx| async move { cx.request(echo("what?")).await.map_err(Into::into) });
    let mut script = Script::new(peer);
    script
        .send(&[r#"[{"jsonrpc":"2.0","id":1,"method":"test/wait"},{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"body":"b"}},{"jsonrpc":"2.0","id":2,"method":"no"}]"#])
        .await;
    assert_eq!(script.next().await["params"]["body"], "what?");
    script.send(&[r#"[{"jsonrpc":"2.0","id":0,"result":{"body":"this"}}]"#]).await;
    let answers = script.next().await;
    assert_eq!(answers.as_array().map(Vec::len), Some(3), "{answers}");
    assert!(
        answers.as_array().unwrap().contains(&json!({"jsonrpc": "2.0", "id": 1, "result": {"body": "this"}}))
    );
    script.end().await.unwrap();
}

#[tokio::test]
async fn giving_up_on_an_answer_still_answers() {
    let limits = ConnectionLimits { outbound_soft: 64 * 1024, ..ConnectionLimits::default() };
    let peer = Peer::agent().limits(limits).on_unknown(|message, _| async move {
        if let UnhandledMessage::Request(request) = message {
            let large = "x".repeat(48 * 1024);
            let _ = tokio::time::timeout(Duration::from_millis(20), request.respond(Ok(large))).await;
        }
        Ok(())
    });
    let mut script = Script::new(peer);
    for id in 0..8 {
        script.send(&[&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"large"}}"#)]).await;
    }
    // Nothing is read for a while, so that some answers find no room in time.
    tokio::time::sleep(Duration::from_millis(400)).await;
    let mut given_up = 0;
    for id in 0..8 {
        let answer = script.next().await;
        assert_eq!(answer["id"], id, "each is answered once, in order");
        given_up += usize::from(answer["error"]["code"] == -32603);
    }
    assert!(given_up > 0);
    script.end().await.unwrap();
}

#[tokio::test]
async fn a_response_that_cannot_be_read_fails_its_caller() {
    for broken in [
        r#"{"id":0,"error":null}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":1,"result":2}"#,
        r#"{"id":0,"error":7}"#,
    ] {
        let (connection, far) = crate::script::open(Peer::client());
        let cx = connection.cx();
        let mut script = Script::over(connection, far);
        let request = cx.request(echo("x"));
        script.next().await;
        script.send(&[broken]).await;
        assert!(
            matches!(request.await, Err(CallError::Rpc(error)) if error.code == ErrorCode::INTERNAL_ERROR),
            "{broken}"
        );
        script.end().await.unwrap();
    }
}

#[tokio::test]
async fn ids_have_a_limit() {
    let mut script = Script::new(echoing());
    let long = "i".repeat(5000);
    script
        .send(&[&format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"test/echo","params":{{"body":""}}}}"#)])
        .await;
    script.expect_error(json!(null), -32600).await;
    expect_echo(&mut script).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn open_requests_have_a_limit() {
    let limits = ConnectionLimits { max_open: 2, ..ConnectionLimits::default() };
    let peer = Peer::agent().limits(limits).on_request_beside(|_: Wait, _| async {
        std::future::pending::<()>().await;
        Ok(echo("never"))
    });
    let mut script = Script::new(peer);
    for id in 0..3 {
        script.send(&[&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"test/wait"}}"#)]).await;
    }
    script.expect_error(json!(2), -32603).await;
    for id in 0..2 {
        script
            .send(&[&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#
            )])
            .await;
        script.expect_error(json!(id), -32800).await;
    }
    script.end().await.unwrap();
}

#[tokio::test]
async fn a_batch_with_a_cancelled_entry_and_a_task_after_its_answer() {
    let peer = Peer::agent()
        .on_request_beside(|_: Wait, _| async {
            std::future::pending::<()>().await;
            Ok(echo("never"))
        })
        .on_request(|request: Echo, cx| async move {
            cx.after_answer(|cx| async move { cx.notify(note("after")).await.unwrap() });
            Ok(request)
        });
    let mut script = Script::new(peer);
    script
        .send(&[r#"[{"jsonrpc":"2.0","id":1,"method":"test/wait"},{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"body":"b"}}]"#])
        .await;
    assert_eq!(script.next().await["params"]["text"], "after");
    script.send(&[r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#]).await;
    let answers = script.next().await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    script.end().await.unwrap();
}

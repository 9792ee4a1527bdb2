//! A state that handlers share.

use std::sync::Arc;

use nudge_peer::{Peer, UnhandledMessage};
use nudge_wire::Version;
use parking_lot::Mutex;
use serde_json::json;

use crate::{
    messages::{Echo, Note, Wait, echo},
    script::Script,
};

type Log = Mutex<Vec<String>>;

#[tokio::test]
async fn every_kind_of_handler_is_given_the_state() {
    let log = Arc::new(Log::default());
    let peer = Peer::agent()
        .with(Arc::clone(&log))
        .on_request(async |log, request: Echo, _| {
            log.lock().push(format!("request {}", request.body));
            Ok(request)
        })
        .on_request_beside(async |log: Arc<Log>, _: Wait, cx| {
            log.lock().push(format!("request beside {}", cx.id().unwrap()));
            Ok(echo("waited"))
        })
        .on_notification(async |log, note: Note, _| {
            log.lock().push(format!("notification {}", note.text));
            Ok(())
        })
        .on_unknown(async |log, message: UnhandledMessage, _| {
            log.lock().push(format!("unknown {}", message.method()));
            message.refuse().await
        });
    let mut script = Script::new(peer);
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"test/note","params":{"text":"b"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"test/wait"}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"test/unknown"}"#,
        ])
        .await;
    script.expect(json!({ "jsonrpc": "2.0", "id": 1, "result": { "body": "a" } })).await;
    script.expect(json!({ "jsonrpc": "2.0", "id": 2, "result": { "body": "waited" } })).await;
    script.expect_error(json!(3), -32601).await;
    assert_eq!(
        *log.lock(),
        ["request a", "notification b", "request beside 2", "unknown test/unknown"].map(str::to_owned)
    );
    script.end().await.unwrap();
    assert_eq!(Arc::strong_count(&log), 1, "with the connection goes what its handlers hold");
}

#[tokio::test]
async fn handlers_with_and_without_a_state_stand_side_by_side() {
    let peer = Peer::agent()
        .on_request(async |request: Echo, _| Ok(request))
        .with(Arc::new(7))
        .version(Version::V2, |peer| peer.on_notification(async |_, _: Note, _| Ok(())))
        .with(Arc::new("text"))
        .on_request(async |text: Arc<&str>, _: Wait, _| Ok(echo(*text)));
    let mut script = Script::new(peer);
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"method":"test/wait"}"#]).await;
    script.expect(json!({ "jsonrpc": "2.0", "id": 1, "result": { "body": "text" } })).await;
    script.end().await.unwrap();
}

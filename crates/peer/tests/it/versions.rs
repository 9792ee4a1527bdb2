//! Two handlers for one method: one for each version of the protocol, or a mistake that is told.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nudge_peer::{Cx, Peer, pair};
use nudge_wire::{
    Notification, Request, Version,
    acp::{ProtocolVersion, v1, v2},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    messages::{Echo, Note, echo},
    script::Script,
};

/// Says under the name of [`Echo`] which handler it reached.
fn both() -> Peer {
    Peer::agent()
        .version(Version::V1, |peer| {
            peer.on_request(async |_: v1::InitializeRequest, _| {
                Ok(v1::InitializeResponse::new(ProtocolVersion::V1))
            })
            .on_request(async |_: Echo, _| Ok(echo("v1")))
        })
        .version(Version::V2, |peer| {
            peer.on_request(async |_: v2::InitializeRequest, _| {
                Ok(v2::InitializeResponse::new(ProtocolVersion::V2, v2::Implementation::new("both", "1")))
            })
            .on_request_beside(async |_: Echo, cx: Cx| Ok(echo(format!("{:?}", cx.version().unwrap()))))
        })
}

fn initialize(version: u16) -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": version, "info": { "name": "c", "version": "1" } },
    })
    .to_string()
}

const ECHO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"body":""}}"#;

#[tokio::test]
async fn the_handler_of_the_agreed_version_is_called() {
    for (asked, said, answer) in [(1, 1, "v1"), (2, 2, "V2"), (7, 2, "V2")] {
        let mut script = Script::new(both());
        script.send(&[&initialize(asked), ECHO]).await;
        assert_eq!(script.next().await["result"]["protocolVersion"], said, "asked for {asked}");
        script.expect(json!({ "jsonrpc": "2.0", "id": 1, "result": { "body": answer } })).await;
        script.end().await.unwrap();
    }
}

#[tokio::test]
async fn before_a_version_is_agreed_on_its_handlers_are_not_called() {
    let mut script = Script::new(both());
    script.send(&[ECHO]).await;
    script.expect_error(json!(1), -32601).await;
    script.end().await.unwrap();
}

#[tokio::test]
async fn who_speaks_one_version_answers_who_asks_for_the_other() {
    let peer = Peer::agent().version(Version::V1, |peer| {
        peer.on_request(async |_: v1::InitializeRequest, _| {
            Ok(v1::InitializeResponse::new(ProtocolVersion::V1))
        })
        .on_request(async |_: Echo, _| Ok(echo("v1")))
    });
    let mut script = Script::new(peer);
    script.send(&[&initialize(2), ECHO]).await;
    assert_eq!(script.next().await["result"]["protocolVersion"], 1);
    assert_eq!(script.next().await["result"]["body"], "v1");
    script.end().await.unwrap();
}

#[tokio::test]
async fn a_client_knows_the_version_from_the_answer() {
    let (near, far) = pair();
    tokio::spawn(both().serve(far));
    let client = Peer::client().connect(near).unwrap();
    client
        .run_until(async |cx| {
            assert_eq!(cx.version(), None);
            cx.request(v1::InitializeRequest::new(ProtocolVersion::V1)).await.unwrap();
            assert_eq!(cx.version(), Some(Version::V1));
        })
        .await;
}

/// As [`Echo`], under an alias of it.
#[derive(Debug, Serialize, Deserialize)]
struct Other {}

impl Request for Other {
    const METHOD: &'static str = "test/other";
    const ALIASES: &'static [&'static str] = &["test/echo"];
    type Response = Echo;
}

#[derive(Debug, Serialize, Deserialize)]
struct NotedEcho {}

impl Notification for NotedEcho {
    const METHOD: &'static str = "test/echo";
}

#[test]
fn a_second_handler_is_told_where_it_is_registered() {
    type Register = fn(Peer) -> Peer;
    let echo: Register = |peer| peer.on_request(async |request: Echo, _| Ok(request));
    let beside: Register = |peer| peer.on_request_beside(async |request: Echo, _| Ok(request));
    let other: Register = |peer| peer.on_request(async |_: Other, _| Ok(crate::messages::echo("")));
    let in_v2: Register = |peer| peer.version(Version::V2, |p| p.on_request(async |echo: Echo, _| Ok(echo)));
    let note: Register = |peer| peer.on_notification(async |_: Note, _| Ok(()));
    let same_name: Register = |peer| peer.on_notification(async |_: NotedEcho, _| Ok(()));
    let unknown: Register = |peer| peer.on_unknown(async |message, _| message.refuse().await);
    let cases: [(Register, Register, Option<&str>); 10] = [
        (echo, echo, Some("`test/echo` has two handlers")),
        (echo, beside, Some("`test/echo` has two handlers")),
        (echo, other, Some("`test/echo` has two handlers")),
        (echo, in_v2, Some("`test/echo` has two handlers")),
        (in_v2, echo, Some("`test/echo` has two handlers")),
        (in_v2, in_v2, Some("`test/echo` has two handlers")),
        (note, note, Some("`test/note` has two handlers")),
        (unknown, unknown, Some("`on_unknown` was called twice")),
        (echo, note, None),
        (echo, same_name, None),
    ];
    for (at, (first, second, told)) in cases.into_iter().enumerate() {
        let built = catch_unwind(AssertUnwindSafe(|| second(first(Peer::agent()))));
        let message = built.err().map(|panic| match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast::<&str>().expect("a panic says something").to_string(),
        });
        match told {
            Some(told) => assert!(
                message.as_ref().is_some_and(|message| message.starts_with(told)),
                "{at}: {message:?}"
            ),
            None => assert_eq!(message, None, "{at}"),
        }
    }
    // A proxy's own way with what it does not know can be replaced.
    unknown(Peer::proxy());
}

//! Forwarding between two connections, and along a chain of proxies.

use nudge_peer::{ConnectionClosed, Peer, pair, relay};
use nudge_testkit::PATIENCE;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    task::JoinHandle,
};

use crate::{
    messages::{Echo, Note, Wait, echo},
    script::Script,
};

/// One raw end of a relay.
struct End(BufReader<DuplexStream>);

impl End {
    async fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("a line comes").unwrap();
        line.trim_end_matches('\n').to_owned()
    }
}

fn start() -> (End, End, JoinHandle<Result<(), ConnectionClosed>>) {
    let end = || {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(near);
        (nudge_peer::Transport::new(reader, writer), End(BufReader::new(far)))
    };
    let ((left, left_end), (right, right_end)) = (end(), end());
    let relay = tokio::spawn(relay((Peer::agent(), left), (Peer::client(), right)));
    (left_end, right_end, relay)
}

#[tokio::test]
async fn frames_pass_byte_for_byte_but_for_the_id() {
    let (mut client, mut agent, relay) = start();
    client.send(r#"{ "jsonrpc":"2.0", "_x":{"b":1,"a":1.50}, "id" : "mine" , "method":"vendor/x", "params":{"z":1e400,"é":"\u0041"} }"#).await;
    assert_eq!(
        agent.next().await,
        r#"{ "jsonrpc":"2.0", "_x":{"b":1,"a":1.50}, "id" : 0 , "method":"vendor/x", "params":{"z":1e400,"é":"\u0041"} }"#
    );
    agent.send(r#"{"result": {"q":18446744073709551616}, "id": 0, "jsonrpc":"2.0", "extra":[ ]}"#).await;
    assert_eq!(
        client.next().await,
        r#"{"result": {"q":18446744073709551616}, "id": "mine", "jsonrpc":"2.0", "extra":[ ]}"#
    );
    // Errors and notifications, in the other direction.
    let note = r#"{"jsonrpc": "2.0","method":"session/update", "params" : {"sessionId":"s"}}"#;
    agent.send(note).await;
    assert_eq!(client.next().await, note);
    agent.send(r#"{"jsonrpc":"2.0","id":1.5,"method":"fs/read_text_file"}"#).await;
    assert_eq!(client.next().await, r#"{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32099,"message":"no","data":{"k":1.0}}}"#).await;
    assert_eq!(
        agent.next().await,
        r#"{"jsonrpc":"2.0","id":1.5,"error":{"code":-32099,"message":"no","data":{"k":1.0}}}"#
    );
    drop(client);
    let _ = relay.await.unwrap();
}

#[tokio::test]
async fn cancellation_passes_under_the_other_id_and_the_agent_decides() {
    let (mut client, mut agent, relay) = start();
    client.send(r#"{"jsonrpc":"2.0","id":77,"method":"session/prompt"}"#).await;
    assert_eq!(agent.next().await, r#"{"jsonrpc":"2.0","id":0,"method":"session/prompt"}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":77}}"#).await;
    assert_eq!(
        agent.next().await,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#
    );
    agent.send(r#"{"jsonrpc":"2.0","id":0,"result":{"stopReason":"cancelled"}}"#).await;
    assert_eq!(client.next().await, r#"{"jsonrpc":"2.0","id":77,"result":{"stopReason":"cancelled"}}"#);
    drop(agent);
    let _ = relay.await.unwrap();
}

#[tokio::test]
async fn a_cancellation_is_passed_on_once_and_never_before_its_request() {
    let (mut client, mut agent, relay) = start();
    client.send(r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt"}"#).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#;
    for _ in 0..3 {
        client.send(cancel).await;
    }
    client.send(r#"{"jsonrpc":"2.0","method":"last"}"#).await;
    // Read in one go, the request is cancelled where it stands; else it is passed on and one cancellation follows it.
    let mut seen = Vec::new();
    while !seen.last().is_some_and(|line: &String| line.contains("last")) {
        seen.push(agent.next().await);
    }
    let at = |what: &str| seen.iter().position(|line| line.contains(what));
    assert!(seen.iter().filter(|line| line.contains("cancel_request")).count() <= 1, "{seen:?}");
    assert!(at("cancel_request") >= at("session/prompt"), "{seen:?}");
    if at("session/prompt").is_none() {
        assert!(client.next().await.contains("-32800"));
    }
    drop(client);
    let _ = relay.await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_turn_does_not_overtake_its_updates() {
    let (mut client, mut agent, relay) = start();
    client.send(r#"{"jsonrpc":"2.0","id":"turn","method":"session/prompt"}"#).await;
    agent.next().await;
    let update = |n: usize| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"n":{n}}}}}"#);
    let mut lines: Vec<_> = (0..1000).map(update).collect();
    lines.push(r#"{"jsonrpc":"2.0","id":0,"result":{"stopReason":"end_turn"}}"#.to_owned());
    let lines = lines.join("\n");
    let sent = async { agent.send(&lines).await };
    let received = async {
        for n in 0..1000 {
            assert_eq!(client.next().await, update(n));
        }
        assert!(client.next().await.contains("end_turn"));
    };
    tokio::join!(sent, received);
    drop(client);
    let _ = relay.await.unwrap();
}

#[tokio::test]
async fn when_the_agent_goes_open_requests_are_answered() {
    let (mut client, mut agent, relay) = start();
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#).await;
    agent.next().await;
    drop(agent);
    let answer: serde_json::Value = serde_json::from_str(&client.next().await).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
    let _ = relay.await.unwrap();
}

#[tokio::test]
async fn a_relay_of_typed_peers_loses_nothing() {
    let (client_end, relay_left) = pair();
    let (relay_right, agent_end) = pair();
    let relay = tokio::spawn(relay((Peer::agent(), relay_left), (Peer::client(), relay_right)));
    let agent = Peer::agent().on_request_beside(|_: Wait, cx| async move {
        for n in 0..500 {
            cx.notify(Note { text: n.to_string() }).await?;
        }
        cx.request(echo("back")).await.map_err(Into::into)
    });
    let agent = tokio::spawn(agent.serve(agent_end));
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let client = Peer::client()
        .on_notification(move |note: Note, _| {
            sender.send(note.text).unwrap();
            async { Ok(()) }
        })
        .on_request(|request: Echo, _| async move { Ok(request) });
    let answer = client.connect(client_end).unwrap().run_until(async |cx| cx.request(Wait {}).await).await;
    assert_eq!(answer.unwrap().body, "back");
    for n in 0..500 {
        assert_eq!(heard.recv().await.unwrap(), n.to_string());
    }
    let _ = relay.await.unwrap();
    agent.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_proxy_passes_on_what_it_does_not_handle() {
    let mut script = Script::new(Peer::proxy().on_request(|request: Echo, _| async move { Ok(request) }));
    // From the client's side to the successor.
    script
        .send(&[r#"{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}"#])
        .await;
    script
        .expect(json!({"jsonrpc": "2.0", "id": 0, "method": "proxy/successor",
            "params": {"method": "initialize", "params": {"protocolVersion": 1}}}))
        .await;
    script.send(&[r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"x":[1.50]}}"#]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "x": [1.50]}})).await;
    script.send(&[r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#]).await;
    script
        .expect(json!({"jsonrpc": "2.0", "method": "proxy/successor",
            "params": {"method": "session/cancel", "params": {"sessionId": "s"}}}))
        .await;
    // From the successor to the client's side.
    script
        .send(&[
            r#"{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"s"}}}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":"proxy/successor","params":{"method":"fs/read_text_file","params":{"path":"/p"}}}"#,
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s"}})).await;
    script
        .expect(json!({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"path": "/p"}}))
        .await;
    script.send(&[r#"{"jsonrpc":"2.0","id":1,"result":{"content":"c"}}"#]).await;
    script.expect(json!({"jsonrpc": "2.0", "id": 9, "result": {"content": "c"}})).await;
    // What it handles itself, and what it cannot unwrap.
    script
        .send(&[
            r#"{"jsonrpc":"2.0","id":2,"method":"test/echo","params":{"body":"mine"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"proxy/successor","params":{}}"#,
        ])
        .await;
    script.expect(json!({"jsonrpc": "2.0", "id": 2, "result": {"body": "mine"}})).await;
    script.expect_error(json!(3), -32602).await;
    script.end().await.unwrap();
}

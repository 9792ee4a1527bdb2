//! A small HTTP client over a real socket.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, StatusCode, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use nudge_stage::StageProvider;
use serde_json::Value;
use tokio::net::TcpStream;

/// Sends a request on a connection of its own; nothing if the connection ends before the status.
pub(crate) async fn send(
    provider: &StageProvider,
    request: Request<Full<Bytes>>,
) -> Option<Response<Incoming>> {
    let socket = TcpStream::connect(provider.address()).await.expect("the provider listens");
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.expect("a connection");
    tokio::spawn(connection);
    sender.send_request(request).await.ok()
}

pub(crate) async fn post(provider: &StageProvider, path: &str, body: &Value) -> Option<Response<Incoming>> {
    let request = Request::post(path)
        .header("host", "localhost")
        .header("authorization", "Bearer not-to-be-kept")
        .header("user-agent", "test")
        .body(Full::from(body.to_string()))
        .expect("a request");
    send(provider, request).await
}

/// The status and the whole body, which is JSON.
pub(crate) async fn post_json(provider: &StageProvider, path: &str, body: &Value) -> (StatusCode, Value) {
    let response = post(provider, path, body).await.expect("an answer");
    let status = response.status();
    let (text, is_complete) = read(response.into_body()).await;
    assert!(is_complete, "{text}");
    (status, serde_json::from_str(&text).expect("the answer is JSON"))
}

/// What is left of a body, and whether its end came as it should.
pub(crate) async fn read(mut body: Incoming) -> (String, bool) {
    let mut text = String::new();
    loop {
        match next(&mut body).await {
            Some(Ok(part)) => text += &part,
            Some(Err(())) => return (text, false),
            None => return (text, true),
        }
    }
}

/// The whole of a body that is no text.
pub(crate) async fn read_bytes(body: Incoming) -> Vec<u8> {
    body.collect().await.expect("a whole body").to_bytes().to_vec()
}

/// The next part of a body.
pub(crate) async fn next(body: &mut Incoming) -> Option<Result<String, ()>> {
    let frame = body.frame().await?;
    let bytes = frame.map_err(|_| ()).map(|frame| frame.into_data().expect("there are no trailers"));
    Some(bytes.map(|bytes| String::from_utf8(bytes.to_vec()).expect("the provider sends whole letters")))
}

/// An event of a stream: its name, and its data if that is JSON.
pub(crate) type Event = (Option<String>, Value);

/// The events of a stream; `[DONE]` is one with a string.
pub(crate) fn events(text: &str) -> Vec<Event> {
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n\n").filter(|block| !block.is_empty());
    let event = |block: &str| {
        let name = block.lines().find_map(|line| line.strip_prefix("event: ")).map(str::to_owned);
        let data = block.lines().find_map(|line| line.strip_prefix("data: ")).expect("an event has data");
        (name, serde_json::from_str(data).unwrap_or_else(|_| Value::String(data.to_owned())))
    };
    blocks.map(event).collect()
}

/// Their names without repetitions in a row.
pub(crate) fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<_> = events.iter().map(|(name, _)| name.as_deref().unwrap_or_default()).collect();
    names.dedup();
    names
}

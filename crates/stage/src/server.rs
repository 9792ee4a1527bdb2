//! The HTTP side: a thread with its own runtime, so that a test may block its own without stopping the provider.

use std::{net::TcpListener, sync::Arc, thread::JoinHandle};

use http_body_util::BodyExt as _;
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    body::{BrokenBody, ResponseBody, full},
    conversation,
    play::{PlayedExchange, PlayedReply, refuse, respond},
    provider::ProviderShared,
    reply::ReplyFailure,
    seen::{RequestRoute, SeenRequest},
};

/// Serves until `stop` is dropped.
pub(crate) fn start(
    listener: TcpListener,
    shared: Arc<ProviderShared>,
    stop: oneshot::Receiver<()>,
) -> JoinHandle<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be had");
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = accept(listener, shared) => {}
                _ = stop => {}
            }
        });
    })
}

async fn accept(listener: TcpListener, shared: Arc<ProviderShared>) {
    listener.set_nonblocking(true).expect("a listener can be made non-blocking");
    let listener = tokio::net::TcpListener::from_std(listener).expect("the listener is non-blocking");
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let _ = socket.set_nodelay(true);
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| answer(Arc::clone(&shared), request));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        // What goes wrong here is the client leaving, or the script breaking the connection.
        tokio::spawn(async { drop(connection.await) });
    }
}

async fn answer(
    shared: Arc<ProviderShared>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, BrokenBody> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let route = RequestRoute::of(path, head.uri.query().unwrap_or_default());
    let Ok(body) = body.collect().await else { return Err(BrokenBody) };
    let Some(route) = route.filter(|_| head.method == Method::POST) else {
        shared.aside(format!("{} {path}", head.method));
        let wants_socket = head.headers.contains_key(header::UPGRADE);
        return Ok(if wants_socket { no_sockets() } else { small_talk(&head.method, path) });
    };
    let json = serde_json::from_slice(&body.to_bytes());
    let is_json = json.is_ok();
    let mut seen = SeenRequest::new(route, path, &head.headers, json.unwrap_or(Value::Null));
    let fault = if is_json {
        conversation::fault(seen.dialect, seen.messages())
    } else {
        Some("the body has to be JSON, and not compressed".to_owned())
    };
    if let Some(message) = fault {
        let exchange = register(shared, &mut seen);
        return Ok(refuse(exchange, &seen, &ReplyFailure { status: 400, message, retry_after: None }));
    }
    let play = choose(&shared, &mut seen);
    let exchange = register(shared, &mut seen);
    play.run(exchange, &seen).await
}

fn register(shared: Arc<ProviderShared>, seen: &mut SeenRequest) -> PlayedExchange {
    seen.index = shared.record(seen.clone());
    PlayedExchange::new(shared, seen.index)
}

fn choose(shared: &ProviderShared, seen: &mut SeenRequest) -> PlayedReply {
    let (play, rule) = shared.choose(seen);
    seen.rule = rule;
    play
}

/// What agents ask beside the answers of the model.
fn small_talk(method: &Method, path: &str) -> Response<ResponseBody> {
    if method == Method::HEAD {
        return respond(StatusCode::OK, "application/json", full(""));
    }
    let body = match path.rsplit('/').next().unwrap_or_default() {
        "models" => models(),
        "count_tokens" => json!({"input_tokens": 10}),
        last if last.ends_with(":countTokens") => json!({"totalTokens": 10}),
        last if path.contains("/models/") => model(last),
        _ => json!({}),
    };
    respond(StatusCode::OK, "application/json", full(body.to_string()))
}

/// Agents that would rather have a WebSocket fall back to plain requests.
fn no_sockets() -> Response<ResponseBody> {
    respond(StatusCode::UPGRADE_REQUIRED, "application/json", full("{}"))
}

fn models() -> Value {
    let model = model("fake-model");
    json!({
        "object": "list", "data": [model], "models": [model],
        "has_more": false, "first_id": "fake-model", "last_id": "fake-model",
    })
}

/// A model as `OpenAI`, Anthropic and Gemini describe one.
fn model(id: &str) -> Value {
    json!({
        "id": id, "object": "model", "created": 1_750_000_000, "owned_by": "nobody",
        "type": "model", "display_name": id, "created_at": "2025-06-15T00:00:00Z",
        "name": format!("models/{id}"), "displayName": id, "inputTokenLimit": 1_000_000, "outputTokenLimit": 64_000,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        "slug": id,
    })
}

//! The HTTP side: a thread with its own runtime, so that a test may block its own without stopping the provider.

use std::{net::TcpListener, sync::Arc, thread::JoinHandle};

use http_body_util::BodyExt as _;
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header, http::request::Parts, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    body::{BrokenBody, ResponseBody, full},
    conversation, dialect,
    offer::{self, OfferedModel},
    play::{PlayedExchange, PlayedReply, refuse, respond},
    provider::ProviderShared,
    reply::ReplyFailure,
    seen::{ProviderDialect, RequestRoute, SeenRequest},
    signature,
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
    let body = body.to_bytes();
    let Some(route) = route.filter(|_| head.method == Method::POST) else {
        shared.aside(format!("{} {path}", head.method));
        let wants_socket = head.headers.contains_key(header::UPGRADE);
        return Ok(if wants_socket { no_sockets() } else { small_talk(&shared, &head.method, path, &body) });
    };
    let json = serde_json::from_slice(&body);
    let is_json = json.is_ok();
    let mut seen = SeenRequest::new(route, path, &head.headers, json.unwrap_or(Value::Null));
    let fault = if is_json {
        conversation::fault(seen.dialect, seen.messages()).or_else(|| dialect::fault(&seen))
    } else {
        Some("the body has to be JSON, and not compressed".to_owned())
    };
    if let Some(message) = unsigned_fault(&shared, &seen, &head, &body) {
        let exchange = register(shared, &mut seen);
        return Ok(refuse(exchange, &seen, &ReplyFailure { status: 403, message, retry_after: None }));
    }
    if let Some(message) = fault {
        let exchange = register(shared, &mut seen);
        return Ok(refuse(exchange, &seen, &ReplyFailure { status: 400, message, retry_after: None }));
    }
    let play = choose(&shared, &mut seen);
    let exchange = register(shared, &mut seen);
    play.run(exchange, &seen).await
}

/// What Bedrock finds wrong with who asks.
fn unsigned_fault(shared: &ProviderShared, seen: &SeenRequest, head: &Parts, body: &[u8]) -> Option<String> {
    let is_bedrock = seen.dialect == ProviderDialect::Bedrock;
    let fault = || signature::fault(shared.aws_secret().as_deref(), head, body);
    is_bedrock.then(fault).flatten().map(str::to_owned)
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
fn small_talk(shared: &ProviderShared, method: &Method, path: &str, body: &[u8]) -> Response<ResponseBody> {
    if method == Method::HEAD {
        return respond(StatusCode::OK, "application/json", full(""));
    }
    if path.contains("/api/") {
        return ollama_talk(&shared.models(), path, body);
    }
    let body = match path.rsplit('/').next().unwrap_or_default() {
        "models" => offer::hosted_list(&shared.models()),
        "count_tokens" => json!({"input_tokens": 10}),
        last if last.ends_with(":countTokens") => json!({"totalTokens": 10}),
        last if path.contains("/models/") => OfferedModel::new(last).hosted(),
        _ => json!({}),
    };
    respond(StatusCode::OK, "application/json", full(body.to_string()))
}

/// What clients of Ollama ask beside that.
fn ollama_talk(models: &[OfferedModel], path: &str, body: &[u8]) -> Response<ResponseBody> {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let found = || models.iter().find(|model| asked["model"] == model.name);
    let (status, body) = match path.rsplit('/').next().unwrap_or_default() {
        "tags" => {
            let tags: Vec<Value> = models.iter().map(OfferedModel::tagged).collect();
            (StatusCode::OK, json!({ "models": tags }))
        }
        "version" => (StatusCode::OK, json!({"version": "0.12.0"})),
        "show" => match found() {
            Some(model) => (StatusCode::OK, model.shown()),
            None => (StatusCode::NOT_FOUND, json!({"error": "model not found"})),
        },
        _ => (StatusCode::OK, json!({})),
    };
    respond(status, "application/json", full(body.to_string()))
}

/// Agents that would rather have a WebSocket fall back to plain requests.
fn no_sockets() -> Response<ResponseBody> {
    respond(StatusCode::UPGRADE_REQUIRED, "application/json", full("{}"))
}

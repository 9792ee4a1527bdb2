//! A reply, played to a client step by step.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{Response, StatusCode, header};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    OfferedTool,
    body::{BrokenBody, ResponseBody, full, growing},
    dialect::{self, ReplyPiece, StreamVoice},
    provider::ProviderShared,
    reply::{ModelReply, ReplyCandidate, ReplyEnding, ReplyFailure, ReplyStep},
    seen::{ExchangeOutcome, SeenRequest},
};

/// An answer under way; what becomes of it is noted when it ends, also when it is dropped because the client left.
pub(crate) struct PlayedExchange {
    shared: Arc<ProviderShared>,
    index: usize,
    outcome: ExchangeOutcome,
}

impl PlayedExchange {
    pub(crate) fn new(shared: Arc<ProviderShared>, index: usize) -> Self {
        Self { shared, index, outcome: ExchangeOutcome::HungUp }
    }

    fn end(mut self, outcome: ExchangeOutcome) {
        self.outcome = outcome;
    }
}

impl Drop for PlayedExchange {
    fn drop(&mut self) {
        self.shared.note(self.index, self.outcome);
    }
}

/// A reply whose tools are found among those of a request.
pub(crate) struct PlayedReply {
    acts: VecDeque<Act>,
    gap: Duration,
    ending: ReplyEnding,
}

enum Act {
    Say(ReplyPiece),
    Pause(Duration),
    Gate(String),
    Fail(ReplyFailure),
    Raw(String),
    Cut,
}

impl PlayedReply {
    /// Nothing if a tool that the reply calls is not there.
    pub(crate) fn new(
        reply: ModelReply,
        seen: &SeenRequest,
        mut call_id: impl FnMut() -> String,
    ) -> Option<Self> {
        let acts = reply.steps.into_iter().map(|step| {
            Some(match step {
                ReplyStep::Say(text) => Act::Say(ReplyPiece::Text(text)),
                ReplyStep::Think(text) => Act::Say(ReplyPiece::Thought(text)),
                ReplyStep::Call(candidates) => Act::Say(call(&candidates, seen, &mut call_id)?),
                ReplyStep::CallAs { id, name, arguments } => Act::Say(call_as(seen, id, &name, arguments)),
                ReplyStep::Pause(pause) => Act::Pause(pause),
                ReplyStep::Gate(name) => Act::Gate(name),
                ReplyStep::Fail(failure) => Act::Fail(failure),
                ReplyStep::Raw(text) => Act::Raw(text),
                ReplyStep::Cut => Act::Cut,
            })
        });
        Some(Self { acts: acts.collect::<Option<_>>()?, gap: reply.gap, ending: reply.ending })
    }

    /// Answers `seen`.
    pub(crate) async fn run(
        self,
        exchange: PlayedExchange,
        seen: &SeenRequest,
    ) -> Result<Response<ResponseBody>, BrokenBody> {
        if seen.is_stream { self.stream(exchange, seen).await } else { self.whole(exchange, seen).await }
    }

    async fn whole(
        self,
        exchange: PlayedExchange,
        seen: &SeenRequest,
    ) -> Result<Response<ResponseBody>, BrokenBody> {
        let mut pieces = Vec::new();
        let mut is_cut = false;
        for act in self.acts {
            match act {
                Act::Say(piece) => {
                    rest(self.gap, !pieces.is_empty()).await;
                    pieces.push(piece);
                }
                Act::Pause(pause) => tokio::time::sleep(pause).await,
                Act::Gate(name) => exchange.shared.gate(&name).pass().await,
                Act::Fail(failure) => return Ok(refuse(exchange, seen, &failure)),
                Act::Raw(_) => {}
                Act::Cut if pieces.is_empty() => return broken(exchange),
                Act::Cut => {
                    is_cut = true;
                    break;
                }
            }
        }
        let text = dialect::voice(seen).whole(&pieces, &self.ending).to_string();
        if is_cut {
            return Ok(half(exchange, text));
        }
        exchange.end(ExchangeOutcome::Answered);
        Ok(respond(StatusCode::OK, "application/json", full(text)))
    }

    async fn stream(
        mut self,
        exchange: PlayedExchange,
        seen: &SeenRequest,
    ) -> Result<Response<ResponseBody>, BrokenBody> {
        // The status is sent with the first thing that is said: until then it can still be an error.
        loop {
            match self.acts.front() {
                Some(Act::Pause(pause)) => tokio::time::sleep(*pause).await,
                Some(Act::Gate(name)) => exchange.shared.gate(name).pass().await,
                Some(Act::Fail(failure)) => return Ok(refuse(exchange, seen, failure)),
                Some(Act::Cut) => return broken(exchange),
                Some(Act::Say(_) | Act::Raw(_)) | None => break,
            }
            self.acts.pop_front();
        }
        let (sender, body) = growing();
        let voice = dialect::voice(seen);
        tokio::spawn(self.tell(exchange, voice, sender));
        Ok(respond(StatusCode::OK, seen.stream_type(), body))
    }

    async fn tell(
        self,
        exchange: PlayedExchange,
        voice: Box<dyn StreamVoice>,
        sender: mpsc::Sender<Result<Bytes, BrokenBody>>,
    ) {
        let outcome = tokio::select! {
            outcome = self.tell_all(&exchange.shared, voice, &sender) => outcome,
            () = sender.closed() => ExchangeOutcome::HungUp,
        };
        exchange.end(outcome);
    }

    async fn tell_all(
        self,
        shared: &ProviderShared,
        mut voice: Box<dyn StreamVoice>,
        sender: &mpsc::Sender<Result<Bytes, BrokenBody>>,
    ) -> ExchangeOutcome {
        // A failed send means that the client is gone, which `tell` notices by itself.
        let send = async |bytes: Bytes| drop(sender.send(Ok(bytes)).await);
        send(voice.open()).await;
        let mut has_begun = false;
        for act in self.acts {
            match act {
                Act::Say(piece) => {
                    rest(self.gap, has_begun).await;
                    send(voice.say(&piece)).await;
                    has_begun = true;
                }
                Act::Pause(pause) => tokio::time::sleep(pause).await,
                Act::Gate(name) => shared.gate(&name).pass().await,
                Act::Fail(failure) => {
                    send(voice.fail(&failure)).await;
                    return ExchangeOutcome::Answered;
                }
                Act::Raw(text) => send(text.into()).await,
                Act::Cut => {
                    let _ = sender.send(Err(BrokenBody)).await;
                    return ExchangeOutcome::Cut;
                }
            }
        }
        send(voice.close(&self.ending)).await;
        ExchangeOutcome::Answered
    }
}

/// The pause between two chunks. None is no pause at all: even the shortest sleep takes a millisecond.
async fn rest(gap: Duration, has_begun: bool) {
    if has_begun && !gap.is_zero() {
        tokio::time::sleep(gap).await;
    }
}

/// The first candidate that is among the tools of the request.
fn call(
    candidates: &[ReplyCandidate],
    seen: &SeenRequest,
    call_id: &mut impl FnMut() -> String,
) -> Option<ReplyPiece> {
    candidates.iter().find_map(|candidate| {
        let tool = seen.tools().iter().find(|tool| candidate.fits(tool))?.clone();
        Some(ReplyPiece::Call { id: call_id(), tool, arguments: candidate.arguments.clone() })
    })
}

/// A call of a tool that need not be among those of the request.
fn call_as(seen: &SeenRequest, id: String, name: &str, arguments: Value) -> ReplyPiece {
    let offered = seen.tools().iter().find(|tool| tool.name == name).cloned();
    let tool = offered.unwrap_or_else(|| OfferedTool::named(name, &Value::Null));
    ReplyPiece::Call { id, tool, arguments }
}

/// An HTTP error in the shape of the dialect.
pub(crate) fn refuse(
    exchange: PlayedExchange,
    seen: &SeenRequest,
    failure: &ReplyFailure,
) -> Response<ResponseBody> {
    let body = dialect::error(seen.dialect, failure).to_string();
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, "application/json", full(body));
    if let Some(seconds) = failure.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    exchange.end(ExchangeOutcome::Answered);
    response
}

pub(crate) fn respond(status: StatusCode, kind: &'static str, body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

fn broken(exchange: PlayedExchange) -> Result<Response<ResponseBody>, BrokenBody> {
    exchange.end(ExchangeOutcome::Cut);
    Err(BrokenBody)
}

/// A response whose body breaks off in the middle.
fn half(exchange: PlayedExchange, text: String) -> Response<ResponseBody> {
    let (sender, body) = growing();
    let mut response = respond(StatusCode::OK, "application/json", body);
    response.headers_mut().insert(header::CONTENT_LENGTH, text.len().into());
    tokio::spawn(async move {
        let middle = text.floor_char_boundary(text.len() / 2);
        let _ = sender.send(Ok(text[..middle].to_owned().into())).await;
        let _ = sender.send(Err(BrokenBody)).await;
        exchange.end(ExchangeOutcome::Cut);
    });
    response
}

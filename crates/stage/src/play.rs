//! A reply, played to a client step by step.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use hyper::{Response, StatusCode, header};
use tokio::sync::mpsc;

use crate::{
    body::{Answer, Broken, full, growing},
    dialect::{self, Piece, Voice},
    provider::Shared,
    reply::{Candidate, Ending, Failure, Reply, Step},
    seen::{Outcome, Seen},
};

/// An answer under way; what becomes of it is noted when it ends, also when it is dropped because the client left.
pub(crate) struct Exchange {
    shared: Arc<Shared>,
    index: usize,
    outcome: Outcome,
}

impl Exchange {
    pub(crate) fn new(shared: Arc<Shared>, index: usize) -> Self {
        Self { shared, index, outcome: Outcome::HungUp }
    }

    fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.shared.note(self.index, self.outcome);
    }
}

/// A reply whose tools are found among those of a request.
pub(crate) struct Play {
    acts: VecDeque<Act>,
    gap: Duration,
    ending: Ending,
}

enum Act {
    Say(Piece),
    Pause(Duration),
    Gate(String),
    Fail(Failure),
    Cut,
}

impl Play {
    /// Nothing if a tool that the reply calls is not there.
    pub(crate) fn new(reply: Reply, seen: &Seen, mut call_id: impl FnMut() -> String) -> Option<Self> {
        let acts = reply.steps.into_iter().map(|step| {
            Some(match step {
                Step::Say(text) => Act::Say(Piece::Text(text)),
                Step::Think(text) => Act::Say(Piece::Thought(text)),
                Step::Call(candidates) => Act::Say(call(&candidates, seen, &mut call_id)?),
                Step::Pause(pause) => Act::Pause(pause),
                Step::Gate(name) => Act::Gate(name),
                Step::Fail(failure) => Act::Fail(failure),
                Step::Cut => Act::Cut,
            })
        });
        Some(Self { acts: acts.collect::<Option<_>>()?, gap: reply.gap, ending: reply.ending })
    }

    /// Answers `seen`.
    pub(crate) async fn run(self, exchange: Exchange, seen: &Seen) -> Result<Response<Answer>, Broken> {
        if seen.is_stream { self.stream(exchange, seen).await } else { self.whole(exchange, seen).await }
    }

    async fn whole(self, exchange: Exchange, seen: &Seen) -> Result<Response<Answer>, Broken> {
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
        exchange.end(Outcome::Answered);
        Ok(respond(StatusCode::OK, "application/json", full(text)))
    }

    async fn stream(mut self, exchange: Exchange, seen: &Seen) -> Result<Response<Answer>, Broken> {
        // The status is sent with the first thing that is said: until then it can still be an error.
        loop {
            match self.acts.front() {
                Some(Act::Pause(pause)) => tokio::time::sleep(*pause).await,
                Some(Act::Gate(name)) => exchange.shared.gate(name).pass().await,
                Some(Act::Fail(failure)) => return Ok(refuse(exchange, seen, failure)),
                Some(Act::Cut) => return broken(exchange),
                Some(Act::Say(_)) | None => break,
            }
            self.acts.pop_front();
        }
        let (sender, body) = growing();
        let voice = dialect::voice(seen);
        tokio::spawn(self.tell(exchange, voice, sender));
        let kind = if seen.is_event_stream { "text/event-stream" } else { "application/json" };
        Ok(respond(StatusCode::OK, kind, body))
    }

    async fn tell(
        self,
        exchange: Exchange,
        voice: Box<dyn Voice>,
        sender: mpsc::Sender<Result<String, Broken>>,
    ) {
        let outcome = tokio::select! {
            outcome = self.tell_all(&exchange.shared, voice, &sender) => outcome,
            () = sender.closed() => Outcome::HungUp,
        };
        exchange.end(outcome);
    }

    async fn tell_all(
        self,
        shared: &Shared,
        mut voice: Box<dyn Voice>,
        sender: &mpsc::Sender<Result<String, Broken>>,
    ) -> Outcome {
        // A failed send means that the client is gone, which `tell` notices by itself.
        let send = async |text: String| drop(sender.send(Ok(text)).await);
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
                    return Outcome::Answered;
                }
                Act::Cut => {
                    let _ = sender.send(Err(Broken)).await;
                    return Outcome::Cut;
                }
            }
        }
        send(voice.close(&self.ending)).await;
        Outcome::Answered
    }
}

/// The pause between two chunks. None is no pause at all: even the shortest sleep takes a millisecond.
async fn rest(gap: Duration, has_begun: bool) {
    if has_begun && !gap.is_zero() {
        tokio::time::sleep(gap).await;
    }
}

/// The first candidate that is among the tools of the request.
fn call(candidates: &[Candidate], seen: &Seen, call_id: &mut impl FnMut() -> String) -> Option<Piece> {
    candidates.iter().find_map(|candidate| {
        let tool = seen.tools().iter().find(|tool| candidate.fits(tool))?.clone();
        Some(Piece::Call { id: call_id(), tool, arguments: candidate.arguments.clone() })
    })
}

/// An HTTP error in the shape of the dialect.
pub(crate) fn refuse(exchange: Exchange, seen: &Seen, failure: &Failure) -> Response<Answer> {
    let body = dialect::error(seen.dialect, failure).to_string();
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = respond(status, "application/json", full(body));
    if let Some(seconds) = failure.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    exchange.end(Outcome::Answered);
    response
}

pub(crate) fn respond(status: StatusCode, kind: &'static str, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

fn broken(exchange: Exchange) -> Result<Response<Answer>, Broken> {
    exchange.end(Outcome::Cut);
    Err(Broken)
}

/// A response whose body breaks off in the middle.
fn half(exchange: Exchange, text: String) -> Response<Answer> {
    let (sender, body) = growing();
    let mut response = respond(StatusCode::OK, "application/json", body);
    response.headers_mut().insert(header::CONTENT_LENGTH, text.len().into());
    tokio::spawn(async move {
        let middle = text.floor_char_boundary(text.len() / 2);
        let _ = sender.send(Ok(text[..middle].to_owned())).await;
        let _ = sender.send(Err(Broken)).await;
        exchange.end(Outcome::Cut);
    });
    response
}

//! Requests that bring a session into use or look at the store, a file for each.

mod delete;
mod fork;
mod list;
mod load;
mod new;

use std::sync::Arc;

use nudge_peer::RequestResponder;
use nudge_session::AttachOptions;
use nudge_wire::{Error, Id, RawJson, RequestOrigin};

use crate::{
    client::ClientMessage,
    hub::{CountedWork, ending},
    joined_sessions::JoinedSessions,
    methods::LifecycleMethod,
    session::{self, ClientView, JoinRequest, RestoreWish},
    sources::SessionSource,
};

/// A request that brings a session into use or looks at the store.
pub(crate) struct LifecycleRequest {
    /// The process does not end meanwhile.
    _counted: CountedWork,
    joined_sessions: JoinedSessions,
    /// The request, for an agent that asks something about it.
    origin: Option<RequestOrigin>,
}

impl LifecycleRequest {
    pub(crate) fn new(joined_sessions: JoinedSessions, id: &Id) -> Self {
        let origin = joined_sessions.client.origin(id);
        Self { _counted: joined_sessions.shared.opening(), joined_sessions, origin }
    }

    pub(crate) async fn run(
        &self,
        method: LifecycleMethod,
        params: Option<&RawJson>,
        responder: RequestResponder,
    ) {
        let failed = match self.outcome(method, params).await {
            Ok(Outcome::Opened(id, handle, how)) => self.join(&id, handle, how, responder).await,
            Ok(Outcome::Answer(answer)) => {
                return self.joined_sessions.client.push(ClientMessage::Answer(responder, Ok(answer)));
            }
            Err(error) => Err((error, Some(responder))),
        };
        if let Err((error, Some(responder))) = failed {
            self.joined_sessions.client.push(ClientMessage::Answer(responder, Err(error)));
        }
    }

    async fn outcome(&self, method: LifecycleMethod, params: Option<&RawJson>) -> Result<Outcome, Error> {
        let name = method.name();
        let (id, handle, how) = match method {
            LifecycleMethod::New => self.unless_hurried(self.new_session(name, params)).await?,
            LifecycleMethod::Load | LifecycleMethod::Resume => {
                self.unless_hurried(self.load(name, params)).await?
            }
            LifecycleMethod::Fork => self.unless_hurried(self.fork(name, params)).await?,
            // What is being deleted here is deleted.
            LifecycleMethod::Delete => return self.delete(name, params).await.map(Outcome::Answer),
            LifecycleMethod::List => {
                return self.unless_hurried(self.list(name, params)).await.map(Outcome::Answer);
            }
        };
        Ok(Outcome::Opened(id, handle, how))
    }

    /// Gives up what takes a while if the process ends at once.
    async fn unless_hurried<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        tokio::select! {
            done = work => done,
            () = self.joined_sessions.shared.hurry.cancelled() => Err(ending()),
        }
    }

    /// Waits until the agent is there. It is not started for a client that goes meanwhile.
    async fn reach(&self, agent: &SessionSource) -> Result<(), Error> {
        tokio::select! {
            there = agent.reach() => there,
            () = self.joined_sessions.client.gone() => Err(Error::cancelled()),
        }
    }

    fn wish(&self, params: Option<&RawJson>) -> RestoreWish {
        let origin = self.origin.clone();
        RestoreWish { params: params.cloned(), origin, ..RestoreWish::of(&self.joined_sessions.client) }
    }

    async fn join(
        &self,
        id: &str,
        handle: session::SessionHandle,
        how: AttachOptions,
        responder: RequestResponder,
    ) -> Result<(), (Error, Option<RequestResponder>)> {
        self.joined_sessions.joins(id);
        let view = ClientView::new(Arc::clone(&self.joined_sessions.client), &handle.cwd);
        let attach = JoinRequest { view, options: how, responder };
        session::join(&self.joined_sessions.shared, handle, id, attach).await
    }
}

/// What became of a request.
enum Outcome {
    /// This session is to be joined.
    Opened(Arc<str>, session::SessionHandle, AttachOptions),
    Answer(RawJson),
}

/// A session that was brought into use, and how the client joins it.
type Opened = Result<(Arc<str>, session::SessionHandle, AttachOptions), Error>;

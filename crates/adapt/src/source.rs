//! An adapted agent as what sessions are run by.

use std::{fmt, sync::Arc};

use nudge_backend::{AgentSource, BackendFuture, OpenedSession, SessionRestore, SessionSetup, SourceOffers};
use nudge_bridge::IndexedUpdate;
use nudge_peer::PassedMessage;
use nudge_wire::{Error, RawJson, RequestOrigin, Version};

use crate::{AdaptedSession, AgentSessionOpened, ClientAgent};

/// Runs sessions by another agent.
#[derive(Clone)]
pub struct AdaptedSource(Arc<ClientAgent>);

impl AdaptedSource {
    /// Sessions that this agent runs.
    pub fn new(agent: Arc<ClientAgent>) -> Self {
        Self(agent)
    }
}

impl AgentSource<PassedMessage> for AdaptedSource {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn reach(&self) -> BackendFuture<'_, Result<(), Error>> {
        Box::pin(async { self.0.init().await.map(drop) })
    }

    fn offers(&self) -> BackendFuture<'_, Result<SourceOffers, Error>> {
        Box::pin(async {
            let (_, offers, _) = self.0.current().offers().await?;
            let crate::AgentOffers { list, load, resume, fork, delete, .. } = offers;
            Ok(SourceOffers { list, load, resume, fork, delete })
        })
    }

    fn request<'a>(
        &'a self,
        from: Version,
        method: &'a str,
        params: &'a RawJson,
        origin: Option<RequestOrigin>,
    ) -> BackendFuture<'a, Result<RawJson, Error>> {
        let agent = self.0.current();
        Box::pin(async move { agent.request(from, method, params, origin).await })
    }

    fn begin(
        &self,
        method: &str,
        setup: SessionSetup,
    ) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        let (agent, method) = (Arc::clone(&self.0), method.to_owned());
        Box::pin(async move {
            let opened = AdaptedSession::begin(&agent, &method, &setup).await?;
            Ok(opened_session(opened, &setup))
        })
    }

    fn take_up(&self, setup: SessionSetup) -> Box<dyn SessionRestore<PassedMessage>> {
        Box::new(AdaptedRestore { agent: Arc::clone(&self.0), setup })
    }
}

struct AdaptedRestore {
    agent: Arc<ClientAgent>,
    setup: SessionSetup,
}

impl SessionRestore<PassedMessage> for AdaptedRestore {
    /// The agent remembers what was said, or is told it in words.
    fn wants_history(&self) -> bool {
        false
    }

    fn hear(&mut self, _: &IndexedUpdate) {}

    fn open(self: Box<Self>) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        let Self { agent, setup } = *self;
        Box::pin(async move {
            let opened = AdaptedSession::take_up(&agent, &setup).await?;
            Ok(opened_session(opened, &setup))
        })
    }
}

fn opened_session(opened: AgentSessionOpened, setup: &SessionSetup) -> OpenedSession<PassedMessage> {
    let AgentSessionOpened { replayed, mut session } = opened;
    session.set_folders(&setup.cwd, &setup.additional_directories);
    let agent_session_id = Some(Arc::clone(session.id()));
    OpenedSession { backend: Box::new(session), agent_session_id, replayed }
}

impl fmt::Debug for AdaptedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AdaptedSource").field(&self.0).finish()
    }
}

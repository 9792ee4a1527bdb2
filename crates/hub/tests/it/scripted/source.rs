//! Where scripted agents come from.

use std::sync::Arc;

use nudge_backend::{AgentSource, BackendFuture, OpenedSession, SessionRestore, SessionSetup, SourceOffers};
use nudge_bridge::IndexedUpdate;
use nudge_peer::PassedMessage;
use nudge_wire::{Error, RawJson, RequestOrigin, Version};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use super::{ScriptedAgent, Shared, Traits, backend::ScriptedBackend};

/// Opens sessions, and gives the test its end of each agent.
pub(super) struct ScriptedSource {
    pub(super) traits: Traits,
    pub(super) opened: mpsc::UnboundedSender<ScriptedAgent>,
}

impl AgentSource<PassedMessage> for ScriptedSource {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reach(&self) -> BackendFuture<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    fn offers(&self) -> BackendFuture<'_, Result<SourceOffers, Error>> {
        Box::pin(async { Ok(SourceOffers::default()) })
    }

    fn request<'a>(
        &'a self,
        _: Version,
        method: &'a str,
        _: &'a RawJson,
        _: Option<RequestOrigin>,
    ) -> BackendFuture<'a, Result<RawJson, Error>> {
        Box::pin(async move { Err(Error::method_not_found(method)) })
    }

    fn begin(
        &self,
        _: &str,
        setup: SessionSetup,
    ) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        self.take_up(setup).open()
    }

    fn take_up(&self, setup: SessionSetup) -> Box<dyn SessionRestore<PassedMessage>> {
        let (traits, opened) = (self.traits.clone(), self.opened.clone());
        Box::new(ScriptedTakingUp { traits, opened, setup, history: Vec::new() })
    }
}

struct ScriptedTakingUp {
    traits: Traits,
    opened: mpsc::UnboundedSender<ScriptedAgent>,
    setup: SessionSetup,
    history: Vec<String>,
}

impl SessionRestore<PassedMessage> for ScriptedTakingUp {
    fn wants_history(&self) -> bool {
        true
    }

    fn hear(&mut self, update: &IndexedUpdate) {
        self.history.push(update.kind.name().to_owned());
    }

    fn open(self: Box<Self>) -> BackendFuture<'static, Result<OpenedSession<PassedMessage>, Error>> {
        let Self { traits, opened, setup, history } = *self;
        let ((reports, heard), (tell, told)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let shared = Arc::new(Shared {
            traits: Mutex::new(traits),
            environments: Mutex::default(),
            passed: Mutex::default(),
            asked: Mutex::default(),
            may_end: Notify::new(),
        });
        let backend = ScriptedBackend { reports: heard, told: tell, shared: Arc::clone(&shared) };
        let agent = ScriptedAgent { setup, history, reports, told, shared, questions: 0 };
        Box::pin(async move {
            let refused = |_| Error::internal("the test wants no more sessions");
            opened.send(agent).map_err(refused)?;
            Ok(OpenedSession { backend: Box::new(backend), agent_session_id: None, replayed: Vec::new() })
        })
    }
}

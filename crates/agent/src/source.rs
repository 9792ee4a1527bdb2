//! The built-in agent as what sessions are run by.

use std::{path::PathBuf, sync::Arc};

use nudge_backend::{AgentSource, BackendFuture, OpenedSession, SessionRestore, SessionSetup, SourceOffers};
use nudge_bridge::IndexedUpdate;
use nudge_model::{FixedModel, LanguageModel, ModelSource};
use nudge_wire::{Error, RawJson, RequestOrigin, Version};

use crate::{AgentSetup, BuiltInAgent, Conversation};

/// Runs sessions by the built-in agent.
pub struct BuiltInSource {
    models: Arc<dyn ModelSource>,
}

impl BuiltInSource {
    /// What the store calls the built-in agent.
    pub(crate) const NAME: &str = "builtin";

    /// Agents that ask these models.
    pub fn new(models: Arc<dyn ModelSource>) -> Self {
        Self { models }
    }

    /// Agents that ask this model.
    pub fn of_model(model: Arc<dyn LanguageModel>) -> Self {
        Self::new(Arc::new(FixedModel::new(model)))
    }

    fn taking_up(&self, setup: SessionSetup) -> BuiltInRestore {
        let folders = setup.additional_directories.into_iter().map(PathBuf::from);
        let setup = AgentSetup {
            session_id: setup.session_id.to_string(),
            cwd: PathBuf::from(setup.cwd),
            additional_directories: folders.collect(),
            config: setup.config,
            client: setup.client,
            history: Conversation::new(),
        };
        BuiltInRestore { models: Arc::clone(&self.models), setup }
    }
}

impl<M: 'static> AgentSource<M> for BuiltInSource {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn reach(&self) -> BackendFuture<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    /// Its sessions are in the store alone.
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

    fn begin(&self, _: &str, setup: SessionSetup) -> BackendFuture<'static, Result<OpenedSession<M>, Error>> {
        Box::new(self.taking_up(setup)).open()
    }

    fn take_up(&self, setup: SessionSetup) -> Box<dyn SessionRestore<M>> {
        Box::new(self.taking_up(setup))
    }
}

struct BuiltInRestore {
    models: Arc<dyn ModelSource>,
    setup: AgentSetup,
}

impl<M: 'static> SessionRestore<M> for BuiltInRestore {
    fn wants_history(&self) -> bool {
        true
    }

    fn hear(&mut self, update: &IndexedUpdate) {
        self.setup.history.update(&update.raw);
    }

    fn open(self: Box<Self>) -> BackendFuture<'static, Result<OpenedSession<M>, Error>> {
        let Self { models, setup } = *self;
        Box::pin(async move {
            let backend = Box::new(BuiltInAgent::start(models, setup));
            Ok(OpenedSession { backend, agent_session_id: None, replayed: Vec::new() })
        })
    }
}

impl std::fmt::Debug for BuiltInSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltInSource").finish_non_exhaustive()
    }
}

//! What all connections of a process share.

use std::{fmt, io, sync::Arc, time::Duration};

use nudge_adapt::AgentPool;
use nudge_hub::Hub;
use nudge_model::ProviderModels;
use nudge_nes::NesService;
use nudge_peer::Connect;
use tokio::sync::Notify;

use crate::{ClientConnection, ConnectionOptions, LoginStore, ProgramInfo, setup_page};

/// What all connections of a process share: next edit suggestions, sessions, and the agents that are running.
///
/// Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    nes: NesService,
    sessions: Option<Hub>,
    providers: Option<ProviderModels>,
    logins: Option<Arc<dyn LoginStore>>,
    page_lifetime: Duration,
    agents: AgentPool,
    program: ProgramInfo,
    stop_asked: Notify,
}

impl Gateway {
    /// A gateway to next edit suggestions, and to sessions if there is a hub; without one all of `session/*` is refused.
    pub fn new(nes: NesService, sessions: Option<Hub>, program: ProgramInfo) -> Self {
        let (agents, stop_asked) = (AgentPool::default(), Notify::new());
        let (providers, logins, page_lifetime) = (None, None, setup_page::LIFETIME);
        Self(Arc::new(Shared {
            nes,
            sessions,
            providers,
            logins,
            page_lifetime,
            agents,
            program,
            stop_asked,
        }))
    }

    /// Lets clients say how the models of the built-in agent are reached, and sign in if logins can be kept. To be called
    /// before anything else.
    pub fn with_models(self, models: ProviderModels, logins: Option<Arc<dyn LoginStore>>) -> Self {
        let Some(shared) = Arc::into_inner(self.0) else {
            panic!("models are set before the gateway is used");
        };
        Self(Arc::new(Shared { providers: Some(models), logins, ..shared }))
    }

    /// Lets the pages on which users sign in be used for another time than ten minutes. To be called before anything else.
    pub fn with_page_lifetime(self, lifetime: Duration) -> Self {
        let Some(shared) = Arc::into_inner(self.0) else {
            panic!("the life of pages is said before the gateway is used");
        };
        Self(Arc::new(Shared { page_lifetime: lifetime, ..shared }))
    }

    /// Makes the connection of a client ready to run.
    pub fn connect(
        &self,
        transport: impl Connect,
        options: ConnectionOptions,
    ) -> io::Result<ClientConnection> {
        ClientConnection::open(self.clone(), transport, options)
    }

    /// The sessions, if there are any.
    pub fn sessions(&self) -> Option<&Hub> {
        self.0.sessions.as_ref()
    }

    /// Waits until a client has asked the process to end.
    pub async fn stop_asked(&self) {
        self.0.stop_asked.notified().await;
    }

    /// Asks the process to end, as a client may.
    pub fn ask_to_stop(&self) {
        self.0.stop_asked.notify_one();
    }

    /// Looks whether a user has signed in or out meanwhile, and tells the clients.
    pub fn look_at_logins(&self) {
        if let Some(providers) = &self.0.providers {
            providers.look_at_stored();
        }
    }

    pub(crate) fn nes(&self) -> &NesService {
        &self.0.nes
    }

    pub(crate) fn providers(&self) -> Option<&ProviderModels> {
        self.0.providers.as_ref()
    }

    pub(crate) fn logins(&self) -> Option<&Arc<dyn LoginStore>> {
        self.0.logins.as_ref()
    }

    pub(crate) fn page_lifetime(&self) -> Duration {
        self.0.page_lifetime
    }

    pub(crate) fn agents(&self) -> &AgentPool {
        &self.0.agents
    }

    pub(crate) fn program(&self) -> &ProgramInfo {
        &self.0.program
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("program", &self.0.program).finish_non_exhaustive()
    }
}

//! `initialize`: which version is spoken, and what is offered.

use std::sync::Arc;

use nudge_hub::SessionApi;
use nudge_wire::{Error, RawJson, Request, Version};
use serde_json::Value;

use crate::{
    ConnectionAgent, NesProvider, agent_behind::AgentBehind, capabilities, connection::ClientRoutes,
    sign_in::ClientSignIn,
};

/// `initialize` of either version, read leniently: what version it asks for decides what it is.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct InitializeParams(pub(crate) RawJson);

impl Request for InitializeParams {
    const METHOD: &'static str = "initialize";
    type Response = RawJson;
}

/// What a client has after `initialize`; a second one takes the place of the first.
pub(crate) struct InitializedClient {
    pub(crate) answer: RawJson,
    pub(crate) sessions: Option<SessionApi>,
    pub(crate) agent: Option<AgentBehind>,
    pub(crate) sign_in: Option<Arc<ClientSignIn>>,
}

/// Takes what the client says of itself, and says what is offered.
pub(crate) async fn initialize(routes: &ClientRoutes, params: &RawJson) -> Result<InitializedClient, Error> {
    if !params.as_str().starts_with('{') {
        return Err(Error::invalid_params("Invalid params for initialize: expected an object"));
    }
    let requested = params.get(&["protocolVersion"]).and_then(|version| version.to::<Value>().ok());
    let version = Version::negotiate(requested.as_ref());
    tracing::info!(?version, "initialized");
    let client = nudge_bridge::client_init(version, params.clone());
    let (gateway, options, cx) = (&routes.gateway, &routes.options, routes.cx()?);
    let agent = AgentBehind::start(options.agent.as_ref(), gateway, &client, (routes.id, cx)).await?;
    let release = &gateway.program().version;
    let sign_in = routes.providers().map(|providers| {
        Arc::new(ClientSignIn::new(providers.clone(), gateway, routes.context(), &client, cx.clone()))
    });
    let offered = match &agent {
        Some(agent) => {
            let offered = capabilities::in_front_of(&agent.init().await?, version, release);
            Ok(agent.with_terminal_methods(offered, &client))
        }
        None if gateway.sessions().is_none() => Ok(capabilities::without_sessions(version, release)),
        None => capabilities::of_built_in(version, release, sign_in.as_deref()),
    };
    let offered = offered.and_then(|offered| match options.nes {
        NesProvider::Nudge => routes.nes.initialize(&client, offered),
        NesProvider::Agent => Ok(offered),
    });
    let offered = offered.map_err(|_| {
        Error::internal("The agent's answer to `initialize` has capabilities that are no objects")
    })?;
    let sessions = gateway.sessions().map(|hub| {
        let source = match (&agent, &options.agent) {
            (Some(agent), _) => Some(agent.source()),
            (None, Some(ConnectionAgent::Source(source))) => Some(source.clone()),
            _ => None,
        };
        let mut context = routes.context();
        if let Some(agent) = &agent {
            context.hold = agent.hold(context.hold);
        }
        hub.connect(cx.clone(), &client, context, source, options.built_in.clone())
    });
    Ok(InitializedClient { answer: with_agent_info(version, offered.result), sessions, agent, sign_in })
}

/// Who answers, also under the name that some pages of the draft of version 2 have for it.
fn with_agent_info(version: Version, result: RawJson) -> RawJson {
    let info =
        result.get(&["info"]).filter(|_| version == Version::V2 && result.get(&["agentInfo"]).is_none());
    info.and_then(|info| result.with(&["agentInfo"], &info).ok()).unwrap_or(result)
}

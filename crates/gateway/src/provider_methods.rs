//! `providers/list`, `providers/set` and `providers/disable` of the built-in agent. What a client sets counts for the turns that
//! it begins, and is kept in memory alone.

use std::collections::BTreeMap;

use nudge_model::{ModelProvider, ProviderAccess, ProviderModels, ProviderState};
use nudge_peer::UnhandledMessage;
use nudge_wire::{ClientContext, Error, RawJson};
use serde::Deserialize;
use serde_json::{Value, json};

/// Which provider is meant; earlier versions of the protocol said `id`, and some clients say both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedProvider {
    #[serde(default)]
    provider_id: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

impl NamedProvider {
    fn name(self) -> Result<String, Error> {
        let named = self.provider_id.or(self.id);
        named.ok_or_else(|| Error::invalid_params("Invalid params: providerId is missing"))
    }
}

#[derive(Deserialize)]
struct SetProviderParams {
    #[serde(flatten)]
    provider: NamedProvider,
    #[serde(rename = "apiType")]
    api_type: String,
    #[serde(rename = "baseUrl")]
    base_url: String,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
}

/// Answers what is said about providers; gives back all else.
pub(crate) async fn answer(
    providers: &ProviderModels,
    client: &ClientContext,
    message: UnhandledMessage,
) -> Option<UnhandledMessage> {
    let UnhandledMessage::Request(request) = message else { return Some(message) };
    let none = RawJson::written("{}");
    let params = request.params().unwrap_or(&none);
    let result = match &**request.method() {
        "providers/list" => Ok(json!({ "providers": listed(&providers.states(client)) })),
        "providers/set" => set(providers, client, params),
        "providers/disable" => disable(providers, client, params),
        _ => return Some(UnhandledMessage::Request(request)),
    };
    // Whoever asked may be gone.
    let _ = request.respond(result).await;
    None
}

/// All of it but what is secret: keys and headers are never told.
fn listed(states: &[ProviderState]) -> Vec<Value> {
    let one = |state: &ProviderState| {
        let ProviderState { provider, is_required, access } = state;
        let current = access
            .as_ref()
            .map(|access| json!({ "apiType": access.api_type.name(), "baseUrl": access.base_url }));
        json!({
            "providerId": provider.id,
            "id": provider.id,
            "supported": provider.supported(),
            "required": is_required,
            "current": current,
            "_meta": { "nudge": { "name": provider.name, "origin": access.as_ref().map(|access| access.origin.to_string()) } },
        })
    };
    states.iter().map(one).collect()
}

fn set(providers: &ProviderModels, client: &ClientContext, params: &RawJson) -> Result<Value, Error> {
    let read = params.to::<SetProviderParams>();
    let params = read.map_err(|error| Error::bad_params("providers/set", &error))?;
    let headers = params.headers.unwrap_or_default();
    let provider = params.provider.name()?;
    let access = ProviderAccess::set(&provider, &params.api_type, &params.base_url, &headers);
    let access = access.map_err(|error| Error::invalid_params(format!("Invalid params: {error}")))?;
    let is_usable =
        |state: &ProviderState| state.provider == access.provider && is_allowed(providers, client, state);
    if !providers.states(client).iter().any(is_usable) {
        return Err(Error::invalid_params(
            "Invalid params: another provider was pinned when Nudge was started",
        ));
    }
    providers.set(client, access);
    Ok(json!({}))
}

/// With a provider that was pinned no other can be set.
fn is_allowed(providers: &ProviderModels, client: &ClientContext, state: &ProviderState) -> bool {
    state.is_required || !providers.states(client).iter().any(|other| other.is_required)
}

fn disable(providers: &ProviderModels, client: &ClientContext, params: &RawJson) -> Result<Value, Error> {
    let read = params.to::<NamedProvider>();
    let named = read.map_err(|error| Error::bad_params("providers/disable", &error))?.name()?;
    // One that is not known is disabled already.
    let Some(provider) = ModelProvider::named(&named) else { return Ok(json!({})) };
    let is_required = |state: &ProviderState| state.provider == provider && state.is_required;
    if providers.states(client).iter().any(is_required) {
        return Err(Error::invalid_params(
            "Invalid params: this provider is required and cannot be disabled",
        ));
    }
    providers.disable(client, provider);
    Ok(json!({}))
}

//! What requests of either version ask for, read leniently.

use nudge_wire::{Error, RawJson, error::expectation};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

/// `session/new`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewParams {
    pub(crate) cwd: String,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) additional_directories: Vec<String>,
}

/// `session/load`, `session/resume` and `session/fork`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenParams {
    pub(crate) session_id: String,
    #[serde(default)]
    pub(crate) cwd: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub(crate) additional_directories: Vec<String>,
    #[serde(default)]
    pub(crate) replay_from: Option<ReplayFrom>,
    #[serde(rename = "_meta", default)]
    meta: Option<serde_json::Value>,
}

impl OpenParams {
    /// `_meta.nudge.hold`: what waits is not delivered because of this.
    pub(crate) fn keeps_hold(&self) -> bool {
        self.meta.as_ref().is_some_and(|meta| meta["nudge"]["hold"] == true)
    }

    /// `_meta.nudge.keepDirectories`: the folders are for a session that is not in use; one that is keeps its own.
    pub(crate) fn keeps_directories(&self) -> bool {
        self.meta.as_ref().is_some_and(|meta| meta["nudge"]["keepDirectories"] == true)
    }
}

/// Where a replay begins.
#[derive(Debug, Deserialize)]
pub(crate) struct ReplayFrom {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// What names a session and nothing else that matters.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionIdParams {
    pub(crate) session_id: String,
}

/// `session/list`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListParams {
    #[serde(default)]
    pub(crate) cwd: Option<String>,
    #[serde(default)]
    pub(crate) cursor: Option<String>,
    #[serde(default)]
    pub(crate) created_after: Option<String>,
    #[serde(default)]
    pub(crate) search: Option<String>,
    #[serde(default)]
    pub(crate) limit: Option<u32>,
}

/// `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionPromptParams {
    pub(crate) prompt: Vec<RawJson>,
    #[serde(rename = "_meta", default)]
    meta: Option<serde_json::Map<String, serde_json::Value>>,
}

impl SessionPromptParams {
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        self.meta.as_ref()?.get("idempotencyKey")?.as_str()
    }
}

/// Reads params; absent ones as an empty object.
pub(crate) fn read<T: DeserializeOwned>(method: &str, params: Option<&RawJson>) -> Result<T, Error> {
    let text = params.map_or("{}", RawJson::as_str);
    serde_json::from_str(text).map_err(|error| {
        Error::invalid_params(format!("Invalid params for {method}: {}", expectation(&error)))
    })
}

/// `null` says as much as nothing.
fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The session a request or notification is about.
pub(crate) fn session_id(params: Option<&RawJson>) -> Option<String> {
    params?.to::<SessionIdParams>().ok().map(|named| named.session_id)
}

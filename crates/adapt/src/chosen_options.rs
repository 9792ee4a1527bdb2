//! What a client has chosen in a session: its mode and its options. An agent that was started again may not know of it.

use std::time::Duration;

use nudge_bridge::{IndexedUpdate, MethodCall, ToV1, ToV2, UpdateKind};
use nudge_wire::{RawJson, Version};
use serde::Deserialize;

use crate::running::RunningAgent;

/// The most options that are remembered of a session.
const MOST: usize = 128;
/// How long an agent may take to set one again.
const PATIENCE: Duration = Duration::from_secs(30);

/// An option, or the mode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChosenOption {
    /// The id of the option; `None` for the mode.
    config_id: Option<String>,
    method: String,
    params: RawJson,
    /// In which it was said.
    version: Version,
}

/// What was chosen last of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChosenOptions(Vec<ChosenOption>);

/// What came of saying it again.
#[derive(Default)]
pub(crate) struct RepeatedOptions {
    /// The requests that were answered: method, params and answer.
    pub(crate) set: Vec<(String, RawJson, RawJson)>,
    /// Updates that tell what is set in place of what the agent did not take.
    pub(crate) instead: Vec<IndexedUpdate>,
    /// What was chosen, as the agent knows it.
    pub(crate) chosen: ChosenOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedOption {
    #[serde(alias = "configId")]
    id: String,
    #[serde(default)]
    current_value: Option<RawJson>,
}

const MODE: &str = "modeId";
const VALUE: &str = "value";

impl ChosenOption {
    fn member(&self) -> &'static str {
        if self.config_id.is_some() { VALUE } else { MODE }
    }

    /// The same as an agent of this version is told of it that has opened the session with this answer; nothing if it has no such
    /// option.
    fn told_to(self, version: Version, opened: &RawJson) -> Option<Self> {
        let (method, params) = match (self.version, version) {
            (Version::V1, Version::V2) => {
                let mut bridge = ToV1::default();
                bridge.setup(opened);
                let params = match self.config_id {
                    None => bridge.set_mode(&self.params)?,
                    Some(_) => bridge.set_config_option(&self.params),
                };
                ("session/set_config_option".to_owned(), params)
            }
            (Version::V2, Version::V1) => {
                let mut bridge = ToV2::default();
                bridge.setup(opened);
                let MethodCall { method, params } = bridge.set_config_option(&self.params);
                (method, params)
            }
            _ => return Some(self),
        };
        Self::of(&method, &params, version)
    }

    fn of(method: &str, params: &RawJson, version: Version) -> Option<Self> {
        let config_id = match method {
            "session/set_mode" => None,
            "session/set_config_option" => Some(params.get(&["configId"])?.to().ok()?),
            _ => return None,
        };
        Some(Self { config_id, method: method.to_owned(), params: params.clone(), version })
    }

    /// What it is in the answer by which a session was opened, if that says it.
    fn now(&self, opened: &RawJson) -> Option<RawJson> {
        match &self.config_id {
            None => opened.get(&["modes", "currentModeId"]),
            Some(id) => listed(opened).into_iter().find(|option| option.id == *id)?.current_value,
        }
    }
}

impl ChosenOptions {
    /// An agent of this version has agreed to a request that sets something.
    pub(crate) fn note(&mut self, method: &str, params: &RawJson, version: Version) {
        if let Some(chosen) = ChosenOption::of(method, params, version) {
            self.keep(chosen);
        }
    }

    fn keep(&mut self, chosen: ChosenOption) {
        self.0.retain(|before| before.config_id != chosen.config_id);
        if self.0.len() < MOST {
            self.0.push(chosen);
        }
    }

    /// The agent tells what is set now: what was chosen before counts as that.
    pub(crate) fn hear(&mut self, update: &IndexedUpdate) {
        match update.kind {
            UpdateKind::CurrentModeUpdate => {
                if let Some(mode) = update.raw.get(&["currentModeId"]) {
                    self.change(None, &mode);
                }
            }
            UpdateKind::ConfigOptionUpdate => {
                for ListedOption { id, current_value } in listed(&update.raw) {
                    if let Some(value) = current_value {
                        self.change(Some(&id), &value);
                    }
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, config_id: Option<&str>, value: &RawJson) {
        for chosen in self.0.iter_mut().filter(|chosen| chosen.config_id.as_deref() == config_id) {
            let member = chosen.member();
            if let Ok(params) = chosen.params.with(&[member], value) {
                chosen.params = params;
            }
        }
    }

    /// Says again what the agent, which has opened the session as `id` with this answer, has forgotten.
    pub(crate) async fn repeat(self, running: &RunningAgent, id: &str, opened: &RawJson) -> RepeatedOptions {
        let session = RawJson::of(id).expect("a string is JSON");
        let mut repeated = RepeatedOptions::default();
        let version = running.init.version;
        let told = self.0.into_iter().filter_map(|chosen| chosen.told_to(version, opened));
        for chosen in told {
            repeated.chosen.keep(chosen.clone());
            if chosen.now(opened) == chosen.params.get(&[chosen.member()]) {
                continue;
            }
            let params =
                chosen.params.with(&["sessionId"], &session).unwrap_or_else(|_| chosen.params.clone());
            let asked = running.cx.request_raw(&chosen.method, Some(&params)).in_order();
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Ok(answer)) => repeated.set.push((chosen.method, params, answer)),
                // It is repeated to the next.
                _ if running.is_over() => {}
                _ => {
                    tracing::warn!(method = chosen.method, "the agent does not take what was chosen before");
                    repeated.instead.extend(instead(&chosen, opened));
                }
            }
        }
        repeated
    }
}

impl RepeatedOptions {
    /// Whether what was set tells all that such an update would, which came before.
    pub(crate) fn outdates(&self, kind: &UpdateKind) -> bool {
        self.set.iter().any(|(method, _, answer)| match kind {
            UpdateKind::CurrentModeUpdate => method == "session/set_mode",
            UpdateKind::ConfigOptionUpdate => answer.get(&["configOptions"]).is_some(),
            _ => false,
        })
    }
}

/// An update that tells what is set in place of what was chosen.
fn instead(chosen: &ChosenOption, opened: &RawJson) -> Option<IndexedUpdate> {
    let (kind, member, value) = match chosen.config_id {
        None => (UpdateKind::CurrentModeUpdate, "currentModeId", opened.get(&["modes", "currentModeId"])?),
        Some(_) => (UpdateKind::ConfigOptionUpdate, "configOptions", opened.get(&["configOptions"])?),
    };
    let name = RawJson::of(kind.name()).expect("a string is JSON");
    Some(IndexedUpdate::new(kind, RawJson::object(&[("sessionUpdate", &name), (member, &value)])))
}

fn listed(json: &RawJson) -> Vec<ListedOption> {
    let options: Vec<RawJson> =
        json.get(&["configOptions"]).and_then(|options| options.to().ok()).unwrap_or_default();
    options.iter().filter_map(|option| option.to().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn raw(value: &Value) -> RawJson {
        RawJson::of(value).unwrap()
    }

    fn values(chosen: &ChosenOptions) -> Vec<String> {
        chosen
            .0
            .iter()
            .map(|option| option.params.get(&[option.member()]).unwrap().as_str().to_owned())
            .collect()
    }

    #[test]
    fn what_was_chosen_last_counts_whoever_chose_it() {
        let mut chosen = ChosenOptions::default();
        chosen.note("session/set_mode", &raw(&json!({ "modeId": "plan" })), Version::V1);
        chosen.note("session/set_mode", &raw(&json!({ "modeId": "ask" })), Version::V1);
        for (id, value) in [("model", "a"), ("effort", "low"), ("model", "b")] {
            chosen.note(
                "session/set_config_option",
                &raw(&json!({ "configId": id, "value": value })),
                Version::V1,
            );
        }
        chosen.note("session/other", &raw(&json!({ "configId": "model", "value": "c" })), Version::V1);
        assert_eq!(values(&chosen), [r#""ask""#, r#""low""#, r#""b""#]);
        let options =
            json!({ "configOptions": [{ "id": "effort", "currentValue": "high" }, { "id": "x" }, 7] });
        chosen.hear(&IndexedUpdate::new(UpdateKind::ConfigOptionUpdate, raw(&options)));
        let mode = json!({ "currentModeId": "edit" });
        chosen.hear(&IndexedUpdate::new(UpdateKind::CurrentModeUpdate, raw(&mode)));
        assert_eq!(values(&chosen), [r#""edit""#, r#""high""#, r#""b""#]);
    }
}

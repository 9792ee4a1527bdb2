//! What a client has set of an agent's process: providers and sign-in. It is in memory alone, because there are keys in it, and
//! said again to a process that takes the place of another.

use std::time::Duration;

use nudge_peer::CallError;
use nudge_wire::{Error, RawJson, Version};

use crate::running::RunningAgent;

/// The most providers that are remembered of one client.
const MOST_PROVIDERS: usize = 64;
/// The most that is remembered of one client, in bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// How long a process may take to sign the user in again: longer, and it waits for the user.
const SIGN_IN: Duration = Duration::from_mins(1);
/// Why sessions stay down whose agent did not take the sign-in again.
pub(crate) const SIGN_IN_NOT_REPEATED: &str = "sign_in_not_repeated";

/// A request by which a client sets something of the agent's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessSetting {
    SetProvider,
    DisableProvider,
    SignIn,
    SignOut,
}

/// Whether a request sets something of the agent's process, whatever session it names.
pub fn sets_process(method: &str) -> bool {
    ProcessSetting::of(method).is_some()
}

impl ProcessSetting {
    /// What a method sets, if it sets anything.
    pub(crate) fn of(method: &str) -> Option<Self> {
        match method {
            "providers/set" => Some(Self::SetProvider),
            "providers/disable" => Some(Self::DisableProvider),
            "authenticate" | "auth/login" => Some(Self::SignIn),
            "logout" | "auth/logout" => Some(Self::SignOut),
            _ => None,
        }
    }

    /// How it is said to an agent of this version.
    fn method(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::SetProvider, _) => "providers/set",
            (Self::DisableProvider, _) => "providers/disable",
            (Self::SignIn, Version::V1) => "authenticate",
            (Self::SignIn, Version::V2) => "auth/login",
            (Self::SignOut, Version::V1) => "logout",
            (Self::SignOut, Version::V2) => "auth/logout",
        }
    }
}

/// What was said of one provider last.
#[derive(Clone)]
struct RememberedProvider {
    id: String,
    setting: ProcessSetting,
    params: RawJson,
    /// The number of the setting, by which a process knows whether it has agreed to it.
    number: u64,
}

/// What an agent has agreed to. It holds keys, so it is never shown.
#[derive(Clone, Default)]
pub(crate) struct RememberedSettings {
    /// In the order in which they were set.
    providers: Vec<RememberedProvider>,
    sign_in: Option<(RawJson, u64)>,
}

impl RememberedSettings {
    /// Whether this can be remembered as well. What could not be said again is not said at all.
    pub(crate) fn has_room(&self, setting: ProcessSetting, params: &RawJson) -> Result<(), Error> {
        let id = provider_id(params);
        let others = self.providers.iter().filter(|other| other.id != id);
        let (count, bytes) =
            others.fold((1, 0), |(count, bytes), other| (count + 1, bytes + other.params.as_str().len()));
        let sign_in = self.sign_in.as_ref().map_or(0, |(params, _)| params.as_str().len());
        let is_too_much = match setting {
            ProcessSetting::SignOut => false,
            ProcessSetting::SignIn => bytes + params.as_str().len() > MOST_BYTES,
            _ => count > MOST_PROVIDERS || bytes + sign_in + params.as_str().len() > MOST_BYTES,
        };
        if !is_too_much {
            return Ok(());
        }
        let what = format!(
            "More than {MOST_PROVIDERS} providers, or more than {MOST_BYTES} bytes of what is set of them, cannot be \
             remembered for the agent's next process; use fewer"
        );
        Err(Error::invalid_params(what).reason("too_many_providers"))
    }

    /// The agent has agreed to this, which is the setting of this number.
    pub(crate) fn remember(&mut self, setting: ProcessSetting, params: RawJson, number: u64) {
        match setting {
            ProcessSetting::SignIn => self.sign_in = Some((params, number)),
            ProcessSetting::SignOut => self.sign_in = None,
            ProcessSetting::SetProvider | ProcessSetting::DisableProvider => {
                let id = provider_id(&params);
                self.providers.retain(|other| other.id != id);
                self.providers.push(RememberedProvider { id, setting, params, number });
            }
        }
    }

    /// Whether somebody has signed in.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.sign_in.is_some()
    }

    /// The user has signed in in another way.
    pub(crate) fn forget_sign_in(&mut self) {
        self.sign_in = None;
    }

    /// Says to a process what it has not agreed to: providers first, then the sign-in. The first that it refuses is the error.
    pub(crate) async fn repeat(&self, running: &RunningAgent, within: Duration) -> Result<(), Error> {
        for RememberedProvider { setting, params, number, .. } in &self.providers {
            if !running.has_agreed(*number) {
                say(running, *setting, params, within).await.map_err(|why| not_taken("providers", &why))?;
                running.note_agreed(*number);
            }
        }
        if let Some((params, number)) =
            self.sign_in.as_ref().filter(|(_, number)| !running.has_agreed(*number))
        {
            let said = say(running, ProcessSetting::SignIn, params, within.min(SIGN_IN)).await;
            said.map_err(|why| not_taken("sign-in", &why))?;
            running.note_agreed(*number);
        }
        Ok(())
    }
}

async fn say(
    running: &RunningAgent,
    setting: ProcessSetting,
    params: &RawJson,
    within: Duration,
) -> Result<(), String> {
    let asked = running.cx.request_raw(setting.method(running.init.version), Some(params));
    match tokio::time::timeout(within, asked).await {
        Ok(Ok(_)) => Ok(()),
        // Its words may repeat a key.
        Ok(Err(CallError::Rpc(error))) => Err(format!("it answered with error {}", error.code.0)),
        Ok(Err(CallError::Closed(_))) => Err("it has ended meanwhile".to_owned()),
        Ok(Err(_)) => Err("its answer cannot be read".to_owned()),
        Err(_) => Err(format!("it did not answer within {} seconds", within.as_secs())),
    }
}

fn not_taken(what: &str, why: &str) -> Error {
    let remedy = match what {
        "providers" => "Set the providers again, or disable them",
        _ => "Sign in again, or sign out",
    };
    let text = format!(
        "The agent was started again and did not take the {what} that it had before ({why}), so its sessions wait. {remedy}"
    );
    Error::internal(text).reason(if what == "providers" {
        "providers_not_repeated"
    } else {
        SIGN_IN_NOT_REPEATED
    })
}

/// The provider that is meant; earlier versions of the protocol said `id`.
fn provider_id(params: &RawJson) -> String {
    let named = ["providerId", "id"].into_iter().find_map(|name| params.get(&[name])?.to().ok());
    named.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(id: &str, length: usize) -> RawJson {
        RawJson::of(&json!({ "providerId": id, "headers": { "x": "k".repeat(length) } })).unwrap()
    }

    #[test]
    fn what_was_said_last_of_a_provider_counts() {
        let mut remembered = RememberedSettings::default();
        for (setting, id) in [
            (ProcessSetting::SetProvider, "a"),
            (ProcessSetting::SetProvider, "b"),
            (ProcessSetting::DisableProvider, "a"),
        ] {
            remembered.remember(setting, params(id, 1), 1);
        }
        let kept: Vec<_> =
            remembered.providers.iter().map(|provider| (provider.id.as_str(), provider.setting)).collect();
        assert_eq!(kept, [("b", ProcessSetting::SetProvider), ("a", ProcessSetting::DisableProvider)]);
        remembered.remember(ProcessSetting::SignIn, params("", 1), 2);
        assert!(remembered.sign_in.is_some());
        remembered.remember(ProcessSetting::SignOut, params("", 1), 3);
        assert!(remembered.sign_in.is_none());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut remembered = RememberedSettings::default();
        let set = ProcessSetting::SetProvider;
        for at in 0..MOST_PROVIDERS {
            let params = params(&at.to_string(), 1);
            assert!(remembered.has_room(set, &params).is_ok(), "{at}");
            remembered.remember(set, params, 1);
        }
        assert!(remembered.has_room(set, &params("one more", 1)).is_err());
        assert!(remembered.has_room(set, &params("7", 1)).is_ok(), "in place of another");
        assert!(remembered.has_room(set, &params("7", MOST_BYTES)).is_err());
        assert!(remembered.has_room(ProcessSetting::SignIn, &params("", MOST_BYTES)).is_err());
        assert!(remembered.has_room(ProcessSetting::SignOut, &params("", MOST_BYTES)).is_ok());
    }
}

//! Whether the user is signed in, for agents that do not say it as the protocol does: as they tell it in a notification of their own,
//! else unknown.

use std::sync::atomic::{AtomicBool, Ordering};

use nudge_peer::{RawRequest, UnhandledMessage};
use nudge_wire::RawJson;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

/// By which a client asks.
const AUTH_STATUS: &str = "auth/status";
/// By which it is told that the answer is another now.
pub(crate) const AUTH_STATUS_UPDATE: &str = "auth/status_update";
/// By which some agents tell it, before there was a method for it: codex-acp and claude-agent-acp.
const AGENTS_OWN_UPDATE: &str = "_auth/status_update";

/// What an agent has told of its sign-in.
#[derive(Debug)]
pub(crate) struct AuthStatus {
    told: Mutex<RawJson>,
    /// Whether the agent says it as the protocol does.
    is_given: AtomicBool,
}

impl Default for AuthStatus {
    fn default() -> Self {
        Self { told: Mutex::new(raw(&status(None))), is_given: AtomicBool::new(false) }
    }
}

/// How those agents write it. A payload that is not there says that it is not known.
#[derive(Deserialize)]
struct OwnUpdate {
    #[serde(rename = "authStatus")]
    status: Option<OwnStatus>,
}

#[derive(Deserialize)]
struct OwnStatus {
    kind: Option<String>,
    label: Option<String>,
    account: Option<OwnAccount>,
}

#[derive(Deserialize)]
struct OwnAccount {
    email: Option<String>,
    organization: Option<String>,
}

impl AuthStatus {
    /// Notes whether the agent has the method itself.
    pub(crate) fn set_given(&self, is_given: bool) {
        self.is_given.store(is_given, Ordering::Relaxed);
    }

    /// Answers a client that asks, where the agent does not. Gives back all else.
    pub(crate) async fn answer(&self, message: UnhandledMessage) -> Option<UnhandledMessage> {
        let request: RawRequest = match message {
            UnhandledMessage::Request(request) if &**request.method() == AUTH_STATUS && !self.is_given() => {
                request
            }
            other => return Some(other),
        };
        let status = self.told.lock().clone();
        // Whoever asked may be gone.
        let _ = request.into_responder().respond_raw(&status).await;
        None
    }

    /// Takes what the agent tells in its own way; gives what clients are to be told because of it.
    pub(crate) fn hear(&self, message: &UnhandledMessage) -> Option<RawJson> {
        let is_update =
            matches!(message, UnhandledMessage::Notification(note) if &**note.method() == AGENTS_OWN_UPDATE);
        let update = message.params().filter(|_| is_update)?.to::<OwnUpdate>().ok()?;
        let status = raw(&status(update.status.as_ref()));
        let mut told = self.told.lock();
        let is_news = *told != status && !self.is_given();
        told.clone_from(&status);
        is_news.then_some(status)
    }

    fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Relaxed)
    }
}

/// Whether a notification tells all who use the agent whether the user is signed in.
pub(crate) fn is_status_update(method: &str) -> bool {
    matches!(method, AUTH_STATUS_UPDATE | AGENTS_OWN_UPDATE)
}

fn status(own: Option<&OwnStatus>) -> Value {
    let Some(OwnStatus { kind: Some(kind), label, account }) = own else {
        return json!({ "state": "unknown" });
    };
    if kind == "none" {
        return json!({ "state": "unauthenticated" });
    }
    let Some(label) = label else { return json!({ "state": "authenticated" }) };
    let mut shown = json!({ "label": label, "active": true });
    if let Some(OwnAccount { email, organization }) = account {
        for (name, value) in [("email", email), ("organization", organization)] {
            if let Some(value) = value {
                shown[name] = json!(value);
            }
        }
    }
    json!({ "state": "authenticated", "accounts": [shown] })
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("it is plain data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(own: &Value, expected: &Value) {
        let update: OwnUpdate = serde_json::from_value(own.clone()).expect("it is an object");
        assert_eq!(status(update.status.as_ref()), *expected, "{own}");
    }

    #[test]
    fn what_agents_tell_in_their_own_way_is_told_as_the_protocol_does() {
        let told = |status: Value| json!({ "authStatus": status });
        let account = json!({ "kind": "account", "label": "ChatGPT Pro", "account": { "plan": "pro", "email": "a@b.c" } });
        check(
            &told(account),
            &json!({ "state": "authenticated", "accounts": [{ "label": "ChatGPT Pro", "active": true, "email": "a@b.c" }] }),
        );
        let key = json!({ "kind": "api_key", "label": "OpenAI API key", "detail": "env" });
        let accounts = json!([{ "label": "OpenAI API key", "active": true }]);
        check(&told(key), &json!({ "state": "authenticated", "accounts": accounts }));
        check(&told(json!({ "kind": "gateway" })), &json!({ "state": "authenticated" }));
        check(
            &told(json!({ "kind": "none", "label": "Not logged in" })),
            &json!({ "state": "unauthenticated" }),
        );
        for unknown in [json!({}), told(Value::Null), told(json!({ "label": "odd" }))] {
            check(&unknown, &json!({ "state": "unknown" }));
        }
    }
}

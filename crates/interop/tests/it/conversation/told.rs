//! What a client made with the Rust SDK said and heard.

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::watch;

/// The events of a conversation, for those who wait for one.
pub(super) struct Told {
    events: watch::Sender<Vec<Value>>,
    /// The kind of option that is chosen when a permission is asked for; without one the turn is cancelled.
    choice: Mutex<Option<&'static str>>,
}

impl Told {
    pub(super) fn new() -> Self {
        Self { events: watch::Sender::new(Vec::new()), choice: Mutex::new(None) }
    }

    pub(super) fn tell(&self, name: &str, value: impl Serialize) {
        self.events.send_modify(|events| events.push(json!({ name: value })));
    }

    pub(super) fn events(&self) -> Vec<Value> {
        self.events.borrow().clone()
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.borrow().len()
    }

    /// The number of the first update from `from` on that fits.
    pub(super) async fn until(&self, from: usize, fits: impl Fn(&Value) -> bool) -> usize {
        let find = |events: &Vec<Value>| {
            events
                .iter()
                .enumerate()
                .skip(from)
                .find_map(|(at, event)| fits(event.get("update")?).then_some(at))
        };
        let mut events = self.events.subscribe();
        let found = events.wait_for(|events| find(events).is_some()).await.expect("the sender is in `self`");
        find(&found).expect("it was found just now")
    }

    /// From now on this is chosen.
    pub(super) fn choose(&self, kind: Option<&'static str>) {
        *self.choice.lock() = kind;
    }

    /// What is chosen.
    pub(super) fn choice(&self) -> Option<&'static str> {
        *self.choice.lock()
    }

    /// The answer to a permission request.
    pub(super) fn permission<T: DeserializeOwned>(&self, request: impl Serialize) -> T {
        let request = serde_json::to_value(request).expect("a message is JSON");
        let options = request["options"].as_array().expect("a permission request has options");
        let outcome = match self.choice() {
            None => json!({ "outcome": "cancelled" }),
            Some(choice) => {
                let option = options.iter().find(|option| option["kind"] == choice).expect("it is offered");
                json!({ "outcome": "selected", "optionId": option["optionId"] })
            }
        };
        self.tell("permission", &request);
        serde_json::from_value(json!({ "outcome": outcome })).expect("an answer to a permission request")
    }
}

pub(super) fn says(words: &str) -> impl Fn(&Value) -> bool {
    move |update| {
        let text = update["content"]["text"].as_str().unwrap_or_default();
        update["sessionUpdate"] == "agent_message_chunk" && text.contains(words)
    }
}

/// Version 1 has no states; a turn that nobody prompted for ends with a state in `_meta`.
pub(super) fn is_idle(update: &Value) -> bool {
    update["state"] == "idle" || update["_meta"]["state"] == "idle"
}

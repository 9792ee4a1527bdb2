//! Hubs over one file, each with a runtime of its own: when that is dropped, its process is gone, as after `kill -9`.

use std::path::Path;

use nudge_hub::{Hub, HubOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::connected::{Client, Connection, LINGER, REHEARSAL, content, rehearsed};

/// A folder for the store, in which sessions work as well.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn cwd(&self) -> String {
        self.path().canonicalize().expect("it is there").to_str().expect("its name is text").to_owned()
    }

    /// A client of a hub that opens the file anew.
    async fn client(&self, version: u64) -> Client {
        let options = HubOptions {
            store: format!("sqlite:{}", self.path().join("sessions.db").display()),
            owners: Some(self.path().join("owners")),
            built_in: rehearsed(REHEARSAL),
            linger: LINGER,
            outlives_clients: false,
            observer: None,
        };
        let (hub, _) = Hub::open(options).await.expect("the file can be written");
        Client::new(Connection::alone(hub, None), version, &json!({})).await
    }

    async fn session(&self, version: u64) -> Client {
        let mut client = self.client(version).await;
        client.new_session(&self.cwd()).await;
        client
    }

    /// A client in whose session the agent speaks until it is stopped.
    async fn talking(&self, version: u64) -> Client {
        let mut client = self.session(version).await;
        client.prompt("talk");
        client.said("word").await;
        client
    }
}

fn process() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("it can be started")
}

/// Ends a process without a word; gives the session that its client had.
fn kill(process: Runtime, client: Client) -> String {
    drop(process);
    client.session
}

#[test]
fn what_waits_when_a_process_is_killed_is_told_and_then_delivered() {
    for version in [1, 2] {
        let (folder, one, two) = (Folder::new(), process(), process());
        let (client, [first, second]) = one.block_on(async {
            let mut client = folder.talking(version).await;
            let kept = [client.inject("queue", "first").await, client.inject("queue", "second").await];
            let gone = client.inject("queue", "gone").await;
            client.revoke(&gone).await;
            (client, kept)
        });
        let session = kill(one, client);
        two.block_on(async {
            let mut again = folder.client(version).await;
            let opened = again.load(&session, &folder.cwd()).await;
            let pending =
                opened["_meta"]["inject"]["pending"].as_array().expect("what waits is told").clone();
            let ids: Vec<&Value> = pending.iter().map(|pending| &pending["messageId"]).collect();
            assert_eq!(ids, [&json!(first), &json!(second)]);
            assert_eq!(pending[0]["content"], content("first"));
            assert_eq!(pending[0]["mode"], "queue");
            let replayed = again.story().join("\n");
            assert!(replayed.contains("The turn was interrupted"), "{replayed}");
            assert!(!replayed.contains("user: first"), "the answer comes first");
            again.delivered(&first).await;
            again.delivered(&second).await;
            again.turn_end(2).await;
            let users = again.user_lines();
            assert_eq!(users.iter().filter(|line| line.contains("first")).count(), 1);
            assert!(!users.iter().any(|line| line.contains("gone")));
        });
    }
}

#[test]
fn an_option_that_was_answered_outlives_its_process() {
    for (version, value) in [(1, "read-only"), (1, "edit"), (2, "read-only"), (2, "edit")] {
        let (folder, one, two) = (Folder::new(), process(), process());
        let client = one.block_on(async {
            let mut client = folder.session(version).await;
            let set = json!({"sessionId": client.session, "configId": "mode", "value": value});
            client.ask("session/set_config_option", &set).await;
            client
        });
        let session = kill(one, client);
        two.block_on(async {
            let mut again = folder.client(version).await;
            let opened = again.load(&session, &folder.cwd()).await;
            let options = opened["configOptions"].as_array().expect("options are told");
            let mode =
                options.iter().find(|option| [&option["id"], &option["configId"]].contains(&&json!("mode")));
            assert_eq!(mode.expect("there is a mode")["currentValue"], value);
        });
    }
}

#[test]
fn what_waited_is_shown_to_whoever_comes_after_a_crash() {
    let (folder, one, two) = (Folder::new(), process(), process());
    let client = one.block_on(async {
        let mut client = folder.talking(1).await;
        client.prompt("mine");
        // An answer to something later shows that the prompt was taken.
        client.inject("queue", "after").await;
        client
    });
    let session = kill(one, client);
    two.block_on(async {
        let mut again = folder.client(1).await;
        again.load(&session, &folder.cwd()).await;
        again.turn_end(2).await;
        assert_eq!(again.user_lines()[1..], ["user: mine", "user: after"]);
    });
}

#[test]
fn two_processes_never_hold_one_session() {
    for version in [1, 2] {
        let (folder, one, two) = (Folder::new(), process(), process());
        let client = one.block_on(folder.talking(version));
        let mut other = two.block_on(folder.client(version));
        let params = json!({"sessionId": client.session, "cwd": folder.cwd(), "mcpServers": []});
        let refused = two.block_on(other.refusal("session/resume", &params));
        assert_eq!(refused, (-32600, "session_in_use".into()));
        let session = kill(one, client);
        two.block_on(other.load(&session, &folder.cwd()));
        assert!(other.story().join("\n").contains("The turn was interrupted"));
    }
}

#[test]
fn what_a_process_leaves_in_order_another_takes_up_at_once() {
    for version in [1, 2] {
        let (folder, one, two) = (Folder::new(), process(), process());
        let (session, told) = one.block_on(async {
            let mut client = folder.session(version).await;
            client.inject("queue", "one").await;
            client.turn_end(1).await;
            let told = (client.session.clone(), client.story());
            client.leave().await;
            told
        });
        two.block_on(async {
            let mut again = folder.client(version).await;
            again.load(&session, &folder.cwd()).await;
            let told: Vec<_> = told.into_iter().filter(|line| line != "idle").collect();
            assert_eq!(again.story(), told);
        });
        drop(one);
    }
}

//! A store that is full: what is asked is refused and says why, nothing is lost, and with room again all goes on.

use serde_json::{Value, json};

use super::{Client, Connection, Place, content};
use crate::connected::{both, check_each};

/// A place whose store can be filled up and made free again, and a client there with a session.
struct Small {
    place: Place,
    client: Client,
    /// Options of the agent; the built-in one is there without.
    agent: Option<&'static str>,
    is_shared: bool,
}

impl Small {
    /// A client of a hub of its own.
    async fn new(version: u64) -> Self {
        Self::start(version, false, None).await
    }

    /// A client of the hub that others share.
    async fn shared(version: u64) -> Self {
        Self::start(version, true, None).await
    }

    /// A client of the hub that others share, in front of an agent with these options.
    async fn with_agent(version: u64, options: &'static str) -> Self {
        Self::start(version, true, Some(options)).await
    }

    async fn start(version: u64, is_shared: bool, agent: Option<&'static str>) -> Self {
        let place = Place::new();
        let mut client = Client::new(connect(&place, is_shared, agent), version, &files()).await;
        client.new_session(&place.cwd()).await;
        Self { place, client, agent, is_shared }
    }

    /// Another client.
    async fn another(&self, version: u64) -> Client {
        Client::new(connect(&self.place, self.is_shared, self.agent), version, &files()).await
    }

    /// Another client with the same session.
    async fn beside(&self, version: u64) -> Client {
        let mut client = self.another(version).await;
        client.load(&self.client.session, &self.place.cwd()).await;
        client
    }

    /// What the agent has heard and said.
    fn agent_log(&self) -> String {
        std::fs::read_to_string(self.place.desk("log")).unwrap_or_default()
    }

    fn fill(&self) {
        self.place.connected.store.fill();
    }

    fn free(&self) {
        self.place.connected.store.make_room();
    }

    /// The params of a request that opens the session.
    fn open(&self) -> Value {
        json!({"sessionId": self.client.session, "cwd": self.place.cwd(), "mcpServers": []})
    }

    /// The story of the session as somebody reads it who loads it.
    async fn loaded(&mut self) -> Vec<String> {
        let (session, from) = (self.client.session.clone(), self.client.log.len());
        self.client.load(&session, &self.place.cwd()).await;
        self.client.log.drain(..from);
        self.client.story()
    }
}

fn connect(place: &Place, is_shared: bool, agent: Option<&str>) -> Connection {
    match agent {
        Some(options) => place.shared(options),
        None if is_shared => place.connected.connect(None, None),
        None => place.connected.connect_alone(None),
    }
}

fn files() -> Value {
    json!({"fs": {"readTextFile": true, "writeTextFile": true}})
}

fn is_full(error: &Value) -> bool {
    let message = error["message"].as_str().unwrap_or_default();
    message.contains("disk is full") && error["data"]["reason"] == "disk_full"
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_is_refused_and_the_session_goes_on_with_room_again() {
    both(async |version| {
        let mut small = Small::new(version).await;
        small.client.prompt("first");
        small.client.turn_end(1).await;
        small.fill();
        let refused = [
            ("session/prompt", json!({"sessionId": small.client.session, "prompt": content("second")})),
            (
                "session/inject",
                json!({"sessionId": small.client.session, "mode": "queue", "content": content("third")}),
            ),
            ("session/new", json!({"cwd": small.place.cwd(), "mcpServers": []})),
        ];
        for (method, params) in refused {
            let id = small.client.send(method, &params);
            let error = small.client.response(id).await["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let id = small.client.prompt("fourth");
        let answer = small.client.response(id).await;
        assert!(answer.get("error").is_none(), "{answer}");
        small.client.said("heard fourth").await;
        let told = small.loaded().await;
        let told: Vec<_> =
            told.iter().filter(|line| line.starts_with("user") || line.starts_with("agent")).collect();
        assert_eq!(told, ["user: first", "agent: heard first", "user: fourth", "agent: heard fourth"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_fills_the_disk_ends_and_what_was_shown_and_accepted_is_kept() {
    both(async |version| {
        let mut small = Small::new(version).await;
        let prompt = small.client.prompt("talk");
        small.client.said("word").await;
        let kept = small.client.inject("queue", "kept").await;
        small.fill();
        if version == 1 {
            let error = small.client.response(prompt).await["error"].clone();
            assert!(is_full(&error), "{error}");
        } else {
            let end = small
                .client
                .until("the end", |message| message["params"]["update"]["stopReason"] == "error")
                .await;
            assert!(is_full(&end["params"]["update"]["error"]), "{end}");
        }
        let words = |story: &[String]| story.concat().matches("word").count();
        let shown = words(&small.client.story());
        small.free();
        // By itself: nobody asks for anything.
        assert_eq!(small.client.delivered(&kept).await, "kept");
        small.client.said("heard kept").await;
        let told = small.loaded().await;
        assert_eq!(words(&told), shown, "{told:#?}");
        assert!(told.iter().any(|line| line.contains("interrupted")), "{told:#?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_closed_or_deleted_is_loaded_at_once_with_room_again() {
    for (version, method) in [(1, "session/close"), (2, "session/delete")] {
        let mut small = Small::new(version).await;
        small.client.prompt("first");
        small.client.turn_end(1).await;
        small.fill();
        let params = small.open();
        let load = if version == 1 { "session/load" } else { "session/resume" };
        for method in [method, load] {
            let id = small.client.send(method, &params);
            let error = small.client.response(id).await["error"].clone();
            assert!(is_full(&error), "{method}: {error}");
        }
        small.free();
        let told = small.loaded().await;
        assert!(told.contains(&"user: first".to_owned()), "{told:#?}");
        small.client.prompt("second");
        small.client.said("heard second").await;
    }
}

/// Asks for something for which there is no room.
async fn ask_for_room(small: &mut Small) {
    let params = json!({"sessionId": small.client.session, "mode": "queue", "content": content("say no")});
    check_full(small, "session/inject", &params).await;
}

async fn check_full(small: &mut Small, method: &str, params: &Value) {
    let id = small.client.send(method, params);
    let error = small.client.response(id).await["error"].clone();
    assert!(is_full(&error), "{method}: {error}");
}

#[tokio::test]
async fn a_message_stays_accepted_whose_replacement_is_refused() {
    both(async |version| {
        let mut small = Small::with_agent(version, "").await;
        small.client.prompt("until go");
        let id = small.client.inject("queue", "say original").await;
        small.fill();
        let params =
            json!({"sessionId": small.client.session, "messageId": id, "content": content("say other")});
        check_full(&mut small, "session/replace_inject", &params).await;
        small.free();
        small.place.touch("go");
        assert_eq!(small.client.delivered(&id).await, "say original");
        small.client.said("original").await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_closed_goes_on_for_all_who_have_it() {
    both(async |version| {
        let mut small = Small::shared(version).await;
        small.client.prompt("first");
        small.client.turn_end(1).await;
        let mut other = small.beside(version).await;
        small.fill();
        let params = json!({"sessionId": small.client.session});
        check_full(&mut small, "session/close", &params).await;
        small.free();
        other.prompt("second");
        other.said("heard second").await;
        small.client.prompt("third");
        small.client.said("heard third").await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_a_close_fails_is_answered() {
    both(async |version| {
        let mut small = Small::shared(version).await;
        small.client.prompt("first");
        small.client.turn_end(1).await;
        let mut others = [small.another(version).await, small.another(version).await];
        for _ in 0..6 {
            small.fill();
            let close = small.client.send("session/close", &json!({"sessionId": small.client.session}));
            let params = small.open();
            let mut asked = Vec::new();
            for _ in 0..6 {
                asked.extend(others.iter_mut().map(|other| other.send("session/resume", &params)));
            }
            small.client.response(close).await;
            for (count, id) in asked.into_iter().enumerate() {
                others[count % 2].response(id).await;
            }
            small.free();
            small.loaded().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_session_that_cannot_be_deleted_is_not_deleted_by_its_agent() {
    for is_closed in [false, true] {
        let mut small = Small::with_agent(1, "--delete --load --memory MEMORY").await;
        small.client.prompt("say one");
        small.client.turn_end(1).await;
        let params = small.open();
        if is_closed {
            small.client.ask("session/close", &params).await;
        }
        small.fill();
        check_full(&mut small, "session/delete", &params).await;
        assert!(!small.agent_log().contains("session/delete"), "closed: {is_closed}");
        small.free();
        small.loaded().await;
        small.client.prompt("recall");
        small.client.said("say one|recall").await;
        small.client.ask("session/delete", &params).await;
        assert!(small.agent_log().contains("session/delete"), "closed: {is_closed}");
    }
}

#[tokio::test]
async fn a_message_that_waits_is_still_of_the_client_that_sent_it() {
    let mut small = Small::with_agent(1, "").await;
    let mut other = small.beside(1).await;
    small.client.prompt("until go");
    small.client.inject("queue", "say hello").await;
    other.inject("queue", "read notes").await;
    small.fill();
    ask_for_room(&mut small).await;
    small.free();
    small.place.touch("go");
    let request = other.agent_request().await;
    assert_eq!(request["method"], "fs/read_text_file");
    other.answer(&request, &json!({"content": "a wren"}));
    other.said("a wren").await;
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_first_prompt_was_refused_is_called_after_the_next() {
    both(async |version| {
        let mut small = Small::new(version).await;
        small.fill();
        let params = json!({"sessionId": small.client.session, "prompt": content("wren")});
        check_full(&mut small, "session/prompt", &params).await;
        small.free();
        small.client.prompt("finch");
        small.client.said("heard finch").await;
        let listed = small.client.ask("session/list", &json!({})).await;
        assert_eq!(listed["sessions"][0]["title"], "finch", "{listed}");
    })
    .await;
}

#[tokio::test]
async fn a_prompt_that_was_refused_may_be_sent_again_under_its_key() {
    let mut small = Small::with_agent(1, "").await;
    let meta = json!({"idempotencyKey": "k"});
    let text = content("until go; say heard");
    let params = json!({"sessionId": small.client.session, "prompt": text, "_meta": meta});
    let prompt = small.client.send("session/prompt", &params);
    small.client.inject("queue", "say next").await;
    small.fill();
    ask_for_room(&mut small).await;
    assert!(is_full(&small.client.response(prompt).await["error"]));
    small.free();
    small.client.said("next").await;
    small.place.touch("go");
    small.client.send("session/prompt", &params);
    small.client.said("heard").await;
}

#[tokio::test]
async fn a_tool_call_that_is_interrupted_is_not_told_as_another() {
    check_each([("", 1), ("--v2", 1), ("", 2), ("--v2", 2)], async |(options, version)| {
        let mut small = Small::with_agent(version, options).await;
        small.client.prompt("tool t go; say after");
        small.client.tool("in_progress").await;
        small.fill();
        ask_for_room(&mut small).await;
        small.free();
        let ended = if version == 1 || options.is_empty() { "failed" } else { "cancelled" };
        let told = small.client.tool(ended).await;
        assert!(told["params"]["update"].get("title").is_none(), "{options} {version}: {told}");
        let is_begun = |message: &&Value| message["params"]["update"]["sessionUpdate"] == "tool_call";
        let begun = small.client.messages().filter(is_begun).count();
        assert_eq!(begun, usize::from(version == 1), "{options} {version}");
    })
    .await;
}

//! `auth/status` in front of agents that lack it, and of those that have it.

use serde_json::{Value, json};

use super::{
    Client,
    by_hand::{SharedAgent, introduced},
    check_each,
};

/// Clients and agents of both versions.
const WAYS: [(u64, u64); 4] = [(1, 1), (2, 2), (1, 2), (2, 1)];

/// What a client is offered of it.
fn offered(client: &Client) -> &Value {
    let member = if client.version == 1 { "agentCapabilities" } else { "capabilities" };
    &client.initialized[member]["auth"]["status"]
}

/// What a client was told of it without asking.
fn told(client: &Client) -> Vec<&Value> {
    let updates = client.messages().filter(|message| message["method"] == "auth/status_update");
    updates.map(|message| &message["params"]).collect()
}

#[tokio::test]
async fn an_agent_that_says_nothing_of_it_is_not_known_to_be_signed_in() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut client, _agent) = shared.first(version, &json!({})).await;
        assert_eq!(*offered(&client), json!({}));
        assert_eq!(client.ask("auth/status", &json!({})).await, json!({ "state": "unknown" }));
    })
    .await;
}

#[tokio::test]
async fn what_an_agent_tells_in_its_own_way_is_told_as_the_protocol_does() {
    check_each(WAYS, async |(version, agents)| {
        let own = json!({ "_meta": { "authStatus": {} } });
        let mut shared = SharedAgent::new(introduced(agents, &own));
        let (mut first, mut agent) = shared.first(version, &json!({})).await;
        let mut second = shared.another(version, &json!({})).await;
        // Whoever asks the agent for something: the news are for all.
        first.send("_test/long", &json!({}));
        let _long = agent.expect("_test/long").await;
        let account = json!({ "email": "a@b.c" });
        let status =
            json!({ "authStatus": { "kind": "account", "label": "ChatGPT Pro", "account": account } });
        agent.tell("_auth/status_update", &status).await;
        agent.tell("_auth/status_update", &status).await;
        let signed_in = json!({ "state": "authenticated",
            "accounts": [{ "label": "ChatGPT Pro", "active": true, "email": "a@b.c" }] });
        let signed_out = json!({ "state": "unauthenticated" });
        agent.tell("_auth/status_update", &json!({ "authStatus": { "kind": "none", "label": "x" } })).await;
        for client in [&mut first, &mut second] {
            let is_it = |message: &Value| message["params"] == signed_out;
            client.until("the news", is_it).await;
            assert_eq!(told(client), [&signed_in, &signed_out]);
            let passed = client.messages().filter(|message| message["method"] == "_auth/status_update");
            assert_eq!(passed.count(), 3);
            assert_eq!(client.ask("auth/status", &json!({})).await, signed_out);
        }
        // Who comes later asks.
        let mut third = shared.another(version, &json!({})).await;
        assert_eq!(third.ask("auth/status", &json!({})).await, signed_out);
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_has_it_is_asked_itself_and_its_news_are_for_all() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared =
            SharedAgent::new(introduced(agents, &json!({ "auth": { "status": { "its": "own" } } })));
        let (mut first, mut agent) = shared.first(version, &json!({})).await;
        let mut second = shared.another(version, &json!({})).await;
        assert_eq!(*offered(&first), json!({ "its": "own" }));
        let id = first.send("auth/status", &json!({ "odd": 1 }));
        let asked = agent.expect("auth/status").await;
        assert_eq!(asked.params, json!({ "odd": 1 }));
        let status = json!({ "state": "_odd", "accounts": [], "more": 1 });
        agent.tell("auth/status_update", &status).await;
        agent.tell("_auth/status_update", &json!({ "authStatus": { "kind": "none" } })).await;
        asked.answer(status.clone()).await;
        assert_eq!(first.result(id).await, status);
        for client in [&mut first, &mut second] {
            client.until("the news", |message| message["method"] == "_auth/status_update").await;
            assert_eq!(told(client), [&status]);
        }
    })
    .await;
}

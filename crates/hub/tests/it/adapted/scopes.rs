//! What an agent asks about a request, or about nothing that it names: only who has asked the agent is asked, and by its own
//! name of the request.

use serde_json::{Value, json};

use super::{
    Client,
    by_hand::{HandAgent, SharedAgent, introduced},
    check_each,
};

/// Clients and agents of both versions.
const WAYS: [(u64, u64); 4] = [(1, 1), (2, 2), (1, 2), (2, 1)];

fn everything() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

fn form(request: &Value) -> Value {
    json!({ "requestId": request, "mode": "form", "message": "Which?", "requestedSchema": { "type": "object", "properties": {} } })
}

fn page(request: &Value, page: &str) -> Value {
    json!({ "requestId": request, "mode": "url", "elicitationId": page, "url": "http://127.0.0.1:1/", "message": "Look" })
}

/// What reached a client under this method.
fn heard<'a>(client: &'a Client, method: &str) -> Vec<&'a Value> {
    client.messages().filter(|message| message["method"] == method).collect()
}

/// Reads all that was said to a client so far.
async fn settle(client: &mut Client) {
    client.ask("_nudge/status", &json!({})).await;
}

/// The agent asks about the request that it knows by this id; `asked` has to be the one that is asked, under `own`.
async fn check_asked(agent: &HandAgent, there: &Value, asked: &mut Client, own: &Value) {
    let answer = agent.ask("elicitation/create", &form(there));
    let request = asked.agent_request().await;
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["requestId"], *own, "{request}");
    assert!(request["params"].get("sessionId").is_none(), "{request}");
    asked.answer(&request, &json!({ "action": "accept", "content": {} }));
    assert_eq!(answer.await.expect("nothing panics"), Ok(json!({ "action": "accept", "content": {} })));
}

#[tokio::test]
async fn what_is_asked_about_a_request_names_it_as_its_client_does() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut first, mut agent) = shared.first(version, &everything()).await;
        let mut newest = shared.another(version, &everything()).await;
        for own in [json!(77), json!("a string"), json!("78")] {
            let params = json!({ "cwd": shared.place.cwd(), "mcpServers": [] });
            let message = json!({ "jsonrpc": "2.0", "id": own, "method": "session/new", "params": params });
            first.connection.line(message.to_string());
            let begun = agent.expect("session/new").await;
            check_asked(&agent, &begun.id(), &mut first, &own).await;
            let there = begun.id();
            begun.answer(json!({ "sessionId": format!("session of {own}") })).await;
            first
                .until("the answer", |message| message["id"] == own && message.get("method").is_none())
                .await;
            // It is answered.
            assert_eq!(agent.ask("elicitation/create", &form(&there)).await.unwrap(), Err(-32602));
        }
        let own = json!("passed on");
        let message = json!({ "jsonrpc": "2.0", "id": own, "method": "_x/ask", "params": {} });
        newest.connection.line(message.to_string());
        let passed = agent.expect("_x/ask").await;
        check_asked(&agent, &passed.id(), &mut newest, &own).await;
        passed.answer(json!({})).await;
        settle(&mut first).await;
        settle(&mut newest).await;
        assert_eq!(heard(&first, "elicitation/create").len(), 3);
        assert_eq!(heard(&newest, "elicitation/create").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_about_a_sign_in_names_it_as_its_client_does() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut client, mut agent) = shared.first(version, &everything()).await;
        let own = json!("sign-in");
        let login = if version == 1 { "authenticate" } else { "auth/login" };
        let message = json!({ "jsonrpc": "2.0", "id": own, "method": login, "params": { "methodId": "x" } });
        client.connection.line(message.to_string());
        let passed = agent.expect(if agents == 1 { "authenticate" } else { "auth/login" }).await;
        check_asked(&agent, &passed.id(), &mut client, &own).await;
        passed.answer(json!({})).await;
        settle(&mut client).await;
        assert_eq!(heard(&client, "elicitation/create").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_names_a_request_that_is_not_open_is_refused() {
    check_each([1, 2], async |version| {
        let mut shared = SharedAgent::new(introduced(version, &json!({})));
        let (mut client, agent) = shared.first(version, &everything()).await;
        for unknown in [json!(4711), json!("0"), json!("none"), json!(-1), json!(0.5)] {
            assert_eq!(
                agent.ask("elicitation/create", &form(&unknown)).await.unwrap(),
                Err(-32602),
                "{unknown}"
            );
        }
        settle(&mut client).await;
        assert_eq!(heard(&client, "elicitation/create"), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn a_mode_that_its_client_has_not_named_is_asked_of_nobody() {
    check_each([1, 2], async |version| {
        let mut shared = SharedAgent::new(introduced(version, &json!({})));
        let (mut client, mut agent) = shared.first(version, &json!({ "elicitation": { "form": {} } })).await;
        client.send("_test/ask", &json!({}));
        let passed = agent.expect("_test/ask").await;
        assert_eq!(agent.ask("elicitation/create", &page(&passed.id(), "p")).await.unwrap(), Err(-32601));
        settle(&mut client).await;
        assert_eq!(heard(&client, "elicitation/create"), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn a_question_about_a_prompt_is_asked_about_that_or_about_its_session() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut client, mut agent) = shared.first(version, &everything()).await;
        shared.begin(&mut client, &mut agent, "s").await;
        let mut newest = shared.another(version, &everything()).await;
        let own = client.prompt("hello");
        let prompt = agent.expect("session/prompt").await;
        let answer = agent.ask("elicitation/create", &form(&prompt.id()));
        let request = client.agent_request().await;
        if version == 1 {
            assert_eq!(request["params"]["requestId"], own, "{request}");
            assert!(request["params"].get("sessionId").is_none(), "{request}");
        } else {
            // Its own request has been answered.
            assert_eq!(request["params"]["sessionId"], "s", "{request}");
            assert!(request["params"].get("requestId").is_none(), "{request}");
        }
        // It waits for who can answer, as all that a session asks does.
        client.vanish().await;
        newest.load("s", &shared.place.cwd()).await;
        let request = newest.agent_request().await;
        assert_eq!(request["params"]["sessionId"], "s", "{request}");
        assert!(request["params"].get("requestId").is_none(), "{request}");
        newest.answer(&request, &json!({ "action": "decline" }));
        assert_eq!(answer.await.unwrap(), Ok(json!({ "action": "decline" })));
    })
    .await;
}

#[tokio::test]
async fn that_a_page_is_done_with_is_told_to_the_connection_that_shows_it() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut first, mut agent) = shared.first(version, &everything()).await;
        let mut newest = shared.another(version, &everything()).await;
        first.send("_test/ask", &json!({}));
        let passed = agent.expect("_test/ask").await;
        let answer = agent.ask("elicitation/create", &page(&passed.id(), "one"));
        let request = first.agent_request().await;
        first.answer(&request, &json!({ "action": "accept" }));
        assert_eq!(answer.await.unwrap(), Ok(json!({ "action": "accept" })));
        passed.answer(json!({})).await;
        for named in ["one", "one", "other"] {
            agent.tell("elicitation/complete", &json!({ "elicitationId": named })).await;
        }
        agent.tell("_test/end", &json!({})).await;
        for client in [&mut first, &mut newest] {
            client.until("the end", |message| message["method"] == "_test/end").await;
        }
        assert_eq!(heard(&first, "elicitation/complete").len(), 1);
        assert_eq!(heard(&newest, "elicitation/complete"), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn a_page_of_a_session_is_done_with_for_the_client_that_was_asked() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut client, mut agent) = shared.first(version, &everything()).await;
        shared.begin(&mut client, &mut agent, "s").await;
        let mut watcher = shared.another(3 - version, &everything()).await;
        watcher.load("s", &shared.place.cwd()).await;
        let mut stranger = shared.another(version, &everything()).await;
        client.prompt("hello");
        let _prompt = agent.expect("session/prompt").await;
        let mut asked = page(&Value::Null, "one");
        asked["sessionId"] = json!("s");
        let answer = agent.ask("elicitation/create", &asked);
        let request = client.agent_request().await;
        client.answer(&request, &json!({ "action": "accept" }));
        assert_eq!(answer.await.unwrap(), Ok(json!({ "action": "accept" })));
        agent.tell("elicitation/complete", &json!({ "elicitationId": "one" })).await;
        agent.tell("_test/end", &json!({ "sessionId": "s" })).await;
        client.until("the news", |message| message["method"] == "elicitation/complete").await;
        watcher.until("the end", |message| message["method"] == "_test/end").await;
        settle(&mut stranger).await;
        for other in [&watcher, &stranger] {
            assert_eq!(heard(other, "elicitation/complete"), Vec::<&Value>::new());
            assert_eq!(heard(other, "elicitation/create"), Vec::<&Value>::new());
        }
    })
    .await;
}

#[tokio::test]
async fn what_names_nothing_goes_to_who_has_asked() {
    check_each(WAYS, async |(version, agents)| {
        let mut shared = SharedAgent::new(introduced(agents, &json!({})));
        let (mut first, mut agent) = shared.first(version, &everything()).await;
        shared.begin(&mut first, &mut agent, "s").await;
        let mut newest = shared.another(version, &everything()).await;
        first.prompt("hello");
        let prompt = agent.expect("session/prompt").await;
        if agents == 2 {
            // It works on it all the same.
            prompt.answer(json!({ "messageId": "m" })).await;
        }
        for method in ["_test/ask", "elicitation/create"] {
            let answer = agent.ask(method, &json!({ "mode": "form", "message": "m" }));
            let request = first.agent_request().await;
            assert_eq!(request["method"], method);
            first.answer(&request, &json!({ "action": "cancel" }));
            assert_eq!(answer.await.unwrap(), Ok(json!({ "action": "cancel" })));
        }
        agent.tell("_test/note", &json!({ "for": "first" })).await;
        first.until("the note", |message| message["method"] == "_test/note").await;
        // The other one asks as well, and is the last to have asked.
        newest.send("_test/long", &json!({}));
        let long = agent.expect("_test/long").await;
        let answer = agent.ask("_test/ask", &json!({}));
        let request = newest.agent_request().await;
        newest.answer(&request, &json!({}));
        assert_eq!(answer.await.unwrap(), Ok(json!({})));
        long.answer(json!({})).await;
        settle(&mut newest).await;
        assert_eq!(heard(&newest, "_test/note"), Vec::<&Value>::new());
        assert_eq!(heard(&newest, "elicitation/create"), Vec::<&Value>::new());
        assert_eq!(heard(&newest, "_test/ask").len(), 1);
        assert_eq!(heard(&first, "_test/ask").len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_for_a_server_of_a_client_goes_to_the_client_that_has_it() {
    check_each([1, 2], async |version| {
        let mut shared = SharedAgent::new(introduced(version, &json!({})));
        let (mut first, mut agent) = shared.first(version, &json!({})).await;
        let mut newest = shared.another(version, &json!({})).await;
        for (client, server) in [(&mut first, "one"), (&mut newest, "two")] {
            let servers = json!([{ "type": "acp", "name": server, "id": server, "serverId": server }]);
            let id = client.send("session/new", &json!({ "cwd": shared.place.cwd(), "mcpServers": servers }));
            agent
                .expect("session/new")
                .await
                .answer(json!({ "sessionId": format!("session {server}") }))
                .await;
            client.result(id).await;
        }
        let say = json!({ "serverId": "one", "requestId": 1, "method": "tools/list" });
        let answer = agent.ask("mcp/message", &say);
        let request = first.agent_request().await;
        assert_eq!(request["params"], say);
        first.answer(&request, &json!({ "result": {} }));
        assert_eq!(answer.await.unwrap(), Ok(json!({ "result": {} })));
        // The earlier dialect names a connection, which the client has given.
        let answer = agent.ask("mcp/connect", &json!({ "acpId": "one" }));
        let request = first.agent_request().await;
        first.answer(&request, &json!({ "connectionId": "c" }));
        assert_eq!(answer.await.unwrap(), Ok(json!({ "connectionId": "c" })));
        let answer = agent.ask("mcp/message", &json!({ "connectionId": "c", "method": "ping" }));
        let request = first.agent_request().await;
        first.answer(&request, &json!({}));
        assert_eq!(answer.await.unwrap(), Ok(json!({})));
        settle(&mut newest).await;
        assert!(
            newest
                .messages()
                .all(|message| message["method"].as_str().is_none_or(|name| !name.starts_with("mcp/")))
        );
    })
    .await;
}

#[tokio::test]
async fn two_clients_of_one_agent_are_asked_what_is_theirs() {
    check_each([1, 2], async |version| {
        let mut shared = SharedAgent::new(introduced(version, &json!({})));
        let (mut first, mut agent) = shared.first(version, &everything()).await;
        let mut second = shared.another(version, &everything()).await;
        first.send("_test/one", &json!({}));
        let one = agent.expect("_test/one").await;
        second.send("_test/two", &json!({}));
        let two = agent.expect("_test/two").await;
        let answers = [
            agent.ask("elicitation/create", &form(&one.id())),
            agent.ask("elicitation/create", &form(&two.id())),
        ];
        // The second answers first.
        for (client, action) in [(&mut second, "decline"), (&mut first, "cancel")] {
            let request = client.agent_request().await;
            client.answer(&request, &json!({ "action": action }));
        }
        for (answer, action) in answers.into_iter().zip(["cancel", "decline"]) {
            assert_eq!(answer.await.unwrap(), Ok(json!({ "action": action })));
        }
        // A client that goes takes its request along, and nobody else is asked.
        let answer = agent.ask("elicitation/create", &form(&one.id()));
        first.agent_request().await;
        first.vanish().await;
        assert!(answer.await.unwrap().is_err());
        settle(&mut second).await;
        assert_eq!(heard(&second, "elicitation/create").len(), 1);
    })
    .await;
}

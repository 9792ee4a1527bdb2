//! Sign-in: what is offered, `authenticate` and `auth/login`, `logout` and `auth/logout`, `auth/status`.

use nudge_stage::{ModelReply, OfferedModel, StageProvider};
use serde_json::{Value, json};

use super::{Client, ClientSetup, Place, VERSIONS, dialect::CHAT, each, web::WebPage};

/// The names of the methods in a version, and those of the other version.
struct MethodNames {
    login: &'static str,
    logout: &'static str,
    others: [&'static str; 2],
}

fn names(version: u64) -> MethodNames {
    if version == 1 {
        return MethodNames {
            login: "authenticate",
            logout: "logout",
            others: ["auth/login", "auth/logout"],
        };
    }
    MethodNames { login: "auth/login", logout: "auth/logout", others: ["authenticate", "logout"] }
}

fn url_client() -> ClientSetup {
    ClientSetup { capabilities: json!({ "elicitation": { "url": {} } }), ..ClientSetup::default() }
}

async fn status(client: &mut Client) -> Value {
    client.ask("auth/status", &json!({})).await
}

/// Begins to sign in; gives the request that shows the page, and the page.
async fn page(client: &mut Client) -> (u64, Value, WebPage) {
    let id = client.send(names(client.version).login, &json!({ "methodId": "setup" }));
    let shown = client.agent_request().await;
    assert_eq!((&shown["method"], &shown["params"]["mode"]), (&json!("elicitation/create"), &json!("url")));
    assert_eq!(shown["params"]["requestId"], id, "{shown}");
    assert!(shown["params"].get("sessionId").is_none(), "{shown}");
    let page = WebPage::at(shown["params"]["url"].as_str().expect("a page has an address"));
    (id, shown, page)
}

fn form(stage: &StageProvider, key: &str) -> String {
    let address = format!("{}/v1", stage.url()).replace(':', "%3A").replace('/', "%2F");
    format!("provider=custom&address={address}&key={key}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_offered_is_what_the_client_can_do() {
    let url = json!({ "url": {} });
    let cases = [
        (json!({}), vec![]),
        (json!({ "elicitation": {} }), vec![]),
        (json!({ "elicitation": { "form": {} } }), vec![]),
        (json!({ "elicitation": url }), vec!["setup"]),
        (json!({ "elicitation": null, "auth": {} }), vec![]),
        (json!({ "auth": { "terminal": {} } }), vec!["setup-terminal"]),
        (json!({ "auth": { "terminal": true } }), vec!["setup-terminal"]),
        (json!({ "auth": { "terminal": false } }), vec![]),
        (json!({ "elicitation": url, "auth": { "terminal": true } }), vec!["setup", "setup-terminal"]),
    ];
    let place = Place::new().await;
    let cases =
        VERSIONS.into_iter().flat_map(|version| cases.clone().map(|(can, offered)| (version, can, offered)));
    each(cases, |(version, capabilities, offered)| {
        let place = place.clone();
        async move {
            // Version 2 has an object for it, version 1 a truth; either is read.
            let setup = ClientSetup { capabilities, ..ClientSetup::default() };
            let mut client = place.client_with(version, setup).await;
            let said = client.initialized.clone();
            let own = if version == 1 { &said["agentCapabilities"] } else { &said["capabilities"] };
            assert_eq!((&own["providers"], &own["auth"]["status"]), (&json!({}), &json!({})), "{said}");
            assert_eq!(own["auth"].get("logout"), (version == 1).then_some(&json!({})), "{said}");
            let methods = said["authMethods"].as_array().expect("methods are listed");
            let id =
                |method: &Value| method.get("id").or(method.get("methodId")).cloned().unwrap_or_default();
            assert_eq!(methods.iter().map(id).collect::<Vec<_>>(), offered, "{said}");
            if let Some(terminal) = methods.iter().find(|method| method["type"] == "terminal") {
                assert!(terminal["args"].as_array().is_none_or(Vec::is_empty), "{terminal}");
                assert!(terminal["env"].to_string().contains("NUDGE_LOGIN"), "{terminal}");
            }
            for method in ["setup-terminal", "nobody", ""] {
                let error = client.refused(names(version).login, &json!({ "methodId": method })).await;
                assert_eq!(error["code"], -32602, "{error}");
            }
            if !offered.contains(&"setup") {
                let error = client.refused(names(version).login, &json!({ "methodId": "setup" })).await;
                assert_eq!(error["code"], -32602, "{error}");
            }
            for (method, code) in names(version).others.map(|method| (method, -32601)) {
                assert_eq!(
                    client.refused(method, &json!({ "methodId": "setup" })).await["code"],
                    code,
                    "{method}"
                );
            }
            assert_eq!(client.refused(names(version).login, &json!({})).await["code"], -32602);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_signs_in_on_the_page_and_out_again() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let mut client = place.client_with(version, url_client()).await;
        let mut beside = place.client(3 - version).await;
        assert_eq!(status(&mut client).await, json!({ "state": "unauthenticated" }));
        assert_eq!(status(&mut beside).await, json!({ "state": "unauthenticated" }));
        let (id, shown, page) = page(&mut client).await;
        client.answer(&shown, &json!({ "action": "accept" }));
        assert_eq!(page.get().await.status, 200);
        let done = page.post(&form(&stage, "planted-key-1")).await;
        assert!(done.text.contains("It works") && !done.text.contains("planted-key-1"), "{done:?}");
        assert_eq!(client.response(id).await["result"], json!({}));
        let complete = client.until("the end", |message| message["method"] == "elicitation/complete").await;
        assert_eq!(complete.value["params"]["elicitationId"], shown["params"]["elicitationId"]);
        let address = Some(format!("{}/v1", stage.url()));
        assert_eq!(place.logins.kept(), [("custom", address, Some("planted-key-1".to_owned()))]);
        let account = json!([{ "label": "Another server (nudge login)" }]);
        let signed_in = json!({ "state": "authenticated", "accounts": account });
        for client in [&mut client, &mut beside] {
            assert_eq!(status(client).await, signed_in);
            assert_eq!(status_updates(client, 1).await, std::slice::from_ref(&signed_in));
        }
        client.new_session(&place.cwd()).await;
        assert_eq!(client.turn("hello").await.reason, "end_turn");
        assert!(stage.requests().last().is_some_and(|seen| seen.has_header("authorization")));

        assert_eq!(client.ask(names(version).logout, &json!({})).await, json!({}));
        assert!(place.logins.kept().is_empty());
        let signed_out = json!({ "state": "unauthenticated" });
        assert_eq!(status_updates(&mut client, 2).await, [signed_in.clone(), signed_out.clone()]);
        assert_eq!(status_updates(&mut beside, 2).await, [signed_in, signed_out]);
        let over = client.turn("hello again").await;
        assert_eq!(over.error["code"], -32000, "{over:?}");
    })
    .await;
}

/// So many changes of the status, and no more have come once all that was said before is answered.
async fn status_updates(client: &mut Client, count: usize) -> Vec<Value> {
    let is_update = |message: &Value| message["method"] == "auth/status_update";
    client.nth_from(0, "a change of the status", count, is_update).await;
    status(client).await;
    let updates = client.log.iter().filter(|heard| is_update(&heard.value));
    updates.map(|heard| heard.value["params"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_says_why_nothing_is_to_be_signed_in_to() {
    each(VERSIONS, |version| async move {
        let stage = StageProvider::start().await;
        stage.offer([OfferedModel::new("qwen3:8b")]);
        let place = Place::with("memory", &stage.url()).await;
        let mut client = place.client(version).await;
        assert_eq!(status(&mut client).await, json!({ "state": "not_required" }), "an Ollama is there");
        for _ in 0..2 {
            client.ask("providers/set", &CHAT.set(&stage)).await;
        }
        let label = json!([{ "label": "Another server (set by the client)" }]);
        let set = json!({ "state": "authenticated", "accounts": label });
        assert_eq!(
            status_updates(&mut client, 1).await,
            std::slice::from_ref(&set),
            "the second changes nothing"
        );
        client.ask("providers/disable", &json!({ "providerId": "custom" })).await;
        assert_eq!(status_updates(&mut client, 2).await, [set, json!({ "state": "not_required" })]);

        let environment = vec![("ANTHROPIC_API_KEY", "planted-key-2".to_owned())];
        let mut client =
            place.client_with(version, ClientSetup { environment, ..ClientSetup::default() }).await;
        let label = json!([{ "label": "Anthropic (ANTHROPIC_API_KEY of the environment)" }]);
        assert_eq!(status(&mut client).await, json!({ "state": "authenticated", "accounts": label }));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_is_not_wanted_closes_its_page() {
    #[derive(Debug, Clone, Copy)]
    enum Way {
        Cancelled,
        Declined(&'static str),
        Odd,
    }
    let ways = [Way::Cancelled, Way::Declined("decline"), Way::Declined("cancel"), Way::Odd];
    let place = Place::new().await;
    each(VERSIONS.into_iter().flat_map(|version| ways.map(|way| (version, way))), |(version, way)| {
        let place = place.clone();
        async move {
            let mut client = place.client_with(version, url_client()).await;
            let (id, shown, page) = page(&mut client).await;
            assert_eq!(page.get().await.status, 200);
            let code = match way {
                Way::Cancelled => {
                    client.note("$/cancel_request", &json!({ "requestId": id }));
                    -32800
                }
                Way::Declined(action) => {
                    client.answer(&shown, &json!({ "action": action }));
                    -32000
                }
                Way::Odd => {
                    client.answer(&shown, &json!({ "action": "maybe" }));
                    -32603
                }
            };
            let error = client.response(id).await["error"].clone();
            assert_eq!(error["code"], code, "{error}");
            if code == -32000 {
                assert_eq!(error["data"]["authMethods"].as_array().map(Vec::len), Some(1), "{error}");
            }
            if matches!(way, Way::Cancelled) {
                let is_it = |message: &Value| {
                    message["method"] == "$/cancel_request" && message["params"]["requestId"] == shown["id"]
                };
                client.until("the page is withdrawn", is_it).await;
            }
            super::eventually("the page is closed", || {
                let page = page.clone();
                async move { page.request("GET", &page.path, &[], "").await.is_none() }
            })
            .await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_waits_for_an_ollama_that_does_not_answer() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", silent.local_addr().expect("it has an address"));
    let place = Place::with("memory", &address).await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let mut client = place.client(version).await;
            let status = client.send("auth/status", &json!({}));
            client.ask("providers/list", &json!({})).await;
            let is_status = |heard: &super::heard::Heard| heard.value["id"] == status;
            assert!(!client.log.iter().any(is_status), "it is still looked for");
            assert_eq!(client.response(status).await["result"]["state"], "unauthenticated");
            let new = json!({ "cwd": place.cwd(), "mcpServers": [] });
            assert_eq!(client.refused("session/new", &new).await["code"], -32000);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_ends_with_the_request_in_flight_when_its_user_signs_out() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage
                .on("go")
                .reply(ModelReply::chunks(["I look. "]).and_gate("now").and_call("list", json!({})));
            let mut client = place.session(version, CHAT, &stage).await;
            let from = client.log.len();
            client.prompt("go");
            super::at_the_gate(&stage).await;
            client.ask(names(version).logout, &json!({})).await;
            stage.gate("now").open();
            let over = client.over_from(from).await;
            assert_eq!(over.error["code"], -32000, "{over:?}");
            assert_eq!(stage.requests().len(), 1, "nothing more is asked");
            client.heard("\"completed\"").await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_stays_when_its_user_signs_out() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.on("go").reply(ModelReply::chunks(["I look. "]).and_gate("now").and_call("list", json!({})));
            let mut client = place.session(version, CHAT, &stage).await;
            let from = client.log.len();
            client.prompt("go");
            super::at_the_gate(&stage).await;
            let later = json!({ "sessionId": client.session, "mode": "queue", "content": super::heard::content("later") });
            client.ask("session/inject", &later).await;
            client.ask(names(version).logout, &json!({})).await;
            stage.gate("now").open();
            assert_eq!(client.over_from(from).await.error["code"], -32000);
            // It is not tried, and would only fail.
            status(&mut client).await;
            assert!(!client.log.iter().any(|heard| heard.line.contains("later")), "{:#?}", client.story());
            client.ask("providers/set", &CHAT.set(&stage)).await;
            client.prompt("again");
            stage.wait_for(|seen| seen.last_user() == "again", super::PATIENCE).await;
            let asked: Vec<_> = stage.requests().iter().map(nudge_stage::SeenRequest::last_user).collect();
            assert_eq!(asked, ["go", "later", "again"]);
        }
    })
    .await;
}

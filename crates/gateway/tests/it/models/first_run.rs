//! The first session where no model is set up.

use nudge_stage::{OfferedModel, StageProvider};
use serde_json::{Value, json};

use super::{Client, ClientSetup, Place, VERSIONS, each, place::NOBODY, web::WebPage};

fn setup(modes: &[&str]) -> ClientSetup {
    let modes: serde_json::Map<String, Value> =
        modes.iter().map(|mode| ((*mode).to_owned(), json!({}))).collect();
    ClientSetup { capabilities: json!({ "elicitation": modes }), ..ClientSetup::default() }
}

/// Asks for a session; gives the id of the request and the form that is shown.
async fn begin(place: &Place, client: &mut Client) -> (u64, Value) {
    let id = client.send("session/new", &json!({ "cwd": place.cwd(), "mcpServers": [] }));
    let form = client.agent_request().await;
    assert_eq!(
        (&form["params"]["mode"], &form["params"]["requestId"]),
        (&json!("form"), &json!(id)),
        "{form}"
    );
    assert!(form["params"].get("sessionId").is_none(), "{form}");
    (id, form)
}

fn choices(form: &Value) -> Vec<&str> {
    let choice = &form["params"]["requestedSchema"]["properties"]["choice"];
    choice["oneOf"].as_array().expect("choices").iter().filter_map(|one| one["const"].as_str()).collect()
}

fn choose(client: &mut Client, form: &Value, choice: &str) {
    client.answer(form, &json!({ "action": "accept", "content": { "choice": choice } }));
}

/// The session that came of it answers.
async fn check_session(client: &mut Client, id: u64, says: &str) {
    let opened = client.response(id).await;
    opened["result"]["sessionId"]
        .as_str()
        .unwrap_or_else(|| panic!("{opened}"))
        .clone_into(&mut client.session);
    assert_eq!(client.turn("hello").await.reason, "end_turn");
    assert!(client.agent_text().contains(says), "{:?}", client.agent_text());
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_possible_can_be_chosen() {
    let cases = [
        (false, vec!["form"], vec!["address", "rehearsal"]),
        (false, vec!["form", "url"], vec!["key", "address", "rehearsal"]),
        (true, vec!["form", "url"], vec!["ollama", "key", "address", "rehearsal"]),
    ];
    let stage = std::sync::Arc::new(StageProvider::start().await);
    stage.offer([OfferedModel::new("bare:1b").can(["insert"])]);
    let places = [Place::new().await, Place::with("memory", &stage.url()).await];
    let cases = VERSIONS.into_iter().flat_map(|version| cases.clone().map(|case| (version, case)));
    each(cases, |(version, (has_ollama, modes, expected))| {
        let (place, stage) = (places[usize::from(has_ollama)].clone(), stage.clone());
        async move {
            let mut client = place.client_with(version, setup(&modes)).await;
            let (id, form) = begin(&place, &mut client).await;
            assert_eq!(choices(&form), expected);
            assert!(!form.to_string().to_lowercase().contains("password"), "no key is asked for: {form}");
            client.answer(&form, &json!({ "action": "decline" }));
            let error = client.response(id).await["error"].clone();
            assert_eq!(error["code"], -32000, "{error}");
            let methods = error["data"]["authMethods"].as_array().expect("methods are named");
            assert_eq!(methods.len(), usize::from(modes.contains(&"url")), "{error}");
            drop(stage);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_choice_leads_to_a_session() {
    let cases = VERSIONS
        .into_iter()
        .flat_map(|version| ["key", "address", "rehearsal"].map(|choice| (version, choice)));
    each(cases, |(version, choice)| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let address = format!("{}/v1", stage.url());
        let mut client = place.client_with(version, setup(&["form", "url"])).await;
        let (id, form) = begin(&place, &mut client).await;
        choose(&mut client, &form, choice);
        match choice {
            "key" => {
                let shown = client.agent_request().await;
                assert_eq!(shown["params"]["mode"], "url", "{shown}");
                client.answer(&shown, &json!({ "action": "accept" }));
                let page = WebPage::at(shown["params"]["url"].as_str().unwrap());
                let address = address.replace(':', "%3A").replace('/', "%2F");
                page.post(&format!("provider=custom&address={address}&key=planted-key-4")).await;
                check_session(&mut client, id, "You said: hello").await;
                assert_eq!(place.logins.kept()[0].2.as_deref(), Some("planted-key-4"));
            }
            "address" => {
                let shown = client.agent_request().await;
                assert_eq!(shown["params"]["mode"], "form", "{shown}");
                client.answer(&shown, &json!({ "action": "accept", "content": { "address": address } }));
                check_session(&mut client, id, "You said: hello").await;
                assert_eq!(place.logins.kept(), [("custom", Some(address), None)]);
            }
            _ => {
                check_session(&mut client, id, "").await;
                assert!(stage.requests().is_empty() && place.logins.kept().is_empty());
                // It is played until there is a model.
                client.ask("providers/set", &super::dialect::CHAT.set(&stage)).await;
                client.turn("hello again").await;
                assert!(client.agent_text().contains("You said:"), "{}", client.agent_text());
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ollama_that_gets_a_model_can_be_chosen() {
    each(VERSIONS, |version| async move {
        let stage = StageProvider::start().await;
        stage.offer([OfferedModel::new("bare:1b").can(["insert"])]);
        let place = Place::with("memory", &stage.url()).await;
        let mut client = place.client_with(version, setup(&["form"])).await;
        let (id, form) = begin(&place, &mut client).await;
        stage.offer([OfferedModel::new("small:1b").bytes(1), OfferedModel::new("large:8b").bytes(8)]);
        choose(&mut client, &form, "ollama");
        check_session(&mut client, id, "You said: hello").await;
        assert_eq!(stage.requests()[0].model(), "large:8b");
        // Another client need not be asked.
        place.client(version).await.new_session(&place.cwd()).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_checked_again() {
    let chosen = |content: Value| json!({ "action": "accept", "content": content });
    let cases = [
        (chosen(json!({ "choice": "nothing" })), -32602),
        (chosen(json!({ "choice": "ollama" })), -32602),
        (chosen(json!({ "choice": "key" })), -32602),
        (chosen(json!({ "choice": 7 })), -32602),
        (chosen(json!({})), -32602),
        (chosen(json!({ "choice": "rehearsal", "more": "x" })), -32602),
        (json!({ "action": "accept" }), -32602),
        (json!({ "action": "cancel" }), -32000),
        (json!({ "action": "decline", "content": { "choice": "rehearsal" } }), -32000),
        (json!({ "action": "maybe", "content": { "choice": "rehearsal" } }), -32603),
        (json!({ "action": 7 }), -32603),
        (json!({}), -32603),
        (json!(null), -32603),
        (json!("accept"), -32603),
    ];
    let place = Place::new().await;
    let cases = VERSIONS.into_iter().flat_map(|version| cases.clone().map(|case| (version, case)));
    each(cases, |(version, (answer, code))| {
        let place = place.clone();
        async move {
            let mut client = place.client_with(version, setup(&["form"])).await;
            let (id, form) = begin(&place, &mut client).await;
            client.answer(&form, &answer);
            let error = client.response(id).await["error"].clone();
            assert_eq!(error["code"], code, "{answer}: {error}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_checked_and_tried() {
    let bad = StageProvider::start().await;
    bad.on_any().reply(nudge_stage::ModelReply::error(401, "No."));
    let bad = std::sync::Arc::new(bad);
    let (refused, wrong) = (NOBODY.to_owned(), bad.url());
    // How often it is asked for, and what the last form said was wrong.
    let cases = [
        (json!({ "address": "nonsense" }), 3, "has to begin with http"),
        (json!({ "address": "" }), 1, ""),
        (json!({ "address": "http://user:hidden-5@127.0.0.1/" }), 3, "no user, password"),
        (json!({ "address": 7 }), 1, ""),
        (json!({ "address": "x".repeat(3000) }), 1, ""),
        (json!({ "address": refused }), 3, "cannot be reached"),
        (json!({ "address": wrong }), 3, "does not accept the key"),
    ];
    let place = Place::new().await;
    let cases = VERSIONS.into_iter().flat_map(|version| cases.clone().map(|case| (version, case)));
    each(cases, |(version, (content, times, wrong))| {
        let (place, bad) = (place.clone(), bad.clone());
        async move {
            let mut client = place.client_with(version, setup(&["form"])).await;
            let (id, form) = begin(&place, &mut client).await;
            choose(&mut client, &form, "address");
            for time in 0..times {
                let form = client.agent_request().await;
                let said = form["params"]["message"].as_str().unwrap_or_default().to_owned();
                assert!(time == 0 || said.contains(wrong), "{content}: {said}");
                assert!(!said.contains("hidden-5"), "{said}");
                client.answer(&form, &json!({ "action": "accept", "content": content }));
            }
            let error = client.response(id).await["error"].clone();
            let code = if times > 1 { -32603 } else { -32602 };
            assert_eq!(error["code"], code, "{content}: {error}");
            assert!(!error.to_string().contains("hidden-5"), "{error}");
            assert!(place.logins.kept().is_empty());
            drop(bad);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_forms_it_is_said_at_once_and_the_rest_works() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let mut owner = place.session(version, super::dialect::CHAT, &stage).await;
        owner.turn("one").await;
        let mut client = place.client(version).await;
        let error = client.refused("session/new", &json!({ "cwd": place.cwd(), "mcpServers": [] })).await;
        assert_eq!((&error["code"], &error["data"]["authMethods"]), (&json!(-32000), &json!([])), "{error}");
        let list = client.ask("session/list", &json!({})).await;
        assert_eq!(list["sessions"][0]["sessionId"], owner.session.as_str(), "{list}");
        client.load(&owner.session, &place.cwd()).await;
        assert!(client.agent_text().contains("You said: one") || version == 2, "{:?}", client.story());
        let mut again = place.client(version).await;
        again.session.clone_from(&owner.session);
        again
            .ask(
                "session/resume",
                &json!({ "sessionId": owner.session, "cwd": place.cwd(), "mcpServers": [] }),
            )
            .await;
        for (client, words) in [(&mut client, "two"), (&mut again, "three")] {
            let over = client.turn(words).await;
            assert_eq!((&over.error["code"], over.reason.as_str()), (&json!(-32000), "error"), "{over:?}");
        }
        // It is the client that has none, not the session.
        assert_eq!(owner.turn("four").await.reason, "end_turn");
    })
    .await;
}

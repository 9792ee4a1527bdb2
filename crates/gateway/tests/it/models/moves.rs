//! What becomes of a session when its ways to models change: what was said to one provider is not told to another in silence.

use nudge_gateway::{LoginStore, SetupLogin};
use nudge_model::{ModelProvider, SecretText};
use nudge_stage::{ModelReply, StageProvider};
use serde_json::{Value, json};

use super::{
    Client, ClientSetup, Place, VERSIONS,
    dialect::{ANTHROPIC, CHAT},
    each,
    place::NOBODY,
};

/// What `nudge login` would keep.
fn login(provider: &str, address: String, key: &str) -> SetupLogin {
    let provider = ModelProvider::named(provider).expect("it is in the table");
    SetupLogin { provider, base_url: Some(address), key: Some(SecretText::new(key)) }
}

fn with_variables(variables: &[(&'static str, &str)]) -> ClientSetup {
    let environment = variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    ClientSetup { environment, ..ClientSetup::default() }
}

fn allowed() -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } })
}

/// A client that has asked for a session; the id of that request, and the form in which it is asked what shall answer.
async fn waiting_for_a_choice(place: &Place, version: u64) -> (Client, u64, Value) {
    let capabilities = json!({ "elicitation": { "form": {} } });
    let mut client = place.client_with(version, ClientSetup { capabilities, ..ClientSetup::default() }).await;
    let id = client.send("session/new", &json!({ "cwd": place.cwd(), "mcpServers": [] }));
    let form = client.agent_request().await;
    (client, id, form)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_does_not_go_on_with_another_provider_after_a_logout() {
    each(VERSIONS, |version| async move {
        let (place, first, second) =
            (Place::new().await, StageProvider::start().await, StageProvider::start().await);
        first.on("do it").times(1).reply(ModelReply::call("run", json!({ "command": "true" })));
        let url = second.url();
        let setup = with_variables(&[("ANTHROPIC_API_KEY", "sk-7"), ("ANTHROPIC_BASE_URL", &url)]);
        let mut client = place.client_with(version, setup).await;
        client.ask("providers/set", &CHAT.set(&first)).await;
        client.new_session(&place.cwd()).await;
        let from = client.log.len();
        client.prompt("do it");
        let asked = client.agent_request().await;
        let logout = if version == 1 { "logout" } else { "auth/logout" };
        client.ask(logout, &json!({})).await;
        client.answer(&asked, &allowed());
        let over = client.over_from(from).await;
        assert!(over.error.to_string().contains("custom is not set up any more"), "{over:?}");
        assert!(second.requests().is_empty(), "nothing is told to another: {second:?}");
        // The next turn is another's, and that is said.
        let from = client.log.len();
        assert_eq!(client.turn("and now").await.reason, "end_turn");
        assert_eq!(second.requests().len(), 1);
        let told: String = client.log[from..].iter().map(|heard| heard.line.as_str()).collect();
        assert!(told.contains("anthropic/") && told.contains("answers"), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_with_a_provider_that_the_client_sets() {
    each(VERSIONS, |version| async move {
        let (place, first, second) =
            (Place::new().await, StageProvider::start().await, StageProvider::start().await);
        first.on("do it").times(1).reply(ModelReply::call("run", json!({ "command": "true" })));
        let mut client = place.session(version, CHAT, &first).await;
        let from = client.log.len();
        client.prompt("do it");
        let asked = client.agent_request().await;
        client.ask("providers/set", &ANTHROPIC.set(&second)).await;
        client.ask("providers/disable", &json!({ "providerId": "custom" })).await;
        client.answer(&asked, &allowed());
        assert_eq!(client.over_from(from).await.reason, "end_turn");
        assert_eq!((first.requests().len(), second.requests().len()), (1, 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_stays_with_its_provider_when_another_is_set_up() {
    each(VERSIONS, |version| async move {
        let (first, second) = (StageProvider::start().await, StageProvider::start().await);
        first.offer([nudge_stage::OfferedModel::new("small:1b")]);
        first.on("do it").times(1).reply(ModelReply::call("run", json!({ "command": "true" })));
        // An Ollama that was found, and counts only where nothing else is set up.
        let place = Place::with("memory", &first.url()).await;
        let mut client = place.client(version).await;
        client.new_session(&place.cwd()).await;
        let from = client.log.len();
        client.prompt("do it");
        let asked = client.agent_request().await;
        place.logins.keep(login("anthropic", second.url(), "sk-14")).expect("memory keeps it");
        client.answer(&asked, &allowed());
        assert_eq!(client.over_from(from).await.reason, "end_turn");
        assert_eq!((first.requests().len(), second.requests().len()), (2, 0));
        // The next turn is for what was set up.
        assert_eq!(client.turn("and now").await.reason, "end_turn");
        assert_eq!((first.requests().len(), second.requests().len()), (2, 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_answer_is_not_passed_over() {
    each(VERSIONS, |version| async move {
        let (place, other) = (Place::new().await, StageProvider::start().await);
        let url = format!("{}/v1", other.url());
        let setup = with_variables(&[
            ("ANTHROPIC_API_KEY", "sk-8"),
            ("ANTHROPIC_BASE_URL", NOBODY),
            ("OPENAI_API_KEY", "sk-9"),
            ("OPENAI_BASE_URL", &url),
        ]);
        let mut client = place.client_with(version, setup).await;
        client.new_session(&place.cwd()).await;
        let from = client.log.len();
        client.prompt("hello");
        client.heard("anthropic cannot be reached").await;
        client.cancel();
        assert_eq!(client.over_from(from).await.reason, "cancelled");
        assert!(other.requests().is_empty(), "{other:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_comes_before_an_address_without_a_key() {
    each(VERSIONS, |version| async move {
        let (place, lone, kept) =
            (Place::new().await, StageProvider::start().await, StageProvider::start().await);
        let url = lone.url();
        let mut client = place.client_with(version, with_variables(&[("ANTHROPIC_BASE_URL", &url)])).await;
        client.new_session(&place.cwd()).await;
        assert_eq!(client.turn("one").await.reason, "end_turn");
        assert_eq!((lone.requests().len(), kept.requests().len()), (1, 0));
        place.logins.keep(login("anthropic", kept.url(), "sk-10")).expect("memory keeps it");
        assert_eq!(client.turn("two").await.reason, "end_turn");
        assert_eq!((lone.requests().len(), kept.requests().len()), (1, 1));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_ends_when_a_model_is_set_up() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let (mut client, id, form) = waiting_for_a_choice(&place, version).await;
        client.answer(&form, &json!({ "action": "accept", "content": { "choice": "rehearsal" } }));
        let opened = client.response(id).await;
        opened["result"]["sessionId"].as_str().expect("a session").clone_into(&mut client.session);
        client.turn("hello").await;
        place.logins.keep(login("custom", format!("{}/v1", stage.url()), "sk-11")).expect("memory keeps it");
        client.turn("hello again").await;
        assert!(client.agent_text().contains("You said:"), "{}", client.agent_text());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_waits_for_a_choice_goes_on_when_a_model_is_set_up_elsewhere() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let (mut client, id, form) = waiting_for_a_choice(&place, version).await;
        place.logins.keep(login("custom", format!("{}/v1", stage.url()), "sk-12")).expect("memory keeps it");
        // Whoever asks how it stands makes Nudge look.
        client.ask("providers/list", &json!({})).await;
        let opened = client.response(id).await;
        assert!(opened["result"]["sessionId"].is_string(), "{opened}");
        let is_withdrawn = |message: &Value| {
            message["method"] == "$/cancel_request" && message["params"]["requestId"] == form["id"]
        };
        client.until("the form to be taken back", is_withdrawn).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_environment_that_is_refused_is_corrected_there() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        stage.on("hello").reply(ModelReply::error(401, "No."));
        let url = stage.url();
        // As a file with line ends of another system gives it.
        let setup = with_variables(&[("ANTHROPIC_API_KEY", "sk-13\r"), ("ANTHROPIC_BASE_URL", &url)]);
        let mut client = place.client_with(version, setup).await;
        client.new_session(&place.cwd()).await;
        let over = client.turn("hello").await;
        // To sign in would not help: what is kept comes after the environment.
        assert_eq!(over.error["code"], -32603, "{over:?}");
        assert!(over.error.to_string().contains("correct ANTHROPIC_API_KEY there"), "{over:?}");
        assert!(stage.requests()[0].has_header("x-api-key"));
    })
    .await;
}

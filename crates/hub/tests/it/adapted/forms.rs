//! Forms and pages that an agent has shown to the user: who is asked, and what waits meanwhile.

use serde_json::{Value, json};

use super::{Client, Place, check_each, for_all, log::Log, text};

const FILLED: &str = r#"{"action":"accept","content":{"name":"ada"}}"#;

fn form_client() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// A client with a new session that shows forms, in a hub that it shares.
async fn with_forms(place: &Place, options: &str, version: u64) -> Client {
    let mut client = Client::new(place.shared(options), version, &form_client()).await;
    client.new_session(&place.cwd()).await;
    client
}

/// A client whose agent waits for a form to be filled in, the request for it, and somebody who looks on and shows none.
async fn at_a_form(place: &Place, options: &str, version: u64) -> (Client, Value, Client) {
    let mut client = with_forms(place, options, version).await;
    let mut watcher = place.shared_client(options, 2).await;
    watcher.load(&client.session, &place.cwd()).await;
    client.prompt("form; say after");
    let request = client.agent_request().await;
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["sessionId"], client.session.as_str(), "{request}");
    (client, request, watcher)
}

/// Waits until the state is this for the `count`th time.
async fn state(client: &mut Client, count: usize, state: &str) -> usize {
    let is_it = |message: &Value| message["params"]["update"]["state"] == state;
    client.place_of(state, count, is_it).await
}

/// The place in the agent's log where its form was answered so.
fn answered(log: &Log, action: &str) -> Option<usize> {
    log.place('<', |frame| frame["result"]["action"] == action)
}

/// The place in the agent's log where it heard these words.
fn heard(log: &Log, words: &str) -> Option<usize> {
    log.place('<', |frame| {
        let params = &frame["params"];
        text(&params["prompt"]).contains(words) || text(&params["content"]).contains(words)
    })
}

/// Requests that have reached a client.
fn asked(client: &Client) -> Vec<&Value> {
    let requests = client.messages().filter(|message| message.get("id").is_some());
    requests.map(|message| &message["method"]).filter(|method| !method.is_null()).collect()
}

#[tokio::test]
async fn while_a_form_is_open_the_user_is_waited_for() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let (mut client, request, mut watcher) = at_a_form(&place, options, version).await;
        let asking = state(&mut watcher, 1, "requires_action").await;
        if version == 2 {
            state(&mut client, 1, "requires_action").await;
        }
        client.answer_raw(&request, FILLED);
        client.said(&format!("form: {FILLED}")).await;
        client.said("after").await;
        assert_eq!(watcher.turn_end(1).await, "end_turn");
        let states = watcher.log[asking..].iter().map(|message| &message.value["params"]["update"]["state"]);
        let states: Vec<_> = states.filter(|state| !state.is_null()).collect();
        assert_eq!(states, ["requires_action", "running", "idle"]);
        assert!(asked(&watcher).is_empty(), "who shows no forms is not asked");
    })
    .await;
}

#[tokio::test]
async fn a_steer_is_held_until_a_form_is_filled_in() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let (mut client, request, mut watcher) = at_a_form(&place, options, version).await;
        let id = client.inject("steer", "say steered").await;
        // What is asked later is answered later.
        watcher.ask("session/list", &json!({})).await;
        let log = place.log();
        assert_eq!((heard(&log, "say steered"), log.heard("session/cancel").len()), (None, 0), "{log:#?}");
        client.answer_raw(&request, FILLED);
        assert_eq!(client.delivered(&id).await, "say steered");
        client.said("steered").await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let log = place.log();
        let (filled, steered) = (answered(&log, "accept"), heard(&log, "say steered"));
        assert!(filled.is_some() && filled < steered, "{log:#?}");
    })
    .await;
}

#[tokio::test]
async fn a_cancel_withdraws_a_form() {
    for_all(async |_, options, version| {
        let place = Place::new();
        let (mut client, request, mut watcher) = at_a_form(&place, options, version).await;
        state(&mut watcher, 1, "requires_action").await;
        client.cancel();
        let is_withdrawn = |message: &Value| {
            message["method"] == "$/cancel_request" && message["params"]["requestId"] == request["id"]
        };
        client.until("the form is withdrawn", is_withdrawn).await;
        assert_eq!(client.turn_end(1).await, "cancelled");
        assert_eq!(watcher.turn_end(1).await, "cancelled");
        super::eventually("the agent is told", || answered(&place.log(), "cancel").is_some()).await;
        // An answer that comes all the same is nobody's.
        client.answer_raw(&request, FILLED);
        assert!(client.turn("say on").await.contains("on"));
        assert_eq!(answered(&place.log(), "accept"), None);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    let wrong = [
        r#"{"action":"maybe"}"#,
        r#"{"action":7,"content":{"name":"ada"}}"#,
        r#"{"content":{"name":"ada"}}"#,
        "null",
        r#"{"action":"accept"}"#,
        r#"{"action":"accept","content":{"name":7}}"#,
        r#"{"action":"accept","content":{"name":"ada","bird":"hawk"}}"#,
    ];
    let ways = [("", 1), ("--v2", 2), ("--v2", 1), ("", 2)];
    let cases = ways.into_iter().flat_map(|way| wrong.map(|answer| (way, answer)));
    check_each(cases, async |((options, version), answer)| {
        let place = Place::new();
        let (mut client, request, _watcher) = at_a_form(&place, options, version).await;
        client.answer_raw(&request, answer);
        client.said("form: error").await;
        client.said("after").await;
        assert_eq!(client.turn_end(1).await, "end_turn");
        let log = place.log();
        let failed = log.place('<', |frame| frame["error"]["code"] == -32603);
        assert!(failed.is_some(), "{log:#?}");
        assert!(!client.story().join("\n").contains("hawk"), "it is not quoted");
    })
    .await;
}

#[tokio::test]
async fn each_mode_reaches_who_offers_it() {
    let ways = [("", 1), ("--v2", 2), ("--v2", 1), ("", 2)];
    check_each(ways, async |(options, version)| {
        let place = Place::new();
        let mut forms = with_forms(&place, options, version).await;
        let pages = json!({ "elicitation": { "url": {} } });
        let mut pages = Client::new(place.shared(options), 3 - version, &pages).await;
        pages.load(&forms.session, &place.cwd()).await;
        forms.prompt("form url");
        let request = pages.agent_request().await;
        assert_eq!(request["params"]["mode"], "url", "{request}");
        pages.answer_raw(&request, r#"{"action":"accept"}"#);
        forms.said(r#"form: {"action":"accept"}"#).await;
        forms.turn_end(1).await;
        assert_eq!(asked(&forms), Vec::<&Value>::new(), "it shows no pages");
        // A page that nobody shows, and a way that nobody knows.
        pages.vanish().await;
        for mode in ["url", "_other"] {
            let said = forms.turn(&format!("form {mode}")).await;
            assert!(said.contains("form: error") && said.contains("-32601"), "{said}");
        }
        assert_eq!(asked(&forms), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn who_names_no_mode_is_asked_nothing() {
    check_each([("", 1), ("--v2", 2)], async |(options, version)| {
        let place = Place::new();
        let mut client = Client::new(place.alone(options), version, &json!({ "elicitation": {} })).await;
        client.new_session(&place.cwd()).await;
        let said = client.turn("form").await;
        assert!(said.contains("form: error") && said.contains("-32601"), "{said}");
        assert_eq!(asked(&client), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn that_a_page_is_done_with_is_told_to_who_shows_pages() {
    check_each([("", 1), ("--v2", 2)], async |(options, version)| {
        for (modes, is_told) in [(json!({ "url": {} }), true), (json!({ "form": {} }), false)] {
            let place = Place::new();
            let mut client =
                Client::new(place.alone(options), version, &json!({ "elicitation": modes })).await;
            client.new_session(&place.cwd()).await;
            client.prompt("form url");
            if is_told {
                let request = client.agent_request().await;
                client.answer_raw(&request, r#"{"action":"accept"}"#);
            }
            client.turn_end(1).await;
            client.ask("session/list", &json!({})).await;
            let told: Vec<_> =
                client.messages().filter(|message| message["method"] == "elicitation/complete").collect();
            assert_eq!(told.len(), usize::from(is_told), "{told:?}");
            if is_told {
                assert_eq!(told[0]["params"]["elicitationId"], "page-1");
            }
        }
    })
    .await;
}

/// Waits until a session stands like this.
async fn stands(place: &Place, session: &str, state: &str) {
    loop {
        let status = place.connected.daemon().status().await;
        if status.sessions.iter().any(|(id, live)| id == session && live.state == state) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Clients and agents of both versions.
const WAYS: [(&str, u64); 4] = [("", 1), ("--v2", 2), ("--v2", 1), ("", 2)];

#[tokio::test]
async fn a_form_outlives_its_client_and_waits_for_another() {
    let cases = WAYS.into_iter().flat_map(|way| [(way, "", "form"), (way, "url", "url")]);
    check_each(cases, async |((options, version), kind, mode)| {
        let place = Place::new();
        let everything = json!({ "elicitation": { "form": {}, "url": {} } });
        let mut client = Client::new(place.shared(options), version, &everything).await;
        client.new_session(&place.cwd()).await;
        let session = client.session.clone();
        client.prompt(&format!("form {kind}"));
        client.agent_request().await;
        client.vanish().await;
        // Nobody is attached; then somebody who shows nothing.
        stands(&place, &session, "requires_action").await;
        let mut watcher = place.shared_client(options, version).await;
        watcher.load(&session, &place.cwd()).await;
        stands(&place, &session, "requires_action").await;
        let log = place.log();
        assert!(
            log.place('<', |frame| frame.get("method").is_none()).is_none(),
            "it is not answered: {log:#?}"
        );
        let mut able = Client::new(place.shared(options), 3 - version, &everything).await;
        able.load(&session, &place.cwd()).await;
        let request = able.agent_request().await;
        let params = &request["params"];
        assert_eq!((&params["mode"], &params["sessionId"]), (&json!(mode), &json!(session)), "{request}");
        able.answer_raw(&request, FILLED);
        watcher.said(&format!("form: {FILLED}")).await;
        assert_eq!(watcher.turn_end(1).await, "end_turn");
        assert_eq!(asked(&watcher), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn a_form_that_no_client_can_show_waits_for_one_that_can() {
    check_each(WAYS, async |(options, version)| {
        let place = Place::new();
        let mut able = with_forms(&place, options, version).await;
        let session = able.session.clone();
        let mut plain = place.shared_client(options, version).await;
        plain.load(&session, &place.cwd()).await;
        able.vanish().await;
        plain.prompt("form; say after");
        stands(&place, &session, "requires_action").await;
        assert_eq!(asked(&plain), Vec::<&Value>::new());
        // A mode that the agent was not told of is refused as ever.
        able = Client::new(place.shared(options), version, &form_client()).await;
        able.load(&session, &place.cwd()).await;
        let request = able.agent_request().await;
        able.answer_raw(&request, FILLED);
        plain.said("after").await;
        plain.turn_end(1).await;
        let said = plain.turn("form url").await;
        assert!(said.contains("form: error") && said.contains("-32601"), "{said}");
    })
    .await;
}

#[tokio::test]
async fn a_cancel_ends_a_form_that_waits() {
    check_each(WAYS, async |(options, version)| {
        let place = Place::new();
        let (client, _request, mut watcher) = at_a_form(&place, options, version).await;
        client.vanish().await;
        stands(&place, &watcher.session, "requires_action").await;
        watcher.cancel();
        assert_eq!(watcher.turn_end(1).await, "cancelled");
        super::eventually("the agent is told", || answered(&place.log(), "cancel").is_some()).await;
        let mut able = Client::new(place.shared(options), version, &form_client()).await;
        able.load(&watcher.session, &place.cwd()).await;
        able.ask("session/list", &json!({})).await;
        assert_eq!(asked(&able), Vec::<&Value>::new());
    })
    .await;
}

#[tokio::test]
async fn while_its_client_lives_nobody_else_is_shown_a_form() {
    check_each(WAYS, async |(options, version)| {
        let place = Place::new();
        let (mut client, request, _watcher) = at_a_form(&place, options, version).await;
        let mut other = Client::new(place.shared(options), version, &form_client()).await;
        other.load(&client.session, &place.cwd()).await;
        // An answer to what it was not asked.
        other.answer_raw(&json!({ "id": request["id"] }), r#"{"action":"decline"}"#);
        other.ask("session/list", &json!({})).await;
        assert_eq!(asked(&other), Vec::<&Value>::new());
        client.answer_raw(&request, FILLED);
        client.said(&format!("form: {FILLED}")).await;
        client.turn_end(1).await;
    })
    .await;
}

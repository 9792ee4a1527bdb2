//! Models that are found without anybody having set them up, what is set before what is found, and lists that take their time.

use nudge_stage::{OfferedModel, StageProvider};
use serde_json::{Value, json};

use super::{
    ALL_DIALECTS, Client, ClientSetup, Place, VERSIONS, dialect::ANTHROPIC, dialect::CHAT, each,
    way::ClosedWay,
};

const KEY: &str = "planted-key-6";

/// The notices so far; version 1 has them in the `_meta` of another update, unless the client says that it knows them.
fn notices(client: &Client) -> Vec<Value> {
    let notice = |update: &Value| match update["sessionUpdate"].as_str() {
        Some("notice") => Some(update.clone()),
        _ => Some(update["_meta"]["notice"].clone()).filter(|notice| !notice.is_null()),
    };
    client.updates().filter_map(notice).collect()
}

/// One notice in two turns, that says what was taken and why.
async fn check_told(place: &Place, mut client: Client, model: &str, why: &str) {
    client.new_session(&place.cwd()).await;
    for words in ["one", "two"] {
        assert_eq!(client.turn(words).await.reason, "end_turn");
    }
    let told = notices(&client);
    assert_eq!(told.len(), 1, "it is told once: {told:?}");
    let (title, more) = (told[0]["title"].as_str().unwrap(), told[0]["description"].as_str().unwrap());
    assert!(title.contains(model) && more.contains(why), "{told:?}");
    assert!(!told[0].to_string().contains(KEY), "{told:?}");
}

/// The clients of both versions, and one of version 1 that knows notices.
const CLIENTS: [(u64, bool); 3] = [(1, false), (1, true), (2, false)];

fn setup(knows_notices: bool, environment: Vec<(&'static str, String)>) -> ClientSetup {
    let capabilities = if knows_notices { json!({ "session": { "notices": {} } }) } else { json!({}) };
    ClientSetup { capabilities, environment, ..ClientSetup::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_environment_is_used_and_told() {
    let place = Place::new().await;
    let found = ALL_DIALECTS.into_iter().filter_map(|dialect| Some((dialect, dialect.variables?)));
    let cases = found.flat_map(|case| CLIENTS.map(|client| (case, client)));
    each(cases, |((dialect, (key, address)), (version, knows_notices))| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            let environment = vec![(key, KEY.to_owned()), (address, dialect.base_url(&stage))];
            let client = place.client_with(version, setup(knows_notices, environment)).await;
            check_told(&place, client, dialect.provider, key).await;
            assert!(stage.requests()[0].has_header(dialect.key_header));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ollama_that_is_found_is_used_and_told() {
    each(CLIENTS, |(version, knows_notices)| async move {
        let stage = StageProvider::start().await;
        stage.offer([OfferedModel::new("small:1b").bytes(1), OfferedModel::new("large:8b").bytes(8)]);
        let place = Place::with("memory", &stage.url()).await;
        let client = place.client_with(version, setup(knows_notices, Vec::new())).await;
        check_told(&place, client, "ollama/large:8b", "Ollama").await;
        assert_eq!(stage.requests()[0].model(), "large:8b");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_sets_itself_is_not_told_to_it() {
    let place = Place::new().await;
    each(CLIENTS, |(version, knows_notices)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            let mut client = place.client_with(version, setup(knows_notices, Vec::new())).await;
            client.ask("providers/set", &CHAT.set(&stage)).await;
            client.new_session(&place.cwd()).await;
            client.turn("one").await;
            assert_eq!(notices(&client), Vec::<Value>::new());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_sets_comes_before_its_environment() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let [of_environment, set] = [StageProvider::start().await, StageProvider::start().await];
            let environment =
                vec![("ANTHROPIC_API_KEY", KEY.to_owned()), ("ANTHROPIC_BASE_URL", of_environment.url())];
            let mut client = place.client_with(version, setup(false, environment)).await;
            let asked = || (of_environment.requests().len(), set.requests().len());
            client.new_session(&place.cwd()).await;
            client.turn("one").await;
            assert_eq!((address(&mut client).await, asked()), (json!(of_environment.url()), (1, 0)));
            client.ask("providers/set", &ANTHROPIC.set(&set)).await;
            client.turn("two").await;
            assert_eq!((address(&mut client).await, asked()), (json!(set.url()), (1, 1)));
            // Of what it has set nothing is left; of its environment all is.
            client.ask(if version == 1 { "logout" } else { "auth/logout" }, &json!({})).await;
            client.turn("three").await;
            assert_eq!((address(&mut client).await, asked()), (json!(of_environment.url()), (2, 1)));
        }
    })
    .await;
}

/// Where Anthropic is said to be.
async fn address(client: &mut Client) -> Value {
    let list = client.ask("providers/list", &json!({})).await;
    let mut listed = list["providers"].as_array().expect("a list").iter();
    listed.find(|known| known["providerId"] == "anthropic").expect("it is listed")["current"]["baseUrl"]
        .clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_told_when_their_list_has_come() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            let mut way = ClosedWay::to(&stage).await;
            let mut client = place.client(version).await;
            let mut set = CHAT.set(&stage);
            set["baseUrl"] = json!(format!("{}/v1", way.url));
            client.ask("providers/set", &set).await;
            let opened = client.new_session(&place.cwd()).await;
            assert!(super::heard::values(&opened["configOptions"], "model").is_empty(), "{opened}");
            way.reached().await;
            assert!(stage.asides().is_empty(), "the list is still on its way");
            let from = client.log.len();
            way.open();
            let is_told = |message: &Value| {
                let update = &message["params"]["update"];
                update["sessionUpdate"] == "config_option_update"
                    && super::heard::values(&update["configOptions"], "model") == ["custom/fake-model"]
            };
            client.nth_from(from, "the models", 1, is_told).await;
            assert_eq!(client.turn("one").await.reason, "end_turn");
        }
    })
    .await;
}

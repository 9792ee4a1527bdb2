//! `providers/list`, `providers/set` and `providers/disable`.

use nudge_model::{ModelProvider, ModelWish, PROVIDERS};
use nudge_stage::StageProvider;
use serde_json::{Value, json};

use super::{ClientSetup, Place, VERSIONS, dialect::CHAT, each};

/// What is listed of a provider.
fn listed(list: &Value, provider: &str) -> Value {
    let all = list["providers"].as_array().expect("a list");
    all.iter().find(|known| known["providerId"] == provider).expect("it is listed").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_are_listed_and_can_be_set_and_disabled() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let mut client = place.client(version).await;
            let list = client.ask("providers/list", &json!({})).await;
            let ids: Vec<&str> =
                list["providers"].as_array().unwrap().iter().filter_map(|one| one["providerId"].as_str()).collect();
            assert_eq!(ids, PROVIDERS.iter().map(|provider| provider.id).collect::<Vec<_>>());
            let custom = listed(&list, "custom");
            let members: Vec<&String> = custom.as_object().unwrap().keys().collect();
            assert_eq!(members, ["providerId", "id", "supported", "required", "current", "_meta"]);
            assert_eq!((&custom["id"], &custom["current"]), (&json!("custom"), &Value::Null));
            assert_eq!((&custom["required"], &custom["supported"][0]), (&json!(false), &json!("openai")));

            let current = json!({ "apiType": "openai", "baseUrl": "http://127.0.0.1:1/v1" });
            for id in [json!({ "providerId": "custom" }), json!({ "id": "custom" }), json!({ "id": "custom", "providerId": "custom" })] {
                let mut set = json!({ "apiType": "openai", "baseUrl": "http://127.0.0.1:1/v1/", "headers": { "x-key": "hidden-1" } });
                set.as_object_mut().unwrap().extend(id.as_object().unwrap().clone());
                assert_eq!(client.ask("providers/set", &set).await, json!({}));
                let list = client.ask("providers/list", &json!({})).await;
                assert_eq!(listed(&list, "custom")["current"], current);
                assert!(!list.to_string().contains("hidden-1"), "{list}");
                assert_eq!(client.ask("providers/disable", &id).await, json!({}));
                let list = client.ask("providers/list", &json!({})).await;
                assert_eq!(listed(&list, "custom")["current"], Value::Null);
            }
            assert_eq!(client.ask("providers/disable", &json!({ "providerId": "nobody" })).await, json!({}));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_refused_and_changes_nothing() {
    let good = json!({ "providerId": "custom", "apiType": "openai", "baseUrl": "http://127.0.0.1:1" });
    let wrong = [
        json!({ "providerId": "nobody" }),
        json!({ "providerId": 7 }),
        json!({ "providerId": null }),
        json!({ "apiType": "nothing" }),
        json!({ "apiType": "vertex" }),
        json!({ "baseUrl": "" }),
        json!({ "baseUrl": "nonsense" }),
        json!({ "baseUrl": "ftp://127.0.0.1" }),
        json!({ "baseUrl": "file:///etc/passwd" }),
        json!({ "baseUrl": "http://user:hidden-2@127.0.0.1" }),
        json!({ "baseUrl": "http://hidden-2@127.0.0.1" }),
        json!({ "baseUrl": "http://127.0.0.1/?key=hidden-2" }),
        json!({ "baseUrl": "http://127.0.0.1/#hidden-2" }),
        json!({ "baseUrl": null }),
        json!({ "headers": { "a b": "c" } }),
        json!({ "headers": { "": "c" } }),
        json!({ "headers": { "x-key": "hidden-2\r\nx: y" } }),
        json!({ "headers": { "host": "elsewhere" } }),
        json!({ "headers": { "x-key": 7 } }),
        json!({ "headers": ["hidden-2"] }),
    ];
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let (place, good, wrong) = (place.clone(), good.clone(), wrong.clone());
        async move {
            let mut client = place.client(version).await;
            let before = client.ask("providers/list", &json!({})).await;
            for change in &wrong {
                let mut params = good.clone();
                params.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
                let error = client.refused("providers/set", &params).await;
                assert_eq!(error["code"], -32602, "{change}: {error}");
                assert!(!error.to_string().contains("hidden-2"), "{error}");
            }
            for params in [json!({}), json!([]), json!({ "providerId": 7 })] {
                assert_eq!(client.refused("providers/disable", &params).await["code"], -32602, "{params}");
                assert_eq!(client.refused("providers/set", &params).await["code"], -32602, "{params}");
            }
            assert_eq!(client.ask("providers/list", &json!({})).await, before);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_pinned_is_required() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let wish = ModelWish { provider: ModelProvider::named("custom"), model: None };
            let mut client = place.client_with(version, ClientSetup { wish, ..ClientSetup::default() }).await;
            let list = client.ask("providers/list", &json!({})).await;
            assert_eq!(listed(&list, "custom")["required"], true);
            assert_eq!(listed(&list, "openai")["required"], false);
            let error = client.refused("providers/disable", &json!({ "providerId": "custom" })).await;
            assert_eq!(error["code"], -32602, "{error}");
            assert_eq!(client.ask("providers/disable", &json!({ "providerId": "openai" })).await, json!({}));
            let mut set =
                json!({ "providerId": "openai", "apiType": "openai", "baseUrl": "http://127.0.0.1:1" });
            assert_eq!(client.refused("providers/set", &set).await["code"], -32602);
            set["providerId"] = json!("custom");
            assert_eq!(client.ask("providers/set", &set).await, json!({}));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn set_replaces_all_and_models_are_told_beside_it() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            let mut client = place.client(version).await;
            let mut set = CHAT.set(&stage);
            set["headers"] = json!({ "x-first": "1", "authorization": "Bearer hidden-3" });
            client.ask("providers/set", &set).await;
            client.new_session(&place.cwd()).await;
            client.offered("model", "custom/fake-model").await;
            client.turn("one").await;
            set["headers"] = json!({ "x-second": "2" });
            client.ask("providers/set", &set).await;
            client.turn("two").await;
            let seen = stage.requests();
            let headers = ["x-first", "authorization", "x-second"];
            let of = |at: usize| headers.map(|name| seen[at].has_header(name));
            assert_eq!((of(0), of(1)), ([true, true, false], [false, false, true]));
            // Without it, nothing is left to ask.
            client.ask("providers/disable", &json!({ "id": "custom" })).await;
            let over = client.turn("three").await;
            assert_eq!((over.reason.as_str(), &over.error["code"]), ("error", &json!(-32000)), "{over:?}");
            assert_eq!(stage.requests().len(), 2);
        }
    })
    .await;
}

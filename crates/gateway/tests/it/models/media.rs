//! Images and sounds: those that the model takes reach its provider, others are refused, and what was said to one model does not
//! harm a session that goes on with another.

use nudge_stage::{OfferedModel, StageProvider};
use serde_json::{Value, json};

use super::{
    ALL_DIALECTS, Client, Dialect, Place, VERSIONS,
    dialect::{ANTHROPIC, BEDROCK, CHAT, GEMINI},
    each,
};

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// A model that takes images, and one that does not.
const SEES: &str = "claude-haiku-4-5";
const BLIND: &str = "deepseek-chat";

fn with_image(words: &str) -> Value {
    json!([{ "type": "text", "text": words }, { "type": "image", "mimeType": "image/png", "data": PNG }])
}

fn with_sound(words: &str) -> Value {
    json!([{ "type": "text", "text": words }, { "type": "audio", "mimeType": "audio/wav", "data": WAV }])
}

async fn stage() -> StageProvider {
    let stage = StageProvider::start().await;
    stage.offer([OfferedModel::new(SEES).can(["tools", "vision"]), OfferedModel::new(BLIND)]);
    stage
}

/// A client with a session that has this model.
async fn session(
    place: &Place,
    version: u64,
    dialect: Dialect,
    stage: &StageProvider,
    model: &str,
) -> Client {
    let mut client = place.session(version, dialect, stage).await;
    choose(&mut client, dialect, model).await;
    client
}

async fn choose(client: &mut Client, dialect: Dialect, model: &str) {
    let id = format!("{}/{model}", dialect.provider);
    client.offered("model", &id).await;
    client.set_option("model", &id).await;
}

/// The body of the last request.
fn last_body(stage: &StageProvider) -> String {
    stage.requests().last().expect("the model was asked").body.to_string()
}

/// That content is refused, by a prompt and by a steer alike.
async fn check_refused(client: &mut Client, content: &Value) {
    let prompt = json!({ "sessionId": client.session, "prompt": content });
    let queue = json!({ "sessionId": client.session, "mode": "queue", "content": content });
    for (method, params) in [("session/prompt", prompt), ("session/inject", queue)] {
        let error = client.refused(method, &params).await;
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (&json!(-32602), &json!("content_not_supported"))
        );
        assert!(!error.to_string().contains(PNG) && !error.to_string().contains(WAV), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_reaches_the_provider() {
    let place = Place::new().await;
    let cases = ALL_DIALECTS.into_iter().flat_map(|dialect| VERSIONS.map(|version| (dialect, version)));
    each(cases, |(dialect, version)| {
        let place = place.clone();
        async move {
            let stage = stage().await;
            let model =
                if dialect == BEDROCK { "global.anthropic.claude-haiku-4-5-20251001-v1:0" } else { SEES };
            let mut client = session(&place, version, dialect, &stage, model).await;
            assert_eq!(client.turn_with("look", &with_image("look")).await.reason, "end_turn");
            let body = last_body(&stage);
            assert!(body.contains(PNG) && body.contains("look"), "{body}");
            // And with all that is said later.
            client.turn("and now").await;
            assert!(last_body(&stage).contains(PNG));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_takes_no_images_is_given_none() {
    let place = Place::new().await;
    let listed = ALL_DIALECTS.into_iter().filter(|dialect| *dialect != BEDROCK);
    let cases = listed.flat_map(|dialect| VERSIONS.map(|version| (dialect, version)));
    each(cases, |(dialect, version)| {
        let place = place.clone();
        async move {
            let stage = stage().await;
            // As a real one does with what it does not take.
            let has_image = |seen: &nudge_stage::SeenRequest| {
                seen.model().ends_with(BLIND) && seen.body.to_string().contains(PNG)
            };
            stage.on_any().when(has_image).reply(nudge_stage::ModelReply::error(400, "No images."));
            let mut client = session(&place, version, dialect, &stage, SEES).await;
            client.turn_with("look", &with_image("look")).await;
            choose(&mut client, dialect, BLIND).await;
            check_refused(&mut client, &with_image("again")).await;
            let over = client.turn("and now").await;
            assert_eq!(over.reason, "end_turn", "{over:?}");
            let seen = stage.requests().last().unwrap().clone();
            assert!(seen.model().ends_with(BLIND), "{}", seen.model());
            let body = seen.body.to_string();
            assert!(!body.contains(PNG) && body.contains("[image]") && body.contains("look"), "{body}");
            // Nothing is lost: a model that takes it is given it again.
            choose(&mut client, dialect, SEES).await;
            client.turn("and then").await;
            assert!(last_body(&stage).contains(PNG));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_reaches_a_model_that_takes_it() {
    let place = Place::new().await;
    let cases = [
        (GEMINI, "gemini-2.5-pro", true),
        (CHAT, "gpt-4o-audio-preview", true),
        (CHAT, "gpt-4o", false),
        (ANTHROPIC, SEES, false),
    ];
    let cases = cases.into_iter().flat_map(|case| VERSIONS.map(|version| (case, version)));
    each(cases, |((dialect, model, takes), version)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.offer([OfferedModel::new(model)]);
            let mut client = session(&place, version, dialect, &stage, model).await;
            if takes {
                assert_eq!(client.turn_with("hear", &with_sound("hear")).await.reason, "end_turn");
                assert!(last_body(&stage).contains(WAV), "{}", last_body(&stage));
            } else {
                check_refused(&mut client, &with_sound("hear")).await;
                assert!(stage.requests().is_empty());
            }
        }
    })
    .await;
}

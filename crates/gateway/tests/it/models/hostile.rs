//! Servers and moments that are meant to do harm: none ends a session, and nothing gets where it does not belong.

use nudge_stage::{ModelReply, SeenRequest, StageProvider};
use serde_json::{Value, json};

use super::{Place, VERSIONS, at_the_gate, dialect::CHAT, each};

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_stays_with_the_provider_of_a_client_that_has_gone() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let (mine, other) = (StageProvider::start().await, StageProvider::start().await);
            mine.on("go")
                .reply(ModelReply::stall("One moment", "now").and_call("list", json!({ "path": "." })));
            mine.on("go").after_tool_result().reply(ModelReply::text("Done."));
            let mut leaver = place.session(version, CHAT, &mine).await;
            let mut watcher = place.session(2, CHAT, &other).await;
            let session = leaver.session.clone();
            watcher.load(&session, &place.cwd()).await;
            leaver.prompt("go");
            at_the_gate(&mine).await;
            leaver.leave().await;
            mine.gate("now").open();
            watcher.heard("Done.").await;
            let asked: Vec<_> = mine.requests().iter().map(SeenRequest::last_user).collect();
            assert_eq!((asked, other.requests().len()), (vec!["go".to_owned(), "go".to_owned()], 0));
        }
    })
    .await;
}

/// Arguments in which lists are nested this deep.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({ "path": "x" }), |inner, _| json!({ "path": [inner] }))
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_nobody_can_read_end_nothing() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            // So deep that what reads it to its end gives up; as text, because the stand-in would.
            let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
            let call = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c",
                "function": { "name": "read", "arguments": format!("{{\"path\":{deep}}}") } }] } }] });
            stage.on("deep").reply(ModelReply::empty().and_raw(format!("data: {call}\n\n")));
            stage.on("deep").after_tool_result().reply(ModelReply::text("So be it."));
            // Half of a character, and a number that no computer has.
            let half = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "h",
                "function": { "name": "read", "arguments": "{\"path\":\"\\ud83d\",\"line\":1e999}" } }] } }] });
            stage.on("half").reply(ModelReply::empty().and_raw(format!("data: {half}\n\n")));
            stage.on("half").after_tool_result().reply(ModelReply::text("As it is."));
            stage.on("less").reply(ModelReply::call("read", nested(30)));
            stage.on("less").after_tool_result().reply(ModelReply::text("Nor that."));
            let mut client = place.session(version, CHAT, &stage).await;
            for words in ["deep", "half", "less", "and on"] {
                assert_eq!(client.turn(words).await.reason, "end_turn", "{words}");
            }
            assert!(client.agent_text().contains("So be it."), "{}", client.agent_text());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_a_server_repeats_in_pieces_is_told_to_nobody() {
    const KEY: &str = "sk-Planted-0123456789";
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            let pieces = || [&KEY[..7], &KEY[7..12], &KEY[12..], ", that is it."];
            stage.on("say").reply(ModelReply::chunks(pieces()));
            stage
                .on("think")
                .reply(ModelReply::thinking(&KEY[..9]).and_thinking(&KEY[9..]).and_text("Well."));
            let mut client = place.client(version).await;
            let mut set = CHAT.set(&stage);
            set["headers"] =
                json!({ "authorization": format!("bearer {KEY}"), "x-note": "application/json" });
            client.ask("providers/set", &set).await;
            client.new_session(&place.cwd()).await;
            client.turn("say").await;
            client.turn("think").await;
            assert!(client.agent_text().contains("***, that is it."), "{}", client.agent_text());
            let told: String = client.updates().map(texts).collect();
            assert!(!told.contains("0123456789") && !told.contains(&KEY[..7]), "{told}");
            // A header that holds no key is an ordinary word.
            stage.on("type").reply(ModelReply::text("It is application/json."));
            client.turn("type").await;
            assert!(client.agent_text().contains("It is application/json."));
        }
    })
    .await;
}

/// All texts of an update, put together as a client would.
fn texts(update: &Value) -> String {
    update["content"]["text"].as_str().unwrap_or_default().to_owned()
}

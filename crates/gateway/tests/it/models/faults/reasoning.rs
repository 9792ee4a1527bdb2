//! Signed reasoning that is cut off by a steer, and that the provider does not take back.

use nudge_stage::{ModelReply, OfferedModel, SeenRequest, StageProvider};
use serde_json::Value;

use super::{Meanwhile, VERSIONS, check_sent, delivered, each, meet};
use crate::models::{Client, Place, dialect::ANTHROPIC, place::NOBODY};

async fn begin(place: &Place, version: u64, reply: ModelReply) -> (StageProvider, Client) {
    let stage = StageProvider::start().await;
    stage.offer([OfferedModel::new("claude-sonnet-4-5")]);
    stage.on("go").times(1).reply(reply);
    let client = place.session(version, ANTHROPIC, &stage).await;
    (stage, client)
}

/// Every block of reasoning that a request has.
fn reasoning(seen: &SeenRequest) -> Vec<Value> {
    let messages = seen.body["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    blocks.filter(|block| block["type"] == "thinking").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_steer_may_cut_it_anywhere() {
    #[derive(Debug, Clone, Copy)]
    enum CutAt {
        InThought,
        BehindThought,
        BehindCall,
    }
    let place = Place::new().await;
    let places = [CutAt::InThought, CutAt::BehindThought, CutAt::BehindCall];
    let meanwhile = [Meanwhile::Steer, Meanwhile::Cancel];
    let cases = VERSIONS.into_iter().flat_map(|version| {
        places.into_iter().flat_map(move |at| meanwhile.map(move |meanwhile| (version, at, meanwhile)))
    });
    each(cases, |(version, at, meanwhile)| {
        let place = place.clone();
        async move {
            let thinks = ModelReply::thinking("Hm. Hm. ");
            let (reply, count) = match at {
                CutAt::InThought => (thinks.and_gate("now"), 0),
                CutAt::BehindThought => (thinks.and_text("Half ").and_gate("now"), 1),
                CutAt::BehindCall => (thinks.and_call("list", serde_json::json!({})).and_gate("now"), 1),
            };
            let (stage, mut client) = begin(&place, version, reply).await;
            let from = client.log.len();
            client.prompt("go");
            crate::models::at_the_gate(&stage).await;
            // What was sent before the gate has arrived.
            let heard = ["thought_chunk", "\"Half \"", "tool_call"][at as usize];
            client.heard(heard).await;
            let steer = meet(&mut client, meanwhile);
            let steers = if meanwhile == Meanwhile::Steer {
                delivered(&mut client, steer).await
            } else {
                client.over_from(from).await;
                0
            };
            assert_eq!(client.turn("next").await.reason, "end_turn");
            check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
            let sent = stage.requests();
            let blocks = reasoning(sent.last().unwrap());
            assert_eq!(blocks.len(), count, "{blocks:?}");
            assert!(blocks.iter().all(|block| block["signature"] == "ZmFrZQ=="), "{blocks:?}");
            let shown = client.log.iter().any(|heard| heard.line.contains("ZmFrZQ=="));
            assert!(!shown, "no client is shown a signature");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_back_is_left_out() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let (stage, mut client) =
                begin(&place, version, ModelReply::thinking("Hm. ").and_text("First.")).await;
            let refused =
                ModelReply::error(400, "messages.1.content.0: Invalid `signature` in `thinking` block");
            stage.on_any().when(|seen| !reasoning(seen).is_empty()).reply(refused);
            assert_eq!(client.turn("go").await.reason, "end_turn");
            for words in ["next", "last"] {
                let over = client.turn(words).await;
                assert_eq!(over.reason, "end_turn", "{over:?}");
            }
            let counts: Vec<usize> = stage.requests().iter().map(|seen| reasoning(seen).len()).collect();
            assert_eq!(counts, [0, 1, 0, 0], "it is not tried again and again");
            check_sent(&stage, &[("go", 1), ("next", 1), ("last", 1)]);
            let mut reader = place.client(version).await;
            reader.ask("providers/set", &ANTHROPIC.set(&stage)).await;
            reader.load(&client.session, &place.cwd()).await;
            assert!(!reader.log.iter().any(|heard| heard.line.contains("ZmFrZQ==")));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_back_to_the_model_after_a_restart() {
    each(VERSIONS, |version| async move {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = format!("sqlite:{}", folder.path().join("sessions.db").display());
        let place = Place::with(&store, NOBODY).await;
        let reply = ModelReply::thinking("Hm. ").and_call("list", serde_json::json!({}));
        let (stage, mut client) = begin(&place, version, reply).await;
        assert_eq!(client.turn("go").await.reason, "end_turn");
        let (session, cwd) = (client.session.clone(), place.cwd());
        client.leave().await;
        place.gateway.sessions().expect("it has sessions").end(true).await;

        stage.offer([OfferedModel::new("claude-sonnet-4-5"), OfferedModel::new("claude-opus-4-5")]);
        let place = Place::with(&store, NOBODY).await;
        let mut client = place.client(version).await;
        client.ask("providers/set", &ANTHROPIC.set(&stage)).await;
        client.load(&session, &cwd).await;
        assert_eq!(client.turn("next").await.reason, "end_turn");
        check_sent(&stage, &[("go", 1), ("next", 1)]);
        let sent = stage.requests();
        let [before, after] = [&sent[1], &sent[2]].map(reasoning);
        assert_eq!(before.len(), 1, "{before:?}");
        assert_eq!(after, before, "the same block, to the byte");
        assert_eq!(after[0]["signature"], "ZmFrZQ==");
        let shown = client.log.iter().any(|heard| heard.line.contains("ZmFrZQ=="));
        assert!(!shown, "no client is shown a signature");

        // Another model did not sign it.
        client.offered("model", "anthropic/claude-opus-4-5").await;
        client.set_option("model", "anthropic/claude-opus-4-5").await;
        assert_eq!(client.turn("last").await.reason, "end_turn");
        assert_eq!(reasoning(stage.requests().last().unwrap()), Vec::<Value>::new());
    })
    .await;
}

//! Notices of the built-in agent: every client shows them, and no model hears of them.

use nudge_stage::{ModelReply, StageProvider};
use serde_json::{Value, json};

use super::{ClientSetup, Place, dialect::ANTHROPIC, each, heard::text};

/// What is told, and what stands beside it.
const TOLD: [(&str, &str); 2] = [
    ("anthropic/fake-model answers", "It was taken because of"),
    ("The model gave no answer", "in other words"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_client_shows_them_and_no_model_hears_of_them() {
    let place = Place::new().await;
    let cases =
        [(1, json!({}), false), (1, json!({ "session": { "notices": {} } }), true), (2, json!({}), true)];
    each(cases, |(version, capabilities, is_known)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.on("go").times(1).reply(ModelReply::empty());
            let (key, address) = ANTHROPIC.variables.expect("it has some");
            let environment = vec![(key, "sk-Test-0123456789".to_owned()), (address, stage.url())];
            let setup = ClientSetup { capabilities, environment, ..ClientSetup::default() };
            let mut client = place.client_with(version, setup.clone()).await;
            client.new_session(&place.cwd()).await;
            for prompt in ["go", "next"] {
                assert_eq!(client.turn(prompt).await.reason, "end_turn");
            }
            let mut ids = Vec::new();
            for (title, more) in TOLD {
                let mut told = client.updates().filter(|update| update.to_string().contains(title));
                let (update, others) = (told.next().expect("it is told"), told.count());
                assert_eq!(others, 0, "{title} is told once");
                check_shown(update, is_known, &[title, more]);
                ids.push(update["messageId"].clone());
            }
            assert_eq!(ids[0] == ids[1], is_known, "each is a message of its own: {ids:?}");
            for seen in stage.requests() {
                let sent = seen.body.to_string();
                assert!(
                    TOLD.iter().all(|(title, more)| !sent.contains(title) && !sent.contains(more)),
                    "{sent}"
                );
            }
            let mut reader = place.client_with(version, setup).await;
            reader.load(&client.session, &place.cwd()).await;
            let replayed = |words: &str| reader.log.iter().any(|heard| heard.line.contains(words));
            assert!(
                replayed("next") && !TOLD.iter().any(|(title, _)| replayed(title)),
                "{:#?}",
                reader.story()
            );
        }
    })
    .await;
}

/// As a notice, or as a thought that says the same.
fn check_shown(update: &Value, is_known: bool, words: &[&str]) {
    let (kind, said) = if is_known {
        ("notice", format!("{} {}", update["title"], update["description"]))
    } else {
        assert_eq!(update["_meta"]["nudge"]["sessionUpdate"], "notice", "{update}");
        ("agent_thought_chunk", text(&update["content"]))
    };
    assert_eq!(update["sessionUpdate"], kind, "{update}");
    assert!(words.iter().all(|words| said.contains(words)), "{update}");
}

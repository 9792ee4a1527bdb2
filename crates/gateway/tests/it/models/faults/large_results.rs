//! A tool result that is larger than any model reads.

use nudge_stage::{ModelReply, StageProvider};
use serde_json::{Value, json};

use super::{ALL_DIALECTS, MEANWHILE, Meanwhile, VERSIONS, check_sent, delivered, each, meet};
use crate::models::{ClientSetup, Place, dialect::CHAT};

/// As large as they come.
const LARGE: usize = 6 * 1024 * 1024;
/// The largest request that may come of it.
const MOST_OF_A_REQUEST: usize = 1024 * 1024;

fn large() -> String {
    "a line of a file that has a great many of them\n".repeat(LARGE / 47)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_cut_and_the_session_goes_on() {
    let place = Place::new().await;
    place.write("large.txt", large());
    place.write("line.txt", "x".repeat(LARGE));
    let tools = [
        ("read", json!({ "path": "large.txt" })),
        ("read", json!({ "path": "line.txt" })),
        ("run", json!({ "command": "cat large.txt" })),
        ("run", json!({ "command": "cat line.txt" })),
        ("search", json!({ "pattern": "line" })),
    ];
    let cases = VERSIONS.into_iter().flat_map(|version| {
        let tools = tools.clone().into_iter();
        tools.flat_map(move |tool| MEANWHILE.map(|meanwhile| (version, tool.clone(), meanwhile)))
    });
    each(cases, |(version, (tool, input), meanwhile)| {
        let place = place.clone();
        async move {
            let dialect = ALL_DIALECTS[input.to_string().len() % ALL_DIALECTS.len()];
            let stage = StageProvider::start().await;
            stage.on("go").times(1).reply(ModelReply::call(tool, input));
            let mut client = place.session(version, dialect, &stage).await;
            let from = client.log.len();
            client.prompt("go");
            if tool == "run" {
                client.permit().await;
            }
            client
                .until("a tool call", |message| message["params"]["update"]["toolCallId"].is_string())
                .await;
            let steer = meet(&mut client, meanwhile);
            let steers = if meanwhile == Meanwhile::Steer {
                delivered(&mut client, steer).await
            } else {
                client.over_from(from).await;
                0
            };
            assert_eq!(client.turn("next").await.reason, "end_turn");
            check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
            check_sizes(&stage);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_editor_gives_is_cut_too() {
    let place = Place::new().await;
    let (stage, capabilities) = (StageProvider::start().await, json!({ "fs": { "readTextFile": true } }));
    stage.on("go").times(1).reply(ModelReply::call("read", json!({ "path": "large.txt" })));
    let mut client = place.client_with(1, ClientSetup { capabilities, ..ClientSetup::default() }).await;
    client.ask("providers/set", &CHAT.set(&stage)).await;
    client.new_session(&place.cwd()).await;
    let from = client.log.len();
    client.prompt("go");
    let asked = client.agent_request().await;
    assert_eq!(asked["method"], "fs/read_text_file", "{asked}");
    client.answer(&asked, &json!({ "content": large() }));
    assert_eq!(client.over_from(from).await.reason, "end_turn");
    check_sent(&stage, &[("go", 1)]);
    check_sizes(&stage);
}

fn check_sizes(stage: &StageProvider) {
    let sizes: Vec<usize> = stage.requests().iter().map(|seen| Value::to_string(&seen.body).len()).collect();
    assert!(sizes.iter().all(|size| *size < MOST_OF_A_REQUEST), "{sizes:?}");
}

//! The options of a session that depend on its model: from the next request on, also in the middle of a turn and in a pause.

use nudge_stage::{ModelReply, OfferedModel, SeenRequest, StageProvider};
use serde_json::{Value, json};

use super::{
    Client, Dialect, Place, VERSIONS,
    dialect::{ANTHROPIC, OLLAMA},
    each,
    heard::values,
};

/// An option, what it is set to, and what a request says then and said before.
#[derive(Debug, Clone, Copy)]
struct OptionCase {
    dialect: Dialect,
    option: &'static str,
    category: &'static str,
    value: &'static str,
    /// Where a request says it.
    place: &'static str,
    before: fn() -> Value,
    after: fn() -> Value,
}

const CASES: [OptionCase; 3] = [
    OptionCase {
        dialect: ANTHROPIC,
        option: "model",
        category: "model",
        value: "anthropic/claude-opus-4-6",
        place: "/model",
        before: || json!("claude-sonnet-4-6"),
        after: || json!("claude-opus-4-6"),
    },
    OptionCase {
        dialect: ANTHROPIC,
        option: "thought_level",
        category: "thought_level",
        value: "low",
        place: "/thinking/type",
        before: || Value::Null,
        after: || json!("adaptive"),
    },
    OptionCase {
        dialect: OLLAMA,
        option: "context_size",
        category: "model_config",
        value: "32768",
        place: "/options/num_ctx",
        before: || json!(16384),
        after: || json!(32768),
    },
];

/// When an option is set.
#[derive(Debug, Clone, Copy)]
enum Moment {
    BetweenTurns,
    InAStream,
    InAPause,
}

async fn stage() -> StageProvider {
    let stage = StageProvider::start().await;
    stage.offer(["claude-sonnet-4-6", "claude-opus-4-6"].map(OfferedModel::new));
    stage.on("calls").reply(ModelReply::chunks(["I look. "]).and_gate("now").and_call("list", json!({})));
    stage
        .on("waits")
        .times(1)
        .reply(ModelReply::empty().and_gate("now").and_error(429, "Later.").retry_after(1));
    stage
}

impl OptionCase {
    fn said(&self, seen: &SeenRequest) -> Value {
        seen.body.pointer(self.place).cloned().unwrap_or_default()
    }

    async fn set(&self, client: &mut Client) {
        let answer = client.set_option(self.option, self.value).await;
        let options = answer["configOptions"].as_array().expect("the options are answered");
        let is_it = |option: &&Value| option["configId"] == self.option || option["id"] == self.option;
        let option = options.iter().find(is_it).expect("it is among them");
        assert_eq!(option["currentValue"], self.value, "{option}");
        assert_eq!(option["category"], self.category, "{option}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_counts_from_the_next_request_on() {
    let place = Place::new().await;
    let moments = [Moment::BetweenTurns, Moment::InAStream, Moment::InAPause];
    let cases = CASES.into_iter().flat_map(|case| {
        moments.into_iter().flat_map(move |moment| VERSIONS.map(|version| (case, moment, version)))
    });
    each(cases, |(case, moment, version)| {
        let place = place.clone();
        async move {
            let stage = stage().await;
            let mut client = place.session(version, case.dialect, &stage).await;
            client.offered(case.option, case.value).await;
            let from = client.log.len();
            match moment {
                Moment::BetweenTurns => {
                    client.turn("one").await;
                    case.set(&mut client).await;
                    client.prompt("two");
                }
                Moment::InAStream => {
                    client.prompt("calls");
                    crate::models::at_the_gate(&stage).await;
                    case.set(&mut client).await;
                    stage.gate("now").open();
                }
                Moment::InAPause => {
                    client.prompt("waits");
                    crate::models::at_the_gate(&stage).await;
                    stage.gate("now").open();
                    let is_pause = |message: &Value| message.to_string().contains("\"pause\"");
                    client.until("a pause", is_pause).await;
                    case.set(&mut client).await;
                }
            }
            while stage.requests().len() < 2 {
                client.over_from(from).await;
                stage.wait_for(|seen| seen.index == 1, super::PATIENCE).await;
            }
            let seen = stage.requests();
            assert_eq!((case.said(&seen[0]), case.said(&seen[1])), ((case.before)(), (case.after)()));
            let refused = json!({ "sessionId": client.session, "configId": case.option, "value": "nothing", "type": "id" });
            assert_eq!(client.refused("session/set_config_option", &refused).await["code"], -32602);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_those_of_the_model() {
    let place = Place::new().await;
    each(VERSIONS, |version| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.offer([OfferedModel::new("claude-sonnet-4-5"), OfferedModel::new("claude-3-5-haiku")]);
            let mut client = place.session(version, ANTHROPIC, &stage).await;
            let options = client.offered("model", "anthropic/claude-3-5-haiku").await;
            assert_eq!(values(&options, "thought_level"), ["auto", "off", "low", "medium", "high"]);
            assert_eq!(values(&options, "context_size"), ["200000", "1000000"]);
            let answer = client.set_option("model", "anthropic/claude-3-5-haiku").await;
            for option in ["thought_level", "context_size"] {
                assert!(values(&answer["configOptions"], option).is_empty(), "{option}: {answer}");
            }
        }
    })
    .await;
}

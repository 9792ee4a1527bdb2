//! How full the context is, and what a session costs.

use nudge_stage::{ModelReply, OfferedModel, StageProvider};
use serde_json::{Value, json};

use super::{
    Client, Place, VERSIONS,
    dialect::{ANTHROPIC, CHAT},
    each,
};

/// What was told of it so far.
fn told(client: &Client) -> Vec<Value> {
    let updates = client.updates().filter(|update| update["sessionUpdate"] == "usage_update");
    updates.cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_the_providers_and_cost_is_told_where_a_price_is_known() {
    let place = Place::new().await;
    // A million tokens of the first cost 1 and 5 dollars.
    let cases = [
        (ANTHROPIC, "claude-haiku-4-5", Some((200_000, Some([0.002, 0.004])))),
        (ANTHROPIC, "claude-sonnet-4-5", Some((200_000, None))),
        (CHAT, "unheard-of", None),
    ];
    let cases = cases.into_iter().flat_map(|case| VERSIONS.map(|version| (case, version)));
    each(cases, |((dialect, model, expected), version)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.offer([OfferedModel::new(model)]);
            stage.otherwise(ModelReply::text("Well.").usage(1_000, 200));
            let mut client = place.session(version, dialect, &stage).await;
            for words in ["one", "two"] {
                assert_eq!(client.turn(words).await.reason, "end_turn");
            }
            let told = told(&client);
            let Some((size, costs)) = expected else {
                return assert!(told.is_empty(), "nobody knows how much fits: {told:?}");
            };
            assert_eq!(told.len(), 2, "{told:?}");
            for (at, usage) in told.iter().enumerate() {
                assert_eq!((&usage["used"], &usage["size"]), (&json!(1_200), &json!(size)), "{usage}");
                match costs {
                    Some(costs) => {
                        let amount = usage["cost"]["amount"].as_f64().expect("it has a price");
                        assert!((amount - costs[at]).abs() < 1e-9, "of the session so far: {usage}");
                        assert_eq!(usage["cost"]["currency"], "USD");
                    }
                    None => assert!(usage["cost"].is_null(), "{usage}"),
                }
            }
        }
    })
    .await;
}

//! One session, several clients, each with a provider of its own.

use nudge_stage::StageProvider;
use serde_json::json;

use super::{
    Place, VERSIONS,
    dialect::{ANTHROPIC, CHAT},
    each,
};

#[tokio::test(flavor = "multi_thread")]
async fn each_turn_goes_to_the_provider_of_who_prompted() {
    let place = Place::new().await;
    let cases = VERSIONS.into_iter().flat_map(|a| VERSIONS.map(|b| (a, b)));
    each(cases, |(version, other)| {
        let place = place.clone();
        async move {
            let stages = [StageProvider::start().await, StageProvider::start().await];
            let mut first = place.session(version, CHAT, &stages[0]).await;
            let mut second = place.client(other).await;
            second.ask("providers/set", &ANTHROPIC.set(&stages[1])).await;
            second.load(&first.session, &place.cwd()).await;
            // What one chooses the other may not have.
            first.offered("model", "custom/fake-model").await;
            first.set_option("model", "custom/fake-model").await;
            first.turn("one").await;
            assert_eq!(second.turn("two").await.reason, "end_turn");
            assert_eq!(first.turn("three").await.reason, "end_turn");
            let asked = |stage: &StageProvider| {
                stage.requests().iter().map(nudge_stage::SeenRequest::last_user).collect::<Vec<_>>()
            };
            assert_eq!(
                (asked(&stages[0]), asked(&stages[1])),
                (vec!["one".into(), "three".into()], vec!["two".into()])
            );
            // What the other has set is not seen, and goes with it.
            let list = first.ask("providers/list", &json!({})).await;
            assert!(!list.to_string().contains(&stages[1].url()), "{list}");
            second.leave().await;
            assert_eq!(first.turn("four").await.reason, "end_turn");
            assert_eq!(stages[1].requests().len(), 1);
        }
    })
    .await;
}

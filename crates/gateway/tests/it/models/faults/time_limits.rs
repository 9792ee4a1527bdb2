//! Providers that say nothing for too long, with a patience that a test can wait for.

use std::time::{Duration, Instant};

use nudge_model::RequestLimits;
use nudge_stage::{ExchangeOutcome, ModelReply, StageProvider};

use super::{Meanwhile, SEEN, VERSIONS, check_sent, delivered, each, is_pause, meet};
use crate::models::{ALL_DIALECTS, Place, dialect::CHAT};

/// Longer than anything else here takes, on a machine that is busy.
const PATIENCE_WITH_PROVIDERS: Duration = Duration::from_millis(700);

async fn place() -> std::sync::Arc<Place> {
    let limits = RequestLimits { local: PATIENCE_WITH_PROVIDERS, ..RequestLimits::default() };
    Place::limited(limits).await
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_silent_in_mid_stream_ends_the_turn() {
    let place = place().await;
    let cases = VERSIONS.into_iter().flat_map(|version| ALL_DIALECTS.map(|dialect| (version, dialect)));
    each(cases, |(version, dialect)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.on("go").times(1).reply(ModelReply::stall("Half ", "now"));
            let mut client = place.session(version, dialect, &stage).await;
            let from = client.log.len();
            client.prompt("go");
            crate::models::at_the_gate(&stage).await;
            let began = Instant::now();
            let over = client.over_from(from).await;
            assert_eq!((over.reason.as_str(), &over.error["data"]["reason"]), ("error", &"network".into()));
            let said = over.error["message"].as_str().unwrap_or_default();
            assert!(said.contains("it has gone silent"), "{over:?}");
            let took = over.at - began;
            assert!(took < PATIENCE_WITH_PROVIDERS + SEEN, "{took:?}");
            stage.wait_for(|seen| seen.outcome == ExchangeOutcome::HungUp, SEEN).await;
            assert_eq!(client.turn("next").await.reason, "end_turn");
            check_sent(&stage, &[("go", 1), ("next", 1)]);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_begin_is_asked_again() {
    let place = place().await;
    let meanwhile = [Meanwhile::Nothing, Meanwhile::Steer, Meanwhile::Cancel];
    let cases = VERSIONS.into_iter().flat_map(|version| meanwhile.map(move |meanwhile| (version, meanwhile)));
    each(cases, |(version, meanwhile)| {
        let place = place.clone();
        async move {
            let stage = StageProvider::start().await;
            stage.on("go").times(1).reply(ModelReply::empty().and_gate("now"));
            let mut client = place.session(version, CHAT, &stage).await;
            let from = client.log.len();
            client.prompt("go");
            crate::models::at_the_gate(&stage).await;
            let began = Instant::now();
            let pause = client.until("a pause", is_pause).await;
            assert!(pause.line.contains("it did not answer in time"), "{}", pause.line);
            assert!(pause.at - began < PATIENCE_WITH_PROVIDERS + SEEN, "{:?}", pause.at - began);
            let request = meet(&mut client, meanwhile);
            let (mut steers, mut reason) = (0, "end_turn");
            match meanwhile {
                Meanwhile::Nothing => {}
                Meanwhile::Steer => steers = delivered(&mut client, request).await,
                Meanwhile::Cancel => reason = "cancelled",
            }
            assert_eq!(client.over_from(from).await.reason, reason);
            assert_eq!(client.turn("next").await.reason, "end_turn");
            assert_eq!(steers, usize::from(meanwhile == Meanwhile::Steer));
            check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
        }
    })
    .await;
}

//! No network, which comes back.

use std::time::Instant;

use nudge_stage::StageProvider;

use super::{
    CANCELLED, MEANWHILE, Meanwhile, SEEN, VERSIONS, WAIT, check_sent, delivered, each, is_pause, meet, said,
};
use crate::models::{ALL_DIALECTS, Place};

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listens_and_then_somebody_does() {
    let place = Place::new().await;
    let cases = VERSIONS.into_iter().flat_map(|version| MEANWHILE.map(|meanwhile| (version, meanwhile)));
    let cases =
        cases.enumerate().map(|(at, (version, meanwhile))| (ALL_DIALECTS[at % 6], version, meanwhile));
    each(cases, |(dialect, version, meanwhile)| {
        let place = place.clone();
        async move {
            let mut stage = StageProvider::absent().expect("a free port can be had");
            let mut client = place.client(version).await;
            client.ask("providers/set", &dialect.set(&stage)).await;
            client.new_session(&place.cwd()).await;
            let (from, began) = (client.log.len(), Instant::now());
            client.prompt("go");
            let pause = client.until("a pause", is_pause).await;
            assert!(pause.at - began < SEEN, "{:?}", pause.at - began);
            let steer = meet(&mut client, meanwhile);
            let mut steers = 0;
            stage.appear().expect("its port is its own");
            match meanwhile {
                Meanwhile::Nothing => assert_eq!(client.over_from(from).await.reason, "end_turn"),
                Meanwhile::Steer => {
                    steers = delivered(&mut client, steer).await;
                    assert_eq!(steers, 1, "the turn runs");
                }
                Meanwhile::Cancel => {
                    let cancelled = Instant::now();
                    assert_eq!(client.over_from(from).await.reason, "cancelled");
                    assert!(cancelled.elapsed() < CANCELLED);
                }
            }
            assert_eq!(client.turn("next").await.reason, "end_turn");
            stage.wait_for(|seen| seen.last_user().contains("next"), WAIT).await;
            check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
            let first = &stage.requests()[0];
            let is_sent = meanwhile != Meanwhile::Cancel;
            assert_eq!((said(first, "go"), said(first, "left")), (1, steers), "{:?}", first.messages());
            assert_eq!(said(first, "next"), usize::from(!is_sent), "what was cancelled is not sent again");
            assert!(began.elapsed().as_secs() < 15, "it is tried again: {:?}", began.elapsed());
        }
    })
    .await;
}

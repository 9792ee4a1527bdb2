//! No network, which comes back.

use std::time::Instant;

use nudge_stage::StageProvider;

use super::{
    CANCELLED, MEANWHILE, Meanwhile, SEEN, VERSIONS, WAIT, check_sent, delivered, each, is_pause, meet,
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
            let gone = StageProvider::start().await;
            let address = gone.address();
            let set = dialect.set(&gone);
            drop(gone);
            let mut client = place.client(version).await;
            client.ask("providers/set", &set).await;
            client.new_session(&place.cwd()).await;
            let (from, began) = (client.log.len(), Instant::now());
            client.prompt("go");
            let pause = client.until("a pause", is_pause).await;
            // A pause of less than a second is not shown, and then a longer one follows.
            assert!(pause.at - began < 2 * SEEN, "{:?}", pause.at - began);
            let steer = meet(&mut client, meanwhile);
            let mut steers = 0;
            let stage = StageProvider::listen(address).expect("the port is still free");
            match meanwhile {
                Meanwhile::Nothing => assert_eq!(client.over_from(from).await.reason, "end_turn"),
                Meanwhile::Steer => steers = delivered(&mut client, steer).await,
                Meanwhile::Cancel => {
                    let cancelled = Instant::now();
                    assert_eq!(client.over_from(from).await.reason, "cancelled");
                    assert!(cancelled.elapsed() < CANCELLED);
                }
            }
            assert_eq!(client.turn("next").await.reason, "end_turn");
            stage.wait_for(|seen| seen.last_user().contains("next"), WAIT).await;
            check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
            assert!(began.elapsed().as_secs() < 15, "it is tried again: {:?}", began.elapsed());
        }
    })
    .await;
}

//! How fast a turn that is cancelled is over, and its request closed.

use std::time::{Duration, Instant};

use nudge_stage::{ExchangeOutcome, ModelReply, StageProvider};

use super::{VERSIONS, WAIT, is_pause};
use crate::models::{Client, Place, dialect::CHAT};

/// What is promised.
const AT_ONCE: Duration = Duration::from_millis(50);
/// How often it is tried. The median is what holds on a machine on which something else runs as well.
const TIMES: usize = 20;

/// What the turn does when it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CancelledIn {
    /// Words come and come.
    Stream,
    /// No word came yet.
    Stall,
    /// The provider has failed, and is asked again later.
    Pause,
}

impl CancelledIn {
    fn reply(self) -> ModelReply {
        match self {
            Self::Stream => ModelReply::text("word ".repeat(10_000)).every(Duration::from_millis(2)),
            Self::Stall => ModelReply::empty().and_gate("now"),
            Self::Pause => ModelReply::error(500, "Oh."),
        }
    }

    /// Waits until the turn is there.
    async fn reached(self, client: &mut Client, stage: &StageProvider, (from, turn): (usize, usize)) {
        match self {
            Self::Stream => {
                let is_text = |message: &serde_json::Value| {
                    message["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
                };
                client.nth_from(from, "a stream", 3, is_text).await;
            }
            Self::Stall => stage.gate("now").reached_by(turn + 1).await,
            Self::Pause => drop(client.nth_from(from, "a pause", 1, is_pause).await),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_turn_is_over_at_once_and_its_request_closed() {
    let place = Place::new().await;
    for version in VERSIONS {
        for cancelled in [CancelledIn::Stream, CancelledIn::Stall, CancelledIn::Pause] {
            let (mut over, mut closed) = measure(&place, version, cancelled).await;
            over.sort();
            closed.sort();
            let medians = [over[TIMES / 2], closed[TIMES / 2]];
            println!("version {version}, {cancelled:?}: over and closed after {medians:?}");
            assert!(medians.iter().all(|median| *median <= AT_ONCE), "{version} {cancelled:?}: {medians:?}");
        }
    }
}

/// How long it takes from each cancel until the turn is over, and until the provider has no request of it; in a pause it has none.
async fn measure(place: &Place, version: u64, cancelled: CancelledIn) -> (Vec<Duration>, Vec<Duration>) {
    let stage = StageProvider::start().await;
    stage.on("go").times(TIMES).reply(cancelled.reply());
    let mut client = place.session(version, CHAT, &stage).await;
    let (mut over, mut closed) = (Vec::new(), Vec::new());
    for turn in 0..TIMES {
        let from = client.log.len();
        client.prompt("go");
        cancelled.reached(&mut client, &stage, (from, turn)).await;
        let began = Instant::now();
        client.cancel();
        stage.wait_for(|seen| seen.index == turn && seen.outcome != ExchangeOutcome::Answering, WAIT).await;
        closed.push(began.elapsed());
        let end = client.over_from(from).await;
        assert_eq!(end.reason, "cancelled", "{end:?}");
        over.push(end.at.saturating_duration_since(began));
    }
    assert_eq!(client.turn("next").await.reason, "end_turn");
    assert_eq!(stage.requests().len(), TIMES + 1, "nothing is sent again: {stage:?}");
    (over, closed)
}

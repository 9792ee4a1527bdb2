//! What goes wrong between Nudge and a provider, alone and with a steer or a cancel before it, with it and after it. No turn is stuck,
//! no session dead, no steer lost, the user sees it in time, and what is sent afterwards is a conversation that providers take.

mod cancels;
mod effect;
mod history;
mod large_results;
mod network;
mod reasoning;
mod table;
mod time_limits;

use std::time::{Duration, Instant};

use nudge_stage::{ExchangeOutcome, MessageRole, SeenRequest, StageProvider};

use super::{ALL_DIALECTS, Client, Dialect, PATIENCE, Place, VERSIONS, each};
use effect::{check_effect, check_sign, is_pause, until_seen};
use history::check_history;
use table::{FAULTS, Fault, FaultEffect};

/// How soon a user has to see that something is wrong.
const SEEN: Duration = Duration::from_secs(1);
/// How soon a turn that is cancelled is over in any case, on a machine that is busy; `cancels.rs` looks closer.
const CANCELLED: Duration = Duration::from_millis(500);

/// What the user does about the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meanwhile {
    Nothing,
    Steer,
    Cancel,
}

const MEANWHILE: [Meanwhile; 3] = [Meanwhile::Nothing, Meanwhile::Steer, Meanwhile::Cancel];

/// When the user does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// While the answer is on its way; the fault comes at the same time.
    Before,
    /// The provider has done it, and Nudge may not know it yet.
    Struck,
    /// The user has seen it.
    Seen,
}

/// One way a fault is met.
#[derive(Debug, Clone, Copy)]
struct Case {
    fault: &'static Fault,
    dialect: Dialect,
    version: u64,
    act: (Meanwhile, Moment),
}

const ACTS: [(Meanwhile, Moment); 7] = [
    (Meanwhile::Nothing, Moment::Before),
    (Meanwhile::Steer, Moment::Before),
    (Meanwhile::Steer, Moment::Struck),
    (Meanwhile::Steer, Moment::Seen),
    (Meanwhile::Cancel, Moment::Before),
    (Meanwhile::Cancel, Moment::Struck),
    (Meanwhile::Cancel, Moment::Seen),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_seen_and_the_session_goes_on() {
    // One process for each: all sessions of one hear of the models of each.
    each(cases(), |case| async move { play(&*Place::new().await, case).await }).await;
}

/// The first dialect with everything, of the others a third, each time another.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (row, fault) in FAULTS.iter().enumerate() {
        for (at, dialect) in ALL_DIALECTS.into_iter().enumerate().filter(|(_, dialect)| fault.is_in(*dialect))
        {
            for version in VERSIONS {
                for (column, act) in ACTS.into_iter().enumerate() {
                    let number = row + at + column + usize::from(version == 1);
                    if fault.can_be(act) && (at == 0 || number.is_multiple_of(3)) {
                        cases.push(Case { fault, dialect, version, act });
                    }
                }
            }
        }
    }
    cases
}

impl Fault {
    /// An answer that stalls never strikes; what comes of it in the end is in `time_limits.rs`.
    fn can_be(&self, act: (Meanwhile, Moment)) -> bool {
        self.effect != FaultEffect::Stalls || (act.0 != Meanwhile::Nothing && act.1 == Moment::Before)
    }
}

async fn play(place: &Place, case: Case) {
    let Case { fault, dialect, version, act: (meanwhile, moment) } = case;
    let stage = StageProvider::start().await;
    stage.on("go").times(1).reply((fault.reply)(dialect));
    let mut client = place.session(version, dialect, &stage).await;
    let from = client.log.len();
    client.prompt("go");
    crate::models::at_the_gate(&stage).await;
    let mut request = 0;
    let struck = Instant::now();
    if moment == Moment::Before {
        request = meet(&mut client, meanwhile);
    }
    if fault.effect != FaultEffect::Stalls {
        stage.gate("now").open();
    }
    match moment {
        Moment::Before => {}
        Moment::Struck => {
            stage.wait_for(|seen| seen.index == 0 && seen.outcome != ExchangeOutcome::Answering, WAIT).await;
            request = meet(&mut client, meanwhile);
        }
        Moment::Seen => {
            until_seen(&mut client, &stage, fault, from).await;
            request = meet(&mut client, meanwhile);
        }
    }
    let acted = Instant::now();
    let mut steers = 0;
    match meanwhile {
        Meanwhile::Nothing => check_effect(&mut client, fault, from, struck).await,
        Meanwhile::Steer => steers = delivered(&mut client, request).await,
        Meanwhile::Cancel => {
            let over = client.over_from(from).await;
            assert!(over.at < acted + CANCELLED, "{:?} {over:?}", over.at - acted);
            if fault.effect == FaultEffect::Stalls {
                assert_eq!(over.reason, "cancelled");
                stage.wait_for(|seen| seen.outcome == ExchangeOutcome::HungUp, CANCELLED).await;
            }
        }
    }
    if fault.effect != FaultEffect::Stalls {
        check_sign(&client, fault, from, struck);
    }
    let over = client.turn("next").await;
    assert_eq!(over.reason, "end_turn", "{over:?}");
    check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
    if (fault.effect, moment) == (FaultEffect::Pauses, Moment::Seen) {
        check_after_pause(&stage, meanwhile, steers);
    }
}

/// What was sent after a pause in which the user did this: with a steer one request that has it, with a cancel none.
fn check_after_pause(stage: &StageProvider, meanwhile: Meanwhile, steers: usize) {
    let requests = stage.requests();
    let firsts: Vec<String> = requests.iter().map(SeenRequest::last_user).collect();
    if meanwhile == Meanwhile::Cancel {
        assert_eq!(requests.len(), 2, "nothing is sent again: {firsts:?}");
        return;
    }
    assert_eq!((requests.len(), steers), (3, 1), "{firsts:?}");
    assert_eq!((said(&requests[0], "left"), said(&requests[1], "left")), (0, 1), "{firsts:?}");
}

/// Does what the user does about the fault; gives the id of a request.
pub(super) fn meet(client: &mut Client, meanwhile: Meanwhile) -> u64 {
    match meanwhile {
        Meanwhile::Nothing => 0,
        Meanwhile::Steer => client.steer("left"),
        Meanwhile::Cancel => {
            client.cancel();
            0
        }
    }
}

/// Waits until a steer was taken in and its turn is over; gives how often it has to be among what is sent.
pub(super) async fn delivered(client: &mut Client, request: u64) -> usize {
    let answer = client.response(request).await;
    if answer.get("error").is_some() {
        // The turn was over before it. The user knows.
        assert_eq!(answer["error"]["data"]["reason"], "no_running_turn", "{answer}");
        return 0;
    }
    let at = client.place_of_user(0, "left").await;
    client.over_from(at).await;
    1
}

/// All that was sent could be taken, and the last request has each of these so often.
pub(super) fn check_sent(stage: &StageProvider, expected: &[(&str, usize)]) {
    let seen = stage.requests();
    seen.iter().for_each(check_history);
    let last = seen.last().expect("something was asked");
    for (words, count) in expected {
        assert_eq!(said(last, words), *count, "{words}: {:#?}", last.messages());
    }
}

/// How often the user says this in a request.
fn said(seen: &SeenRequest, words: &str) -> usize {
    let users = seen.messages().iter().filter(|message| message.role == MessageRole::User);
    users.map(|message| message.text.matches(words).count()).sum()
}

/// How long a test waits for the stand-in.
pub(super) const WAIT: Duration = PATIENCE;

//! What goes wrong between Nudge and a provider, alone and with a steer or a cancel at the same moment. No turn is stuck, no session
//! dead, no steer lost, and what is sent afterwards is a conversation that providers take.

mod history;
mod large_results;
mod network;
mod reasoning;
mod table;

use std::time::{Duration, Instant};

use nudge_stage::{ExchangeOutcome, StageProvider};
use serde_json::Value;

use super::{ALL_DIALECTS, Client, Dialect, PATIENCE, Place, VERSIONS, each};
use history::check_history;
use table::{FAULTS, Fault, FaultEffect};

/// How soon a user has to see that something is wrong.
const SEEN: Duration = Duration::from_secs(1);
/// How soon a turn that is cancelled is over; it is to be a tenth of it, but the machine may be busy.
const CANCELLED: Duration = Duration::from_millis(500);

/// What the user does at the moment of the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meanwhile {
    Nothing,
    Steer,
    Cancel,
}

const MEANWHILE: [Meanwhile; 3] = [Meanwhile::Nothing, Meanwhile::Steer, Meanwhile::Cancel];

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_seen_and_the_session_goes_on() {
    let place = Place::new().await;
    let cases = FAULTS.iter().flat_map(|fault| {
        let dialects = ALL_DIALECTS.into_iter().enumerate().filter(|(_, dialect)| fault.is_in(*dialect));
        dialects.flat_map(move |(at, dialect)| {
            VERSIONS.into_iter().flat_map(move |version| {
                let cases =
                    MEANWHILE.map(|meanwhile| (fault.name, dialect.api_type, version, meanwhile, dialect));
                // The first in both versions, of the others every other.
                let is_taken = move |case: usize| at == 0 || (at + case) % 2 == usize::from(version == 1);
                cases.into_iter().enumerate().filter(move |(case, _)| is_taken(*case)).map(|(_, case)| case)
            })
        })
    });
    each(cases, |(name, _, version, meanwhile, dialect)| {
        let place = place.clone();
        let fault = FAULTS.iter().find(|fault| fault.name == name).expect("it is in the table");
        async move { play(&place, fault, dialect, version, meanwhile).await }
    })
    .await;
}

async fn play(place: &Place, fault: &Fault, dialect: Dialect, version: u64, meanwhile: Meanwhile) {
    if fault.effect == FaultEffect::Stalls && meanwhile == Meanwhile::Nothing {
        return;
    }
    let stage = StageProvider::start().await;
    stage.on("go").times(1).reply((fault.reply)(dialect));
    let mut client = place.session(version, dialect, &stage).await;
    let from = client.log.len();
    client.prompt("go");
    crate::models::at_the_gate(&stage).await;
    let began = Instant::now();
    let steer = meet(&mut client, meanwhile);
    if fault.effect != FaultEffect::Stalls {
        stage.gate("now").open();
    }
    let mut steers = 0;
    match meanwhile {
        Meanwhile::Nothing => check_effect(&mut client, fault, from, began).await,
        Meanwhile::Steer => steers = delivered(&mut client, steer).await,
        Meanwhile::Cancel => {
            let over = client.over_from(from).await;
            assert!(over.at - began < CANCELLED, "{:?} {over:?}", over.at - began);
            if fault.effect == FaultEffect::Stalls {
                assert_eq!(over.reason, "cancelled");
                let is_left = |seen: &nudge_stage::SeenRequest| seen.outcome == ExchangeOutcome::HungUp;
                stage.wait_for(is_left, CANCELLED).await;
            }
        }
    }
    let over = client.turn("next").await;
    assert_eq!(over.reason, "end_turn", "{over:?}");
    check_sent(&stage, &[("go", 1), ("left", steers), ("next", 1)]);
}

/// Does what the user does at the moment of the fault; gives the id of a request.
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

/// The user sees what is wrong in time.
async fn check_effect(client: &mut Client, fault: &Fault, from: usize, began: Instant) {
    let over = client.over_from(from).await;
    match fault.effect {
        FaultEffect::Fails(words) => {
            assert_eq!(over.reason, "error", "{over:?}");
            let word = over.error["data"]["reason"].as_str().unwrap_or_default();
            assert!(words.contains(&word), "{over:?}");
            assert!(over.at - began < SEEN, "{:?}", over.at - began);
            let said = over.error["message"].as_str().unwrap_or_default();
            assert!(!said.is_empty() && !over.error.to_string().contains(table::SECRET_WORDS), "{over:?}");
        }
        FaultEffect::Pauses { is_shown } => {
            assert_eq!(over.reason, "end_turn", "{over:?}");
            let pause = client.log.iter().find(|heard| is_pause(&heard.value));
            if is_shown {
                let pause = pause.expect("the pause is told");
                assert!(pause.at - began < SEEN, "{:?}", pause.at - began);
            }
        }
        FaultEffect::Tells(words) => {
            assert_eq!(over.reason, "end_turn", "{over:?}");
            let is_told = client.log[from..].iter().any(|heard| heard.line.contains(words));
            assert!(is_told, "{:#?}", client.story());
        }
        FaultEffect::Answers | FaultEffect::Stalls => assert_eq!(over.reason, "end_turn", "{over:?}"),
    }
}

/// A notice that says until when it is waited.
pub(super) fn is_pause(message: &Value) -> bool {
    let update = &message["params"]["update"];
    let notices = [update, &update["_meta"]["notice"]];
    notices.iter().any(|notice| notice["_meta"]["nudge"]["pause"]["until"].is_string())
}

/// All that was sent could be taken, and the last request has each of these so often.
pub(super) fn check_sent(stage: &StageProvider, said: &[(&str, usize)]) {
    let seen = stage.requests();
    seen.iter().for_each(check_history);
    let last = seen.last().expect("something was asked");
    for (words, count) in said {
        let users = last.messages().iter().filter(|message| message.role == nudge_stage::MessageRole::User);
        let found: usize = users.map(|message| message.text.matches(words).count()).sum();
        assert_eq!(found, *count, "{words}: {:#?}", last.messages());
    }
}

/// How long a test waits for the stand-in.
pub(super) const WAIT: Duration = PATIENCE;

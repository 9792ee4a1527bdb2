//! What the plays have found, each by the shortest way to it.

use super::{
    Play,
    actions::{Action, End, Reply},
    agent::Did,
    audit,
    clients::Part,
    plays::{KEYED_PROMPT_V1, PLAY, PROMPT_V1, PROMPT_V2, QUEUED},
    world::{Budget, World},
};

/// More of everything than a trace needs.
const ENOUGH: Budget = Budget {
    crashes: 9,
    failures: 9,
    cancels: 9,
    asks: 9,
    says: 9,
    starts: 9,
    deaths: 9,
    joins: 9,
    detaches: 9,
    ends: 9,
};

/// Goes this way and sees that nothing is wrong on it; gives where it leads.
#[track_caller]
fn check(parts: &'static [Part], actions: &[Action]) -> World {
    let play = Play { parts, budget: ENOUGH, ..PLAY };
    let mut world = World::new(&play);
    for action in actions {
        world.take(&play, *action);
        world.wrong = world.wrong.or_else(|| audit::look(&play, &world));
        assert_eq!(world.wrong, None, "at {action:?} of {actions:?}");
    }
    world
}

#[test]
fn a_turn_that_waits_for_the_disk_is_not_over_when_another_is() {
    let own = [Action::Did(Did::Start), Action::Did(Did::End)];
    let actions = [Action::Send(0), own[0], own[1], Action::Land, Action::Send(1), Action::Land];
    check(&[PROMPT_V1, QUEUED], &actions);
}

#[test]
fn nobody_stays_asked_when_the_answer_cannot_be_stored() {
    let asked = [Action::Send(0), Action::Land, Action::Did(Did::Ask), Action::Land];
    let answered =
        [Action::Reply(1, Reply::Allow), Action::Fail(0, true), Action::Did(Did::End), Action::Recover];
    check(&[QUEUED], &[asked, answered].concat());
}

#[test]
fn an_end_that_is_wished_for_while_the_disk_is_full_comes() {
    let full = [Action::Send(0), Action::Land, Action::Did(Did::Say), Action::Fail(0, true)];
    let end = [Action::End(End::Delete), Action::Did(Did::End), Action::Land];
    let world = check(&[QUEUED], &[&full[..], &end].concat());
    assert!(world.disk.is_deleted && world.requests.are_answered());
}

#[test]
fn an_end_that_fails_after_a_full_disk_leaves_nothing_held() {
    let full = [Action::Send(0), Action::Land, Action::Did(Did::Say), Action::Fail(0, true)];
    let end = [Action::End(End::Close), Action::Recover, Action::Did(Did::End), Action::Fail(0, true)];
    let on = [Action::Recover, Action::Send(1), Action::Land];
    check(&[QUEUED, PROMPT_V1], &[&full[..], &end, &on].concat());
}

#[test]
fn a_prompt_that_was_cancelled_does_not_come_back_when_that_cannot_be_stored() {
    let waiting = [Action::Send(0), Action::Land, Action::Send(1), Action::Land];
    let full = [Action::Cancel, Action::Fail(0, true), Action::Did(Did::End), Action::Recover];
    check(&[QUEUED, PROMPT_V1], &[waiting, full].concat());
}

#[test]
fn a_prompt_that_is_sent_again_is_not_echoed_to_who_sends_it_again() {
    let waiting = [Action::Send(0), Action::Land, Action::Send(1), Action::Land];
    let again = [Action::Detach(0), Action::Attach(0), Action::Send(1), Action::Did(Did::End), Action::Land];
    check(&[PROMPT_V2, KEYED_PROMPT_V1], &[&waiting[..], &again].concat());
}

#[test]
fn a_prompt_that_is_sent_again_after_a_crash_is_answered_when_its_turn_ends() {
    let crash = [Action::Send(0), Action::Send(1), Action::Crash(2), Action::Attach(0)];
    let again = [Action::Send(1), Action::Land, Action::Did(Did::End), Action::Land];
    check(&[PROMPT_V2, KEYED_PROMPT_V1], &[crash, again].concat());
}

//! From prompt to prompt: ends, break-points, steers, deaths.

use std::sync::Arc;

use tokio::time::Instant;

use super::bench::{Event::*, PATIENCE, check, message};
use crate::prompt_run::{AgentReadiness, PromptRun};

#[test]
fn a_turn_of_one_prompt() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, Word, ""),
        (20, Ended("end_turn"), "tools, break"),
        (20, GoOn(""), "over: end_turn"),
        (30, Begin("b"), "prompt b"),
        (40, Ended("max_tokens"), "tools, break"),
        (40, GoOn("c d"), "prompt c d"),
        (50, Failed, "tools, over: failed"),
    ]);
}

#[test]
fn a_version_2_agent_is_believed_to_be_idle_once_it_has_begun() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Idle("end_turn"), ""),
        (2, Running, ""),
        (3, Taken("m1"), ""),
        (4, Running, ""),
        (5, Idle("end_turn"), "tools, break"),
        (6, Idle("end_turn"), ""),
        (7, GoOn(""), "over: end_turn"),
        (8, Idle("end_turn"), ""),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Taken("m1"), ""),
        (2, Idle("end_turn"), "tools, break"),
        (3, Failed, "tools"),
        (4, GoOn(""), "over: failed"),
    ]);
}

#[test]
fn the_agents_id_of_a_prompt_is_kept_until_the_next() {
    let (mut run, now) = (PromptRun::new(PATIENCE), Instant::now());
    let id = |run: &PromptRun| run.message_id().map(Arc::to_string);
    run.begin(vec![message("a")], AgentReadiness::Ready, now);
    assert_eq!(id(&run), None);
    run.says_running(now);
    assert_eq!(id(&run), None);
    run.prompt_taken(Some("m1".into()));
    run.says_running(now);
    assert_eq!(id(&run).as_deref(), Some("m1"));
    run.says_idle(nudge_backend::TurnEnd::stopped("end_turn"), now);
    assert_eq!(id(&run).as_deref(), Some("m1"));
    run.go_on(vec![message("b")], now);
    assert_eq!(id(&run), None);
}

#[test]
fn an_agent_begins_a_turn_by_itself() {
    check(&[
        (0, Running, "started, stream"),
        (1, Steer("a"), "steer 1 a"),
        (2, SteerTaken(1), "stream"),
        (3, Interrupt, "cancel"),
        (4, Idle("cancelled"), "tools, break"),
        (4, GoOn("b"), "prompt b after cut"),
        (5, Running, ""),
        (6, Idle("end_turn"), "tools, break"),
        (6, GoOn(""), "over: end_turn"),
    ]);
}

#[test]
fn a_prompt_takes_the_place_of_a_turn_that_began_by_itself_at_the_same_time() {
    check(&[
        (0, Running, "started, stream"),
        (1, Begin("a"), "prompt a"),
        (2, Idle("end_turn"), ""),
        (3, Running, ""),
        (4, Idle("end_turn"), "tools, break"),
        (4, GoOn(""), "over: end_turn"),
    ]);
}

#[test]
fn steers_that_an_agent_does_not_take_are_prompted() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Steer("b c d"), "steer 1 b, steer 2 c, steer 3 d"),
        (3, SteerPromptRequired(2), ""),
        (4, SteerTaken(3), "stream"),
        (5, SteerRefused(1), "cancel"),
        (6, Ended("cancelled"), "tools, prompt c b after cut"),
        (7, Steer("e"), "steer 4 e"),
        (8, SteerPromptRequired(4), ""),
        (9, Failed, "tools, over: failed"),
        (10, Begin("f"), "prompt e f"),
    ]);
}

#[test]
fn an_agent_that_asks_what_goes_in_is_told_and_not_cut_off() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, ToolResult, ""),
        (10, Interrupt, "by 20010"),
        (11, Asks, "break"),
        (12, Interrupt, ""),
        (13, GoOn("b c"), "told 1 b 2 c, stream"),
        (13, SteerTaken(1), "stream"),
        (13, SteerTaken(2), "stream"),
        (20, Asks, "break"),
        (20, Asks, ""),
        (21, GoOn(""), "told, stream"),
        (30, Ended("end_turn"), "tools, break"),
        (30, GoOn(""), "over: end_turn"),
    ]);
    // It does not wait for the answer any more.
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (10, Asks, "break"),
        (11, GoOn("b"), "told 1 b, stream"),
        (11, SteerRefused(1), "cancel"),
        (20, Ended("cancelled"), "tools, prompt b after cut"),
    ]);
}

#[test]
fn an_agent_that_stops_while_it_asks_is_prompted_with_what_goes_in() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, Asks, "break"),
        (11, Ended("end_turn"), "tools"),
        (12, GoOn("b"), "prompt b"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, Asks, "break"),
        (11, Failed, "tools"),
        (12, GoOn("b"), "over: failed"),
        (13, Begin("c"), "prompt b c"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, Asks, "break"),
        (11, Cancel, "cancel, by 10011"),
        (12, GoOn("b"), "told, stream, by 10011"),
        (13, Asks, "by 10011"),
        (14, Ended("cancelled"), "tools, over: cancelled"),
        (15, Begin("c"), "prompt b c"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (10, Word, ""),
        (10, Asks, "break"),
        (11, Lost, "tools, over: gone"),
        (12, GoOn("b"), ""),
        (13, Begin("c"), "prompt b c"),
        (14, Asks, "break"),
    ]);
}

#[test]
fn a_refused_steer_waits_for_the_first_word() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (0, Steer("b"), "steer 1 b"),
        (100, SteerRefused(1), "by 1600"),
        (200, Word, "cancel"),
        (300, Ended("cancelled"), "tools, prompt b after cut"),
    ]);
}

#[test]
fn a_steer_that_came_too_late_waits_for_the_end_of_the_prompt() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Steer("b"), "steer 1 b"),
        (3, SteerTooLate(1), "by 2003"),
        (4, Word, "by 2003"),
        (5, Ended("end_turn"), "tools, prompt b"),
    ]);
}

#[test]
fn an_agent_that_goes_on_though_it_has_no_turn_is_cut_off() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Steer("b"), "steer 1 b"),
        (3, SteerTooLate(1), "by 2003"),
        (2003, Timeout, "cancel"),
        (2004, Ended("cancelled"), "tools, prompt b after cut"),
    ]);
}

#[test]
fn the_answer_to_a_steer_is_waited_for_when_the_agent_has_ended() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Steer("b c"), "steer 1 b, steer 2 c"),
        (2, Ended("end_turn"), "tools"),
        (3, SteerTaken(1), "stream"),
        (4, SteerPromptRequired(2), "prompt c"),
        (5, Steer("d"), "steer 3 d"),
        (6, Ended("end_turn"), "tools"),
        (7, Steer("e"), ""),
        (8, SteerTaken(3), "stream, prompt e"),
    ]);
}

#[test]
fn an_agent_that_has_ended_goes_on_with_a_steer() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Taken("m1"), ""),
        (2, Steer("b"), "steer 1 b"),
        (3, Idle("end_turn"), "tools"),
        (4, Running, "stream"),
        (5, SteerTaken(1), "stream"),
        (6, Idle("end_turn"), "tools, break"),
        (7, GoOn(""), "over: end_turn"),
    ]);
}

#[test]
fn an_agent_that_goes_on_from_a_break_point_by_itself_is_steered() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Taken("m1"), ""),
        (2, Idle("end_turn"), "tools, break"),
        (3, Running, "stream"),
        (4, GoOn("b"), "steer 1 b"),
        (5, Idle("end_turn"), "tools"),
        (6, SteerTaken(1), "stream, break"),
        (7, Running, "stream"),
        (8, Steer("c"), "steer 2 c"),
        (9, Idle("end_turn"), "tools"),
        // The steer is not forgotten, and the turn does not end over it.
        (10, GoOn(""), ""),
        (11, SteerPromptRequired(2), "prompt c"),
    ]);
}

#[test]
fn a_prompt_is_held_until_the_agent_is_there() {
    check(&[
        (0, Hold("a"), ""),
        (1, Steer("b"), ""),
        (2, Running, ""),
        (3, Word, ""),
        (4, Release, "prompt a b"),
        (5, Release, ""),
    ]);
    check(&[(0, Hold("a"), ""), (9, NotRestored, "tools, over: away"), (9, Begin("b"), "prompt a b")]);
    check(&[(0, Hold("a"), ""), (9, Cancel, "tools, over: cancelled"), (9, Begin("b"), "prompt a b")]);
}

#[test]
fn a_prompt_is_sent_once_more_to_an_agent_that_was_dying() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (999, Lost, ""),
        (5000, Steer("b"), ""),
        (6000, Release, "prompt a b"),
        (6100, Lost, "tools, over: gone"),
        (7000, Begin("c"), "prompt c"),
    ]);
    check(&[
        (0, Hold("a"), ""),
        (1, Lost, ""),
        (2, Lost, "tools, over: gone"),
        (3, Begin("b"), "prompt a b"),
    ]);
}

#[test]
fn a_prompt_that_may_have_been_begun_with_is_not_sent_again() {
    let late = (1000, Lost, "tools, over: gone");
    check(&[(0, Begin("a"), "prompt a"), late.clone()]);
    for sign in [Activity, Word, ToolResult] {
        check(&[(0, Begin("a"), "prompt a"), (1, sign, ""), (2, Lost, "tools, over: gone")]);
    }
    check(&[(0, Running, "started, stream"), (1, Lost, "tools, over: gone")]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Cancel, "cancel, by 10001"),
        (2, Lost, "tools, over: cancelled"),
    ]);
}

#[test]
fn what_a_dead_agent_had_not_taken_goes_with_the_next_prompt() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Steer("b c"), "steer 1 b, steer 2 c"),
        (3, SteerPromptRequired(2), ""),
        (4, Lost, "tools, over: gone"),
        (5, SteerTaken(1), ""),
        (6, Begin("d"), "prompt c b d"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Steer("b"), "steer 1 b"),
        (2, SteerRefused(1), "by 1502"),
        (3, Lost, ""),
        (4, Release, "prompt a b"),
    ]);
}

#[test]
fn a_break_point_of_an_agent_that_died_is_answered_in_vain() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Ended("end_turn"), "tools, break"),
        (2, Lost, "tools, over: gone"),
        (3, GoOn("b"), ""),
        (4, Hold("c"), ""),
        (5, Release, "prompt b c"),
    ]);
}

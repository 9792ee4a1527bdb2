//! Cancels: for a steer, by the user, and both.

use super::bench::{Event::*, check};

#[test]
fn a_steer_before_the_first_word_waits_for_it() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (100, Interrupt, "by 1600"),
        (200, Interrupt, "by 1600"),
        (300, Activity, "by 1600"),
        (400, Word, "cancel"),
        (500, Word, ""),
        (600, Ended("cancelled"), "tools, break"),
        (600, GoOn("b"), "prompt b after cut"),
        (700, Interrupt, "by 2200"),
        (2199, Timeout, "by 2200"),
        (2200, Timeout, "cancel"),
        (2300, Word, ""),
        (2400, Interrupt, ""),
    ]);
}

#[test]
fn after_a_tool_a_steer_waits_longer() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (100, Word, ""),
        (200, ToolResult, ""),
        (300, Activity, ""),
        (400, Interrupt, "by 20400"),
        (20_400, Timeout, "cancel"),
        (20_500, ToolResult, ""),
        (20_600, Word, ""),
    ]);
}

#[test]
fn a_steer_into_a_stream_cuts_it_off_at_once() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Interrupt, "cancel"),
        (3, Interrupt, ""),
        (4, Ended("cancelled"), "tools, break"),
        (5, Interrupt, ""),
        (6, GoOn("b"), "prompt b after cut"),
    ]);
}

#[test]
fn an_agent_that_was_cut_off_for_nothing_goes_on() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Interrupt, "cancel"),
        (3, Ended("cancelled"), "tools, break"),
        (4, GoOn(""), "prompt (go on) after cut"),
    ]);
}

#[test]
fn an_agent_may_end_before_the_cancel_reaches_it() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Interrupt, "cancel"),
        (3, Ended("end_turn"), "tools, break"),
        (4, GoOn(""), "over: end_turn"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Interrupt, "by 1501"),
        (2, Ended("end_turn"), "tools, break"),
        // What it says late is no reason to cancel what has ended.
        (3, Word, ""),
        (4, GoOn("b"), "prompt b"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Cancel, "cancel, by 10001"),
        (2, Ended("end_turn"), "tools, over: end_turn"),
    ]);
}

#[test]
fn the_user_cancels_once_and_a_deaf_agent_is_ended() {
    check(&[
        (0, Cancel, ""),
        (0, Begin("a"), "prompt a"),
        (1000, Cancel, "cancel, by 11000"),
        (2000, Cancel, "by 11000"),
        (3000, Interrupt, "by 11000"),
        (4000, Word, "by 11000"),
        (11_000, Timeout, "close"),
        (11_001, Timeout, ""),
        (11_002, Lost, "tools, over: cancelled"),
    ]);
}

#[test]
fn a_cancel_is_sent_again_where_the_first_was_for_a_steer() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Interrupt, "cancel"),
        (3, Cancel, "cancel, by 10003"),
        (4, Ended("cancelled"), "tools, over: cancelled"),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Interrupt, "by 1501"),
        (2, Cancel, "cancel, by 10002"),
        (3, Word, "by 10002"),
        (4, Ended("cancelled"), "tools, over: cancelled"),
    ]);
}

#[test]
fn a_cancelled_turn_takes_nothing_more_in() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Steer("b"), "steer 1 b"),
        (2, Ended("end_turn"), "tools"),
        (3, Cancel, "by 10003"),
        (4, SteerPromptRequired(1), "over: end_turn"),
        (5, Begin("c"), "prompt b c"),
        (6, Ended("end_turn"), "tools, break"),
        (7, Cancel, ""),
        (8, GoOn("d"), "over: end_turn"),
        (9, Begin("e"), "prompt d e"),
    ]);
}

#[test]
fn a_steer_that_is_never_answered_does_not_keep_a_cancelled_turn_open() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Steer("b"), "steer 1 b"),
        (2, Ended("end_turn"), "tools"),
        (3, Cancel, "by 10003"),
        (10_003, Timeout, "over: end_turn"),
        (10_004, Begin("c"), "prompt b c"),
    ]);
}

#[test]
fn an_agent_that_goes_on_in_a_cancelled_turn_is_cancelled_again() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Taken("m1"), ""),
        (2, Idle("end_turn"), "tools, break"),
        (3, Cancel, ""),
        (4, Running, "stream, cancel, by 10004"),
        (5, GoOn(""), "by 10004"),
        (6, Idle("cancelled"), "tools, over: cancelled"),
    ]);
}

#[test]
fn a_held_prompt_is_interrupted_once_it_is_sent() {
    check(&[
        (0, Hold("a"), ""),
        (1, Interrupt, ""),
        (500, Release, "prompt a, by 2000"),
        (600, Lost, ""),
        (700, Release, "prompt a, by 2200"),
        (2200, Timeout, "cancel"),
    ]);
}

#[test]
fn a_dead_agent_is_not_waited_for() {
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Word, ""),
        (2, Interrupt, "cancel"),
        (3, Lost, "tools, over: gone"),
        (4, Timeout, ""),
    ]);
    check(&[
        (0, Begin("a"), "prompt a"),
        (1, Ended("end_turn"), "tools, break"),
        (2, Cancel, ""),
        (3, Lost, "tools, over: cancelled"),
    ]);
}

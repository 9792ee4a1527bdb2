//! The user ends a turn, or takes a request back.

use super::script::check;

#[test]
fn what_waits_and_is_no_prompt_follows_and_the_clients_are_told() {
    check(
        "given ann bob turn
         ann prompts b  -> save(+b)
         bob queues c   -> save(+c)
         ann steers d   -> save(+d)
         bob prompts e  -> save(+e)
         disk
         disk           -> answer c: is c
         disk           -> answer d: is d
         disk
         cancel         -> save(-e -b)
         disk           -> answer e: no [Request cancelled], answer b: cancelled,
                           show notice [2 messages follow the cancelled turn], cancel
         cancel
         ends cancelled -> save(idle:cancelled row >d user:d running)
         disk           -> show idle cancelled but ann, answer a: cancelled, show user d, show running,
                           prompt d by ann
         ends           -> save(idle:end_turn row >c user:c running)
         disk           -> show idle end_turn, show user c, show running, prompt c by bob",
    );
}

#[test]
fn a_cancel_reaches_the_agent_behind_the_prompt_it_ends() {
    check(
        "given ann
         ann prompts a  -> save(+a >a user:a running)
         cancel
         disk           -> show user a but ann, show running but ann, prompt a by ann, cancel
         ends cancelled -> note(idle:cancelled row), show idle cancelled but ann, answer a: cancelled
         disk",
    );
}

#[test]
fn a_cancel_that_drops_something_waits_for_the_disk() {
    check(
        "given ann turn
         ann prompts b -> save(+b)
         cancel        -> save(-b)
         ends          -> note(idle:end_turn row)
         disk
         disk          -> answer b: cancelled, show idle end_turn but ann, answer a: end_turn
         disk",
    );
}

#[test]
fn a_cancel_that_comes_too_late_does_not_end_the_next_turn() {
    check(
        "given ann bob turn
         bob queues b  -> save(+b)
         disk          -> answer b: is b
         ann prompts c -> save(+c)
         cancel        -> save(-c)
         ends          -> save(idle:end_turn row >b user:b running)
         disk
         disk          -> answer c: cancelled, show notice [1 message follows the cancelled turn]
         disk          -> show idle end_turn but ann, answer a: end_turn, show user b, show running,
                          prompt b by bob
         ends          -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_cancel_between_turns_does_nothing() {
    check(
        "given ann
         cancel
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         cancel",
    );
}

#[test]
fn one_message_follows() {
    check(
        "given ann turn
         ann queues b   -> save(+b)
         disk           -> answer b: is b
         cancel         -> show notice [1 message follows the cancelled turn], cancel
         ends cancelled -> save(idle:cancelled row >b user:b running)",
    );
}

#[test]
fn a_steer_that_comes_after_the_cancel_begins_the_next_turn() {
    check(
        "given ann take turn
         stream
         cancel         -> cancel
         ann steers b   -> save(+b)
         break          -> go on
         disk           -> answer b: is b
         ends cancelled -> save(idle:cancelled row >b user:b running)
         disk           -> show idle cancelled but ann, answer a: cancelled, show user b, show running,
                           prompt b by ann",
    );
}

#[test]
fn a_prompt_that_waits_is_taken_back_by_its_request() {
    check(
        "given ann bob turn
         ann prompts b    -> save(+b)
         bob prompts c    -> save(+c)
         disk
         disk
         cancel-request b -> save(-b)
         cancel-request c -> save(-c)
         disk             -> answer b: cancelled
         disk             -> answer c: no [Request cancelled]
         ends             -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn the_request_of_the_turn_ends_it() {
    check(
        "given ann turn
         ann queues b     -> save(+b)
         disk             -> answer b: is b
         cancel-request a -> show notice [1 message follows the cancelled turn], cancel
         ends cancelled   -> save(idle:cancelled row >b user:b running)
         disk             -> show idle cancelled but ann, answer a: cancelled, show user b, show running,
                             prompt b by ann
         ends             -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_request_that_is_answered_cancels_nothing() {
    check(
        "given bob turn
         cancel-request a
         ends -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_cancel_answers_what_the_user_is_asked() {
    check(
        "given ann bob turn
         asks p         -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         cancel         -> cancel, unask ann p, unask bob p, tell p: cancelled
         ann answers p yes
         ends cancelled -> note(idle:cancelled row), show idle cancelled but ann, answer a: cancelled
         disk",
    );
}

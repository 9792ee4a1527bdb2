//! Steers: at a break-point, into a stream that takes them, and by an interrupt.

use super::script::check;

#[test]
fn a_steer_goes_in_at_the_next_break_point_once_it_is_on_disk() {
    check(
        "given ann bob turn
         stream
         ann steers b -> save(+b)
         disk         -> answer b: is b
         tool t
         break        -> go on
         tool-end t
         break        -> save(>b user:b)
         disk         -> show user b, go on with b
         ends         -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn a_break_point_with_nothing_to_go_in_is_left_at_once() {
    check(
        "given ann turn
         break        -> go on
         ann steers b -> save(+b)
         disk         -> answer b: is b
         break        -> save(>b user:b)
         disk         -> show user b, go on with b",
    );
}

#[test]
fn a_steer_that_is_not_on_disk_yet_goes_in_at_a_break_point_too() {
    check(
        "given ann turn
         ann steers b -> save(+b)
         break        -> save(>b user:b)
         disk         -> answer b: is b
         disk         -> show user b, go on with b",
    );
}

#[test]
fn an_agent_that_takes_steers_gets_them_in_mid_stream() {
    check(
        "given ann take turn
         ann steers b -> save(+b)
         disk         -> answer b: is b
         stream       -> save(>b user:b)
         disk         -> show user b, steer b
         ann steers c -> save(+c)
         stream       -> save(>c user:c)
         disk         -> answer c: is c
         disk         -> show user c, steer c",
    );
}

#[test]
fn a_break_point_waits_for_steers_under_way() {
    check(
        "given ann take turn
         stream
         ann steers b -> save(+b >b user:b)
         break
         disk         -> answer b: is b, show user b, go on with b
         break        -> go on",
    );
}

#[test]
fn a_break_point_with_a_steer_beside_one_under_way() {
    check(
        "given ann take turn
         stream
         ann steers b -> save(+b >b user:b)
         ann steers c -> save(+c)
         break        -> save(>c user:c)
         disk         -> answer b: is b, show user b, steer b
         disk         -> answer c: is c
         disk         -> show user c, go on with c",
    );
}

#[test]
fn steers_under_way_outlive_their_turn() {
    check(
        "given ann take turn
         stream
         ann steers b -> save(+b >b user:b)
         ends         -> note(idle:end_turn row)
         disk         -> answer b: is b, show user b, steer b, show idle end_turn but ann, answer a: end_turn
         begins       -> note(running), show running",
    );
}

#[test]
fn a_stream_is_cut_off_once_the_steer_is_on_disk() {
    check(
        "given ann interrupt turn
         stream
         ann steers b -> save(+b)
         disk         -> answer b: is b, interrupt
         stream-end
         break        -> save(>b user:b)
         disk         -> show user b, go on with b
         stream
         ends         -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn a_stream_is_not_cut_off_for_a_steer_that_was_revoked_meanwhile() {
    check(
        "given ann interrupt turn
         stream
         ann steers b  -> save(+b)
         ann revokes b -> save(-b)
         disk          -> answer b: is b
         disk          -> answer revokes-b: {}",
    );
}

#[test]
fn a_stream_is_cut_off_for_another_steer_than_the_one_that_was_revoked() {
    check(
        "given ann interrupt turn
         stream
         ann steers b  -> save(+b)
         ann revokes b -> save(-b)
         ann steers c  -> save(+c)
         disk          -> answer b: is b
         disk          -> answer revokes-b: {}
         disk          -> answer c: is c, interrupt",
    );
}

#[test]
fn a_second_steer_does_not_cut_the_stream_off_again() {
    check(
        "given ann interrupt turn
         stream
         ann steers b -> save(+b)
         ann steers c -> save(+c)
         disk         -> answer b: is b, interrupt
         disk         -> answer c: is c
         ann steers d -> save(+d)
         disk         -> answer d: is d
         break        -> save(>b >c >d user:b user:c user:d)
         disk         -> show user b, show user c, show user d, go on with b c d
         stream
         ann steers e -> save(+e)
         disk         -> answer e: is e, interrupt",
    );
}

#[test]
fn a_break_point_that_comes_first_takes_the_reason_away() {
    check(
        "given ann interrupt turn
         stream
         ann steers b -> save(+b)
         break        -> save(>b user:b)
         disk         -> answer b: is b
         disk         -> show user b, go on with b
         stream",
    );
}

#[test]
fn a_stream_is_not_cut_off_while_a_tool_runs_or_somebody_is_asked() {
    check(
        "given ann interrupt turn
         stream
         tool t
         ann steers b      -> save(+b)
         disk              -> answer b: is b
         asks p            -> note(asking), show asking but ann, ask ann p
         tool-end t
         ann answers p yes -> save(permit:p:yes running)
         disk
         disk              -> tell p: yes, show running but ann, interrupt",
    );
}

#[test]
fn a_steer_that_waits_cuts_off_the_next_stream() {
    check(
        "given ann interrupt turn
         ann steers b -> save(+b)
         disk         -> answer b: is b
         stream       -> interrupt
         stream-end
         stream       -> interrupt",
    );
}

#[test]
fn a_turn_that_was_cancelled_is_not_cut_off() {
    check(
        "given ann interrupt turn
         stream
         ann steers b   -> save(+b)
         cancel
         disk           -> answer b: is b, show notice [1 message follows the cancelled turn], cancel
         ends cancelled -> save(idle:cancelled row >b user:b running)
         disk           -> show idle cancelled but ann, answer a: cancelled, show user b, show running,
                           prompt b by ann",
    );
}

#[test]
fn how_an_agent_is_steered_may_change() {
    check(
        "given ann turn
         stream
         ann steers b     -> save(+b)
         disk             -> answer b: is b
         method interrupt -> interrupt
         method take      -> save(>b user:b)
         disk             -> show user b, steer b",
    );
}

#[test]
fn a_method_that_changes_does_not_cut_off_before_the_disk() {
    check(
        "given ann turn
         stream
         ann steers b -> save(+b)
         method interrupt
         disk         -> answer b: is b, interrupt",
    );
}

#[test]
fn while_the_provider_pauses_nothing_goes_in() {
    check(
        "given ann interrupt turn
         stream
         pause
         ann steers b -> save(+b)
         disk         -> answer b: is b
         unpause      -> interrupt",
    );
}

#[test]
fn left_over_steers_begin_a_turn_before_queued_messages() {
    check(
        "given ann bob turn
         bob queues b -> save(+b)
         disk         -> answer b: is b
         ann steers c -> save(+c)
         disk         -> answer c: is c
         bob steers d -> save(+d)
         disk         -> answer d: is d
         ends         -> save(idle:end_turn row >c >d user:c user:d running)
         disk         -> show idle end_turn but ann, answer a: end_turn, show user c, show user d, show running,
                         prompt c d by ann
         ends         -> save(idle:end_turn row >b user:b running)
         disk         -> show idle end_turn, show user b, show running, prompt b by bob",
    );
}

#[test]
fn a_steer_that_was_held_cuts_a_stream_off_once_somebody_comes_back() {
    check(
        "given ann interrupt turn
         ann steers b    -> save(+b)
         disk            -> answer b: is b
         crash           -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins looks -> joined bob(idle; pending steer:b)
         begins          -> note(running), show running
         stream
         disk
         ann joins       -> joined ann(running; pending steer:b), taken up by ann, interrupt
         break           -> save(>b user:b)
         disk            -> show user b, go on with b",
    );
}

#[test]
fn a_steer_needs_a_turn() {
    check(
        "given ann
         ann steers a  -> answer a: no [no_running_turn]
         ann prompts b -> save(+b >b user:b running)
         ann steers c  -> save(+c)
         disk          -> show user b but ann, show running but ann, prompt b by ann
         disk          -> answer c: is c",
    );
}

#[test]
fn what_the_agent_said_before_it_knew_of_the_turn_opens_nothing() {
    check(
        "given ann take turn
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         ann prompts b -> save(+b >b user:b running)
         ann steers c  -> save(+c)
         stream
         break         -> go on
         disk
         disk          -> show user b but ann, show running but ann, prompt b by ann
         disk          -> answer c: is c
         stream        -> save(>c user:c)",
    );
}

#[test]
fn a_break_point_between_turns_is_left_at_once() {
    check(
        "given ann
         break        -> go on
         ann queues a -> save(+a >a user:a running)
         break        -> go on",
    );
}

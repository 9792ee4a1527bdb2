//! The use of a session ends: closed, deleted, left.

use super::script::check;

#[test]
fn an_idle_session_is_closed_once_that_is_on_disk() {
    check(
        "given ann
         close          -> save(closed=true)
         hears-clients? -> no
         ann prompts a  -> answer a: no [unknown_session]
         disk           -> leave closed close
         ann prompts b  -> answer b: no [unknown_session]",
    );
}

#[test]
fn a_turn_is_cancelled_for_a_close() {
    check(
        "given ann bob turn
         bob queues b   -> save(+b)
         disk           -> answer b: is b
         close          -> show notice [1 message follows the cancelled turn], cancel
         ann queues c   -> answer c: no [session_closing]
         ends cancelled -> save(idle:cancelled row closed=true)
         bob queues d   -> answer d: no [unknown_session]
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close
         unanswered?",
    );
}

#[test]
fn prompts_that_wait_are_answered_before_the_end() {
    check(
        "given ann bob turn
         ann prompts b  -> save(+b)
         bob prompts c  -> save(+c)
         disk
         disk
         close          -> save(-c -b)
         disk           -> answer c: no [Request cancelled], answer b: cancelled, cancel
         ends cancelled -> save(idle:cancelled row closed=true)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close
         unanswered?",
    );
}

#[test]
fn two_ends_are_one_and_delete_wins() {
    check(
        "given ann turn
         close          -> cancel
         delete
         stop patiently
         ends cancelled -> save(idle:cancelled row delete)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave deleted close delete
         unanswered?",
    );
}

#[test]
fn a_session_is_deleted() {
    check(
        "given ann
         delete -> save(delete)
         disk   -> leave deleted delete
         close  -> answer close: no [unknown_session]
         unanswered?",
    );
}

#[test]
fn a_session_in_use_is_not_left() {
    check(
        "given ann
         leave-if-unused -> answer leave: no [The session is in use]
         ann prompts a   -> save(+a >a user:a running)
         ann leaves
         disk            -> show user a but ann, show running but ann, prompt a by ann
         leave-if-unused -> answer leave: no [The session is in use]
         ends            -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         leave-if-unused -> save(row)
         disk
         disk            -> leave leave",
    );
}

#[test]
fn a_process_that_ends_cancels_the_turn() {
    check(
        "given ann turn
         stop           -> cancel
         ends cancelled -> save(idle:cancelled row row)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave",
    );
}

#[test]
fn a_patient_end_waits_for_the_turn() {
    check(
        "given ann turn
         ann queues b -> save(+b)
         disk         -> answer b: is b
         stop patiently
         stream
         says hi      -> note(words:hi), show words hi
         ends         -> save(idle:end_turn row row)
         disk
         disk         -> show idle end_turn but ann, answer a: end_turn, leave",
    );
}

#[test]
fn a_patient_end_does_not_wait_for_the_user() {
    check(
        "given ann turn
         stop patiently
         asks p         -> note(asking), show asking but ann, ask ann p, cancel, unask ann p, tell p: cancelled
         ends cancelled -> save(idle:cancelled row row)
         disk
         disk           -> show idle cancelled but ann, answer a: cancelled, leave",
    );
}

#[test]
fn a_patient_end_says_why_it_cuts_off_what_asks_when_nobody_is_there() {
    check(
        "given ann turn
         ann leaves
         stop patiently
         asks p         -> note(asking), show asking but ann, cancel, tell p: cancelled
         ends cancelled -> save(interrupted:[it:waited:for:an:answer:and:nobody:was:there:to:give:it]
                           idle:cancelled row row)
         disk
         disk           -> show interrupted [it waited for an answer and nobody was there to give it],
                           show idle cancelled but ann, answer a: cancelled, leave",
    );
}

#[test]
fn a_session_is_deleted_in_the_middle_of_a_turn() {
    check(
        "given ann bob turn
         ann prompts b  -> save(+b)
         bob queues c   -> save(+c)
         disk
         disk           -> answer c: is c
         delete         -> save(-b)
         disk           -> answer b: cancelled, show notice [1 message follows the cancelled turn], cancel
         ends cancelled -> save(idle:cancelled row delete)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave deleted delete
         unanswered?",
    );
}

#[test]
fn an_end_with_a_permission_open_and_nobody_there_says_why() {
    check(
        "given ann turn
         asks p         -> note(asking), show asking but ann, ask ann p
         disk
         ann leaves     -> unask ann p
         stop           -> cancel, tell p: cancelled
         ends cancelled -> save(interrupted:[it:waited:for:an:answer:and:nobody:was:there:to:give:it]
                           idle:cancelled row row)
         disk           -> show interrupted [it waited for an answer and nobody was there to give it],
                           show idle cancelled but ann, answer a: cancelled, leave",
    );
}

#[test]
fn a_delete_with_a_permission_open_and_nobody_there_says_nothing() {
    check(
        "given ann turn
         asks p         -> note(asking), show asking but ann, ask ann p
         disk
         ann leaves     -> unask ann p
         delete         -> cancel, tell p: cancelled
         ends cancelled -> save(idle:cancelled row delete)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave deleted delete",
    );
}

#[test]
fn who_joins_while_the_turn_is_cancelled_finds_what_waits() {
    check(
        "given ann turn
         ann queues b   -> save(+b)
         disk           -> answer b: is b
         close          -> show notice [1 message follows the cancelled turn], cancel
         bob joins      -> joined bob(running; pending b)
         ends cancelled -> save(idle:cancelled row closed=true)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close",
    );
}

#[test]
fn an_unused_session_is_left_after_a_while() {
    check(
        "given ann
         wait 100s
         deadline? -> none
         ann leaves
         deadline? -> 160s
         wait 30s
         bob joins -> joined bob(idle)
         deadline? -> none
         wait 100s
         bob leaves
         wait 59s
         wait 1s   -> leave
         deadline? -> none
         wait 100s",
    );
}

#[test]
fn a_session_with_a_turn_is_not_left_by_the_clock() {
    check(
        "given ann turn
         ann leaves
         wait 100s
         ends      -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         deadline? -> none
         disk
         deadline? -> 160s
         wait 60s  -> leave",
    );
}

#[test]
fn what_waits_outlives_the_end() {
    check(
        "given ann turn
         ann queues b   -> save(+b)
         disk           -> answer b: is b
         close          -> show notice [1 message follows the cancelled turn], cancel
         ends cancelled -> save(idle:cancelled row closed=true)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close
         crash
         bob joins      -> save(>b user:b running), joined bob(idle; pending b), taken up by bob
         disk           -> show user b, show running, prompt b by former",
    );
}

#[test]
fn a_prompt_that_is_not_on_disk_is_ended_with_the_session() {
    check(
        "given ann
         ann prompts a  -> save(+a >a user:a running)
         close
         disk           -> show user a but ann, show running but ann, prompt a by ann, cancel
         ends cancelled -> save(idle:cancelled row closed=true)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close",
    );
}

#[test]
fn who_has_not_joined_closes_nothing() {
    check(
        "given ann turn
         bob closes -> answer close: no [unknown_session]
         says hi    -> note(words:hi), show words hi",
    );
}

#[test]
fn nothing_is_delivered_while_the_end_is_written() {
    check(
        "given ann turn
         ann queues b   -> save(+b)
         disk           -> answer b: is b
         says hi        -> note(words:hi), show words hi
         disk full      -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         ends cancelled
         stop patiently -> save(row)
         recover        -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         disk           -> leave
         pending?       -> b",
    );
}

#[test]
fn a_process_that_ends_at_once_after_all_waits_for_no_turn() {
    check(
        "given ann turn
         stop patiently
         stop           -> cancel
         ends cancelled -> save(idle:cancelled row row)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave",
    );
}

#[test]
fn a_close_closes_though_the_process_ends_as_well() {
    check(
        "given ann turn
         stop           -> cancel
         close
         ends cancelled -> save(idle:cancelled row closed=true)
         disk           -> show idle cancelled but ann, answer a: cancelled, leave closed close",
    );
}

#[test]
fn a_second_end_leaves_standing_why_the_first_has_cut_a_turn_off() {
    check(
        "given ann turn
         asks p         -> note(asking), show asking but ann, ask ann p
         disk
         ann leaves     -> unask ann p
         stop           -> cancel, tell p: cancelled
         stop
         ends cancelled -> save(interrupted:[it:waited:for:an:answer:and:nobody:was:there:to:give:it]
                           idle:cancelled row row)
         disk           -> show interrupted [it waited for an answer and nobody was there to give it],
                           show idle cancelled but ann, answer a: cancelled, leave",
    );
}

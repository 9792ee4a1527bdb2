//! The same request once more, under the same key.

use super::script::check;

#[test]
fn an_inject_counts_once() {
    check(
        "given ann turn
         ann queues b key=k -> save(+b)
         ann queues c key=k
         disk               -> answer b: is b, answer c: is b
         ann steers d key=k -> answer d: is b
         ends               -> save(idle:end_turn row >b user:b running)
         disk               -> show idle end_turn but ann, answer a: end_turn, show user b, show running,
                               prompt b by ann
         ann queues e key=k -> answer e: is b
         ends               -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_prompt_of_version_1_that_waits_is_answered_to_the_last_who_asks() {
    check(
        "given ann bob turn
         ann prompts b key=k -> save(+b)
         disk
         ann prompts c key=k -> answer b: no [The prompt was sent again under the same key]
         ends                -> save(idle:end_turn row >b user:b running)
         disk                -> show idle end_turn but ann, answer a: end_turn, show user b but ann,
                                show running but ann, prompt b by ann
         ann prompts d key=k -> answer c: no [The prompt was sent again under the same key]
         ends                -> note(idle:end_turn row), show idle end_turn but ann, answer d: end_turn
         disk
         ann prompts e key=k -> answer e: end_turn of b",
    );
}

#[test]
fn a_prompt_of_version_2_that_was_delivered_is_answered_at_once() {
    check(
        "given bob
         bob prompts a key=k -> save(+a >a user:a running)
         bob prompts b key=k
         disk                -> answer a: is a, show user a, show running, prompt a by bob, answer b: is a
         bob prompts c key=k -> answer c: is a
         ends                -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_client_of_the_other_version_asks_again() {
    check(
        "given ann bob turn
         ann prompts b key=k -> save(+b)
         disk
         bob prompts c key=k -> answer b: no [The prompt was sent again under the same key]
         ends                -> save(idle:end_turn row >b user:b running)
         disk                -> show idle end_turn but ann, answer a: end_turn, answer c: is b,
                                show user b but ann, show running, prompt b by ann
         bob prompts d key=k -> answer d: is b
         ends                -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn an_inject_that_was_taken_back_stays_so() {
    check(
        "given ann turn
         ann queues b key=k -> save(+b)
         ann revokes b      -> save(-b)
         ann queues c key=k
         disk               -> answer b: is b
         disk               -> answer revokes-b: {}, answer c: is b
         ends               -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn the_key_of_a_prompt_that_was_taken_back_is_free_again() {
    check(
        "given ann turn
         ann prompts b key=k -> save(+b)
         disk
         cancel-request b    -> save(-b)
         disk                -> answer b: cancelled
         ann prompts c key=k -> save(+c)
         disk
         ends                -> save(idle:end_turn row >c user:c running)
         disk                -> show idle end_turn but ann, answer a: end_turn, show user c but ann,
                                show running but ann, prompt c by ann",
    );
}

#[test]
fn a_key_outlives_a_crash() {
    check(
        "given ann
         ann prompts a key=j -> save(+a >a user:a running)
         disk                -> show user a but ann, show running but ann, prompt a by ann
         ann queues b key=k  -> save(+b)
         disk                -> answer b: is b
         crash               -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         ann joins           -> save(>b user:b running), joined ann(idle; pending b), taken up by ann
         ann queues c key=k
         disk                -> show user b, show running, prompt b by former, answer c: is b
         ann prompts d key=j -> answer d: end_turn of a
         ends                -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn what_was_not_on_disk_in_a_crash_may_be_said_again() {
    check(
        "given ann turn
         ann queues b key=k -> save(+b)
         crash              -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         ann joins          -> joined ann(idle), taken up by ann
         ann queues c key=k -> save(+c >c user:c running)
         disk               -> answer c: is c, show user c, show running, prompt c by ann",
    );
}

#[test]
fn a_prompt_of_version_1_that_waited_in_a_crash_is_answered_to_who_asks_again() {
    check(
        "given ann turn
         ann prompts b key=k -> save(+b)
         disk
         crash               -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins looks     -> joined bob(idle; pending b)
         ann joins looks     -> joined ann(idle; pending b)
         ann prompts c key=k
         cat joins           -> save(>b user:b running), joined cat(idle; pending b), taken up by cat
         disk                -> show user b but ann, show running but ann, prompt b by former
         ends                -> note(idle:end_turn row), show idle end_turn but ann, answer c: end_turn",
    );
}

#[test]
fn a_prompt_of_version_2_that_waited_in_a_crash_is_dropped() {
    check(
        "given bob turn
         bob prompts b key=k -> save(+b)
         disk
         crash               -> save(-b interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins           -> joined bob(idle), taken up by bob
         bob prompts c key=k -> save(+c >c user:c running)
         disk                -> answer c: is c, show user c, show running, prompt c by bob",
    );
}

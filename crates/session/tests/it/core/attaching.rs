//! Clients join, in their place among all that is shown, and go.

use super::script::check;

#[test]
fn a_new_session_is_idle() {
    check(
        "given
         ann joins new -> joined ann(idle)
         state?        -> Idle",
    );
}

#[test]
fn who_loads_is_shown_what_is_in_memory() {
    check(
        "given ann turn
         says hi        -> note(words:hi), show words hi
         ends           -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         disk
         bob joins load -> joined bob(user a; words hi; idle)
         ann prompts b  -> save(+b >b user:b running)",
    );
}

#[test]
fn who_has_read_the_beginning_is_shown_the_rest() {
    check(
        "given ann turn
         says one              -> note(words:one), show words one
         says two              -> note(words:two), show words two
         bob joins load from=3 -> joined bob(words two; running)
         cat joins from=2      -> joined cat(running)
         says three            -> note(words:three), show words three",
    );
}

#[test]
fn who_joins_among_entries_in_flight_misses_none_and_sees_none_twice() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         bob joins load
         says hi       -> note(words:hi)
         disk          -> show user a but ann, show running but ann, prompt a by ann,
                          joined bob(user a; running), show words hi
         says you      -> note(words:you), show words you
         disk",
    );
}

#[test]
fn who_has_read_what_is_not_shown_yet_is_not_shown_it_twice() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         bob joins load from=2
         disk          -> show user a but ann, show running but ann, prompt a by ann, joined bob(running)
         says hi       -> note(words:hi), show words hi",
    );
}

#[test]
fn who_joins_in_a_turn_is_told_so_and_what_waits() {
    check(
        "given ann turn
         ann queues b -> save(+b)
         disk         -> answer b: is b
         ann steers c -> save(+c)
         bob joins
         disk         -> answer c: is c, joined bob(running; pending steer:c b)
         state?       -> Running",
    );
}

#[test]
fn who_joins_while_the_user_is_asked_is_told_so() {
    check(
        "given ann turn
         asks p         -> note(asking), show asking but ann, ask ann p
         disk
         bob joins load -> joined bob(user a; asking), ask bob p",
    );
}

#[test]
fn what_was_held_is_delivered_after_the_answer() {
    check(
        "given ann turn
         ann queues b          -> save(+b)
         disk                  -> answer b: is b
         crash                 -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins load from=4 -> save(>b user:b running), joined bob(idle; pending b), taken up by bob
         disk                  -> show user b, show running, prompt b by former
         ends                  -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn who_only_looks_leaves_what_waits_where_it_is() {
    check(
        "given ann turn
         ann queues b    -> save(+b)
         disk            -> answer b: is b
         crash           -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         ann joins looks -> joined ann(idle; pending b)
         bob joins       -> save(>b user:b running), joined bob(idle; pending b), taken up by bob
         disk            -> show user b, show running, prompt b by former",
    );
}

#[test]
fn a_client_that_has_gone_does_not_join() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         bob joins
         bob leaves
         disk          -> show user a but ann, show running but ann, prompt a by ann
         bob joins     -> joined bob(running)",
    );
}

#[test]
fn a_client_that_joins_twice_is_shown_once() {
    check(
        "given ann
         ann joins     -> joined ann(idle)
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann",
    );
}

#[test]
fn nothing_is_heard_of_the_agent_before_somebody_is_there() {
    check(
        "given
         hears-agent?  -> no
         ann joins new -> joined ann(idle)
         hears-agent?  -> yes",
    );
}

#[test]
fn who_has_missed_too_much_reads_on() {
    check(
        "given ann turn
         many 1100 landed
         bob joins load from=5    -> read on join-bob
         bob joins load from=1101 -> joined bob(words word; running)
         bob joins                -> joined bob(running)",
    );
}

#[test]
fn who_prompts_and_goes_is_known_while_its_turn_runs() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         ann leaves
         knows-ann?    -> yes
         disk          -> show user a but ann, show running but ann, prompt a by ann",
    );
}

#[test]
fn who_has_read_an_entry_before_it_is_shown_is_not_shown_it() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         bob joins load from=3
         says hi       -> note(words:hi)
         says you      -> note(words:you)
         disk          -> show user a but ann, show running but ann, prompt a by ann, joined bob(running),
                          show words hi but bob, show words you",
    );
}

#[test]
fn who_says_something_and_goes_is_known_until_its_turn_has_ended() {
    check(
        "given ann bob turn
         knows-bob?   -> yes
         knows-cat?   -> no
         bob queues b -> save(+b)
         disk         -> answer b: is b
         bob leaves
         knows-bob?   -> yes
         knows-cat?   -> no
         ends         -> save(idle:end_turn row >b user:b running)
         knows-bob?   -> yes
         disk         -> show idle end_turn but ann, answer a: end_turn, show user b, show running,
                         prompt b by bob
         ends         -> note(idle:end_turn row), show idle end_turn
         knows-bob?   -> no",
    );
}

#[test]
fn while_the_disk_is_full_everybody_may_be_known() {
    check(
        "given ann turn
         says hi    -> note(words:hi), show words hi
         knows-cat? -> no
         disk full  -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         knows-cat? -> yes",
    );
}

#[test]
fn an_entry_counts_as_shown_when_what_is_before_it_is_on_disk() {
    check(
        "given ann
         shown?        -> 0
         ann prompts a -> save(+a >a user:a running)
         shown?        -> 0
         disk          -> show user a but ann, show running but ann, prompt a by ann
         shown?        -> 2
         says hi       -> note(words:hi), show words hi
         shown?        -> 3",
    );
}

#[test]
fn entries_that_were_forgotten_are_read_on_disk() {
    check(
        "given ann turn
         says one              -> note(words:one), show words one
         says two              -> note(words:two), show words two
         disk
         forget before 4
         bob joins load from=2 -> read on join-bob
         bob joins load from=3 -> joined bob(words two; running)",
    );
}

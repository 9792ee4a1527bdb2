//! How a session goes on once there is room again.

use super::script::check;

#[test]
fn what_was_shown_is_written() {
    check(
        "given ann bob turn
         says one       -> note(words:one), show words one
         says two       -> note(words:two), show words two
         disk
         disk full      -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover        -> save(words:two interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         cat joins      -> joined cat(running)
         ends cancelled -> note(idle:cancelled row), show idle cancelled
         disk",
    );
}

#[test]
fn who_has_read_before_the_recovery_reads_on_and_misses_nothing() {
    check(
        "given ann turn
         says one              -> note(words:one), show words one
         says two              -> note(words:two), show words two
         disk full written     -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover               -> save(words:one interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                                  show interrupted [it could not be stored]
         bob joins load from=4 -> read on join-bob
         bob joins load from=6 -> joined bob(running)",
    );
}

#[test]
fn what_came_later_may_be_there_already() {
    check(
        "given ann bob turn
         says one              -> note(words:one), show words one
         says two              -> note(words:two), show words two
         says three            -> note(words:three), show words three
         disk full written     -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover               -> save(words:one words:three interrupted:[it:could:not:be:stored] idle:cancelled
                                  title=title), show interrupted [it could not be stored]
         cat joins load from=8 -> joined cat(running)
         ends cancelled        -> note(idle:cancelled row), show idle cancelled
         disk",
    );
}

#[test]
fn who_was_refused_may_ask_again_under_the_same_key() {
    check(
        "given ann bob turn
         ann queues b key=k  -> save(+b)
         bob prompts c key=l -> save(+c)
         disk full written   -> flush, answer b: no [no room], answer c: no [no room], answer a: no [no room],
                                cancel, show idle error no room, forget options
         recover             -> save(-c interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                                show interrupted [it could not be stored]
         ends cancelled      -> note(idle:cancelled row), show idle cancelled
         ann queues d key=k  -> save(+d >d user:d running)
         bob prompts e key=l -> save(+e)
         disk
         disk                -> answer d: is d, show user d, show running, prompt d by ann",
    );
}

#[test]
fn an_inject_that_was_refused_and_written_may_be_sent_again_under_its_key() {
    check(
        "given ann bob turn
         says hi             -> note(words:hi), show words hi
         ann queues b key=k  -> save(+b)
         disk full written   -> flush, answer b: no [no room], answer a: no [no room], cancel,
                                show idle error no room, forget options
         recover             -> save(~b words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                                show interrupted [it could not be stored]
         ends cancelled      -> note(idle:cancelled row), show idle cancelled
         ann queues d key=k  -> save(+d >d user:d running)
         disk
         disk                -> answer d: is d, show user d, show running, prompt d by ann",
    );
}

#[test]
fn the_turn_that_was_abandoned_ends_later() {
    check(
        "given ann bob turn
         bob queues b   -> save(+b)
         disk           -> answer b: is b
         says hi        -> note(words:hi), show words hi
         disk full      -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover        -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         state?         -> Running
         ann steers c   -> save(+c)
         disk           -> answer c: is c
         cancel
         break          -> go on
         ends cancelled -> save(idle:cancelled row >c user:c running)
         disk           -> show idle cancelled, show user c, show running, prompt c by ann
         ends           -> save(idle:end_turn row >b user:b running)",
    );
}

#[test]
fn a_turn_that_has_ended_meanwhile_leaves_room_for_the_next() {
    check(
        "given ann bob turn
         bob queues b -> save(+b)
         disk         -> answer b: is b
         says hi      -> note(words:hi), show words hi
         disk full    -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         ends cancelled
         recover      -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                         save(>b user:b running), show interrupted [it could not be stored]
         disk         -> show user b, show running, prompt b by bob",
    );
}

#[test]
fn what_the_agent_begins_meanwhile_is_cancelled() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         disk full     -> flush, answer a: no [no room], show idle error no room, forget options
         begins        -> cancel
         stream
         says hi
         ends cancelled
         recover       -> save(title=title)
         ann prompts b -> save(+b >b user:b running)
         disk          -> show user b but ann, show running but ann, prompt b by ann",
    );
}

#[test]
fn the_disk_is_full_again() {
    check(
        "given ann bob turn
         bob queues b   -> save(+b)
         disk           -> answer b: is b
         says one       -> note(words:one), show words one
         disk full      -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover        -> save(words:one interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> save(idle:cancelled row >b user:b running)
         disk full      -> flush, show idle error no room, forget options
         recover        -> save(title=title), save(>b user:b running)
         disk           -> show user b, show running, prompt b by bob",
    );
}

#[test]
fn what_was_held_stays_held() {
    check(
        "given ann turn
         ann queues b    -> save(+b)
         disk            -> answer b: is b
         crash           -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins looks -> joined bob(idle; pending b)
         says hi         -> note(words:hi), show words hi
         disk full       -> flush, forget options
         recover         -> save(words:hi title=title)
         ann joins       -> save(>b user:b running), joined ann(idle; pending b), taken up by ann
         disk            -> show user b, show running, prompt b by former",
    );
}

#[test]
fn messages_keep_their_senders() {
    check(
        "given ann bob turn
         bob queues b -> save(+b)
         disk         -> answer b: is b
         ends         -> save(idle:end_turn row >b user:b running)
         disk full    -> flush, answer a: no [no room], show idle error no room, forget options
         recover      -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                         save(>b user:b running), show interrupted [it could not be stored]
         disk         -> show user b, show running, prompt b by bob",
    );
}

#[test]
fn a_client_joins_after_the_recovery_and_misses_nothing() {
    check(
        "given ann turn
         calls t               -> note(tool:t:in_progress), show tool t in_progress
         says hi               -> note(words:hi), show words hi
         disk
         disk full             -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         recover               -> save(words:hi tool:t:cancelled interrupted:[it:could:not:be:stored]
                                  idle:cancelled title=title), show tool t cancelled,
                                  show interrupted [it could not be stored]
         bob joins load from=2 -> read on join-bob
         bob joins load from=4 -> joined bob(tool t cancelled; interrupted [it could not be stored]; running)",
    );
}

#[test]
fn a_message_whose_delivery_was_written_behind_a_failure() {
    check(
        "given ann bob turn
         bob queues b          -> save(+b)
         disk                  -> answer b: is b
         says hi               -> note(words:hi), show words hi
         ends                  -> save(idle:end_turn row >b user:b running)
         disk full written     -> flush, answer a: no [no room], show idle error no room, forget options
         recover               -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                                  show interrupted [it could not be stored]
         ann revokes b         -> answer revokes-b: no [already_delivered]
         cat joins load from=2 -> read on join-cat",
    );
}

#[test]
fn what_was_refused_and_written_all_the_same_is_taken_back() {
    check(
        "given ann bob turn
         says hi           -> note(words:hi), show words hi
         bob queues b      -> save(+b)
         disk full written -> flush, answer b: no [no room], answer a: no [no room], cancel,
                              show idle error no room, forget options
         recover           -> save(~b words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                              show interrupted [it could not be stored]
         pending?
         ends cancelled    -> note(idle:cancelled row), show idle cancelled",
    );
}

#[test]
fn keys_of_what_was_accepted_before_are_known_afterwards() {
    check(
        "given ann bob turn
         ann queues b key=k -> save(+b)
         disk               -> answer b: is b
         ends               -> save(idle:end_turn row >b user:b running)
         disk               -> show idle end_turn but ann, answer a: end_turn, show user b, show running,
                               prompt b by ann
         says hi            -> note(words:hi), show words hi
         disk full          -> flush, cancel, show idle error no room, forget options
         recover            -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                               show interrupted [it could not be stored]
         ann queues c key=k -> answer c: is b",
    );
}

#[test]
fn the_key_of_a_prompt_that_was_refused_is_free_though_its_delivery_was_written() {
    check(
        "given ann turn
         ends                -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         ann prompts b key=k -> save(+b >b user:b running)
         disk full written   -> flush, answer b: no [no room], show idle error no room, forget options
         recover             -> save(~b idle:end_turn title=title)
         ann prompts c key=k -> save(+c >c user:c running)",
    );
}

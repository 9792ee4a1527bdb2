//! When input is delivered, sentence by sentence of what mid-turn input means.
//!
//! `prompt` is `session/prompt` of version 1 and `prompt-v2` that of version 2, `queue` and `steer` are the modes of
//! `session/inject`, `steering` is `_session/steering`. The rest is what the backend does.

use super::script::{check, check_interrupting};

#[test]
fn accepted_means_pending_not_delivered() {
    check(
        "prompt a  -> turn a
         queue b
         pending   -> b
         steer c
         pending   -> c b",
    );
}

#[test]
fn before_delivery_revoke_and_replace_succeed() {
    check(
        "prompt a         -> turn a
         queue b
         replace b better
         replace b best
         revoke b         -> revoked b=best
         pending          ->
         idle             ->",
    );
}

#[test]
fn from_delivery_on_revoke_and_replace_are_too_late() {
    check(
        "prompt a      -> turn a
         revoke a      -> refused: already delivered
         replace a x   -> refused: already delivered
         steer b
         break         -> steer b
         revoke b      -> refused: already delivered
         replace b x   -> refused: already delivered
         idle          ->",
    );
}

#[test]
fn after_a_replace_the_old_content_is_never_delivered() {
    check(
        "prompt a    -> turn a
         queue b
         steer c
         replace b x
         replace c y
         replace c z
         break       -> steer c=z
         idle        -> turn b=x",
    );
}

#[test]
fn queued_messages_are_delivered_one_at_a_time_each_as_its_own_turn() {
    check(
        "prompt a  -> turn a
         queue b
         queue c
         queue d
         idle      -> turn b
         break     ->
         idle      -> turn c
         idle      -> turn d
         idle      ->",
    );
}

#[test]
fn a_queued_message_waits_for_idle_whatever_the_turn_does() {
    check_interrupting(
        "prompt a     -> turn a
         queue b
         stream       ->
         stream-end   ->
         tool t       ->
         tool-end t   ->
         break        ->
         cancel       -> 1 follow
         idle         -> turn b",
    );
}

#[test]
fn on_an_idle_session_a_queued_message_starts_a_turn_at_once() {
    check("queue a -> turn a");
    check("prompt a -> turn a");
    check("prompt-v2 a -> turn a");
}

#[test]
fn a_steer_is_delivered_at_the_next_break_point() {
    check(
        "prompt a     -> turn a
         stream
         stream-end
         steer b      ->
         tool t       ->
         tool-end t   ->
         break        -> steer b",
    );
}

#[test]
fn a_steer_that_comes_at_a_break_point_goes_in_at_once() {
    check(
        "prompt a  -> turn a
         break
         steer b   -> steer b
         steer c   ->
         break     -> steer c",
    );
}

#[test]
fn a_break_point_is_over_when_the_backend_has_gone_on() {
    for gone in ["go-on", "stream", "start", "tool t"] {
        check(&format!(
            "prompt a   -> turn a
             break
             {gone}
             tool-end t
             steer b    ->
             break      -> steer b"
        ));
    }
    check(
        "prompt a  -> turn a
         break
         stream-end
         steer b   -> steer b",
    );
}

#[test]
fn a_steer_waits_for_every_foreground_tool_call() {
    check_interrupting(
        "prompt a      -> turn a
         stream
         tool t
         tool u
         steer b       ->
         tool-end t    ->
         tool-end t    ->
         break         ->
         tool-end u    -> steer b",
    );
}

#[test]
fn a_tool_call_told_twice_is_one_and_an_unknown_end_is_none() {
    check_interrupting(
        "prompt a      -> turn a
         stream
         tool t
         tool t
         tool-end u
         steer b       ->
         tool-end t    -> interrupt b",
    );
}

#[test]
fn in_mid_stream_a_steer_interrupts_where_that_is_advertised() {
    check_interrupting(
        "prompt a    -> turn a
         steer b     ->
         stream      -> interrupt b
         steer c     ->
         stream-end  ->
         stream      -> interrupt c
         stream
         steer d     -> interrupt d",
    );
    check_interrupting(
        "prompt a    -> turn a
         stream
         stream-end
         steer b     ->
         break       -> steer b",
    );
}

#[test]
fn in_mid_stream_a_steer_lets_the_stream_finish_where_that_is_advertised() {
    check(
        "prompt a    -> turn a
         stream
         steer b     ->
         stream-end  ->
         break       -> steer b",
    );
}

#[test]
fn a_driver_that_delivers_at_break_points_only_learns_when_one_is_wanted() {
    check(
        "wants-break  -> no
         prompt a     -> turn a
         stream
         wants-break  -> no
         steer b      ->
         wants-break  -> yes
         tool t
         wants-break  -> no
         tool-end t
         ask p
         wants-break  -> no
         ask-end p
         close
         wants-break  -> no
         resume
         wants-break  -> yes
         break        -> steer b
         wants-break  -> no
         stream
         steer c
         stream-end
         wants-break  -> no
         stream
         wants-break  -> yes
         cancel       -> 1 follow
         wants-break  -> no
         idle         -> turn c
         stream
         queue d
         wants-break  -> no",
    );
    check(
        "prompt a     -> turn a
         close
         break
         steer b      ->
         resume       -> steer b
         steer c
         close
         break        ->
         wants-break  -> no",
    );
}

#[test]
fn several_pending_steers_are_delivered_together_in_order() {
    check(
        "prompt a            -> turn a
         steer b
         steering c
         steer d by-another
         prompt-v2 e
         break               -> steer b c d e
         break               ->",
    );
}

#[test]
fn while_the_provider_pauses_steers_are_held() {
    check_interrupting(
        "prompt a  -> turn a
         stream
         pause
         steer b   ->
         break     ->
         unpause   -> steer b",
    );
}

#[test]
fn background_work_does_not_hold_a_steer() {
    // It is not reported, so there is nothing to wait for.
    check(
        "prompt a  -> turn a
         steer b
         break     -> steer b",
    );
}

#[test]
fn left_over_steers_start_a_turn_together_before_queued_messages() {
    check(
        "prompt a  -> turn a
         queue b
         steer c
         steer d
         pending   -> c d b
         idle      -> turn c d
         idle      -> turn b",
    );
}

#[test]
fn steers_accepted_between_a_cancel_and_its_idle_are_delivered_next() {
    check_interrupting(
        "prompt a    -> turn a
         queue b
         stream
         cancel      -> 1 follow
         steer c     ->
         stream-end  ->
         break       ->
         idle        -> turn c
         idle        -> turn b",
    );
}

#[test]
fn a_steer_on_an_idle_session_has_no_running_turn() {
    check("steer a -> refused: no running turn");
    check(
        "start
         idle
         steer a -> refused: no running turn
         pending ->",
    );
}

#[test]
fn a_turn_that_the_backend_starts_can_be_steered() {
    check(
        "start
         queue a  ->
         steer b  ->
         break    -> steer b
         idle     -> turn a",
    );
}

#[test]
fn mode_decides_when_and_arrival_breaks_ties_within_a_mode() {
    check(
        "prompt a            -> turn a
         queue b
         steer c
         queue d by-another
         steer e by-another
         pending             -> c e b d
         break               -> steer c e
         idle                -> turn b
         idle                -> turn d",
    );
}

#[test]
fn replace_keeps_the_position() {
    check(
        "prompt a    -> turn a
         queue b
         queue c
         steer d
         steer e
         replace b x
         replace d y
         pending     -> d=y e b=x c
         break       -> steer d=y e
         idle        -> turn b=x",
    );
}

#[test]
fn while_a_permission_request_is_open_queue_accumulates_and_steer_is_held() {
    check_interrupting(
        "prompt a    -> turn a
         stream
         ask p
         ask q
         ask q
         queue b     ->
         steer c     ->
         ask-end p   ->
         ask-end r   ->
         break       ->
         ask-end q   -> steer c
         idle        -> turn b",
    );
}

#[test]
fn the_end_of_a_turn_ends_what_held_its_steers() {
    check(
        "prompt a  -> turn a
         tool t
         ask p
         pause
         break
         cancel    -> 0 follow
         idle
         queue b   -> turn b
         steer c
         break     -> steer c",
    );
}

#[test]
fn any_client_may_revoke_and_order_across_clients_is_arrival() {
    check(
        "prompt a             -> turn a
         queue b
         queue c by-another
         queue d
         revoke c             -> revoked c
         idle                 -> turn b
         idle                 -> turn d",
    );
}

#[test]
fn other_dialects_may_bring_a_steer_to_an_idle_session_which_starts_a_turn() {
    check("steering a -> turn a");
}

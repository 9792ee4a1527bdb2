//! What outlives a cancel, a close, a crash and a retry, sentence by sentence of what mid-turn input means.

use super::script::check;

#[test]
fn cancel_ends_the_turn_only_and_tells_how_many_follow() {
    check(
        "prompt a    -> turn a
         queue b
         steer c
         steering d
         cancel      -> 3 follow
         cancel      -> 3 follow
         idle        -> turn c d
         idle        -> turn b",
    );
}

#[test]
fn after_a_cancelled_turn_the_next_one_takes_steers_again() {
    check(
        "prompt a    -> turn a
         queue b
         cancel      -> 1 follow
         idle        -> turn b
         steer c
         break       -> steer c",
    );
}

#[test]
fn a_cancel_without_a_turn_does_nothing() {
    check(
        "cancel    -> 0 follow
         close
         prompt a
         queue b
         cancel    -> 0 follow
         pending   -> a b
         resume    -> turn a",
    );
}

#[test]
fn a_cancel_drops_prompts_that_wait_because_their_dialects_say_so() {
    check(
        "prompt a       -> turn a
         prompt b
         prompt-v2 c
         queue d
         steer e
         steering f
         cancel         -> dropped c b, 3 follow
         revoke b       -> already revoked
         replace c x    -> refused: unknown message
         idle           -> turn e f
         idle           -> turn d
         idle           ->",
    );
}

#[test]
fn revoking_twice_succeeds() {
    check(
        "prompt a      -> turn a
         queue b
         revoke b      -> revoked b
         revoke b      -> already revoked
         idle
         revoke b      -> already revoked
         crash
         revoke b      -> already revoked
         replace b x   -> refused: unknown message",
    );
}

#[test]
fn an_unknown_message_can_be_neither_revoked_nor_replaced() {
    check(
        "revoke a      -> refused: unknown message
         replace a x   -> refused: unknown message",
    );
}

#[test]
fn close_keeps_what_is_pending_for_the_next_resume() {
    check(
        "prompt a  -> turn a
         queue b
         steer c
         close
         break     ->
         idle      ->
         queue d   ->
         pending   -> c b d
         resume    -> turn c
         idle      -> turn b
         idle      -> turn d",
    );
}

#[test]
fn after_a_crash_nothing_runs_until_the_session_is_resumed() {
    check(
        "prompt a        -> turn a
         queue b
         steer c
         steering d
         prompt e
         replace b x
         crash           ->
         idle            ->
         steer f         -> refused: no running turn
         pending         -> c d b=x e
         resume          -> turn c d
         idle            -> turn b=x
         idle            -> turn e
         idle            ->",
    );
}

#[test]
fn a_crash_drops_a_v2_prompt_because_it_was_never_acknowledged() {
    check(
        "prompt a     -> turn a
         prompt-v2 b
         prompt-v2 c key=k
         queue d
         crash        -> dropped b, dropped c
         pending      -> d
         revoke b     -> already revoked
         queue e key=k
         queue f key=k -> same as e
         crash        ->
         resume       -> turn d
         idle         -> turn e",
    );
}

#[test]
fn what_was_not_committed_did_not_happen() {
    check(
        "prompt a               -> turn a
         queue b
         crash in queue c
         pending                -> b
         revoke c               -> refused: unknown message
         crash in revoke b
         pending                -> b
         crash in replace b x
         pending                -> b
         crash in resume
         pending                -> b
         resume                 -> turn b
         crash
         resume                 ->
         revoke b               -> refused: already delivered",
    );
}

#[test]
fn the_same_key_is_the_same_message_whatever_became_of_it() {
    check(
        "prompt a         -> turn a
         queue b key=k
         queue c key=k    -> same as b
         steer d key=k    -> same as b
         queue e key=l
         pending          -> b e
         revoke b         -> revoked b
         queue f key=k    -> same as b
         idle             -> turn e
         queue g key=l    -> same as e
         crash
         queue h key=k    -> same as b
         queue i key=l    -> same as e
         idle
         steer j key=k    -> same as b
         pending          ->",
    );
}

#[test]
fn a_steer_accepted_in_time_can_be_retried_after_its_turn() {
    check(
        "prompt a       -> turn a
         steer b key=k
         break          -> steer b
         idle
         steer c key=k  -> same as b
         steer d key=l  -> refused: no running turn
         prompt e       -> turn e
         steer f key=l
         break          -> steer f",
    );
}

//! Prompts of both versions and their answers.

use super::script::check;

#[test]
fn a_prompt_of_version_1_is_answered_when_its_turn_ends() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         stream
         says hi       -> note(words:hi), show words hi
         disk
         break         -> go on
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk",
    );
}

#[test]
fn a_prompt_of_version_2_is_answered_when_it_is_delivered() {
    check(
        "given ann bob
         bob prompts a -> save(+a >a user:a running)
         disk          -> answer a: is a, show user a, show running, prompt a by bob
         ends          -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn a_prompt_of_version_1_waits_for_the_turn_that_runs() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         ann prompts b -> save(+b)
         disk
         bob queues c  -> save(+c)
         disk          -> answer c: is c
         pending?      -> b c
         ends          -> save(idle:end_turn row >b user:b running)
         disk          -> show idle end_turn but ann, answer a: end_turn, show user b but ann,
                          show running but ann, prompt b by ann
         ends refusal  -> save(idle:refusal row >c user:c running)
         disk          -> show idle refusal but ann, answer b: refusal, show user c, show running,
                          prompt c by bob",
    );
}

#[test]
fn a_prompt_of_version_2_steers_the_turn_that_runs() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         bob prompts b -> save(+b)
         disk
         break         -> save(>b user:b)
         disk          -> answer b: is b, show user b, go on with b
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn a_turn_that_fails_answers_with_the_error() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         fails         -> note(idle:error:failed row), show idle error failed but ann, answer a: no [failed]
         disk",
    );
}

#[test]
fn a_session_without_a_name_is_called_after_what_is_said_first() {
    check(
        "given ann unnamed titles
         ann prompts a -> save(+a >a title=a user:a running)
         disk          -> show info a, show user a but ann, show running but ann, prompt a by ann
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         ann prompts b -> save(+b >b user:b running)
         disk          -> show user b but ann, show running but ann, prompt b by ann",
    );
}

#[test]
fn an_agent_may_name_its_session() {
    check(
        "given ann unnamed
         titles chosen -> note(title=chosen), show info chosen
         disk
         ann prompts a -> save(+a >a user:a running)
         disk          -> show user a but ann, show running but ann, prompt a by ann",
    );
}

#[test]
fn a_name_of_the_agent_that_comes_meanwhile_stays() {
    check(
        "given ann unnamed
         ann prompts a -> save(+a >a title=a user:a running)
         titles chosen -> note(title=chosen)
         disk          -> show user a but ann, show running but ann, prompt a by ann, show info chosen
         disk
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         ann prompts b -> save(+b >b user:b running)",
    );
}

#[test]
fn params_of_a_prompt_go_with_it() {
    check(
        "given ann
         ann prompts a params -> save(+a >a user:a running)
         disk                 -> show user a but ann, show running but ann, prompt a+params by ann
         ann prompts b params -> save(+b)
         disk
         ends                 -> save(idle:end_turn row >b user:b running)
         disk                 -> show idle end_turn but ann, answer a: end_turn, show user b but ann,
                                 show running but ann, prompt b+params by ann",
    );
}

#[test]
fn replaced_params_do_not() {
    check(
        "given ann
         ann prompts a        -> save(+a >a user:a running)
         disk                 -> show user a but ann, show running but ann, prompt a by ann
         ann prompts b params -> save(+b)
         disk
         ann replaces b x     -> save(b=x)
         disk                 -> answer replaces-b: is b
         ends                 -> save(idle:end_turn row >b user:b=x running)
         disk                 -> show idle end_turn but ann, answer a: end_turn, show user b=x but ann,
                                 show running but ann, prompt b=x by ann",
    );
}

#[test]
fn who_has_not_joined_is_refused() {
    check(
        "given ann
         bob prompts a -> answer a: no [unknown_session]
         ann leaves
         ann prompts b -> answer b: no [unknown_session]
         unanswered?",
    );
}

#[test]
fn what_cannot_be_is_refused_in_its_place() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         ann bad reason
         disk          -> show user a but ann, show running but ann, prompt a by ann, answer reason: no [reason]",
    );
}

#[test]
fn an_option_is_set_once_it_is_on_disk() {
    check(
        "given ann
         ann sets fast -> save(config={\"fast\":true})
         disk          -> set fast, answer fast: {}",
    );
}

#[test]
fn steering_in_its_own_dialect() {
    check(
        "given ann bob
         ann steering a prompt-required -> answer a: promptRequired
         ann steering b -> save(+b >b user:b running)
         disk           -> answer b: startedNewTurn, show user b but ann, show running, prompt b by ann
         ann steering c -> save(+c)
         disk           -> answer c: injected
         break          -> save(>c user:c)
         disk           -> show user c but ann, go on with c
         ends           -> note(idle:end_turn row), show idle end_turn
         ann steering d prompt-required -> answer d: promptRequired",
    );
}

#[test]
fn nobody_sends_too_long_a_key() {
    check(
        "given ann turn
         ann queues b key-bytes=256 -> save(+b)
         disk                       -> answer b: is b
         ann queues c key-bytes=257 -> answer c: no [Invalid params: an idempotency key has at most 256 bytes]",
    );
}

#[test]
fn a_prompt_of_version_2_waits_its_turn_in_an_idle_session_that_is_held() {
    check(
        "given ann turn
         ann queues b    -> save(+b)
         disk            -> answer b: is b
         crash           -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins looks -> joined bob(idle; pending b)
         bob prompts c   -> save(+c)
         disk
         pending?        -> b c
         cat joins       -> save(>b user:b running), joined cat(idle; pending b c), taken up by cat",
    );
}

//! A disk that is full: what was asked is refused, and nothing that was shown is lost.

use super::script::check;

#[test]
fn in_the_accept_of_a_prompt() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         disk full     -> flush, answer a: no [no room], show idle error no room, forget options
         state?        -> Idle
         bob queues b  -> answer b: no [no room]
         recover       -> save(title=title)
         ann prompts c -> save(+c >c user:c running)
         disk          -> show user c but ann, show running but ann, prompt c by ann",
    );
}

#[test]
fn in_the_accept_of_an_inject() {
    check(
        "given ann bob turn
         bob queues b   -> save(+b)
         disk full      -> flush, answer b: no [no room], answer a: no [no room], cancel,
                           show idle error no room, forget options
         state?         -> Idle
         recover        -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> note(idle:cancelled row), show idle cancelled
         pending?",
    );
}

#[test]
fn in_a_delivery() {
    check(
        "given ann bob turn
         bob queues b -> save(+b)
         disk         -> answer b: is b
         ends         -> save(idle:end_turn row >b user:b running)
         disk full    -> flush, answer a: no [no room], show idle error no room, forget options
         recover      -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                         save(>b user:b running), show interrupted [it could not be stored]
         disk         -> show user b, show running, prompt b by bob
         ends         -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn in_the_delivery_of_a_steer() {
    check(
        "given ann bob turn
         bob steers b   -> save(+b)
         disk           -> answer b: is b
         break          -> save(>b user:b)
         disk full      -> flush, answer a: no [no room], cancel, go on, show idle error no room, forget options
         recover        -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> save(idle:cancelled row >b user:b running)
         disk           -> show idle cancelled, show user b, show running, prompt b by bob",
    );
}

#[test]
fn in_the_delivery_of_a_steer_in_mid_stream() {
    check(
        "given ann bob take turn
         stream
         bob steers b   -> save(+b >b user:b)
         break
         disk full      -> flush, answer b: no [no room], answer a: no [no room], cancel, go on,
                           show idle error no room, forget options
         recover        -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> note(idle:cancelled row), show idle cancelled",
    );
}

#[test]
fn in_the_middle_of_a_turn() {
    check(
        "given ann bob turn
         calls t       -> note(tool:t:in_progress), show tool t in_progress
         says hi       -> note(words:hi), show words hi
         disk full     -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         says more
         break         -> go on
         asks p        -> tell p: cancelled
         notifies _x/y -> notify _x/y
         configures fast
         titles named  -> show info named
         ends cancelled
         recover       -> save(tool:t:in_progress words:hi tool:t:cancelled interrupted:[it:could:not:be:stored]
                          idle:cancelled title=named config={\"fast\":true}), show tool t cancelled,
                          show interrupted [it could not be stored]
         ann prompts b -> save(+b >b user:b running)
         disk          -> show user b but ann, show running but ann, prompt b by ann",
    );
}

#[test]
fn in_the_answer_to_a_permission_request() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann answers p yes -> save(permit:p:yes running)
         disk full         -> flush, unask bob p, answer a: no [no room], cancel, tell p: cancelled,
                              show idle error no room, forget options
         recover           -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                              show interrupted [it could not be stored]
         ends cancelled    -> note(idle:cancelled row), show idle cancelled",
    );
}

#[test]
fn in_the_end_of_a_turn() {
    check(
        "given ann bob turn
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk full     -> flush, forget options
         recover       -> save(idle:end_turn title=title)
         ann prompts b -> save(+b >b user:b running)
         disk          -> show user b but ann, show running but ann, prompt b by ann",
    );
}

#[test]
fn in_a_close() {
    check(
        "given ann turn
         ann queues b   -> save(+b)
         disk           -> answer b: is b
         close          -> show notice [1 message follows the cancelled turn], cancel
         ends cancelled -> save(idle:cancelled row closed=true)
         disk full      -> flush, answer a: no [no room], answer close: no [no room], forget options
         hears-clients? -> yes
         recover        -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           save(>b user:b running), show interrupted [it could not be stored]
         disk           -> show user b, show running, prompt b by ann
         unanswered?",
    );
}

#[test]
fn before_a_close_that_waits() {
    check(
        "given ann turn
         close          -> cancel
         says hi        -> note(words:hi), show words hi
         disk full      -> flush, answer close: no [no room], answer a: no [no room], cancel,
                           show idle error no room, forget options
         recover        -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> note(idle:cancelled row), show idle cancelled
         unanswered?",
    );
}

#[test]
fn in_a_delete_the_session_is_left_all_the_same() {
    check(
        "given ann
         delete    -> save(delete)
         disk full -> flush, answer delete: no [no room], forget options, leave",
    );
}

#[test]
fn in_the_end_of_the_process_too() {
    check(
        "given ann turn
         stop           -> cancel
         ends cancelled -> save(idle:cancelled row row)
         disk full      -> flush, answer a: no [no room], forget options, leave
         recover        -> save(interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]",
    );
}

#[test]
fn a_close_behind_a_failure_is_refused() {
    check(
        "given ann turn
         says hi   -> note(words:hi), show words hi
         ends      -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         close     -> save(closed=true)
         disk full -> flush, answer close: no [no room], forget options
         unanswered?",
    );
}

#[test]
fn a_close_for_which_there_was_room_after_all() {
    check(
        "given ann turn
         says hi                   -> note(words:hi), show words hi
         ends                      -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         close                     -> save(closed=true)
         disk full written written -> flush, forget options, leave closed close
         unanswered?",
    );
}

#[test]
fn in_a_join() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         bob joins
         disk full     -> flush, answer join-bob: no [no room], answer a: no [no room], show idle error no room,
                          forget options
         recover       -> save(title=title)
         bob joins     -> joined bob(idle)",
    );
}

#[test]
fn a_disk_that_is_broken_ends_the_use_of_the_session() {
    check(
        "given ann bob turn
         ann prompts b -> save(+b)
         bob queues c  -> save(+c)
         disk broken   -> flush, answer c: no [broken], answer b: no [broken], answer a: no [broken], leave
         unanswered?",
    );
}

#[test]
fn an_option_that_could_not_be_kept_is_not_set() {
    check(
        "given ann
         ann sets fast -> save(config={\"fast\":true})
         disk full     -> flush, answer fast: no [no room], forget options
         recover       -> save(title=title)",
    );
}

#[test]
fn an_end_while_the_disk_is_full() {
    check(
        "given ann turn
         says hi   -> note(words:hi), show words hi
         disk full -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         stop      -> save(row)
         ends cancelled
         disk full -> flush, forget options, leave
         recover   -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                      show interrupted [it could not be stored]",
    );
}

#[test]
fn a_process_ends_while_the_disk_is_full_and_there_is_room_for_that() {
    check(
        "given ann turn
         says hi   -> note(words:hi), show words hi
         disk full -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         stop      -> save(row)
         disk      -> leave
         recover   -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                      show interrupted [it could not be stored]",
    );
}

#[test]
fn a_close_while_the_disk_is_full() {
    check(
        "given ann turn
         says hi        -> note(words:hi), show words hi
         disk full      -> flush, answer a: no [no room], cancel, show idle error no room, forget options
         close          -> save(closed=true)
         disk full      -> flush, answer close: no [no room], cancel, forget options
         unanswered?
         recover        -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                           show interrupted [it could not be stored]
         ends cancelled -> note(idle:cancelled row), show idle cancelled",
    );
}

#[test]
fn a_session_that_was_left_and_cannot_be_written() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         says hi       -> note(words:hi)
         dies          -> answer a: no [The agent has failed. Load the session again], leave
         disk full     -> flush, show idle error no room, forget options
         recover       -> save(title=title)
         ann prompts b -> answer b: no [unknown_session]
         unanswered?",
    );
}

#[test]
fn before_two_ends_of_which_one_is_for_good_the_session_is_left() {
    check(
        "given ann turn
         close     -> cancel
         stop
         says hi   -> note(words:hi), show words hi
         disk full -> flush, answer close: no [no room], answer a: no [no room], cancel,
                      show idle error no room, forget options, leave
         unanswered?",
    );
}

#[test]
fn a_close_that_could_not_be_written_leaves_held_what_was_held() {
    check(
        "given ann turn
         ann queues b    -> save(+b)
         disk            -> answer b: is b
         crash           -> save(interrupted:[Nudge:ended:while:it:ran] idle:cancelled)
         bob joins looks -> joined bob(idle; pending b)
         bob closes      -> save(closed=true)
         disk full       -> flush, answer close: no [no room], forget options
         recover         -> save(title=title)
         pending?        -> b",
    );
}

#[test]
fn in_the_answer_to_a_form() {
    check(
        "given dan
         dan prompts a             -> save(+a >a user:a running)
         disk                      -> answer a: is a, show user a, show running, prompt a by dan
         asks f elicitation/create -> note(asking), show asking, ask dan f
         disk full                 -> flush, cancel, unask dan f, tell f: {\"action\":\"cancel\"},
                                      show idle error no room, forget options
         dan answers f filled
         asks g elicitation/create -> tell g: {\"action\":\"cancel\"}
         ends cancelled
         recover                   -> save(asking interrupted:[it:could:not:be:stored] idle:cancelled title=title),
                                      show interrupted [it could not be stored]",
    );
}

#[test]
fn the_agent_is_given_files_all_the_same() {
    check(
        "given cat turn
         says hi                  -> note(words:hi), show words hi
         disk full                -> flush, answer a: no [no room], cancel, show idle error no room,
                                     forget options
         asks r fs/read_text_file -> ask cat r
         cat answers r text       -> tell r: text
         asks s fs/read_text_file -> ask cat s
         unasks s                 -> unask cat s",
    );
}

#[test]
fn an_agent_that_is_lost_and_found_meanwhile_is_known_by_its_new_id() {
    check(
        "given cat turn
         says hi                  -> note(words:hi), show words hi
         disk full                -> flush, answer a: no [no room], cancel, show idle error no room,
                                     forget options
         asks r fs/read_text_file -> ask cat r
         lost                     -> unask cat r
         back s2
         recover                  -> save(words:hi interrupted:[it:could:not:be:stored] idle:cancelled
                                     title=title agent=s2), show interrupted [it could not be stored]",
    );
}

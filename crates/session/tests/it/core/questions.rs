//! What the agent asks: permission of everybody, all else of one.

use super::script::check;

#[test]
fn permission_is_asked_of_everybody_and_the_first_answer_counts() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         state?            -> RequiresAction
         ann answers p yes -> save(permit:p:yes running)
         bob answers p no
         disk              -> unask bob p, tell p: yes, show running but ann
         state?            -> Running
         ends              -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn an_answer_is_recorded_before_it_reaches_the_agent() {
    check(
        "given ann turn
         asks p            -> note(asking), show asking but ann, ask ann p
         disk
         ann answers p yes -> save(permit:p:yes running)
         says hi           -> note(words:hi)
         disk              -> tell p: yes, show running but ann, show words hi
         disk",
    );
}

#[test]
fn one_client_refuses_and_the_other_answers() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         ann refuses p
         bob answers p yes -> save(permit:p:yes running)
         disk
         disk              -> tell p: yes, show running but ann",
    );
}

#[test]
fn what_all_refuse_is_cancelled() {
    check(
        "given ann bob turn
         asks p        -> note(asking), show asking but ann, ask ann p, ask bob p
         ann refuses p
         bob refuses p -> save(permit:p:cancelled running)
         disk
         disk          -> tell p: cancelled, show running but ann",
    );
}

#[test]
fn a_refusal_of_who_is_not_asked_any_more_counts_for_nothing() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann leaves        -> unask ann p
         bob leaves        -> unask bob p
         ann refuses p
         state?            -> RequiresAction
         cat joins         -> joined cat(asking), ask cat p
         cat answers p yes -> save(permit:p:yes running)",
    );
}

#[test]
fn what_nobody_is_there_to_answer_waits_for_who_comes() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann leaves        -> unask ann p
         bob leaves        -> unask bob p
         state?            -> RequiresAction
         cat joins         -> joined cat(asking), ask cat p
         cat answers p yes -> save(permit:p:yes running)
         disk              -> tell p: yes, show running but ann
         ends              -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn a_client_that_falls_silent_is_told_that_its_turn_goes_on() {
    check(
        "given ann bob turn
         ann prompts b     -> save(+b)
         disk
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann silent p      -> answer b: no [requires_action], answer a: no [requires_action]
         ann leaves
         bob answers p yes -> save(permit:p:yes running)
         disk              -> tell p: yes, show running
         ends              -> save(idle:end_turn row >b user:b running)
         disk              -> show idle end_turn, show user b but ann, show running, prompt b by ann",
    );
}

#[test]
fn what_nobody_says_anything_to_any_more_stays_open() {
    check(
        "given ann bob turn
         asks p       -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann silent p -> answer a: no [requires_action]
         bob silent p
         asks?        -> p
         ends         -> note(idle:end_turn row), tell p: cancelled, show idle end_turn
         disk",
    );
}

#[test]
fn where_the_process_ends_with_its_clients_a_silent_one_is_not_told() {
    check(
        "given ann ends-with-clients turn
         asks p      -> note(asking), show asking but ann, ask ann p
         disk
         ann silent p
         unanswered? -> a",
    );
}

#[test]
fn the_agent_withdraws_what_it_asked() {
    check(
        "given ann bob turn
         asks p   -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         unasks p -> note(running), unask ann p, unask bob p, show running but ann
         ann answers p yes
         disk",
    );
}

#[test]
fn an_answer_on_its_way_to_the_disk_is_withdrawn() {
    check(
        "given ann turn
         asks p            -> note(asking), show asking but ann, ask ann p
         disk
         ann answers p yes -> save(permit:p:yes running)
         unasks p
         disk              -> show running but ann",
    );
}

#[test]
fn a_client_that_joins_is_asked_what_is_open() {
    check(
        "given ann turn
         asks p            -> note(asking), show asking but ann, ask ann p
         asks q            -> note(asking), show asking but ann, ask ann q
         disk
         disk
         bob joins         -> joined bob(asking), ask bob p, ask bob q
         bob answers q yes -> save(permit:q:yes)
         disk              -> unask ann q, tell q: yes
         ann answers p no  -> save(permit:p:no running)
         disk              -> unask bob p, tell p: no, show running but ann",
    );
}

#[test]
fn a_client_that_joins_anew_is_asked_again_and_once() {
    check(
        "given ann bob turn
         asks p            -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         ann joins         -> unask ann p, joined ann(asking), ask ann p
         ann answers p yes -> save(permit:p:yes running)
         disk              -> unask bob p, tell p: yes, show running but ann",
    );
}

#[test]
fn what_is_asked_and_not_shown_yet_is_asked_once() {
    check(
        "given ann
         ann prompts a     -> save(+a >a user:a running)
         asks p            -> note(asking)
         bob joins
         disk              -> show user a but ann, show running but ann, prompt a by ann, show asking but ann,
                              ask ann p, joined bob(asking), ask bob p
         disk
         ann answers p yes -> save(permit:p:yes running)
         disk              -> unask bob p, tell p: yes, show running but ann",
    );
}

#[test]
fn somebody_elsewhere_answers() {
    check(
        "given ann turn
         asks p               -> note(asking), show asking but ann, ask ann p
         disk
         asks?                -> p
         former answers p yes -> save(permit:p:yes running)
         disk                 -> unask ann p, tell p: yes, show running but ann",
    );
}

#[test]
fn a_file_is_asked_of_the_client_that_prompted() {
    check(
        "given ann cat
         cat prompts a            -> save(+a >a user:a running)
         disk                     -> show user a but cat, show running but cat, prompt a by cat
         asks r fs/read_text_file -> ask cat r
         cat answers r text       -> tell r: text
         asks s fs/read_text_file -> ask cat s
         cat refuses s            -> tell s: no [Method not found: it]
         asks u fs/read_text_file -> ask cat u
         cat silent u             -> tell u: no [no_client]",
    );
}

#[test]
fn a_file_comes_from_nudge_where_the_prompter_has_none() {
    check(
        "given ann cat turn
         asks r fs/read_text_file -> serve r
         asks t terminal/create   -> serve t
         unasks t
         ends                     -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         asks u fs/read_text_file -> serve u",
    );
}

#[test]
fn an_agent_with_own_tools_is_told_that_nobody_answers() {
    check(
        "given ann own-tools turn
         asks r fs/read_text_file -> tell r: no [no_client]",
    );
}

#[test]
fn a_form_is_asked_of_somebody_who_is_able() {
    check(
        "given ann dan turn
         asks f elicitation/create -> note(asking), show asking but ann, ask dan f
         state?                    -> RequiresAction
         asks?                     -> f
         dan fills f accept        -> note(running), tell f: {\"action\":\"accept\"}, show running but ann
         state?                    -> Running
         dan leaves
         asks g elicitation/create -> tell g: no [Method not found: elicitation/create]",
    );
}

#[test]
fn each_mode_is_asked_of_who_offers_it() {
    check(
        "given dan eve turn
         asks f elicitation/create mode=url  -> note(asking), show asking, ask eve f
         eve fills f accept                  -> note(running), tell f: {\"action\":\"accept\"}, show running
         asks g elicitation/create mode=form -> note(asking), show asking, ask dan g
         dan fills g cancel                  -> note(running), tell g: {\"action\":\"cancel\"}, show running
         asks h elicitation/create mode=_odd -> tell h: no [Method not found: elicitation/create]
         eve leaves
         asks i elicitation/create mode=url  -> tell i: no [Method not found: elicitation/create]",
    );
}

#[test]
fn a_form_that_nobody_shows_waits_for_who_does() {
    check(
        "given ann told-of-forms turn
         asks f elicitation/create          -> note(asking), show asking but ann
         asks g elicitation/create mode=url -> note(asking), show asking but ann
         asks h elicitation/create mode=odd -> tell h: no [Method not found: elicitation/create]
         state?                             -> RequiresAction
         asks?                              -> f g
         disk
         disk
         dan joins                          -> joined dan(asking), ask dan f
         dan fills f accept                 -> tell f: {\"action\":\"accept\"}
         state?                             -> RequiresAction
         eve joins                          -> joined eve(asking), ask eve g
         eve fills g accept                 -> note(running), tell g: {\"action\":\"accept\"}, show running but ann
         state?                             -> Running",
    );
}

#[test]
fn a_form_outlives_the_client_that_showed_it() {
    check(
        "given ann dan told-of-forms turn
         asks f elicitation/create -> note(asking), show asking but ann, ask dan f
         disk
         dan leaves                -> unask dan f
         dan fills f accept
         ann leaves
         state?                    -> RequiresAction
         asks?                     -> f
         dan joins                 -> joined dan(asking), ask dan f
         dan fills f accept        -> note(running), tell f: {\"action\":\"accept\"}, show running but ann",
    );
}

#[test]
fn a_form_is_shown_by_another_once_the_first_is_gone_and_no_sooner() {
    check(
        "given eve told-of-forms turn
         asks f elicitation/create mode=url -> note(asking), show asking, ask eve f
         disk
         eve joins                          -> unask eve f, joined eve(asking), ask eve f
         eve silent f
         state?                             -> RequiresAction
         eve joins                          -> joined eve(asking), ask eve f
         eve refuses f                      -> note(running), tell f: no [Method not found: it], show running",
    );
}

#[test]
fn one_clients_answer_is_not_anothers() {
    check(
        "given ann dan told-of-forms turn
         asks f elicitation/create -> note(asking), show asking but ann, ask dan f
         ann fills f accept
         ann refuses f
         ann silent f
         state?                    -> RequiresAction
         dan fills f decline       -> note(running), tell f: {\"action\":\"decline\"}, show running but ann",
    );
}

#[test]
fn a_form_that_waits_is_cancelled_filled_in_elsewhere_or_withdrawn() {
    check(
        "given ann told-of-forms turn
         asks f elicitation/create -> note(asking), show asking but ann
         former fills f decline    -> note(running), tell f: {\"action\":\"decline\"}, show running but ann
         asks g elicitation/create -> note(asking), show asking but ann
         unasks g                  -> note(running), show running but ann
         asks h elicitation/create -> note(asking), show asking but ann
         cancel                    -> cancel, tell h: {\"action\":\"cancel\"}
         asks?",
    );
}

#[test]
fn the_next_turn_does_not_wait_for_a_form_of_the_last() {
    check(
        "given ann dan told-of-forms turn
         asks f elicitation/create -> note(asking), show asking but ann, ask dan f
         disk
         ends                      -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         ann prompts b             -> save(+b >b user:b running)
         disk                      -> show user b but ann, show running but ann, prompt b by ann
         state?                    -> Running
         dan fills f accept        -> tell f: {\"action\":\"accept\"}",
    );
}

#[test]
fn an_end_of_the_process_does_not_wait_for_a_form() {
    check(
        "given dan told-of-forms ends-with-clients turn
         asks f elicitation/create -> note(asking), show asking, ask dan f
         disk
         stop patiently            -> cancel, unask dan f, tell f: {\"action\":\"cancel\"}",
    );
}

#[test]
fn that_a_page_is_done_with_is_told_to_who_was_asked_to_show_it() {
    check(
        "given ann eve bob told-of-forms turn
         asks f elicitation/create mode=url -> note(asking), show asking but ann, ask eve f
         completes other
         notifies _other/news               -> notify _other/news
         eve fills f accept                 -> note(running), tell f: {\"action\":\"accept\"}, show running but ann
         completes f                        -> notify eve elicitation/complete
         completes f
         asks g elicitation/create mode=url -> note(asking), show asking but ann, ask eve g
         eve fills g accept                 -> note(running), tell g: {\"action\":\"accept\"}, show running but ann
         eve leaves
         eve joins                          -> joined eve(running)
         completes g",
    );
}

#[test]
fn what_is_no_answer_to_a_form_is_a_failure() {
    check(
        "given dan turn
         asks f elicitation/create -> note(asking), show asking, ask dan f
         dan fills f maybe         -> note(running), tell f: no [invalid_answer], show running
         state?                    -> Running",
    );
}

#[test]
fn a_form_may_be_filled_in_elsewhere() {
    check(
        "given ann dan
         dan prompts a             -> save(+a >a user:a running)
         disk                      -> answer a: is a, show user a, show running, prompt a by dan
         asks f elicitation/create -> note(asking), show asking, ask dan f
         former fills f decline    -> note(running), unask dan f, tell f: {\"action\":\"decline\"}, show running
         dan fills f accept",
    );
}

#[test]
fn a_form_is_withdrawn_when_the_turn_is_cancelled() {
    check(
        "given dan
         dan prompts a             -> save(+a >a user:a running)
         disk                      -> answer a: is a, show user a, show running, prompt a by dan
         asks f elicitation/create -> note(asking), show asking, ask dan f
         cancel                    -> cancel, unask dan f, tell f: {\"action\":\"cancel\"}",
    );
}

#[test]
fn a_steer_waits_until_a_form_is_filled_in() {
    check(
        "given dan
         dan prompts a             -> save(+a >a user:a running)
         disk                      -> answer a: is a, show user a, show running, prompt a by dan
         asks f elicitation/create -> note(asking), show asking, ask dan f
         disk
         dan steers s              -> save(+s)
         disk                      -> answer s: is s
         break                     -> go on
         dan fills f accept        -> note(running), tell f: {\"action\":\"accept\"}, show running
         disk
         break                     -> save(>s user:s)
         disk                      -> show user s, go on with s",
    );
}

#[test]
fn all_else_is_asked_of_the_prompter_or_of_anybody() {
    check(
        "given ann bob
         bob prompts a       -> save(+a >a user:a running)
         disk                -> answer a: is a, show user a, show running, prompt a by bob
         asks x _other/thing -> ask bob x
         bob answers x yes   -> tell x: yes
         bob leaves
         asks y _other/thing -> ask ann y
         ann leaves
         asks z _other/thing -> tell z: no [no_client]",
    );
}

#[test]
fn a_question_keeps_its_place_behind_what_waits() {
    check(
        "given cat
         cat prompts a      -> save(+a >a user:a running)
         asks r fs/read_text_file
         disk               -> show user a but cat, show running but cat, prompt a by cat, ask cat r
         cat answers r text -> tell r: text
         unasks r",
    );
}

#[test]
fn a_question_that_is_withdrawn_in_its_place_is_not_asked() {
    check(
        "given cat
         cat prompts a -> save(+a >a user:a running)
         asks r fs/read_text_file
         unasks r
         disk          -> show user a but cat, show running but cat, prompt a by cat",
    );
}

#[test]
fn a_question_is_withdrawn_but_not_a_last_word() {
    check(
        "given cat turn
         asks r fs/read_text_file -> ask cat r
         asks k terminal/kill     -> ask cat k
         unasks r                 -> unask cat r
         unasks k
         cat answers k done",
    );
}

#[test]
fn the_agent_may_ask_between_turns() {
    check(
        "given ann cat
         cat prompts a            -> save(+a >a user:a running)
         disk                     -> show user a but cat, show running but cat, prompt a by cat
         ends                     -> note(idle:end_turn row), show idle end_turn but cat, answer a: end_turn
         disk
         asks r fs/read_text_file -> ask cat r",
    );
}

#[test]
fn a_permission_that_is_open_when_the_turn_ends_is_cancelled() {
    check(
        "given ann turn
         asks p -> note(asking), show asking but ann, ask ann p
         disk
         ends   -> note(idle:end_turn row), unask ann p, tell p: cancelled, show idle end_turn but ann,
                   answer a: end_turn
         disk",
    );
}

#[test]
fn where_nobody_prompted_a_file_is_asked_of_who_came_first() {
    check(
        "given cat ann
         asks r fs/read_text_file -> ask cat r",
    );
}

#[test]
fn where_nobody_prompted_and_who_came_first_has_no_files_they_come_from_nudge() {
    check(
        "given ann cat
         asks r fs/read_text_file -> serve r",
    );
}

#[test]
fn where_nobody_prompted_an_agent_with_own_tools_uses_them() {
    check(
        "given cat own-tools
         asks r fs/read_text_file -> tell r: no [no_client]",
    );
}

#[test]
fn where_nobody_prompted_a_form_is_asked_of_anybody_who_is_able() {
    check(
        "given ann dan own-tools
         asks f elicitation/create -> ask dan f",
    );
}

#[test]
fn an_outcome_that_version_1_does_not_know_is_no_consent() {
    check(
        "given ann bob turn
         asks p v1           -> note(asking), show asking but ann, ask ann p, ask bob p
         disk
         bob decides p later -> save(permit:p:cancelled running)
         disk                -> unask ann p, tell p: cancelled, show running but ann",
    );
}

#[test]
fn an_outcome_that_came_through_version_1_is_restored_for_version_2() {
    check(
        "given ann turn
         asks p              -> note(asking), show asking but ann, ask ann p
         disk
         ann decides p later -> save(permit:p:later running)
         disk                -> tell p: later, show running but ann",
    );
}

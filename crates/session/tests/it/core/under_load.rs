//! When the agent and the clients have to wait.

use super::script::check;

#[test]
fn the_agent_waits_while_many_commits_are_under_way() {
    check(
        "given ann turn
         many 255
         hears-agent?   -> yes
         says word      -> note(words:word), show words word
         hears-agent?   -> no
         hears-clients? -> yes
         disk
         hears-agent?   -> yes",
    );
}

#[test]
fn the_agent_waits_while_much_is_under_way_and_clients_later() {
    check(
        "given ann turn
         long 1 MiB
         hears-agent?   -> yes
         long 1 MiB
         hears-agent?   -> no
         hears-clients? -> yes
         long 13 MiB
         hears-clients? -> yes
         long 2 MiB
         hears-clients? -> no
         disk
         disk
         disk
         hears-clients? -> yes
         hears-agent?   -> no",
    );
}

#[test]
fn the_agent_waits_while_its_questions_are_long() {
    check(
        "given ann turn
         asks p 15 MiB -> note(asking), show asking but ann, ask ann p
         hears-agent?  -> yes
         disk
         hears-agent?  -> yes
         asks q 1 MiB  -> note(asking), show asking but ann, ask ann q
         disk
         hears-agent?  -> no
         unasks q      -> unask ann q
         hears-agent?  -> yes",
    );
}

#[test]
fn what_waits_in_one_session_has_a_measure() {
    check(
        "given ann turn
         queue 1024
         ann queues b -> answer b: no [too_many_pending]
         ann queues c -> answer c: no [too_many_pending]
         unanswered?  -> a",
    );
}

#[test]
fn one_message_may_be_as_long_as_it_is() {
    check(
        "given ann turn
         ann queues b bytes=16777217 -> save(+b)
         disk                        -> answer b: is b
         ann queues c                -> answer c: no [too_many_pending]",
    );
}

#[test]
fn several_messages_that_wait_have_a_measure_together() {
    check(
        "given ann turn
         ann queues b bytes=8388608 -> save(+b)
         disk                       -> answer b: is b
         ann queues c bytes=8388609 -> answer c: no [too_many_pending]
         ann queues d bytes=8388608 -> save(+d)
         disk                       -> answer d: is d
         ann queues e               -> answer e: no [too_many_pending]",
    );
}

#[test]
fn ids_count_as_much_as_words() {
    check(
        "given ann turn
         long 1536 KiB call-id
         hears-agent? -> no
         disk
         hears-agent? -> yes
         long 1536 KiB message-id
         hears-agent? -> no
         disk
         hears-agent? -> yes",
    );
}

#[test]
fn notifications_that_wait_for_the_disk_count() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         long 4 MiB notification
         hears-agent?  -> no",
    );
}

#[test]
fn questions_that_wait_for_the_disk_count() {
    check(
        "given cat
         cat prompts a -> save(+a >a user:a running)
         asks r fs/read_text_file 4 MiB
         hears-agent?  -> no
         disk          -> show user a but cat, show running but cat, prompt a by cat, ask cat r
         hears-agent?  -> yes",
    );
}

#[test]
fn a_message_counts_no_more_than_it_is_long() {
    check(
        "given ann turn
         ann queues b bytes=1048576 -> save(+b)
         hears-agent?               -> yes",
    );
}

#[test]
fn a_step_is_as_long_as_what_the_agent_says_in_it() {
    check(
        "given cat turn
         measure stream                   -> 0 bytes
         measure says hi                  -> 77 bytes
         measure titles name              -> 54 bytes
         measure notifies _x/y            -> 33 bytes
         measure asks r fs/read_text_file -> 84 bytes
         measure notifies _x/y + says hi  -> 110 bytes",
    );
}

#[test]
fn a_step_that_waits_for_the_disk_is_finished_at_once() {
    check(
        "given ann
         measure ann sets fast -> at once",
    );
}

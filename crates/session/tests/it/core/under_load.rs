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

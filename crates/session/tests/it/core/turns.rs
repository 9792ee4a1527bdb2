//! Turns as they go: begun by the agent, lost and found.

use super::script::check;

#[test]
fn an_agent_may_begin_a_turn_by_itself() {
    check(
        "given ann bob
         begins       -> note(running), show running
         disk
         stream
         ann steers b -> save(+b)
         disk         -> answer b: is b
         break        -> save(>b user:b)
         disk         -> show user b, go on with b
         ends         -> note(idle:end_turn row), show idle end_turn
         disk",
    );
}

#[test]
fn what_the_agent_begins_belongs_to_who_prompted_last() {
    check(
        "given ann cat
         cat prompts a            -> save(+a >a user:a running)
         disk                     -> show user a but cat, show running but cat, prompt a by cat
         ends                     -> note(idle:end_turn row), show idle end_turn but cat, answer a: end_turn
         disk
         begins                   -> note(running), show running
         asks r fs/read_text_file -> ask cat r
         ends                     -> note(idle:end_turn row), show idle end_turn",
    );
}

#[test]
fn an_agent_begins_by_itself_while_a_prompt_is_on_its_way_to_the_disk() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         begins
         says hi       -> note(words:hi)
         disk          -> show user a but ann, show running but ann, prompt a by ann, show words hi
         disk
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk
         says you      -> note(words:you), show words you
         ends          -> note(idle:end_turn row), show idle end_turn
         disk",
    );
}

#[test]
fn an_agent_that_begins_and_ends_while_a_prompt_is_on_its_way_to_the_disk() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         begins
         ends
         disk          -> show user a but ann, show running but ann, prompt a by ann
         stream
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn
         disk",
    );
}

#[test]
fn an_agent_that_says_it_has_begun_once_more_goes_on() {
    check(
        "given ann turn
         begins
         stream
         ends -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn words_wait_behind_what_waits_for_the_disk() {
    check(
        "given ann turn
         says one     -> note(words:one), show words one
         ann queues b -> save(+b)
         says two     -> note(words:two)
         disk
         disk         -> answer b: is b, show words two
         disk",
    );
}

#[test]
fn a_lost_agent_forgets_what_it_asked_and_steers_go_in_afterwards() {
    check(
        "given ann turn
         stream
         asks p        -> note(asking), show asking but ann, ask ann p
         disk
         ann steers b  -> save(+b)
         disk          -> answer b: is b
         lost          -> note(running), unask ann p, show running but ann, show notice [gone]
         back s2 recap -> note(agent=s2), show notice [The agent is back]
         break         -> save(>b user:b)
         disk
         disk
         disk          -> show user b, go on with b
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn an_agent_that_dies_while_the_end_is_written() {
    check(
        "given ann
         close -> save(closed=true)
         dies  -> leave
         disk  -> leave closed close
         unanswered?",
    );
}

#[test]
fn a_lost_agent_forgets_forms_and_files_too() {
    check(
        "given cat turn
         asks r fs/read_text_file -> ask cat r
         asks k terminal/kill     -> ask cat k
         lost                     -> unask cat r, show notice [gone]
         cat answers r text
         back s1                  -> note(agent=s1), show notice [The agent is back and remembers the session]
         back s1                  -> show notice [The agent is back and remembers the session]",
    );
}

#[test]
fn an_agent_that_is_lost_with_a_permission_on_its_way_to_the_disk() {
    check(
        "given ann turn
         asks p            -> note(asking), show asking but ann, ask ann p
         disk
         ann answers p yes -> save(permit:p:yes running)
         lost
         disk              -> show running but ann, show notice [gone]
         fails             -> note(idle:error:failed row), show idle error failed but ann, answer a: no [failed]
         disk",
    );
}

#[test]
fn notifications_and_settings_pass() {
    check(
        "given ann
         ann queues a    -> save(+a >a user:a running)
         notifies _x/y
         configures fast -> note(config={\"fast\":true})
         disk            -> answer a: is a, show user a, show running, prompt a by ann, notify _x/y
         disk",
    );
}

#[test]
fn several_events_share_a_step() {
    check(
        "given ann turn
         stream + says hi + says you + stream-end + break -> note(words:hi words:you), go on, show words hi,
                            show words you
         disk
         says end + ends -> note(words:end idle:end_turn row), show words end, show idle end_turn but ann,
                            answer a: end_turn
         disk",
    );
}

#[test]
fn an_agent_that_dies_leaves_nobody_waiting() {
    check(
        "given ann bob turn
         ann prompts b -> save(+b)
         disk
         dies          -> answer b: no [The agent has failed. Load the session again],
                          answer a: no [The agent has failed. Load the session again], leave
         unanswered?",
    );
}

#[test]
fn an_agent_that_dies_with_answers_on_their_way() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         bob queues b  -> save(+b)
         dies          -> answer a: no [The agent has failed. Load the session again], leave
         disk          -> show user a but ann, show running but ann, prompt a by ann
         disk          -> answer b: is b
         unanswered?",
    );
}

#[test]
fn an_agent_that_dies_answers_those_who_wait_for_an_end() {
    check(
        "given ann bob turn
         close -> cancel
         delete
         dies  -> answer a: no [The agent has failed. Load the session again],
                  answer close: no [The agent has failed. Load the session again],
                  answer delete: no [The agent has failed. Load the session again], leave
         unanswered?",
    );
}

#[test]
fn an_agent_that_says_it_has_begun_once_more_streams_no_more() {
    check(
        "given ann take turn
         stream
         begins
         ann steers b -> save(+b)
         disk         -> answer b: is b
         stream       -> save(>b user:b)
         disk         -> show user b, steer b",
    );
}

#[test]
fn what_waits_stays_when_nobody_is_signed_in() {
    check(
        "given ann dan
         dan prompts a  -> save(+a >a user:a running)
         disk           -> answer a: is a, show user a, show running, prompt a by dan
         dan queues b   -> save(+b)
         disk           -> answer b: is b
         dan steers s   -> save(+s)
         disk           -> answer s: is s
         fails auth     -> note(idle:error:Authentication:required row), show idle error Authentication required
         disk
         dan prompts c  -> save(+c >s user:s running)
         disk           -> show user s, show running, prompt s by dan
         fails auth     -> save(idle:error:Authentication:required row ~c)
         disk           -> show idle error Authentication required, answer c: no [auth_required]
         dan prompts d  -> save(+d >b user:b running)
         disk           -> show user b, show running, prompt b by dan
         ends           -> save(idle:end_turn row >d user:d running)
         disk           -> show idle end_turn, answer d: is d, show user d, show running, prompt d by dan",
    );
}

#[test]
fn who_is_not_signed_in_holds_up_nobody_else() {
    check(
        "given ann dan
         dan prompts a  -> save(+a >a user:a running)
         disk           -> answer a: is a, show user a, show running, prompt a by dan
         dan queues b   -> save(+b)
         disk           -> answer b: is b
         ann prompts w  -> save(+w)
         disk
         fails auth     -> save(idle:error:Authentication:required row >w user:w running)
         disk           -> show idle error Authentication required, show user w but ann, show running but ann, prompt w by ann
         ends           -> note(idle:end_turn row), show idle end_turn but ann, answer w: end_turn
         pending?       -> b
         dan queues c   -> save(+c >b user:b running)",
    );
}

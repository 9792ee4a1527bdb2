//! What waits is taken back, replaced, and kept in order.

use super::script::check;

#[test]
fn what_waits_is_delivered_in_the_order_of_its_acceptance() {
    check(
        "given ann bob
         ann prompts a -> save(+a >a user:a running)
         bob queues b  -> save(+b)
         ann queues c  -> save(+c)
         bob queues d  -> save(+d)
         disk          -> show user a but ann, show running but ann, prompt a by ann
         disk          -> answer b: is b
         disk          -> answer c: is c
         disk          -> answer d: is d
         pending?      -> b c d
         ends          -> save(idle:end_turn row >b user:b running)
         disk          -> show idle end_turn but ann, answer a: end_turn, show user b, show running,
                          prompt b by bob
         ends          -> save(idle:end_turn row >c user:c running)
         disk          -> show idle end_turn, show user c, show running, prompt c by ann
         ends          -> save(idle:end_turn row >d user:d running)
         disk          -> show idle end_turn, show user d, show running, prompt d by bob",
    );
}

#[test]
fn before_delivery_a_message_can_be_taken_back_by_anybody() {
    check(
        "given ann bob turn
         ann queues b  -> save(+b)
         disk          -> answer b: is b
         bob revokes b -> save(-b)
         disk          -> answer revokes-b: {}
         ann revokes b -> answer revokes-b: {}
         ends          -> note(idle:end_turn row), show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn from_delivery_on_it_cannot() {
    check(
        "given ann
         ann prompts a -> save(+a >a user:a running)
         ann revokes a
         ann replaces a x
         disk          -> show user a but ann, show running but ann, prompt a by ann,
                          answer revokes-a: no [already_delivered], answer replaces-a: no [already_delivered]
         ann steers b  -> save(+b)
         disk          -> answer b: is b
         break         -> save(>b user:b)
         ann revokes b
         disk          -> show user b, go on with b, answer revokes-b: no [already_delivered]",
    );
}

#[test]
fn an_unknown_message_can_be_neither_taken_back_nor_replaced() {
    check(
        "given ann
         ann revokes z    -> answer revokes-z: no [unknown_message_id]
         ann replaces z x -> answer replaces-z: no [unknown_message_id]",
    );
}

#[test]
fn a_message_can_be_taken_back_before_it_is_on_disk() {
    check(
        "given ann turn
         ann queues b  -> save(+b)
         ann revokes b -> save(-b)
         ends          -> note(idle:end_turn row)
         disk          -> answer b: is b
         disk          -> answer revokes-b: {}, show idle end_turn but ann, answer a: end_turn",
    );
}

#[test]
fn what_is_delivered_is_what_was_said_last() {
    check(
        "given ann bob turn
         bob queues b     -> save(+b)
         disk             -> answer b: is b
         bob replaces b x -> save(b=x)
         disk             -> answer replaces-b: is b
         bob replaces b y -> save(b=y)
         ends             -> save(idle:end_turn row >b user:b=y running)
         disk             -> answer replaces-b: is b
         disk             -> show idle end_turn but ann, answer a: end_turn, show user b=y, show running,
                             prompt b=y by bob",
    );
}

#[test]
fn a_prompt_that_is_taken_back_is_answered() {
    check(
        "given ann bob turn
         ann prompts b -> save(+b)
         bob prompts c -> save(+c)
         disk
         disk
         bob revokes b -> save(-b)
         ann revokes c -> save(-c)
         disk          -> answer b: cancelled, answer revokes-b: {}
         disk          -> answer c: no [Request cancelled], answer revokes-c: {}
         unanswered?   -> a",
    );
}

#[test]
fn what_waits_is_told_when_it_is_on_disk() {
    check(
        "given ann
         ann prompts a    -> save(+a >a user:a running)
         ann queues b     -> save(+b)
         pending?
         disk             -> show user a but ann, show running but ann, prompt a by ann
         pending?
         disk             -> answer b: is b
         pending?         -> b
         ann replaces b x -> save(b=x)
         pending?         -> b
         disk             -> answer replaces-b: is b
         pending?         -> b=x
         ends             -> save(idle:end_turn row >b user:b=x running)
         pending?         -> b=x
         disk             -> show idle end_turn but ann, answer a: end_turn, show user b=x, show running,
                             prompt b=x by ann
         pending?",
    );
}

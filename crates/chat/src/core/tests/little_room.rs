//! Small terminals, and keys that come together.

use super::*;

/// What is drawn in a terminal of this size.
fn drawn(chat: &mut Chat, width: usize, height: usize) -> Vec<String> {
    chat.core.set_size(width, height);
    chat.core.live().rows.iter().map(crate::styled::StyledRow::text).collect()
}

#[test]
fn in_few_rows_it_is_seen_what_enter_would_choose() {
    let mut chat = Chat::running();
    chat.ask(PERMISSION, permission());
    let rows = drawn(&mut chat, 60, 5).join("\n");
    assert!(rows.contains("◆ Write a") && rows.contains("›  1. y Allow"), "{rows}");
    assert!(rows.contains("Enter takes what is marked"), "{rows}");
}

#[test]
fn in_few_rows_the_line_that_is_written_is_seen_beside_what_completes_it() {
    let mut chat = Chat::open();
    chat.types("/");
    let rows = drawn(&mut chat, 60, 5).join("\n");
    assert!(rows.contains("› /\n› /help"), "{rows}");
}

#[test]
fn in_few_columns_no_letter_is_lost() {
    let mut chat = Chat::open();
    chat.core.set_size(19, 24);
    chat.core.note(crate::styled::DIM, "one two three four five six seven eight nine");
    chat.took();
    assert!(chat.finished.iter().all(|row| row.chars().count() <= 19), "{:?}", chat.finished);
    assert_eq!(chat.finished.concat().replace(' ', ""), "onetwothreefourfivesixseveneightnine");
}

#[test]
fn a_letter_and_a_paste_are_what_is_written_and_no_answer() {
    let mut chat = Chat::running();
    chat.ask(PERMISSION, permission());
    chat.types("y");
    chat.core.paste("es, but first explain");
    chat.later(1);
    assert_eq!(chat.answers, Vec::<Value>::new());
    assert!(chat.live().contains("› yes, but first explain"), "{}", chat.live());
}

#[test]
fn what_was_being_said_stays_when_the_chat_is_left() {
    let mut chat = Chat::running();
    chat.update(&json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m", "content": { "type": "text", "text": "half a sentence" } }));
    assert_eq!(chat.finished, Vec::<String>::new());
    let last: Vec<_> = chat.core.last_rows().iter().map(crate::styled::StyledRow::text).collect();
    assert_eq!(last, ["half a sentence"]);
}

#[test]
fn what_looks_like_a_command_and_is_none_is_not_sent() {
    for (line, is_sent) in
        [("/foo2 bar", false), ("/foo_bar", false), ("/usr/bin/env is there", true), ("//foo", true)]
    {
        let mut chat = Chat::open();
        chat.core.line(line);
        chat.took();
        assert_eq!(chat.asked.iter().any(|(_, method, _)| *method == "session/inject"), is_sent, "{line}");
    }
}

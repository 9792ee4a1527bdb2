//! Sessions that are left, chosen and gone back to, and lines of a script in their order.

use super::*;

#[test]
fn a_session_that_was_left_does_not_speak_in_the_next() {
    let mut chat = Chat::running();
    chat.types("/new").press(KeyCode::Enter);
    let late = json!({ "sessionUpdate": "agent_message_chunk", "messageId": "a", "content": { "type": "text", "text": "late\n" } });
    chat.update(&late);
    chat.ask(PERMISSION, permission());
    chat.types("y");
    chat.later(1);
    assert_eq!(chat.answers, Vec::<Value>::new());
    assert!(!chat.finished.iter().any(|row| row.contains("late")), "{:?}", chat.finished);
    chat.reply("session/new", json!({ "sessionId": "other" }));
    assert!(chat.live().contains("○ idle"), "{}", chat.live());
    // One that begins tells of itself before it has a name here.
    chat.press_with(KeyCode::Char('u'), KeyModifiers::CONTROL);
    chat.types("/new").press(KeyCode::Enter);
    let update =
        RawJson::of(&json!({ "sessionUpdate": "state_update", "state": "running" })).expect("it is JSON");
    chat.core.handle(LinkEvent::Update { session: "third".to_owned(), update });
    chat.reply("session/new", json!({ "sessionId": "third" }));
    assert!(chat.live().contains("● working"), "{}", chat.live());
}

#[test]
fn a_session_that_is_gone_back_to_is_not_told_again() {
    let mut chat = Chat::open();
    let said = json!({ "sessionUpdate": "agent_message", "messageId": "a", "content": [{ "type": "text", "text": "once\n" }] });
    chat.update(&said);
    chat.types("/resume typo").press(KeyCode::Enter);
    chat.refuse("session/resume", ErrorCode(-32002), "unknown_session");
    chat.update(&said);
    chat.reply("session/resume", json!({}));
    let count = chat.finished.iter().filter(|row| row.contains("once")).count();
    assert_eq!(count, 1, "{:?}", chat.finished);
}

#[test]
fn all_sessions_of_a_folder_are_listed() {
    let mut chat = Chat::connected(ConversationForm::Drawn, SessionWish::Choose);
    let session = |id: &str, title: &str| json!({ "sessionId": id, "title": title, "updatedAt": "2026-11-18T20:00:00Z" });
    chat.reply("session/list", json!({ "sessions": [session("a", "Birds")], "nextCursor": "more" }));
    let asked = chat.reply("session/list", json!({ "sessions": [session("b", "Trees")] }));
    assert_eq!(asked["cursor"], "more");
    assert!(chat.live().contains("Birds") && chat.live().contains("Trees"), "{}", chat.live());
}

#[test]
fn what_is_meant_as_a_command_is_not_said_to_the_agent() {
    for typed in ["/Quit", "/foo bar", "/nothing"] {
        let mut chat = Chat::open();
        chat.types(typed).press(KeyCode::Enter);
        assert!(chat.asked.is_empty(), "{typed}: {:?}", chat.asked);
        assert!(chat.live().contains(&format!("› {typed}")), "{}", chat.live());
    }
    for (typed, said) in
        [("/usr/bin is there", "/usr/bin is there"), ("//foo", "/foo"), ("/ is a root", "/ is a root")]
    {
        let mut chat = Chat::open();
        chat.types(typed).press(KeyCode::Enter);
        assert_eq!(text_of(&chat.reply("session/inject", json!({ "messageId": "m" }))), said);
    }
    let mut chat = Chat::open();
    chat.types("/set").press(KeyCode::Enter);
    assert!(chat.finished.iter().any(|row| row.contains("mode  Mode: Ask")), "{:?}", chat.finished);
}

#[test]
fn a_message_that_waits_is_steered_with_as_it_was_written_anew() {
    let mut chat = Chat::running();
    chat.pending(&[("a", "queue", "first")]);
    chat.press(KeyCode::Up).press(KeyCode::Enter).types("!").control('s');
    assert_eq!(chat.reply("session/revoke_inject", json!({}))["messageId"], "a");
    let steer = chat.reply("session/inject", json!({ "messageId": "b" }));
    assert_eq!((steer["mode"].as_str(), text_of(&steer)), (Some("steer"), "first!"));
}

#[test]
fn lines_of_a_script_wait_for_their_moment() {
    let opening = Chat::connected(ConversationForm::Spoken, SessionWish::New);
    assert!(!opening.core.takes_line("look", true) && !opening.core.takes_line("look", false));
    let mut chat = Chat::open_as(ConversationForm::Spoken);
    assert!(chat.core.takes_line("look", true));
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
    for (line, is_taken) in
        [("tidy", false), ("yes", false), ("/steer left", true), ("/mode edit", false), ("/quit", false)]
    {
        assert_eq!(chat.core.takes_line(line, true), is_taken, "{line}");
        assert!(chat.core.takes_line(line, false), "{line}");
    }
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "idle" }));
    assert!(chat.core.takes_line("/mode edit", true));
    chat.core.line("/mode edit");
    chat.took();
    assert!(!chat.core.takes_line("tidy", true), "it is to be done in that mode");
    chat.reply("session/set_config_option", json!({}));
    assert!(chat.core.takes_line("tidy", true));
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
    chat.ask(PERMISSION, permission());
    for (line, is_taken) in
        [("1", true), ("no", true), ("tidy", false), ("/steer left", true), ("/mode ask", false)]
    {
        assert_eq!(chat.core.takes_line(line, true), is_taken, "{line}");
    }
    chat.core.line("2");
    chat.took();
    assert_eq!(chat.answers.remove(0)["outcome"]["optionId"], "always");
    // What nobody is there to answer is refused with a word.
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
    chat.ask(PERMISSION, permission());
    chat.core.input_over();
    chat.took();
    assert_eq!(chat.answers[0]["outcome"]["optionId"], "no");
    assert!(
        chat.finished.iter().any(|row| row.contains("nobody is there to answer: Write a")),
        "{:?}",
        chat.finished
    );
}

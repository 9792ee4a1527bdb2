//! What the user is asked, and which keys answer.

use super::*;

#[test]
fn a_permission_is_given_by_a_key_with_the_change_shown() {
    for (key, expected) in [('y', "yes"), ('a', "always"), ('n', "no"), ('2', "always")] {
        let mut chat = Chat::running();
        chat.ask(PERMISSION, permission());
        assert!(chat.live().contains("│ +new") && chat.live().contains("1. y Allow"), "{}", chat.live());
        chat.types(&key.to_string());
        assert_eq!(chat.answers, Vec::<Value>::new(), "it may be the first letter of a word");
        chat.later(1);
        if key == 'a' {
            // What holds for good takes two keys.
            assert_eq!(chat.answers, Vec::<Value>::new());
            chat.press(KeyCode::Enter);
        }
        assert_eq!(chat.answers, [json!({ "outcome": { "outcome": "selected", "optionId": expected } })]);
        assert!(!chat.live().contains("│ +new"), "{}", chat.live());
    }
}

#[test]
fn enter_permits_nothing_for_good_that_was_not_chosen() {
    let mut chat = Chat::running();
    let mut asked = permission();
    asked["options"].as_array_mut().expect("it has some").reverse();
    let always = json!({ "optionId": "always", "name": "Always", "kind": "allow_always" });
    asked["options"].as_array_mut().expect("it has some").insert(0, always);
    chat.ask(PERMISSION, asked.clone());
    chat.press(KeyCode::Enter);
    assert_eq!(chat.answers[0]["outcome"]["optionId"], "yes");
    // Where nothing is permitted once, it is refused.
    let once = asked["options"].as_array_mut().expect("it has some");
    once.retain(|option| option["kind"] != "allow_once");
    let mut chat = Chat::running();
    chat.ask(PERMISSION, asked);
    chat.press(KeyCode::Enter);
    assert_eq!(chat.answers[0]["outcome"]["optionId"], "no");
}

#[test]
fn a_key_that_was_meant_for_something_else_permits_nothing() {
    let mut chat = Chat::running();
    chat.core.handle(LinkEvent::Asked { number: 7, method: PERMISSION.to_owned(), params: permission() });
    chat.press(KeyCode::Enter).types("y");
    assert_eq!(chat.answers, Vec::<Value>::new());
    // A word is a word, whatever it begins with.
    for words in ["why not, and then", "you should not", "no way", "1. look", "always ask"] {
        let mut chat = Chat::running();
        chat.ask(PERMISSION, permission());
        chat.types(words);
        chat.later(1);
        assert_eq!(chat.answers, Vec::<Value>::new(), "{words}");
        assert!(chat.live().contains(&format!("› {words}")), "{}", chat.live());
        assert!(chat.live().contains("say or clear your line first"), "{}", chat.live());
    }
    // Who is writing goes on to write.
    let mut chat = Chat::running();
    chat.types("ma");
    chat.ask(PERMISSION, permission());
    chat.types("ny");
    assert_eq!(chat.answers, Vec::<Value>::new());
    assert!(chat.live().contains("› many"), "{}", chat.live());
}

#[test]
fn what_is_asked_no_more_is_gone() {
    let mut chat = Chat::running();
    chat.ask(PERMISSION, permission());
    chat.core.handle(LinkEvent::Withdrawn { number: 7 });
    chat.types("y");
    assert_eq!(chat.answers, Vec::<Value>::new());
    assert!(chat.live().contains("› y"), "{}", chat.live());
}

#[test]
fn a_long_change_goes_into_the_scrollback_whole() {
    let mut chat = Chat::running();
    let mut asked = permission();
    let patch = format!(
        "@@ -0,0 +1,30 @@\n{}",
        (0..30).map(|at| format!("+line {at}")).collect::<Vec<_>>().join("\n")
    );
    asked["subject"]["toolCall"]["content"][0]["patch"]["text"] = json!(patch);
    chat.ask(PERMISSION, asked);
    let told = chat.finished.join("\n");
    assert!(told.contains("│ +line 0") && told.contains("│ +line 29"), "{told}");
    assert!(chat.core.live().rows.len() < 24);
}

#[test]
fn what_was_told_of_a_call_is_shown_with_the_question() {
    let mut chat = Chat::running();
    chat.update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Clean", "rawInput": { "command": "rm -rf x" } }));
    let subject = json!({ "type": "tool_call", "toolCall": { "toolCallId": "t" } });
    chat.ask(PERMISSION, json!({ "sessionId": "s", "title": "May I?", "subject": subject, "options": permission()["options"] }));
    assert!(chat.live().contains("command  rm -rf x"), "{}", chat.live());
}

#[test]
fn a_question_of_another_session_is_not_answered_here() {
    let mut chat = Chat::running();
    let mut asked = permission();
    asked["sessionId"] = json!("other");
    chat.ask(PERMISSION, asked);
    chat.types("y");
    assert_eq!(chat.answers, Vec::<Value>::new());
    assert!(
        chat.finished.iter().any(|row| row.contains("another session asks: Write a")),
        "{:?}",
        chat.finished
    );
}

#[test]
fn a_form_does_not_take_what_is_being_written() {
    let mut chat = Chat::running();
    chat.types("half a li");
    chat.ask(
        "elicitation/create",
        json!({ "mode": "form", "message": "Who?", "sessionId": "s", "requestedSchema": {
        "type": "object", "properties": { "name": { "type": "string" } } } }),
    );
    chat.types("ne");
    assert!(chat.live().contains("› half a line"), "{}", chat.live());
    chat.press(KeyCode::Enter);
    assert_eq!(text_of(&chat.reply("session/inject", json!({ "messageId": "m" }))), "half a line");
    chat.later(1);
    chat.types("ada").press(KeyCode::Enter);
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": { "name": "ada" } })]);
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let mut chat = Chat::running();
    chat.ask("elicitation/create", json!({ "mode": "form", "message": "Who?", "sessionId": "s", "requestedSchema": {
        "type": "object", "required": ["name"], "properties": {
            "age": { "type": "integer", "minimum": 3 },
            "bird": { "type": "string", "oneOf": [{ "const": "wren", "title": "Wren" }, { "const": "rook", "title": "Rook" }] },
            "name": { "type": "string" },
        } } }));
    assert!(chat.live().contains("◆ Who?"), "{}", chat.live());
    chat.types("x").press(KeyCode::Enter);
    assert!(chat.live().contains("a whole num"), "{}", chat.live());
    chat.press(KeyCode::Backspace).types("1").press(KeyCode::Enter);
    assert!(chat.live().contains("at least 3"), "{}", chat.live());
    chat.types("2").press(KeyCode::Enter).types("2").press(KeyCode::Enter);
    chat.press(KeyCode::Enter);
    assert!(chat.live().contains("it is needed"), "{}", chat.live());
    chat.types("ada").press(KeyCode::Enter);
    assert_eq!(
        chat.answers,
        [json!({ "action": "accept", "content": { "age": 12, "bird": "rook", "name": "ada" } })]
    );
}

/// A chat that is asked for these fields.
fn asked_for(properties: &Value) -> Chat {
    let schema = json!({ "type": "object", "properties": properties });
    let mut chat = Chat::running();
    chat.ask(
        "elicitation/create",
        json!({ "mode": "form", "message": "Who?", "sessionId": "s", "requestedSchema": schema }),
    );
    chat
}

#[test]
fn a_default_is_taken_as_it_is() {
    let several = json!({ "type": "string", "enum": ["a", "red, white"] });
    let default = json!({ "a": "one\ntwo", "b": ["red, white", "a"], "c": "  x ", "d": ["p, q"], "e": 3 });
    let mut chat = asked_for(&json!({
        "a": { "type": "string", "default": default["a"] },
        "b": { "type": "array", "items": several, "default": default["b"] },
        "c": { "type": "string", "default": default["c"] },
        "d": { "type": "array", "items": { "type": "string" }, "default": default["d"] },
        "e": { "type": "integer", "default": default["e"] },
    }));
    assert!(chat.live().contains("› one two"), "{}", chat.live());
    // Also by who comes back to it.
    chat.press(KeyCode::Enter).press(KeyCode::Up);
    for _ in 0..5 {
        chat.press(KeyCode::Enter);
    }
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": default })]);
}

#[test]
fn what_was_typed_for_a_field_is_there_when_the_user_comes_back() {
    let mut chat = asked_for(&json!({
        "a": { "type": "string" },
        "b": { "type": "string", "default": "x" },
        "c": { "type": "integer", "title": "Your age" },
    }));
    chat.types("one").press(KeyCode::Enter).press(KeyCode::Backspace).press(KeyCode::Enter).types("old");
    chat.press(KeyCode::Enter);
    assert!(chat.live().contains("the field `Your age`"), "{}", chat.live());
    chat.press(KeyCode::Up);
    assert!(!chat.live().contains("› x") && !chat.live().contains("`Your age`"), "{}", chat.live());
    chat.press(KeyCode::Up).types("!").press(KeyCode::Enter).press(KeyCode::Enter);
    assert!(chat.live().contains("› old"), "{}", chat.live());
    chat.control('u').types("4").press(KeyCode::Enter);
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": { "a": "one!", "c": 4 } })]);
}

#[test]
fn how_many_choices_are_not_shown_is_said() {
    let choices: Vec<_> = (1..=50).map(|number| format!("bird {number}")).collect();
    let mut chat = asked_for(&json!({ "bird": { "type": "string", "enum": choices } }));
    let live = chat.live();
    assert!(live.contains("24. bird 24\n  … 26 more; type the number or the name"), "{live}");
    chat.types("50").press(KeyCode::Enter);
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": { "bird": "bird 50" } })]);
}

#[test]
fn a_page_is_agreed_to_or_done_elsewhere() {
    let page =
        json!({ "mode": "url", "message": "Sign in", "url": "http://127.0.0.1:1/x", "elicitationId": "e" });
    let mut chat = Chat::running();
    chat.ask("elicitation/create", page.clone());
    assert!(chat.finished.iter().any(|row| row.contains("http://127.0.0.1:1/x")), "{:?}", chat.finished);
    chat.types("y");
    chat.later(1);
    assert_eq!(chat.answers, [json!({ "action": "accept" })]);
    let mut chat = Chat::running();
    chat.ask("elicitation/create", page);
    chat.core.handle(LinkEvent::PageDone { elicitation: "e".to_owned() });
    chat.took();
    assert_eq!(chat.answers, [json!({ "action": "accept" })]);
}

#[test]
fn a_text_that_does_not_match_is_asked_for_again() {
    let mut chat = asked_for(&json!({ "a": { "type": "string", "pattern": "^[a-z]+$" } }));
    chat.types("ABC").press(KeyCode::Enter);
    assert!(chat.live().contains("expected what matches ^[a-z]+$"), "{}", chat.live());
    assert_eq!(chat.answers, Vec::<Value>::new());
    chat.control('u').types("abc").press(KeyCode::Enter);
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": { "a": "abc" } })]);
}

#[test]
fn what_is_pasted_into_a_form_is_written_into_its_field() {
    let mut chat = asked_for(&json!({ "a": { "type": "string" } }));
    chat.core.paste("Ada Lovelace\nand more");
    assert!(chat.live().contains("› Ada Lovelace"), "{}", chat.live());
    chat.press(KeyCode::Enter);
    assert_eq!(chat.answers, [json!({ "action": "accept", "content": { "a": "Ada Lovelace" } })]);
}

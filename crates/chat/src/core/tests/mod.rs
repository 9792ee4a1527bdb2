//! What keys and events come to, in memory.

mod asked;
mod little_room;
mod sessions;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use nudge_wire::{ErrorCode, RawJson};

use super::*;

/// A chat with a session, the time and what it wanted so far.
struct Chat {
    core: ChatCore,
    asked: Vec<(u64, &'static str, Value)>,
    answers: Vec<Value>,
    told: Vec<(&'static str, Value)>,
    has_left: bool,
    finished: Vec<String>,
}

impl Chat {
    /// Nothing is connected yet.
    fn begun(form: ConversationForm, wish: SessionWish) -> Self {
        let mut core = ChatCore::new(form, wish, "/birds".to_owned(), 1);
        core.set_size(60, 24);
        let (asked, answers, told) = (Vec::new(), Vec::new(), Vec::new());
        Self { core, asked, answers, told, has_left: false, finished: Vec::new() }
    }

    fn connected(form: ConversationForm, wish: SessionWish) -> Self {
        let mut chat = Self::begun(form, wish);
        chat.core.connected(&json!({ "info": { "name": "nudge", "title": "Nudge" }, "authMethods": [
            { "type": "agent", "methodId": "key", "name": "A key" },
            { "type": "terminal", "methodId": "tty", "name": "Terminal", "args": ["--in"], "env": { "A": "b" } },
        ] }));
        chat.took();
        chat
    }

    /// A chat in a new session.
    fn open() -> Self {
        Self::open_as(ConversationForm::Drawn)
    }

    fn open_as(form: ConversationForm) -> Self {
        let mut chat = Self::connected(form, SessionWish::New);
        chat.reply(
            "session/new",
            json!({ "sessionId": "s", "configOptions": [
            { "configId": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
              "options": [{ "value": "ask", "name": "Ask" }, { "value": "edit", "name": "Edit" }] },
        ] }),
        );
        chat
    }

    /// A chat in whose session a turn runs.
    fn running() -> Self {
        let mut chat = Self::open();
        chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
        chat
    }

    fn took(&mut self) {
        for act in self.core.take_acts() {
            match act {
                ChatAct::Ask { number, method, params } => self.asked.push((number, method, params)),
                ChatAct::Tell { method, params } => self.told.push((method, params)),
                ChatAct::Answer { result, .. } => self.answers.push(result),
                ChatAct::Leave => self.has_left = true,
                _ => {}
            }
        }
        let rows = self.core.take_rows();
        self.finished.extend(rows.iter().map(crate::styled::StyledRow::text));
    }

    /// The oldest request of this method, which is answered.
    fn reply(&mut self, method: &str, result: Value) -> Value {
        self.answer(method, Ok(result))
    }

    fn refuse(&mut self, method: &str, code: ErrorCode, reason: &str) -> Value {
        let error = LinkError {
            message: "no".to_owned(),
            code: Some(code),
            reason: Some(reason.to_owned()),
            data: json!({}),
        };
        self.answer(method, Err(error))
    }

    fn answer(&mut self, method: &str, outcome: Result<Value, LinkError>) -> Value {
        let at = self.asked.iter().position(|(_, asked, _)| *asked == method);
        let (number, _, params) =
            self.asked.remove(at.unwrap_or_else(|| panic!("{method}: {:?}", self.asked)));
        self.core.handle(LinkEvent::Answered { number, outcome });
        self.took();
        params
    }

    fn update(&mut self, update: &Value) {
        let update = RawJson::of(update).expect("it is JSON");
        self.core.handle(LinkEvent::Update { session: "s".to_owned(), update });
        self.took();
    }

    fn pending(&mut self, messages: &[(&str, &str, &str)]) {
        let one = |(id, mode, text): &(&str, &str, &str)| json!({ "messageId": id, "mode": mode, "content": [{ "type": "text", "text": text }] });
        let pending = messages.iter().map(one).collect();
        self.core.handle(LinkEvent::Pending { session: "s".to_owned(), pending });
        self.took();
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.core.handle(LinkEvent::Asked { number: 7, method: method.to_owned(), params });
        // Whoever is asked needs a moment to see it.
        self.later(1);
        self.took();
    }

    fn later(&mut self, seconds: u64) {
        let now = self.core.now + Duration::from_secs(seconds);
        self.core.set_now(now);
        self.took();
    }

    fn press(&mut self, code: KeyCode) -> &mut Self {
        self.press_with(code, KeyModifiers::NONE)
    }

    fn control(&mut self, c: char) -> &mut Self {
        self.press_with(KeyCode::Char(c), KeyModifiers::CONTROL)
    }

    fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) -> &mut Self {
        self.core.key(KeyEvent::new(code, modifiers));
        self.took();
        self
    }

    fn types(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
        }
        self
    }

    fn live(&self) -> String {
        let rows: Vec<_> = self.core.live().rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        rows.join("\n")
    }
}

fn text_of(params: &Value) -> &str {
    params["content"][0]["text"].as_str().expect("it has a text")
}

const PERMISSION: &str = "session/request_permission";

fn permission() -> Value {
    json!({ "sessionId": "s", "title": "Write a", "subject": { "type": "tool_call", "toolCall": { "toolCallId": "t", "content": [
        { "type": "diff", "changes": [{ "operation": "add", "path": "/birds/a" }],
          "patch": { "format": "git_patch", "text": "@@ -0,0 +1 @@\n+new\n" } },
    ] } }, "options": [
        { "optionId": "yes", "name": "Allow", "kind": "allow_once" },
        { "optionId": "always", "name": "Always allow", "kind": "allow_always" },
        { "optionId": "no", "name": "Reject", "kind": "reject_once" },
    ] })
}

#[test]
fn what_is_said_is_queued_and_what_is_pressed_with_alt_steers() {
    let mut chat = Chat::open();
    chat.types("hello").press(KeyCode::Enter);
    let said = chat.reply("session/inject", json!({ "messageId": "m" }));
    assert_eq!((said["mode"].as_str(), text_of(&said)), (Some("queue"), "hello"));
    assert!(said["_meta"]["idempotencyKey"].is_string());
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
    assert!(chat.live().contains("Enter queues · Alt-Enter or Ctrl-S steers"), "{}", chat.live());
    for (code, modifiers) in
        [(KeyCode::Enter, KeyModifiers::ALT), (KeyCode::Char('s'), KeyModifiers::CONTROL)]
    {
        chat.types("left").press_with(code, modifiers);
        assert_eq!(chat.reply("session/inject", json!({ "messageId": "n" }))["mode"], "steer");
    }
    chat.types("later").press(KeyCode::Enter);
    assert_eq!(chat.reply("session/inject", json!({ "messageId": "o" }))["mode"], "queue");
}

#[test]
fn a_steer_that_comes_too_late_begins_a_turn() {
    let mut chat = Chat::running();
    chat.types("left").control('s');
    chat.refuse("session/inject", ErrorCode(-32010), "no_running_turn");
    let again = chat.reply("session/inject", json!({ "messageId": "m" }));
    assert_eq!((again["mode"].as_str(), text_of(&again)), (Some("queue"), "left"));
}

#[test]
fn what_was_not_accepted_is_not_lost() {
    let mut chat = Chat::open();
    chat.types("hello").press(KeyCode::Enter);
    chat.refuse("session/inject", ErrorCode::INTERNAL_ERROR, "disk_full");
    assert!(chat.live().contains("› hello"), "{}", chat.live());
    assert!(chat.finished.iter().any(|row| row.contains("it was not said: no")), "{:?}", chat.finished);
}

#[test]
fn that_a_message_was_accepted_may_be_learned_at_any_time() {
    // The answer comes before all else, behind the message, behind the beginning of the turn, and behind its end.
    for learned_after in 0..4 {
        let mut chat = Chat::open();
        chat.core.line("hello");
        chat.took();
        let events = [
            json!({ "sessionUpdate": "user_message", "messageId": "m", "content": [{ "type": "text", "text": "hello" }] }),
            json!({ "sessionUpdate": "state_update", "state": "running" }),
            json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" }),
        ];
        for (at, event) in events.iter().enumerate() {
            if at == learned_after {
                chat.reply("session/inject", json!({ "messageId": "m" }));
            }
            assert!(chat.core.is_busy(), "{learned_after}: before {event}");
            chat.update(event);
        }
        if learned_after == 3 {
            chat.reply("session/inject", json!({ "messageId": "m" }));
        }
        assert!(!chat.core.is_busy(), "{learned_after}");
    }
}

#[test]
fn what_waits_now_is_not_what_waited_at_first() {
    let mut chat = Chat::connected(ConversationForm::Drawn, SessionWish::Resume("s".to_owned()));
    chat.pending(&[]);
    let before =
        json!([{ "messageId": "m", "mode": "queue", "content": [{ "type": "text", "text": "old" }] }]);
    chat.reply("session/resume", json!({ "_meta": { "inject": { "pending": before } } }));
    assert!(!chat.core.is_busy(), "it was delivered meanwhile");
}

#[test]
fn what_waits_is_edited_taken_back_and_made_a_steer() {
    let mut chat = Chat::running();
    chat.pending(&[("a", "queue", "first"), ("b", "queue", "second")]);
    assert!(chat.live().contains("⧗ queued first\n⧗ queued second"), "{}", chat.live());
    chat.types("draft").press(KeyCode::Home).control('k');
    // Edited: what it says stands in the place of what is written.
    chat.press(KeyCode::Up).press(KeyCode::Up).press(KeyCode::Enter).types("!");
    assert!(chat.live().contains("✎ first!"), "{}", chat.live());
    chat.press(KeyCode::Enter);
    let replaced = chat.reply("session/replace_inject", json!({ "messageId": "a" }));
    assert_eq!((replaced["messageId"].as_str(), text_of(&replaced)), (Some("a"), "first!"));
    // Taken back.
    chat.press(KeyCode::Up).press(KeyCode::Delete);
    assert_eq!(chat.reply("session/revoke_inject", json!({}))["messageId"], "b");
    chat.pending(&[("a", "queue", "first!")]);
    // A steer: taken back, and said again.
    chat.press(KeyCode::Up).control('s');
    assert_eq!(chat.reply("session/revoke_inject", json!({}))["messageId"], "a");
    let steer = chat.reply("session/inject", json!({ "messageId": "c" }));
    assert_eq!((steer["mode"].as_str(), text_of(&steer)), (Some("steer"), "first!"));
}

#[test]
fn an_edit_that_comes_too_late_keeps_its_words() {
    let mut chat = Chat::running();
    chat.pending(&[("a", "queue", "first")]);
    chat.press(KeyCode::Up).press(KeyCode::Enter).types("!").press(KeyCode::Enter);
    chat.refuse("session/replace_inject", ErrorCode(-32010), "already_delivered");
    assert!(chat.live().contains("› first!"), "{}", chat.live());
}

#[test]
fn an_answer_about_a_session_that_was_left_is_not_heard() {
    let mut chat = Chat::connected(ConversationForm::Drawn, SessionWish::New);
    chat.types("/resume old").press(KeyCode::Enter);
    chat.reply("session/new", json!({ "sessionId": "new" }));
    chat.reply("session/resume", json!({}));
    assert_eq!(chat.core.session_id(), Some("old"));
    // One that is not there leads back.
    chat.types("/resume typo").press(KeyCode::Enter);
    chat.refuse("session/resume", ErrorCode(-32002), "unknown_session");
    assert_eq!(chat.reply("session/resume", json!({}))["sessionId"], "old");
    assert_eq!(chat.core.session_id(), Some("old"));
}

#[test]
fn escape_stops_the_turn_and_control_c_leaves() {
    let mut chat = Chat::running();
    chat.press(KeyCode::Esc);
    assert_eq!(chat.told, [("session/cancel", json!({ "sessionId": "s" }))]);
    chat.types("half").control('c');
    assert!(!chat.live().contains("half") && !chat.has_left);
    chat.control('c');
    assert!(!chat.has_left && chat.live().contains("Ctrl-C again leaves"), "{}", chat.live());
    chat.control('c');
    assert!(chat.has_left);
    let mut chat = Chat::open();
    chat.control('d');
    assert!(chat.has_left);
}

#[test]
fn files_and_commands_are_completed_and_files_are_linked() {
    let mut chat = Chat::open();
    chat.core.set_files(vec!["src/main.rs".to_owned(), "docs/a b%.md".to_owned()]);
    chat.update(&json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
        { "name": "compact", "description": "shorten", "input": { "hint": "what" } }] }));
    chat.types("see @mai");
    assert!(chat.live().contains("@src/main.rs"), "{}", chat.live());
    chat.press(KeyCode::Tab).press(KeyCode::Enter);
    let said = chat.reply("session/inject", json!({ "messageId": "m" }));
    assert_eq!(said["content"][1]["uri"], "file:///birds/src/main.rs", "{said}");
    chat.types("/comp");
    assert!(chat.live().contains("/compact  ‹what› shorten"), "{}", chat.live());
    chat.press(KeyCode::Enter).press(KeyCode::Enter);
    assert_eq!(text_of(&chat.reply("session/inject", json!({ "messageId": "m" }))).trim(), "/compact");
}

#[test]
fn a_mode_is_chosen_by_name_and_by_key() {
    let mut chat = Chat::open();
    chat.types("/mode ed").press(KeyCode::Enter);
    assert_eq!(chat.reply("session/set_config_option", json!({}))["value"], "edit");
    chat.press(KeyCode::BackTab);
    assert_eq!(chat.reply("session/set_config_option", json!({}))["value"], "edit");
    chat.types("/mode").press(KeyCode::Esc).press(KeyCode::Enter);
    assert!(chat.finished.iter().any(|row| row.contains("› ask  Ask")), "{:?}", chat.finished);
}

#[test]
fn a_connection_that_is_lost_loses_no_word() {
    let mut chat = Chat::running();
    chat.update(&json!({ "sessionUpdate": "agent_message_chunk", "messageId": "a", "content": { "type": "text", "text": "One. T" } }));
    chat.types("more").press(KeyCode::Enter);
    let key = chat.asked[0].2["_meta"]["idempotencyKey"].clone();
    chat.core.handle(LinkEvent::Over("it broke".to_owned()));
    chat.took();
    chat.types("typed meanwhile").press(KeyCode::Enter);
    chat.asked.clear();
    chat.core.connected(&json!({}));
    chat.took();
    let whole = json!({ "sessionUpdate": "agent_message", "messageId": "a", "content": [{ "type": "text", "text": "One. Two." }] });
    chat.update(&whole);
    let resumed = chat.reply("session/resume", json!({}));
    assert_eq!(resumed["replayFrom"]["type"], "start");
    let said: Vec<_> = chat.asked.iter().map(|(_, _, params)| params.clone()).collect();
    assert_eq!(
        (said.len(), &said[0]["_meta"]["idempotencyKey"]),
        (2, &key),
        "the same message under its key"
    );
    assert_eq!(text_of(&said[1]), "typed meanwhile");
    chat.core.conversation.end_turn();
    chat.took();
    let shown = chat.finished.join("\n");
    assert_eq!(shown.matches("One.").count(), 1, "{shown}");
    assert!(shown.contains("wo."), "{shown}");
}

#[test]
fn who_is_not_signed_in_is_told_how_and_goes_on() {
    let mut chat = Chat::connected(ConversationForm::Drawn, SessionWish::New);
    chat.types("hello").press(KeyCode::Enter);
    chat.refuse("session/new", ErrorCode::AUTH_REQUIRED, "auth_required");
    assert!(chat.finished.iter().any(|row| row.contains("/login 1  A key")), "{:?}", chat.finished);
    chat.types("/login 1").press(KeyCode::Enter);
    assert_eq!(chat.reply("auth/login", json!({}))["methodId"], "key");
    chat.reply("session/new", json!({ "sessionId": "s" }));
    assert_eq!(
        text_of(&chat.reply("session/inject", json!({ "messageId": "m" }))),
        "hello",
        "what was said goes out"
    );
}

#[test]
fn a_session_is_chosen_from_a_list() {
    let mut chat = Chat::connected(ConversationForm::Drawn, SessionWish::Choose);
    let session = |id: &str, title: &str| json!({ "sessionId": id, "title": title, "updatedAt": "2026-11-18T20:00:00Z" });
    let listed =
        json!({ "sessions": [session("a", "Birds"), session("b", "Trees"), session("s", "More trees")] });
    assert_eq!(chat.reply("session/list", listed)["cwd"], "/birds");
    assert!(chat.live().contains("› 2026-11-18 20:00  Birds"), "{}", chat.live());
    chat.types("tree").press(KeyCode::Down).press(KeyCode::Enter);
    assert_eq!(
        chat.asked.last().map(|(_, method, params)| (*method, params["sessionId"].as_str())),
        Some(("session/resume", Some("s")))
    );
    let said = json!({ "sessionUpdate": "agent_message", "messageId": "a", "content": [{ "type": "text", "text": "row\n".repeat(1000) }] });
    chat.update(&said);
    assert_eq!(chat.finished, Vec::<String>::new());
    let waiting =
        json!([{ "messageId": "m", "mode": "queue", "content": [{ "type": "text", "text": "later" }] }]);
    chat.reply("session/resume", json!({ "_meta": { "inject": { "pending": waiting } } }));
    assert!(chat.finished[0].starts_with("… 700 rows before"), "{}", chat.finished[0]);
    assert_eq!(chat.finished.len(), 301);
    assert!(chat.live().contains("⧗ queued later"), "{}", chat.live());
}

#[test]
fn it_can_be_read_aloud_and_answered_in_lines() {
    let mut chat = Chat::open_as(ConversationForm::Spoken);
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "running" }));
    chat.ask(PERMISSION, permission());
    let told = chat.finished.join("\n");
    assert!(
        told.contains("Permission: Write a") && told.contains("1. Allow") && told.contains("+new"),
        "{told}"
    );
    chat.core.line("maybe");
    chat.core.line("/queue later");
    chat.core.line("1");
    chat.took();
    assert_eq!(chat.answers, [json!({ "outcome": { "outcome": "selected", "optionId": "yes" } })]);
    assert_eq!(text_of(&chat.reply("session/inject", json!({ "messageId": "m" }))), "later");
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn" }));
    assert!(
        chat.finished.last().is_some_and(|row| row.starts_with("The turn is over")),
        "{:?}",
        chat.finished
    );
    assert!(chat.finished.iter().all(|row| !row.contains('\u{1b}')));
}

#[test]
fn plan_and_usage_are_shown() {
    let mut chat = Chat::running();
    chat.update(&json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "entries": [
        { "content": "First", "status": "completed" }, { "content": "Second", "status": "in_progress" }] } }));
    chat.update(&json!({ "sessionUpdate": "usage_update", "used": 12_345, "size": 200_000, "cost": { "amount": 0.5, "currency": "USD" } }));
    let live = chat.live();
    assert!(live.contains("✓ First\n  › Second") && live.contains("12k/200k · $0.50"), "{live}");
    chat.later(75);
    assert!(chat.live().contains("● working 1m15s"), "{}", chat.live());
    chat.update(&json!({ "sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled" }));
    assert!(
        chat.finished.iter().any(|row| row == "· stopped") && chat.live().contains("○ idle"),
        "{:?}",
        chat.finished
    );
}

mod any_input {
    use proptest::prelude::*;

    use super::*;

    fn code(number: u8) -> (KeyCode, KeyModifiers) {
        match number {
            0 => (KeyCode::Enter, KeyModifiers::NONE),
            1 => (KeyCode::Enter, KeyModifiers::ALT),
            2 => (KeyCode::Up, KeyModifiers::NONE),
            3 => (KeyCode::Down, KeyModifiers::NONE),
            4 => (KeyCode::Esc, KeyModifiers::NONE),
            5 => (KeyCode::Tab, KeyModifiers::NONE),
            6 => (KeyCode::Backspace, KeyModifiers::NONE),
            7 => (KeyCode::Char('s'), KeyModifiers::CONTROL),
            8 => (KeyCode::Char('o'), KeyModifiers::CONTROL),
            9 => (KeyCode::Char('/'), KeyModifiers::NONE),
            10 => (KeyCode::Char('@'), KeyModifiers::NONE),
            11 => (KeyCode::Char('漢'), KeyModifiers::NONE),
            12 => (KeyCode::BackTab, KeyModifiers::NONE),
            13 => (KeyCode::Delete, KeyModifiers::NONE),
            _ => (KeyCode::Char(char::from(b'a' + number % 26)), KeyModifiers::NONE),
        }
    }

    proptest! {
        #[test]
        fn what_is_drawn_fits_the_terminal(
            keys in prop::collection::vec(0u8..40, 0..80), width in 20usize..70, height in 4usize..30, asks in 0usize..3,
        ) {
            let mut chat = Chat::running();
            chat.core.set_size(width, height);
            chat.core.set_files(vec!["a/漢.rs".to_owned()]);
            chat.pending(&[("a", "queue", "first"), ("b", "steer", "second")]);
            for (at, key) in keys.iter().enumerate() {
                if asks > 0 && at == 20 {
                    chat.ask(PERMISSION, permission());
                }
                let (code, modifiers) = code(*key);
                chat.press_with(code, modifiers);
                let live = chat.core.live();
                prop_assert!(live.rows.len() < height.max(5), "{} rows", live.rows.len());
                prop_assert!(live.rows.iter().all(|row| row.width() <= width), "{}", chat.live());
                prop_assert!(live.cursor.0 < live.rows.len() && live.cursor.1 <= width, "{:?}", live.cursor);
            }
        }

        #[test]
        fn no_update_breaks_it(kind in "[a-z_]{0,12}", text in "\\PC{0,40}", number in any::<i64>()) {
            let mut chat = Chat::running();
            for member in ["content", "plan", "title", "cost", "configOptions", "availableCommands", "toolCallId", "output"] {
                for value in [json!(text), json!(number), json!([text]), json!({ "entries": [{ "content": number }], "text": text })] {
                    chat.update(&json!({ "sessionUpdate": kind, member: value }));
                    for known in ["tool_call_update", "agent_message_chunk", "plan_update", "terminal_output_chunk", "usage_update",
                        "config_option_update", "available_commands_update", "notice", "state_update", "session_info_update"] {
                        chat.update(&json!({ "sessionUpdate": known, "toolCallId": "t", member: value }));
                    }
                }
            }
            let _ = chat.core.live();
        }
    }
}

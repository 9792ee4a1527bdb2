//! What the user refused, with the engine itself: it does not come back by itself, whatever is done around it.

use nudge_nes::{NesConnection, NesOptions, NesService, SettingValue};
use nudge_wire::{
    Version,
    document::{DidChange, DidFocus, DidOpen},
    nes::v1::{Position, SuggestRequest, SuggestResponse, Suggestion, TriggerKind},
};
use serde_json::{Value, json};

use crate::editor::{URI, begin, client, piece};

const LOOP: &str =
    "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n    print(total)\n    return total\n";

/// A client that types.
struct Person {
    connection: NesConnection,
    session: String,
    text: String,
    version: i64,
}

impl Person {
    fn new(capabilities: &Value, text: &str) -> Self {
        let service = NesService::new(NesOptions { index: false, ..NesOptions::default() });
        let connection = service.connect(&client(Version::V1, capabilities));
        let session = begin(&connection, &json!({}));
        let eager = SettingValue::Id("high".to_owned());
        connection.set_config_option(&session, "eagerness", &eager).expect("it can be set");
        connection.did_open(DidOpen::new(&session, URI, "python", 1, text));
        Self { connection, session, text: text.to_owned(), version: 1 }
    }

    fn position(&self, at: usize) -> (u32, u32) {
        let line = self.text[..at].matches('\n').count();
        let start = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        (u32::try_from(line).unwrap(), u32::try_from(at - start).unwrap())
    }

    /// Replaces the first occurrence of a text; the end of the new one.
    fn edit(&mut self, old: &str, new: &str) -> usize {
        let at = self.text.find(old).expect("the text is there");
        let ((line, character), (end_line, end)) = (self.position(at), self.position(at + old.len()));
        self.version += 1;
        let change = piece((line, character, end_line, end), new);
        self.connection.did_change(DidChange::new(&self.session, URI, self.version, vec![change]), 0);
        self.text.replace_range(at..at + old.len(), new);
        at + new.len()
    }

    fn ask(&self, at: usize, trigger: TriggerKind) -> Vec<Suggestion> {
        let (line, character) = self.position(at);
        let position = Position::new(line, character);
        let request = SuggestRequest::new(&self.session, URI, self.version, position, trigger);
        let response = self.connection.suggest(request, 0).and_then(nudge_nes::PendingSuggestion::run);
        SuggestResponse::from(response.expect("an answer")).suggestions
    }

    fn reject(&self, suggestion: &Suggestion) {
        self.connection.reject(&self.session, suggestion.id(), None);
    }

    /// The new texts of everything that is suggested when the user goes to a text, unasked and asked.
    fn said_at(&self, text: &str) -> Vec<String> {
        let at = self.text.find(text).expect("the text is there");
        let asked = [TriggerKind::Automatic, TriggerKind::Manual].map(|trigger| self.ask(at, trigger));
        let said = asked.into_iter().flatten().map(|suggestion| match suggestion {
            Suggestion::Edit(edit) => edit.edits.into_iter().map(|edit| edit.new_text).collect(),
            other => format!("{other:?}"),
        });
        said.collect()
    }
}

#[test]
fn nothing_around_it_brings_it_back() {
    let mut person = Person::new(&json!({}), LOOP);
    let at = person.edit("total", "amount");
    let shown = person.ask(at, TriggerKind::Automatic);
    assert!(!shown.is_empty());
    for suggestion in &shown {
        person.reject(suggestion);
    }
    let edits =
        [("in xs:", "in xs:  # loop"), ("+= x", "+= x * 2"), ("print(", "show(1, "), ("def", "# top\ndef")];
    for (old, new) in edits {
        person.edit(old, new);
        for place in ["total +=", "total)", "return total"] {
            let said = person.said_at(place);
            assert!(said.iter().all(|said| !said.contains("amount")), "{new} {place}: {said:?}");
        }
    }
}

#[test]
fn it_does_not_come_back_as_another_kind() {
    let all = json!({"nes": {"jump": {}, "rename": {}, "searchAndReplace": {}}});
    let text = LOOP.replace("        total += x\n", "        total += x\n        total -= 1\n");
    let mut person = Person::new(&all, &text);
    let at = person.edit("total", "amount");
    let shown = person.ask(at, TriggerKind::Automatic);
    assert!(shown.iter().any(|other| matches!(other, Suggestion::SearchAndReplace(_))), "{shown:?}");
    let edit = shown.iter().find(|shown| matches!(shown, Suggestion::Edit(_))).expect("an edit");
    person.reject(edit);
    let replaces =
        |shown: &[Suggestion]| shown.iter().any(|it| matches!(it, Suggestion::SearchAndReplace(_)));
    assert!(!replaces(&person.ask(at, TriggerKind::Automatic)));
    let at = person.edit("def", "# top\ndef");
    assert!(!replaces(&person.ask(at, TriggerKind::Manual)));
}

#[test]
fn a_jump_comes_once() {
    let text = format!("def area(w, h):\n    return w * h\n\n{}\nprint(area(1, 2))\n", "x = 1\n".repeat(100));
    let mut person = Person::new(&json!({"nes": {"jump": {}}}), &text);
    let screen = piece((0, 0, 30, 0), "").range.expect("a range");
    let event = DidFocus::new(&person.session, URI, 1, Position::new(0, 0), screen);
    person.connection.did_focus(event);
    let at = person.edit("area", "surface");
    let shown = person.ask(at, TriggerKind::Automatic);
    assert!(matches!(shown.first(), Some(Suggestion::Jump(_))), "{shown:?}");
    person.connection.accept(&person.session, shown[0].id());
    // The editor does not tell that it shows another part now.
    let there = person.text.find("area(1").expect("it is there");
    let shown = person.ask(there, TriggerKind::Automatic);
    assert!(matches!(shown.first(), Some(Suggestion::Edit(_))), "{shown:?}");
    assert!(shown.iter().all(|shown| !matches!(shown, Suggestion::Jump(_))), "{shown:?}");
}

//! A form that an agent asks for, filled in from a terminal.

use serde_json::json;

use super::{Client, Place, check_each};

/// What a command says, and whether it went well.
fn run(place: &Place, args: &[&str]) -> (bool, String) {
    let (status, lines, errors) = place.nudge(args, "on").finish();
    (status.success(), format!("{}\n{errors}", lines.join("\n")))
}

/// A client that can show forms.
fn client(place: &Place, options: &str, version: u64) -> Client {
    let offers = json!({ "elicitation": { "form": {} } });
    let mut client = Client::new(place.start(&[], options, "on"), version, &offers);
    client.new_session(&place.cwd());
    client
}

#[test]
fn a_form_is_filled_in_from_a_terminal() {
    check_each([("", 1), ("", 2), ("--v2", 1), ("--v2", 2)], |(options, version)| {
        let place = Place::new();
        let mut client = client(&place, options, version);
        client.prompt("form");
        assert_eq!(client.agent_request()["method"], "elicitation/create");
        let session = client.session.clone();
        assert!(run(&place, &["status"]).1.contains("waits for you"));
        let (is_well, shown) = run(&place, &["answer", &session]);
        assert!(is_well && shown.contains("Who are you?") && shown.contains("name="), "{shown}");
        assert!(shown.contains("bird=  string of wren, rook"), "{shown}");
        let (is_well, refused) = run(&place, &["answer", &session, "count=3"]);
        assert!(!is_well && refused.contains("needed are also name"), "{refused}");
        let (is_well, refused) = run(&place, &["approve", &session]);
        assert!(!is_well && refused.contains("nothing waits"), "{refused}");
        let (is_well, told) = run(&place, &["answer", &session, "name=ada", "count=3"]);
        assert!(is_well && told.contains("answered: Who are you?"), "{told}");
        client.said(r#"{"action":"accept","content":{"name":"ada","count":3}}"#);
        client.until("the editor is not asked any more", |message| message["method"] == "$/cancel_request");
        assert!(!run(&place, &["answer", &session, "name=eve"]).0);
    });
}

#[test]
fn the_editor_may_be_faster() {
    let place = Place::new();
    let mut client = client(&place, "", 1);
    client.prompt("form");
    let asked = client.agent_request();
    client.answer(&asked, r#"{"action":"decline"}"#);
    client.said(r#"form: {"action":"decline"}"#);
    client.turn_end(1);
    let (is_well, refused) = run(&place, &["answer", &client.session, "name=ada"]);
    assert!(!is_well && refused.contains("nothing waits") && refused.contains("`nudge watch`"), "{refused}");
}

#[test]
fn whoever_watches_alone_sees_the_form_and_can_answer() {
    let place = Place::new();
    let mut client = client(&place, "", 2);
    let session = client.session.clone();
    client.prompt("say begun; until go; form");
    client.said("begun");
    let mut watch = place.nudge(&["watch", &session], "on");
    let mut until = |words: &str| while !watch.next_line().expect("it is shown").contains(words) {};
    until("form");
    drop(client);
    nudge_testkit::eventually("the editor has left", || run(&place, &["status"]).1.contains("1 attached"));
    place.touch("go");
    until("Who are you?");
    let (is_well, told) = run(&place, &["answer", &session, "--decline"]);
    assert!(is_well, "{told}");
    until("decline");
}

//! A user signs in to an agent on a terminal that the editor opens.

use serde_json::{Value, json};

use super::{Place, agent, client::Client, supervision::kill};
use crate::terminal::Terminal;

/// The options of an agent that wants a sign-in, in the words of the test's folders.
const OPTIONS: &str = "--terminal-sign-in COUNT --memory MEMORY --resume";

/// An agent of either version, for a client of either.
const CASES: [(&str, u64); 4] = [("", 1), ("", 2), ("--v2", 1), ("--v2", 2)];

fn capabilities(version: u64) -> Value {
    if version == 1 { json!({ "auth": { "terminal": true } }) } else { json!({ "auth": { "terminal": {} } }) }
}

fn client(place: &Place, options: &str, version: u64, daemon: &str) -> Client {
    Client::new(place.start(&[], &format!("{OPTIONS} {options}"), daemon), version, &capabilities(version))
}

/// The variables of the method that the client is offered.
fn offered(client: &Client) -> (String, String) {
    let methods = client.initialized["authMethods"].as_array().expect("methods are offered");
    let method = methods.iter().find(|method| method["type"] == "terminal");
    let method = method.unwrap_or_else(|| panic!("no terminal method: {methods:?}"));
    assert_eq!(method["args"], json!([]), "any line of the editor's works");
    let (name, value) = match &method["env"] {
        Value::Object(env) => env.iter().next().map(|(name, value)| (name.clone(), value.clone())),
        env => env[0]["name"].as_str().map(|name| (name.to_owned(), env[0]["value"].clone())),
    }
    .expect("it names a variable");
    (name, value.as_str().expect("it is text").to_owned())
}

/// The editor's line, run on a terminal with the variables of the method.
fn terminal(place: &Place, options: &str, (name, value): &(String, String)) -> Terminal {
    let program = agent();
    let program = program.to_str().expect("its name is text");
    let options = format!("{OPTIONS} {options}")
        .replace("MEMORY", &place.desk("memory"))
        .replace("COUNT", &place.desk("count"));
    let log = place.desk("log");
    let line = format!("$NUDGE acp -- {program} --log {log} {options}; echo \"status $?\"");
    let (data, path) = (place.data.path().to_str().unwrap(), std::env::var("PATH").unwrap_or_default());
    let env = [
        ("NUDGE_DATA", data),
        ("PATH", &path),
        ("NUDGE_CONFIG", crate::NO_SETTINGS),
        ("HOME", &place.cwd()),
        (name, value),
    ];
    Terminal::run(&line, &env, place.work.path())
}

fn signs_in(place: &Place, options: &str, variable: &(String, String)) {
    let mut terminal = terminal(place, options, variable);
    terminal.sees("On a terminal, please say the password: ").types("sesame\r").sees("status 0");
    let (_, shown) = terminal.ended();
    assert!(shown.contains("signed in") && !shown.contains("NUDGE_"), "{shown}");
}

fn refused(client: &mut Client, place: &Place) {
    let params = json!({ "cwd": place.cwd(), "mcpServers": [] });
    assert_eq!(client.refused("session/new", &params)["code"], -32000);
}

#[test]
fn the_agent_has_the_terminal_and_the_next_session_sees_the_sign_in() {
    for daemon in ["on", "off"] {
        super::check_each(CASES, |(options, version)| {
            let place = Place::new();
            let mut client = client(&place, options, version, daemon);
            refused(&mut client, &place);
            let variable = offered(&client);
            let mut wrong = terminal(&place, options, &variable);
            wrong.sees("say the password: ").types("please\r").sees("status 7");
            wrong.ended();
            refused(&mut client, &place);
            signs_in(&place, options, &variable);
            client.new_session(&place.cwd());
            assert_eq!(client.turn("say hello"), "hello");
        });
    }
}

#[test]
fn sessions_that_run_move_to_a_process_that_sees_the_sign_in() {
    let place = Place::new();
    std::fs::write(place.desk("count"), "").unwrap();
    let mut client = client(&place, "", 1, "on");
    client.new_session(&place.cwd());
    assert_eq!(client.turn("say one"), "one");
    let before = place.log().newest();
    signs_in(&place, "", &offered(&client));
    let session = client.session.clone();
    client.new_session(&place.cwd());
    client.turn("say two");
    assert_ne!(place.log().newest(), before, "another process");
    client.session = session;
    assert_eq!(client.turn("recall"), "say one|recall");
    nudge_testkit::eventually("the end of the process", || !nudge_testkit::is_alive(before));
}

#[test]
fn a_terminal_method_is_nothing_to_authenticate_by() {
    super::check_each(CASES, |(options, version)| {
        let place = Place::new();
        let mut client = client(&place, options, version, "off");
        let method = if version == 1 { "authenticate" } else { "auth/login" };
        let error = client.refused(method, &json!({ "methodId": "terminal" }));
        assert_eq!(error["code"], -32602, "{error}");
        client.ask(method, &json!({ "methodId": "key" }));
        let asked = place.log().heard("authenticate").len() + place.log().heard("auth/login").len();
        assert_eq!(asked, 1, "the agent is not asked in vain");
    });
}

#[test]
fn a_client_without_terminals_is_not_offered_one() {
    let place = Place::new();
    let client = Client::new(place.start(&[], OPTIONS, "off"), 1, &json!({}));
    let methods = client.initialized["authMethods"].to_string();
    assert!(methods.contains("key") && !methods.contains("terminal"), "{methods}");
}

#[test]
fn what_says_not_how_to_sign_in_is_refused_without_being_told() {
    let place = Place::new();
    let variable = ("NUDGE_AGENT_LOGIN".to_owned(), "sk-hush".to_owned());
    let mut terminal = terminal(&place, "", &variable);
    terminal.sees("does not say how to sign in").sees("status 1");
    let (_, shown) = terminal.ended();
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn what_is_set_of_an_agent_is_kept_in_no_file() {
    let place = Place::new();
    let options = "--providers --resume --memory MEMORY";
    let mut client = place.shared_client(options, 1);
    client.new_session(&place.cwd());
    client.turn("say one");
    let provider = json!({ "providerId": "main", "apiType": "openai", "baseUrl": "https://one.example",
        "headers": { "authorization": "Bearer sk-hush" } });
    client.ask("providers/set", &provider);
    client.ask("authenticate", &json!({ "methodId": "key", "_meta": { "secret": "hush-hush" } }));
    kill(place.log().newest());
    client.agent_is("back");
    assert_eq!(client.turn("say two"), "two");
    let log = place.log();
    assert_eq!(
        (log.heard("providers/set").len(), log.heard("authenticate").len()),
        (2, 2),
        "it was said again"
    );
    let mut folders = vec![place.data.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if let Ok(bytes) = std::fs::read(entry.path()) {
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains("hush"), "{}", entry.path().display());
            }
        }
    }
}

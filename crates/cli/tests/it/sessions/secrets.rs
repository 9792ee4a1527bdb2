//! Secrets, planted in every place in which one can be given, and then looked for in all that can be seen of a real program: its files,
//! its log at its most talkative, its trace, the wire, its processes and their commands, errors, and what its commands print.
#![cfg(target_os = "linux")]

mod cases;
mod scene;
mod seen;

use nudge_testkit::PlantedSecret;
use serde_json::json;

use super::Client;
use cases::{
    ANTHROPIC, AZURE, BEDROCK, CHAT, CUSTOM, GEMINI, KeyWay, OLLAMA, PlayedProvider, RESPONSES, SecretCase,
    VERTEX,
};
use scene::SecretScene;
use seen::{check_absent, check_files, check_processes};

#[test]
fn anthropic() {
    both_versions(ANTHROPIC, [KeyWay::Variable, KeyWay::Login]);
}

#[test]
fn openai_chat() {
    both_versions(CHAT, [KeyWay::Login, KeyWay::Variable]);
}

#[test]
fn openai_responses() {
    both_versions(RESPONSES, [KeyWay::Header, KeyWay::Login]);
}

#[test]
fn custom() {
    both_versions(CUSTOM, [KeyWay::Page, KeyWay::KeyCommand]);
}

#[test]
fn azure() {
    both_versions(AZURE, [KeyWay::Variable, KeyWay::Page]);
}

#[test]
fn gemini() {
    both_versions(GEMINI, [KeyWay::KeyCommand, KeyWay::Variable]);
}

#[test]
fn vertex() {
    both_versions(VERTEX, [KeyWay::KeyCommand, KeyWay::Header]);
}

#[test]
fn bedrock() {
    both_versions(BEDROCK, [KeyWay::Account, KeyWay::Variable]);
}

#[test]
fn ollama() {
    both_versions(OLLAMA, [KeyWay::Variable, KeyWay::Page]);
}

/// The first way in version 1, served by the daemon, the second in version 2, in a process of its own.
fn both_versions(provider: PlayedProvider, [first, second]: [KeyWay; 2]) {
    for (way, version, daemon) in [(first, 1, "on"), (second, 2, "off")] {
        check(SecretCase { provider, way, version, daemon });
    }
}

fn check(case: SecretCase) {
    println!("{case:?}");
    let scene = SecretScene::new(case);
    let mut told = vec![scene.log_in()];
    let mut client = scene.client(case.version);
    scene.give(&mut client);
    talk(&scene, &mut client);
    let session = client.session.clone();
    told.extend(heard(client));
    let mut reader = scene.client(3 - case.version);
    reader.load(&session, &scene.place.cwd());
    told.extend(heard(reader));
    for args in [
        &["sessions", "export", &session][..],
        &["sessions", "export", &session, "--format", "json"],
        &["sessions", "show", &session],
        &["sessions", "show", &session, "--json"],
        &["sessions", "list", "--json"],
        &["providers"],
        &["providers", "--json"],
        &["status"],
        &["config", "show"],
    ] {
        told.push(scene.run(args, ""));
    }

    assert!(told.iter().any(|told| told.contains("TRACE")), "the log is at its most talkative");
    let secrets = scene.planted.all();
    for told in &told {
        check_absent(&secrets, "what is told", told.as_bytes());
    }
    check_sent(&scene, &secrets);
    check_files(&secrets, scene.place.data.path());
    let trace = std::fs::read(scene.beside.path().join("trace")).expect("there is a trace");
    check_absent(&secrets, "the trace", &trace);
}

/// A session in which the model says all of it, a command prints all of it, and the provider quotes it in errors.
fn talk(scene: &SecretScene, client: &mut Client) {
    client.new_session(&scene.place.cwd());
    client.prompt("look");
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.tool("in_progress");
    let mut own = vec![client.process.id()];
    if scene.case.daemon == "on" {
        let daemon = client.ask("_nudge/status", &json!({}))["pid"].as_u64().expect("it has a number");
        own.push(u32::try_from(daemon).expect("it is small"));
    }
    let (secrets, withheld) = (scene.planted.all(), scene.planted.withheld(scene.case.way));
    check_processes(&own, &scene.place.cwd(), &secrets, &withheld);
    scene.place.touch("go");
    assert_eq!(client.turn_end(1), "end_turn");
    for (at, words) in ["wrong", "bad", "break"].into_iter().enumerate() {
        let prompt = client.prompt(words);
        // In version 1 a turn that fails ends with an error for its prompt.
        match client.version {
            1 => assert!(client.response(prompt)["error"]["code"].is_i64()),
            _ => drop(client.turn_end(at + 2)),
        }
    }
    for method in ["providers/list", "auth/status", "session/list"] {
        client.ask(method, &json!({}));
    }
}

/// All that a client has heard, and its log.
fn heard(client: Client) -> [String; 3] {
    let heard = client.log.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let (_, lines, log) = client.process.finish();
    [heard, lines.join("\n"), log]
}

/// What went to the model has no secret in it, but a mask where one was. The key went there, and the password to the proxy.
fn check_sent(scene: &SecretScene, secrets: &[PlantedSecret]) {
    let requests = scene.stage.requests();
    let sent: String = requests.iter().map(|seen| seen.body.to_string()).collect();
    check_absent(secrets, "what went to the model", sent.as_bytes());
    assert!(sent.contains("exact: ***") && sent.contains("a line"), "the command has seen it: {sent}");
    let header = scene.case.provider.key_header;
    assert!(requests.iter().all(|seen| seen.has_header(header)), "{:?}", scene.stage);
    let password = format!("Basic {}", scene.planted.proxy.base64_form("me:"));
    let seen = scene.proxy.seen();
    assert!(
        !seen.is_empty() && seen.iter().all(|seen| seen.authorization.as_ref() == Some(&password)),
        "{seen:?}"
    );
}

//! What Nudge need not change passes byte for byte.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Client, Place, eventually, for_mixed, for_same, raw};

/// What the agent says itself, of all that is said of a session: not what Nudge tells in its place.
fn is_passed(frame: &str) -> bool {
    let frame: Value = serde_json::from_str(frame).unwrap_or_default();
    let update = &frame["params"]["update"];
    let told_by_nudge = ["user_message", "state_update", "notice"];
    frame["method"] == "session/update" && !told_by_nudge.iter().any(|kind| update["sessionUpdate"] == *kind)
}

#[tokio::test]
async fn an_agent_keeps_all_that_it_says_of_itself() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.client(options, version).await;
        let told = raw::member(&client.response_line(1).await, "result").unwrap();
        raw::check_within(&told, &place.log().answer("initialize", "result"));
    })
    .await;
}

#[tokio::test]
async fn the_tier_that_is_used_is_told() {
    super::for_all(async |tier, options, version| {
        let place = Place::new();
        let client = place.client(options, version).await;
        assert_eq!(client.initialized["_meta"]["nudge"]["steerTier"], tier);
    })
    .await;
}

#[tokio::test]
async fn a_new_session_is_asked_for_and_answered_as_it_came() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.client(options, version).await;
        let cwd = json!(place.cwd());
        let params =
            format!(r#"{{ "mcpServers": [], "cwd":{cwd}, "_meta": {}, "unknown":[1.10] }}"#, raw::ODD);
        let id = client.send_raw("session/new", &params);
        let answer = client.response_line(id).await;
        let log = place.log();
        assert_eq!(raw::member(&log.heard("session/new")[0], "params").unwrap(), params);
        assert_eq!(raw::member(&answer, "result").unwrap(), log.answer("session/new", "result"));
    })
    .await;
}

#[tokio::test]
async fn updates_pass_as_they_came() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("say hello; odd; tool t 1; plan; mode code; say done").await;
        let got: Vec<_> =
            client.log.iter().map(|message| message.line.clone()).filter(|line| is_passed(line)).collect();
        let said = place.log().said("session/update");
        let said: Vec<_> = said.into_iter().filter(|line| is_passed(line)).collect();
        assert_eq!(said.len(), 9, "{said:#?}");
        assert_eq!(got, said);
    })
    .await;
}

#[tokio::test]
async fn a_prompt_and_its_answer_pass_as_they_came() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let session = json!(client.session);
        let block = format!(r#"{{"text":"say hi","type":"text", "_meta":{}}}"#, raw::ODD);
        let params = format!(r#"{{"prompt": [{block}],"unknown":{}, "sessionId":{session}}}"#, raw::ODD);
        let id = client.send_raw("session/prompt", &params);
        client.turn_end(1).await;
        let log = place.log();
        assert_eq!(raw::member(&log.heard("session/prompt")[0], "params").unwrap(), params);
        if version == 1 {
            let answer = raw::member(&client.response_line(id).await, "result").unwrap();
            assert_eq!(answer, log.answer("session/prompt", "result"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_permission_request_and_its_answer_pass_as_they_came() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.prompt("ask a");
        let request = client.agent_request().await;
        let answer =
            format!(r#"{{"outcome":{{"optionId":"yes", "outcome":"selected"}},"_meta":{}}}"#, raw::ODD);
        client.answer_raw(&request, &answer);
        client.said("a: selected yes").await;
        let log = place.log();
        let asked = &log.said("session/request_permission")[0];
        let got = client
            .log
            .iter()
            .find(|message| message.value["method"] == "session/request_permission")
            .unwrap();
        assert_eq!(raw::member(&got.line, "params"), raw::member(asked, "params"));
        let heard =
            log.0.iter().find(|line| line.direction == '<' && line.text.contains("\"outcome\"")).unwrap();
        assert_eq!(raw::member(&heard.text, "result").unwrap(), answer);
    })
    .await;
}

/// Extensions are nobody's version, so they pass between versions as well.
async fn for_every_pair(test: impl AsyncFn(&str, u64)) {
    for_same(&test).await;
    for_mixed(test).await;
}

#[tokio::test]
async fn extensions_of_the_client_pass() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let session = json!(client.session);
        for about in [format!(r#""sessionId": {session},"#), String::new()] {
            let params = format!(r#"{{ {about} "odd":{} }}"#, raw::ODD);
            let id = client.send_raw("_test/echo", &params);
            assert_eq!(raw::member(&client.response_line(id).await, "result").unwrap(), params);
            client.note_raw("_test/tell", &params);
            eventually("the notification", || {
                let heard = place.log().heard("_test/tell");
                heard
                    .last()
                    .and_then(|frame| raw::member(frame, "params"))
                    .is_some_and(|heard| heard == params)
            })
            .await;
        }
    })
    .await;
}

#[tokio::test]
async fn extension_requests_of_the_agent_pass() {
    for_every_pair(async |options, version| {
        for script in ["ext", "ext global"] {
            let place = Place::new();
            let mut client = place.session(options, version).await;
            client.prompt(script);
            let request = client.agent_request().await;
            assert_eq!(request["method"], "_test/ask");
            client.answer_raw(&request, raw::ODD);
            client.said(&format!("ext: {}", raw::ODD)).await;
            let got = client.log.iter().find(|message| message.value["method"] == "_test/ask").unwrap();
            let asked = &place.log().said("_test/ask")[0];
            assert_eq!(raw::member(&got.line, "params"), raw::member(asked, "params"));
        }
    })
    .await;
}

#[tokio::test]
async fn extension_notifications_of_the_agent_pass() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("note; note global; say end").await;
        let got = client.log.iter().filter(|message| message.value["method"] == "_test/note");
        // What is about a session has further to go than what is not.
        let got: BTreeSet<_> = got.map(|message| raw::member(&message.line, "params").unwrap()).collect();
        let said = place.log().said("_test/note");
        let said: BTreeSet<_> = said.iter().map(|frame| raw::member(frame, "params").unwrap()).collect();
        assert_eq!(got, said);
        assert_eq!(got.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn updates_of_unknown_kinds_pass_between_versions() {
    for_mixed(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client.turn("odd").await;
        let got = client
            .log
            .iter()
            .find(|message| message.value["params"]["update"]["sessionUpdate"] == "_weather");
        let got = &got.unwrap().line;
        let said = place.log().said("session/update");
        let said = said.iter().find(|frame| frame.contains("_weather")).unwrap();
        for name in ["update", "_meta"] {
            let member = |frame: &str| raw::member(&raw::member(frame, "params").unwrap(), name).unwrap();
            assert_eq!(member(got), member(said));
        }
    })
    .await;
}

#[tokio::test]
async fn large_messages_pass() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let words = "x".repeat(6 * 1024 * 1024);
        assert!(client.turn(&format!("say {words}")).await == words, "it comes back whole");
        assert_eq!(client.turn("say on").await, "on");
    })
    .await;
}

#[tokio::test]
async fn errors_of_the_agent_pass_with_code_and_data() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let about = json!({"sessionId": client.session});
        let sign_in = if version == 1 { "authenticate" } else { "auth/login" };
        let there = if options.is_empty() { "authenticate" } else { "auth/login" };
        let fails = json!({"cwd": place.cwd(), "mcpServers": [], "_meta": {"fail": true}});
        let cases = [
            ("_test/fail", "_test/fail", json!({})),
            ("_test/fail", "_test/fail", about.clone()),
            ("_test/nothing", "_test/nothing", json!({"a": 1})),
            ("session/nothing", "session/nothing", about),
            (sign_in, there, json!({"methodId": "none"})),
            ("session/new", "session/new", fails),
        ];
        for (method, there, params) in cases {
            let id = client.send(method, &params);
            let line = client.response_line(id).await;
            let got = raw::member(&line, "error").unwrap_or_else(|| panic!("{method}: {line}"));
            assert_eq!(got, place.log().answer(there, "error"), "{method}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_fails_fails_as_the_agent_says() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        let id = client.prompt("say before; fail");
        let error = if version == 1 {
            client.response(id).await["error"].clone()
        } else {
            client.turn_end(1).await;
            client.updates().last().expect("a state")["error"].clone()
        };
        assert_eq!(error["code"], -32099, "{error}");
        assert_eq!(error["data"]["why"]["exact"], 1.1, "{error}");
        assert_eq!(client.turn("say after").await, "after");
    })
    .await;
}

#[tokio::test]
async fn the_user_signs_in_and_out() {
    for_every_pair(async |options, version| {
        let place = Place::new();
        let mut client = place.client(options, version).await;
        let (login, logout) =
            if version == 1 { ("authenticate", "logout") } else { ("auth/login", "auth/logout") };
        client.ask(login, &json!({"methodId": "key"})).await;
        client.ask(logout, &json!({})).await;
        let (login, logout) =
            if options.is_empty() { ("authenticate", "logout") } else { ("auth/login", "auth/logout") };
        assert_eq!(place.log().heard(login).len(), 1);
        assert_eq!(place.log().heard(logout).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_update_that_is_called_as_one_of_nudge_is_one_of_the_agent() {
    for_same(async |options, version| {
        let place = Place::new();
        let mut client = place.session(options, version).await;
        client
            .turn(r#"updates 1 {"sessionUpdate":"_nudge/permission_answer","toolCallId":"t","wren":1}"#)
            .await;
        let (session, from) = (client.session.clone(), client.log.len());
        client.load(&session, &place.cwd()).await;
        client.log.drain(..from);
        assert_eq!(client.updates().filter(|update| update["wren"] == 1).count(), 1);
    })
    .await;
}

/// Who runs a session ends its tool calls, whatever agent a client of it has.
#[tokio::test]
async fn the_cancel_of_a_call_goes_to_the_agent_that_runs_it() {
    let place = Place::new();
    let mut owner = Client::new(place.shared("--v2"), 2, &json!({})).await;
    owner.new_session(&place.cwd()).await;
    let of_agent = json!({ "sessionId": owner.session, "toolCallId": "t" });
    let mut guest = Client::new(place.connected.connect(None, None), 2, &json!({})).await;
    guest.load(&owner.session, &place.cwd()).await;
    for (count, client) in [(1, &mut owner), (2, &mut guest)] {
        for method in ["tool_call/cancel", "terminal/cancel"] {
            let id = client.send(method, &of_agent);
            let line = client.response_line(id).await;
            assert_eq!(raw::member(&line, "error").unwrap(), place.log().answer(method, "error"));
            assert_eq!(place.log().heard(method).len(), count);
        }
    }
    // In a session of the built-in agent it is Nudge's.
    guest.new_session(&place.cwd()).await;
    owner.load(&guest.session, &place.cwd()).await;
    let of_built_in = json!({ "sessionId": guest.session, "toolCallId": "t" });
    for client in [&mut owner, &mut guest] {
        assert_eq!(
            client.refused("tool_call/cancel", &of_built_in).await["data"]["reason"],
            "not_cancellable"
        );
    }
    assert_eq!(place.log().heard("tool_call/cancel").len(), 2);
}

//! What Nudge need not change passes byte for byte.

use serde_json::{Value, json};

use super::{Place, for_mixed, for_same, raw};

/// What the agent says itself, of all that is said of a session: not what Nudge tells in its place.
fn is_passed(frame: &str) -> bool {
    let frame: Value = serde_json::from_str(frame).unwrap_or_default();
    let update = &frame["params"]["update"];
    let told_by_nudge = ["user_message", "state_update", "notice"];
    frame["method"] == "session/update" && !told_by_nudge.iter().any(|kind| update["sessionUpdate"] == *kind)
}

#[test]
fn an_agent_keeps_all_that_it_says_of_itself() {
    for_same(|options, version| {
        let place = Place::new();
        let mut client = place.client(options, version);
        let told = raw::member(&client.response_line(1), "result").unwrap();
        raw::check_within(&told, &place.log().answer("initialize", "result"));
    });
}

#[test]
fn what_an_agent_lacks_is_added() {
    for_same(|options, version| {
        let place = Place::new();
        let client = place.client(options, version);
        let told = &client.initialized;
        let capabilities = if version == 1 { &told["agentCapabilities"] } else { &told["capabilities"] };
        assert_eq!(capabilities["session"]["inject"]["modes"], json!(["queue", "steer"]), "{told}");
        assert_eq!(capabilities["session"]["inject"]["steer_in_stream"], json!(["interrupt"]), "{told}");
        assert!(capabilities["nes"].is_object(), "{told}");
        assert_eq!(told["_meta"]["steering"]["supported"], true);
        assert_eq!(told["_meta"]["nudge"]["agentProtocolVersion"], version);
        assert_eq!(told["_meta"]["nudge"]["steerTier"], 4);
        if version == 1 {
            assert_eq!(capabilities["loadSession"], true);
            for method in ["list", "resume", "close", "delete"] {
                assert!(capabilities["sessionCapabilities"][method].is_object(), "{method}: {told}");
            }
            assert!(capabilities["sessionCapabilities"].get("fork").is_none(), "nobody can do that: {told}");
        } else {
            assert!(capabilities["session"]["delete"].is_object(), "{told}");
            assert!(capabilities["session"].get("fork").is_none(), "nobody can do that: {told}");
        }
    });
}

#[test]
fn updates_pass_as_they_came() {
    for_same(|options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        client.turn("say hello; odd; tool t 1; plan; mode code; say done");
        let got: Vec<_> =
            client.log.iter().map(|message| message.line.clone()).filter(|line| is_passed(line)).collect();
        let said = place.log().said("session/update");
        let said: Vec<_> = said.into_iter().filter(|line| is_passed(line)).collect();
        assert_eq!(said.len(), 9, "{said:#?}");
        assert_eq!(got, said);
    });
}

/// Extensions are nobody's version, so they pass between versions as well.
fn for_every_pair(test: impl Fn(&str, u64)) {
    for_same(&test);
    for_mixed(test);
}

#[test]
fn large_messages_pass() {
    for_every_pair(|options, version| {
        let place = Place::new();
        let mut client = place.session(options, version);
        let words = "x".repeat(6 * 1024 * 1024);
        assert!(client.turn(&format!("say {words}")) == words, "it comes back whole");
        assert_eq!(client.turn("say on"), "on");
    });
}

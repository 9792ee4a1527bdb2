use nudge_peers::{
    chat::Version,
    lossless::{Tally, compare},
    tee::{Record, Side},
};

/// Lines that begin with `>` go to the agent, others come from it.
fn side(lines: &[&str]) -> Vec<Record> {
    let record = |line: &&str| match line.strip_prefix('>') {
        Some(line) => Record { at: 0.0, to: Side::Agent, line: line.to_owned() },
        None => Record { at: 0.0, to: Side::Client, line: (*line).to_owned() },
    };
    lines.iter().map(record).collect()
}

const ASKED: &str = r#">{"id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
const ANSWERED: &str = r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#;

fn tally(client: &[&str], agent: &[&str]) -> Tally {
    let begin = |rest: &[&str]| side(&[&[ASKED, ANSWERED], rest].concat());
    compare(&begin(client), &begin(agent), Version::V1).expect("the agent was initialized")
}

fn left_over(tally: &Tally) -> Vec<&str> {
    tally.left_over.keys().map(String::as_str).collect()
}

#[test]
fn bytes_are_compared_but_for_ids() {
    let same = tally(
        &[r#">{"id":7,"method":"_x/y","params":{"b":1.50,"a":1}}"#, r#"{"id":7,"result":{"z":0}}"#],
        &[r#">{"id":"n9","method":"_x/y","params":{"b":1.50,"a":1}}"#, r#"{"result":{"z":0},"id":"n9"}"#],
    );
    assert_eq!((same.exact, same.equal), (4, 0));
    assert!(same.left_over.is_empty());
    let turned = tally(
        &[r#">{"method":"_x/y","params":{"a":1,"b":2}}"#],
        &[r#">{"method":"_x/y","params":{"b":2,"a":1}}"#],
    );
    assert_eq!((turned.exact, turned.equal), (2, 1));
}

#[test]
fn what_is_lost_or_made_up_is_left_over() {
    let update =
        r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}"#;
    assert_eq!(left_over(&tally(&[], &[update])), ["session/update plan (at the agent)"]);
    assert_eq!(left_over(&tally(&[update], &[])), ["session/update plan (at the client)"]);
    assert_eq!(left_over(&tally(&[update], &[update, update])), ["session/update plan (at the agent)"]);
    let changed = update.replace("plan", "plan_x");
    assert_eq!(tally(&[&changed], &[update]).left_over.len(), 2);
    let extension = r#"{"id":3,"method":"_x/ask","params":{}}"#;
    assert_eq!(left_over(&tally(&[], &[extension])), ["_x/ask (at the agent)"]);
}

#[test]
fn what_nudge_says_itself_is_no_loss() {
    let own = tally(
        &[r#">{"id":2,"method":"nes/start","params":{}}"#, r#"{"id":2,"result":{"sessionId":"n"}}"#],
        &[r#">{"method":"session/cancel","params":{"sessionId":"s"}}"#],
    );
    assert!(own.left_over.is_empty(), "{own:?}");
    assert_eq!(own.by_rule.values().sum::<usize>(), 3);
}

#[test]
fn what_was_set_is_set_again_and_never_held_back() {
    let set = r#">{"id":2,"method":"providers/set","params":{"providerId":"main"}}"#;
    let again = tally(&[set], &[set, set]);
    assert!(again.left_over.is_empty(), "{again:?}");
    assert_eq!(left_over(&tally(&[set], &[])), ["providers/set (at the client)"]);
}

#[test]
fn a_session_may_have_another_id_in_the_agent() {
    let said =
        r#"{"method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"plan"}}}"#;
    let tally = tally(&[said], &[&said.replace("old", "new")]);
    assert!(tally.left_over.is_empty(), "{tally:?}");
    assert_eq!(tally.by_rule.len(), 1);
}

#[test]
fn a_conversion_loses_no_value() {
    let begin = |rest: &[&str]| side(&[&[ASKED, ANSWERED], rest].concat());
    let call =
        |params: &str| format!(r#"{{"method":"session/update","params":{{"sessionId":"s",{params}}}}}"#);
    let agent = call(r#""_meta":{"took":1794},"update":{"sessionUpdate":"tool_call","title":"Read a.rs"}"#);
    let lost = |client: &str| {
        let tally =
            compare(&begin(&[client]), &begin(&[&agent]), Version::V2).expect("both were initialized");
        tally.left_over.into_keys().collect::<Vec<_>>()
    };
    let kept = r#""_meta":{"took":1794},"update":{"sessionUpdate":"tool_call_update","title":"Read a.rs"}"#;
    assert_eq!(lost(&call(kept)), [""; 0]);
    let without = r#""update":{"sessionUpdate":"tool_call_update","title":"Read"}"#;
    let what = "session/update tool_call (at the agent), whose conversion loses _meta.took and update.title";
    assert_eq!(lost(&call(without)), [what]);
}

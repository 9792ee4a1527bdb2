//! The official Rust SDK.

use agent_client_protocol::{
    AcpAgent, Client, Error,
    schema::ProtocolVersion,
    v1::{self, schema::InitializeRequest},
    v2,
};

use crate::programs::{
    OUR_AGENT, OUR_AGENT_V2, OUR_CLIENT, OUR_CLIENT_V2, SDK_AGENT, SDK_AGENT_V2, SDK_CLIENT, SDK_CLIENT_V2,
    SDK_ECHO_AGENT, nudge, run,
};

#[test]
fn their_client_has_a_turn_with_our_agent() {
    let outcome = run(SDK_CLIENT, &["--command", &format!("'{OUR_AGENT}'"), "tell me more"]).ok();
    let said: Vec<_> = outcome.output.lines().collect();
    assert_eq!(said.len(), 3, "{outcome:#?}");
    for (line, word) in said.iter().zip(["\"tell \"", "\"me \"", "\"more\""]) {
        assert!(line.starts_with("AgentMessageChunk") && line.contains(word), "{line}");
    }
    assert!(outcome.errors.contains("Stop reason: EndTurn"), "{outcome:#?}");
}

#[test]
fn their_v2_client_has_a_turn_with_our_agent() {
    let outcome = run(SDK_CLIENT_V2, &["--command", &format!("'{OUR_AGENT_V2}'"), "tell me more"]).ok();
    assert_eq!(outcome.output, "tell me more");
    assert!(outcome.errors.contains("Session is idle: Some(EndTurn)"), "{outcome:#?}");
}

#[test]
fn our_client_has_a_turn_with_their_agent_and_allows_it_once() {
    let outcome = run(OUR_CLIENT, &["hello\nthere", SDK_ECHO_AGENT]).ok();
    assert_eq!(outcome.output, "allowed: once\nhello\nthere");
    assert_eq!(outcome.errors, "agent: sdk-echo\n\nstop reason: EndTurn\n");
}

#[test]
fn our_v2_client_has_a_turn_with_their_agent() {
    let outcome = run(OUR_CLIENT_V2, &["hello there", SDK_AGENT_V2]).ok();
    assert_eq!(outcome.output, "Echo: hello there");
    assert_eq!(outcome.errors, "agent: simple-agent-v2\nstop reason: Some(EndTurn)\n");
}

#[test]
fn our_client_is_told_what_their_agent_cannot_do() {
    let outcome = run(OUR_CLIENT, &["hello", SDK_AGENT]);
    assert!(!outcome.status.success(), "{outcome:#?}");
    assert!(outcome.errors.starts_with("agent: anonymous\n"), "{outcome:#?}");
    assert!(outcome.errors.contains("-32601") && outcome.errors.contains("session/new"), "{outcome:#?}");
}

/// The answer that ends the turn is right behind the last update; neither may overtake the other.
#[test]
fn our_client_loses_nothing_of_a_burst() {
    use std::fmt::Write as _;
    let mut prompt = String::new();
    (0..8_000).for_each(|number| writeln!(prompt, "{number}").expect("a string takes everything"));
    let outcome = run(OUR_CLIENT, &[&prompt, SDK_ECHO_AGENT]).ok();
    let said = outcome.output.strip_prefix("allowed: once\n").expect("it was allowed");
    assert_eq!(said.lines().count(), 8_000);
    assert_eq!(said, prompt.trim_end());
}

#[tokio::test]
async fn their_client_initialises_nudge() -> Result<(), Error> {
    let nudge = AcpAgent::from_args([nudge(), "acp", "--data", ""])?;
    let asked = async |agent: v1::ConnectionTo<_>| {
        agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await
    };
    let answer = Client.v1().connect_with(nudge, asked).await?;
    assert_eq!(answer.protocol_version, ProtocolVersion::V1);
    let info = answer.agent_info.expect("nudge says who it is");
    assert_eq!((info.name.as_str(), info.version.as_str()), ("nudge", env!("CARGO_PKG_VERSION")));
    Ok(())
}

#[tokio::test]
async fn their_v2_client_initialises_nudge() -> Result<(), Error> {
    let nudge = AcpAgent::from_args([nudge(), "acp", "--data", ""])?;
    let asked = async |agent: v2::ConnectionTo<_>| {
        let me = v2::schema::Implementation::new("rust-sdk", "5.0.0");
        agent.send_request(v2::schema::InitializeRequest::new(ProtocolVersion::V2, me)).block_task().await
    };
    let answer = Client.v2().connect_with(nudge, asked).await?;
    assert_eq!(answer.protocol_version, ProtocolVersion::V2);
    assert_eq!(
        (answer.info.name.as_str(), answer.info.version.as_str()),
        ("nudge", env!("CARGO_PKG_VERSION"))
    );
    Ok(())
}

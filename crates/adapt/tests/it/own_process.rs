//! Who sets something of an agent has its process alone from there on.

use std::time::Duration;

use nudge_adapt::AgentPool;
use serde_json::{Value, json};

use crate::{
    clients::LaneClient,
    owner::Owner,
    scripted::{Launches, ScriptedAgent, v1, v2},
};

const URL: &str = "https://one.example/v1";

pub(crate) fn inits() -> [Value; 2] {
    [v1(&json!({ "sessionCapabilities": { "resume": {}, "close": {} } })), v2(&json!({}))]
}

/// Two clients that share an agent, with a session each.
pub(crate) struct Two {
    pub(crate) launches: Launches,
    pub(crate) clients: [LaneClient; 2],
    pub(crate) owners: [Owner; 2],
    pub(crate) agent: ScriptedAgent,
    _pool: AgentPool,
}

pub(crate) async fn two(init: Value) -> Two {
    let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
    let clients = [1, 2].map(|connection| LaneClient::new(&pool, &launches, connection));
    let mut agent = clients[0].starts(&mut launches).await;
    let owners = [clients[0].session(&mut agent, "s1").await, clients[1].session(&mut agent, "s2").await];
    assert!(launches.is_taken());
    Two { launches, clients, owners, agent, _pool: pool }
}

/// The session `s1` leaves the agent for the one that is started next.
pub(crate) async fn moves(
    launches: &mut Launches,
    from: &mut ScriptedAgent,
    owner: &mut Owner,
) -> ScriptedAgent {
    let left = async {
        let closed = from.expect("session/close").await;
        assert_eq!(closed.params["sessionId"], "s1");
        closed.answer(json!({})).await;
    };
    let taken_up = async {
        let mut own = launches.greeted().await;
        own.expect("providers/set").await.answer(json!({})).await;
        let resumed = own.expect("session/resume").await;
        assert_eq!(resumed.params["sessionId"], "s1");
        resumed.answer(json!({})).await;
        own
    };
    let ((), own, ()) = tokio::join!(left, taken_up, owner.expect(&["moved as s1"]));
    own
}

#[tokio::test(start_paused = true)]
async fn a_client_that_nobody_shares_with_keeps_its_process() {
    for init in inits() {
        let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
        let first = LaneClient::new(&pool, &launches, 1);
        let mut agent = first.starts(&mut launches).await;
        let mut owner = first.session(&mut agent, "s1").await;
        first.sets(&mut agent, "main", URL).await;
        owner.prompt_from(1, "one");
        agent.expect_prompt("one").await;
        assert!(launches.is_taken(), "no other is started");
        // Who comes now does not use what is set.
        let second = LaneClient::new(&pool, &launches, 2);
        let mut other = second.starts(&mut launches).await;
        second.session(&mut other, "s2").await;
        agent.expect_silence(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_sets_something_gets_a_process_and_takes_its_sessions_there() {
    for init in inits() {
        let Two { mut launches, clients, owners: [mut first, mut second], mut agent, .. } = two(init).await;
        let set = clients[0].asks("providers/set", &crate::clients::set("main", URL));
        let mut own = moves(&mut launches, &mut agent, &mut first).await;
        set.answer().await;
        first.prompt_from(1, "one");
        own.expect_prompt("one").await;
        second.prompt_from(2, "two");
        "s2".clone_into(&mut agent.session);
        agent.expect_prompt("two").await;
        // Another client signs out: not of this process.
        let method = if agent_is_v2(&launches) { "auth/logout" } else { "logout" };
        let signed_out = clients[1].asks(method, &json!({}));
        let mut third = launches.greeted().await;
        third.expect(method).await.answer(json!({})).await;
        signed_out.answer().await;
        own.expect_silence(Duration::from_secs(1)).await;
    }
}

fn agent_is_v2(launches: &Launches) -> bool {
    launches.version() == nudge_wire::Version::V2
}

#[tokio::test(start_paused = true)]
async fn what_is_set_reaches_sessions_that_have_a_process_each() {
    use nudge_adapt::{AdaptedSession, AgentSettings};
    let [init, _] = inits();
    let isolated = |settings| AgentSettings { isolate: true, ..settings };
    let (pool, mut launches) = (AgentPool::default(), Launches::with(init, isolated));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut main = client.starts(&mut launches).await;
    let mut first = client.session(&mut main, "s1").await;
    let setup = crate::owner::setup(nudge_wire::Version::V1, &json!({ "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&client.agent, "session/new", &setup);
    let (second, mut other) = tokio::join!(opening, async {
        let mut other = launches.greeted().await;
        other.expect("session/new").await.answer(json!({ "sessionId": "s1" })).await;
        other
    });
    let mut second = Owner::of(second.expect("the session is opened"));
    client.sets(&mut main, "main", URL).await;
    let own = moves(&mut launches, &mut other, &mut second).await;
    other.ended().await;
    first.prompt_from(1, "one");
    main.expect_prompt("one").await;
    drop(own);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_ends_where_it_began() {
    let [init, _] = inits();
    let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
    first.prompt_from(1, "one");
    let prompt = agent.expect_prompt("one").await;
    let set = clients[0].asks("providers/set", &crate::clients::set("main", URL));
    let mut own = launches.greeted().await;
    own.expect("providers/set").await.answer(json!({})).await;
    set.answer().await;
    agent.says("well").await;
    prompt.stop("end_turn").await;
    first.expect(&["stream", "agent_message_chunk well", "break"]).await;
    first.go_on("");
    first.expect(&["over: end_turn"]).await;
    first.prompt_from(1, "two");
    let left = async { agent.expect("session/close").await.answer(json!({})).await };
    let taken_up = async {
        own.expect("session/resume").await.answer(json!({})).await;
        own.expect_prompt("two").await
    };
    tokio::join!(left, taken_up, first.expect(&["moved as s1", "stream"]));
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_another_client_does_not_use_what_was_set() {
    let [init, _] = inits();
    let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
    let set = clients[0].asks("providers/set", &crate::clients::set("main", URL));
    let mut own = moves(&mut launches, &mut agent, &mut first).await;
    set.answer().await;
    first.prompt_from(2, "two");
    let left = async { own.expect("session/close").await.answer(json!({})).await };
    let taken_up = async {
        agent.expect("session/resume").await.answer(json!({})).await;
        agent.expect_prompt("two").await.stop("end_turn").await;
    };
    tokio::join!(left, taken_up, first.expect(&["moved as s1", "stream", "break"]));
    first.go_on("");
    first.expect(&["over: end_turn"]).await;
    first.prompt_from(1, "three");
    let left = async { agent.expect("session/close").await.answer(json!({})).await };
    let taken_up = async {
        own.expect("session/resume").await.answer(json!({})).await;
        own.expect_prompt("three").await
    };
    tokio::join!(left, taken_up, first.expect(&["moved as s1", "stream"]));
}

#[tokio::test(start_paused = true)]
async fn after_a_sign_in_on_a_terminal_a_session_is_begun_in_a_process_that_sees_it() {
    use nudge_adapt::AdaptedSession;
    use nudge_wire::{Error, ErrorCode, Version};
    let methods = json!([{ "id": "t", "name": "T", "type": "terminal" }]);
    for (methods, is_new) in [(methods, true), (json!([{ "id": "key", "name": "Key" }]), false)] {
        let init = json!({ "protocolVersion": 1, "agentCapabilities": {}, "authMethods": methods });
        let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
        let client = LaneClient::new(&pool, &launches, 1);
        let mut agent = client.starts(&mut launches).await;
        let setup = crate::owner::setup(Version::V1, &json!({ "cwd": "/", "mcpServers": [] }));
        let begin = || AdaptedSession::begin(&client.agent, "session/new", &setup);
        let refused = async {
            let error = Error::new(ErrorCode::AUTH_REQUIRED, "Sign in first");
            agent.expect("session/new").await.fail(error).await;
        };
        let (refused, ()) = tokio::join!(begin(), refused);
        assert_eq!(refused.expect_err("nobody is signed in").code, ErrorCode::AUTH_REQUIRED);
        let answer = async {
            if is_new {
                agent = launches.greeted().await;
            }
            agent.expect("session/new").await.answer(json!({ "sessionId": "s1" })).await;
        };
        let (opened, ()) = tokio::join!(begin(), answer);
        opened.expect("somebody is signed in");
    }
}

//! Sessions that go from one process of an agent to another, and what happens meanwhile.

use std::time::Duration;

use nudge_adapt::{AdaptedSession, AgentPool, AgentSettings};
use nudge_backend::{Backend, OptionPlan};
use nudge_bridge::MethodCall;
use nudge_wire::Version;
use serde_json::json;

use crate::{
    clients::{LaneClient, set},
    own_process::{Two, inits, moves, two},
    owner::{Owner, setup},
    scripted::{Launches, raw, v1},
};

const URL: &str = "https://one.example/v1";

#[tokio::test(start_paused = true)]
async fn a_session_stays_until_the_agent_has_agreed_to_what_is_set() {
    for init in inits() {
        let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
        let refused = clients[0].asks("providers/set", &set("main", URL));
        let mut own = launches.greeted().await;
        let asked = own.expect("providers/set").await;
        first.expect_silence(Duration::from_secs(9)).await;
        asked.refuse("no such provider").await;
        refused.error().await;
        first.expect_silence(Duration::from_secs(9)).await;
        first.prompt_from(1, "one");
        agent.expect_prompt("one").await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_option_that_is_set_while_a_session_moves_is_set_where_it_goes() {
    let [init, _] = inits();
    let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
    let set = clients[0].asks("providers/set", &set("main", URL));
    let mut own = launches.greeted().await;
    own.expect("providers/set").await.answer(json!({})).await;
    set.answer().await;
    // It is on its way.
    first.expect_silence(Duration::from_millis(10)).await;
    let closed = agent.expect("session/close").await;
    let params = raw(&json!({ "sessionId": "s1", "modeId": "plan" }));
    let call = MethodCall { method: "session/set_mode".to_owned(), params };
    let Ok(OptionPlan::Ask(asked)) = first.session.plan_option(&call, None) else { panic!("it is asked") };
    let taken_up = async {
        closed.answer(json!({})).await;
        own.expect("session/resume").await.answer(json!({})).await;
        let mode = own.expect("session/set_mode").await;
        assert_eq!(mode.params, json!({ "sessionId": "s1", "modeId": "plan" }));
        mode.answer(json!({})).await;
    };
    let (answer, (), ()) = tokio::join!(asked, taken_up, first.expect(&["moved as s1"]));
    answer.expect("the agent has agreed");
}

#[tokio::test(start_paused = true)]
async fn what_a_process_says_of_a_session_that_has_left_it_is_told_to_nobody() {
    for init in inits() {
        let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
        let set = clients[0].asks("providers/set", &set("main", URL));
        let _own = moves(&mut launches, &mut agent, &mut first).await;
        set.answer().await;
        agent.says("late words").await;
        assert_eq!(clients[1].heard().await, [""; 0]);
        assert_eq!(clients[0].heard().await, [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_of_a_client_that_is_gone_ends_with_its_last_session() {
    let [init, _] = inits();
    let Two { mut launches, clients, owners: [mut first, _second], mut agent, .. } = two(init).await;
    let set = clients[0].asks("providers/set", &set("main", URL));
    let mut own = moves(&mut launches, &mut agent, &mut first).await;
    set.answer().await;
    clients[0].agent.leave();
    own.expect_silence(Duration::from_secs(1)).await;
    // Another client goes on with the session.
    first.prompt_from(2, "two");
    let left = async {
        own.expect("session/close").await.answer(json!({})).await;
        own.ended().await;
    };
    let taken_up = async {
        agent.expect("session/resume").await.answer(json!({})).await;
        agent.expect_prompt("two").await;
    };
    tokio::join!(left, taken_up, first.expect(&["moved as s1", "stream"]));
}

#[tokio::test(start_paused = true)]
async fn what_was_not_told_yet_is_told_after_the_next_death_as_well() {
    let init = v1(&json!({ "sessionCapabilities": { "resume": {} } }));
    let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut agent = client.starts(&mut launches).await;
    let mut owner = client.session(&mut agent, "s1").await;
    agent.dies().await;
    let forgets = async {
        let mut agent = launches.greeted().await;
        agent.expect("session/resume").await.refuse("no such session").await;
        agent.expect("session/new").await.answer(json!({ "sessionId": "s2" })).await;
        agent
    };
    let (agent, ()) = tokio::join!(forgets, async {
        assert!(owner.hears().await.starts_with("lost"));
        owner.expect(&["back as s2, recap"]).await;
    });
    agent.dies().await;
    let knows = async {
        let mut agent = launches.greeted().await;
        agent.expect("session/resume").await.answer(json!({})).await;
        "s2".clone_into(&mut agent.session);
        agent
    };
    let (mut agent, ()) = tokio::join!(knows, async {
        assert!(owner.hears().await.starts_with("lost"));
        owner.expect(&["back as s2"]).await;
    });
    owner.prompt("one");
    let prompt = agent.expect("session/prompt").await;
    assert!(prompt.words().contains("User: hello"), "{}", prompt.words());
}

#[tokio::test(start_paused = true)]
async fn a_setting_that_was_called_off_counts_if_the_agent_has_done_it() {
    for is_done in [true, false] {
        let init = v1(&json!({ "sessionCapabilities": { "resume": {} } }));
        let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
        let client = LaneClient::new(&pool, &launches, 1);
        let mut agent = client.starts(&mut launches).await;
        let mut owner = client.session(&mut agent, "s1").await;
        let asked = client.asks("providers/set", &set("main", URL));
        let heard = agent.expect("providers/set").await;
        let unwanted = heard.unwanted();
        client.calls_off(asked).await;
        unwanted.cancelled().await;
        if is_done {
            heard.answer(json!({})).await;
        } else {
            heard.fail(nudge_wire::Error::cancelled()).await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        agent.dies().await;
        let revive = async {
            let mut agent = launches.greeted().await;
            if is_done {
                agent.expect("providers/set").await.answer(json!({})).await;
            }
            agent.expect("session/resume").await.answer(json!({})).await;
            agent
        };
        let (_agent, ()) = tokio::join!(revive, async {
            assert!(owner.hears().await.starts_with("lost"));
            owner.expect(&["back as s1"]).await;
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_is_not_taken_again_waits_for_the_user() {
    let init = v1(&json!({ "sessionCapabilities": { "resume": {} } }));
    let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut agent = client.starts(&mut launches).await;
    let mut owner = client.session(&mut agent, "s1").await;
    client.signs_in(&mut agent, "key").await;
    agent.dies().await;
    let revive = async {
        let mut agent = launches.greeted().await;
        agent.expect("authenticate").await.refuse("no").await;
        agent
    };
    let (mut agent, ()) = tokio::join!(revive, async {
        assert!(owner.hears().await.starts_with("lost"));
        // Nobody is sent to a page again and again.
        owner.expect_silence(Duration::from_mins(10)).await;
    });
    let error = client.asks("_own/thing", &json!({})).error().await;
    assert_eq!(error.get_reason().as_deref(), Some("sign_in_not_repeated"));
    agent.expect_silence(Duration::from_secs(1)).await;
    client.signs_in(&mut agent, "other").await;
    let taken_up = async { agent.expect("session/resume").await.answer(json!({})).await };
    tokio::join!(taken_up, owner.expect(&["back as s1"]));
}

#[tokio::test(start_paused = true)]
async fn what_is_set_while_it_is_repeated_counts_instead() {
    let init = v1(&json!({ "sessionCapabilities": { "resume": {} } }));
    let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut agent = client.starts(&mut launches).await;
    let mut owner = client.session(&mut agent, "s1").await;
    client.sets(&mut agent, "main", URL).await;
    agent.dies().await;
    let revive = async {
        let mut agent = launches.greeted().await;
        agent.expect("providers/set").await.refuse("no").await;
        // It is said once more after a while, and meanwhile set anew.
        let again = agent.expect("providers/set").await;
        let asked = client.asks("providers/set", &set("main", "https://two.example"));
        let heard = agent.expect("providers/set").await;
        assert_eq!(heard.params["baseUrl"], "https://two.example");
        heard.answer(json!({})).await;
        asked.answer().await;
        drop(again);
        agent.expect("session/resume").await.answer(json!({})).await;
        agent
    };
    let taken_up = async {
        assert!(owner.hears().await.starts_with("lost"));
        owner.expect_silence(Duration::from_secs(2)).await;
        owner.prompt("one");
        owner.expect(&["back as s1", "stream"]).await;
    };
    tokio::join!(revive, taken_up);
}

#[tokio::test(start_paused = true)]
async fn a_client_of_isolated_sessions_goes_on_hearing_its_agent() {
    let isolated = |settings| AgentSettings { isolate: true, ..settings };
    let (pool, mut launches) = (AgentPool::default(), Launches::with(v1(&json!({})), isolated));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut main = client.starts(&mut launches).await;
    let _first = client.session(&mut main, "s1").await;
    let params = setup(Version::V1, &json!({ "cwd": "/", "mcpServers": [] }));
    let opening = AdaptedSession::begin(&client.agent, "session/new", &params);
    let (second, mut other) = tokio::join!(opening, async {
        let mut other = launches.greeted().await;
        other.expect("session/new").await.answer(json!({ "sessionId": "s1" })).await;
        other
    });
    let mut second = Owner::of(second.expect("the session is opened"));
    for words in ["one", "two"] {
        second.prompt_from(1, words);
        other.expect_prompt(words).await.stop("end_turn").await;
        second.expect(&["stream", "break"]).await;
        second.go_on("");
        second.expect(&["over: end_turn"]).await;
    }
    drop(second);
    main.tells_all("_own/news").await;
    assert_eq!(client.heard().await, ["_own/news"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_refuses_nothing_that_is_for_another_process() {
    let [init, _] = inits();
    let Two { mut launches, clients, agent, .. } = two(init).await;
    agent.dies().await;
    let first = clients[0].asks("_own/thing", &json!({}));
    let set = clients[0].asks("providers/set", &set("main", URL));
    let shared = launches.started().await;
    drop(shared);
    first.error().await;
    let mut own = launches.greeted().await;
    own.expect("providers/set").await.answer(json!({})).await;
    set.answer().await;
}

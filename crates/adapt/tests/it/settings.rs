//! What a client sets of an agent is set again when the agent was started again.

use nudge_adapt::AgentPool;
use serde_json::{Value, json};

use crate::{
    clients::{LaneClient, set},
    owner::Owner,
    scripted::{Launches, ScriptedAgent, v1, v2},
};

const URL: &str = "https://one.example/v1";

fn resumes() -> [Value; 2] {
    [v1(&json!({ "sessionCapabilities": { "resume": {} } })), v2(&json!({}))]
}

/// A client with a session, and what keeps it alive.
struct Setting {
    _pool: AgentPool,
    launches: Launches,
    client: LaneClient,
    owner: Owner,
    agent: ScriptedAgent,
}

async fn with_session(init: Value) -> Setting {
    let (pool, mut launches) = (AgentPool::default(), Launches::of(init));
    let client = LaneClient::new(&pool, &launches, 1);
    let mut agent = client.starts(&mut launches).await;
    let owner = client.session(&mut agent, "s1").await;
    Setting { _pool: pool, launches, client, owner, agent }
}

#[tokio::test(start_paused = true)]
async fn providers_and_the_sign_in_are_repeated_before_sessions_are_taken_up() {
    for (init, sign_in) in resumes().into_iter().zip(["authenticate", "auth/login"]) {
        let Setting { mut launches, client, mut owner, mut agent, .. } = with_session(init).await;
        client.signs_in(&mut agent, "key").await;
        client.sets(&mut agent, "main", "https://zero.example").await;
        client.sets(&mut agent, "other", URL).await;
        client.sets(&mut agent, "main", URL).await;
        let disabled = client.asks("providers/disable", &json!({ "providerId": "other" }));
        agent.expect("providers/disable").await.answer(json!({})).await;
        disabled.answer().await;
        agent.dies().await;
        let revive = async {
            let mut agent = launches.greeted().await;
            let again = agent.expect("providers/set").await;
            assert_eq!(again.params, set("main", URL));
            again.answer(json!({})).await;
            let again = agent.expect("providers/disable").await;
            assert_eq!(again.params, json!({ "providerId": "other" }));
            again.answer(json!({})).await;
            let again = agent.expect(sign_in).await;
            assert_eq!(again.params["methodId"], "key");
            again.answer(json!({})).await;
            agent.expect("session/resume").await.answer(json!({})).await;
            agent
        };
        let (_agent, report) = tokio::join!(revive, async {
            assert!(owner.hears().await.starts_with("lost"));
            owner.hears().await
        });
        assert_eq!(report, "back as s1");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_has_refused_or_forgotten_is_not_repeated() {
    for (init, [sign_in, sign_out]) in
        resumes().into_iter().zip([["authenticate", "logout"], ["auth/login", "auth/logout"]])
    {
        let Setting { mut launches, client, mut owner, mut agent, .. } = with_session(init).await;
        let refused = client.asks("providers/set", &set("main", URL));
        agent.expect("providers/set").await.refuse("no such provider").await;
        assert!(refused.error().await.message.contains("no such provider"));
        client.signs_in(&mut agent, "key").await;
        let signed_out = client.asks(sign_out, &json!({}));
        agent.expect(sign_out).await.answer(json!({})).await;
        signed_out.answer().await;
        let refused = client.asks(sign_in, &json!({ "methodId": "other" }));
        agent.expect(sign_in).await.refuse("not so").await;
        refused.error().await;
        agent.dies().await;
        let revive = async {
            let mut agent = launches.greeted().await;
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
async fn where_providers_are_not_taken_again_sessions_stay_down_until_they_are_set_anew() {
    for init in resumes() {
        let Setting { mut launches, client, mut owner, mut agent, .. } = with_session(init).await;
        client.sets(&mut agent, "main", URL).await;
        owner.prompt("one");
        agent.expect_prompt("one").await;
        agent.says("well").await;
        owner.expect(&["stream", "agent_message_chunk well"]).await;
        agent.dies().await;
        let revive = async {
            let mut agent = launches.greeted().await;
            agent.expect("providers/set").await.refuse("sk-hush is no key").await;
            agent
        };
        assert!(owner.hears().await.starts_with("lost"));
        assert!(owner.hears().await.starts_with("over: The agent is gone"));
        let mut agent = tokio::select! {
            agent = revive => agent,
            report = owner.hears() => panic!("{report}"),
        };
        // The session tries some times by itself; each time the providers come first.
        let unanswered = client.asks("_own/thing", &json!({}));
        owner.prompt("two");
        let refuse = async {
            loop {
                agent.expect("providers/set").await.refuse("sk-hush is no key").await;
            }
        };
        let ended = tokio::select! {
            ended = owner.hears() => ended,
            () = refuse => unreachable!("it goes on for ever"),
        };
        assert!(ended.contains("did not take the providers"), "{ended}");
        assert!(!ended.contains("hush"), "{ended}");
        let error = unanswered.error().await;
        assert_eq!(error.get_reason().as_deref(), Some("providers_not_repeated"));
        // What is set can be looked at all the same.
        let listed = client.asks("providers/list", &json!({}));
        agent.expect("providers/list").await.answer(json!({ "providers": [] })).await;
        listed.answer().await;
        let status = client.asks("auth/status", &json!({})).answer().await;
        assert_eq!(status, json!({ "state": "unknown" }));
        client.sets(&mut agent, "main", "https://two.example").await;
        owner.prompt("three");
        let anew = async {
            // It has agreed to that itself, so it is not said again.
            agent.expect("session/resume").await.answer(json!({})).await;
            agent.expect_prompt("two three").await
        };
        tokio::join!(anew, owner.expect(&["back as s1", "stream"]));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_chosen_in_a_session_and_is_forgotten_is_chosen_again() {
    use nudge_backend::{Backend, OptionPlan};
    use nudge_bridge::MethodCall;
    let init = v1(&json!({ "sessionCapabilities": { "resume": {} } }));
    let Setting { mut launches, mut owner, mut agent, .. } = with_session(init).await;
    let call = |method: &str, params: Value| MethodCall {
        method: method.to_owned(),
        params: crate::scripted::raw(&params),
    };
    let calls = [
        call("session/set_mode", json!({ "sessionId": "s1", "modeId": "plan" })),
        call("session/set_config_option", json!({ "sessionId": "s1", "configId": "model", "value": "wren" })),
        call("session/set_config_option", json!({ "sessionId": "s1", "configId": "effort", "value": "low" })),
        call("session/set_config_option", json!({ "sessionId": "s1", "configId": "gone", "value": true })),
    ];
    for call in &calls {
        let Ok(OptionPlan::Ask(asked)) = owner.session.plan_option(call, None) else {
            panic!("the agent is asked")
        };
        let (answer, ()) = tokio::join!(asked, async {
            agent.expect(&call.method).await.answer(json!({})).await;
        });
        owner.session.option_answered(call, &answer.expect("it agrees"));
    }
    agent.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "edit" })).await;
    owner.expect(&["current_mode_update"]).await;
    agent.dies().await;
    let modes = json!({ "currentModeId": "ask", "availableModes": [] });
    let options =
        json!([{ "id": "model", "currentValue": "robin" }, { "id": "effort", "currentValue": "low" }]);
    let revive = async {
        let mut agent = launches.greeted().await;
        let resumed = agent.expect("session/resume").await;
        resumed.answer(json!({ "modes": modes, "configOptions": options })).await;
        let mode = agent.expect("session/set_mode").await;
        assert_eq!(mode.params, json!({ "sessionId": "s1", "modeId": "edit" }));
        // How it stood before does not count.
        agent.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "ask" })).await;
        mode.answer(json!({})).await;
        let chosen = agent.expect("session/set_config_option").await;
        assert_eq!((&chosen.params["configId"], &chosen.params["value"]), (&json!("model"), &json!("wren")));
        chosen.answer(json!({ "configOptions": [{ "id": "model", "currentValue": "wren" }] })).await;
        // One that is as it was needs no word; one that is not taken is told.
        let gone = agent.expect("session/set_config_option").await;
        assert_eq!(gone.params["configId"], "gone");
        gone.refuse("no such option").await;
        agent
    };
    let (_agent, ()) = tokio::join!(revive, async {
        assert!(owner.hears().await.starts_with("lost"));
        owner.expect(&["back as s1", "config_option_update"]).await;
    });
    let opened = owner.session.opened(None, &crate::scripted::raw(&json!({}))).to::<Value>().unwrap();
    assert_eq!(opened["modes"]["currentModeId"], "edit");
}

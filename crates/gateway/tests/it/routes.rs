//! Who answers what, with sessions and without.

use std::{sync::Arc, time::Duration};

use nudge_agent::BuiltInSource;
use nudge_gateway::{ConnectionOptions, Gateway, NesProvider, ProgramInfo};
use nudge_hub::Hub;
use nudge_model::script::ScriptedModel;
use nudge_nes::NesService;
use nudge_peer::{CallError, Cx, Peer, pair};
use nudge_wire::RawJson;
use serde_json::{Value, json};

fn suggestions() -> NesService {
    NesService::new(nudge_nes::NesOptions { index: false, ..Default::default() })
}

async fn sessions() -> Hub {
    let options = nudge_hub::HubOptions {
        store: "memory".to_owned(),
        owners: None,
        built_in: Arc::new(BuiltInSource::of_model(Arc::new(ScriptedModel::built_in()))),
        linger: Duration::from_secs(1),
        outlives_clients: true,
        observer: None,
    };
    Hub::open(options).await.expect("memory can be opened").0
}

fn program(is_daemon: bool) -> ProgramInfo {
    ProgramInfo { version: "1.2.3".to_owned(), build: "test".to_owned(), is_daemon }
}

/// Runs a client of a gateway.
async fn client(gateway: &Gateway, options: ConnectionOptions, say: impl AsyncFnOnce(Client)) {
    let (ours, theirs) = pair();
    let serving = tokio::spawn(gateway.connect(theirs, options).expect("memory can be connected").run());
    let connection = Peer::client().connect(ours).expect("memory can be connected");
    connection.run_until(async |cx| say(Client(cx)).await).await;
    serving.await.expect("nothing panics").expect("the client leaves in order");
}

struct Client(Cx);

impl Client {
    async fn ask(&self, method: &str, params: Value) -> Value {
        self.0
            .request_raw(method, Some(&raw(&params)))
            .await
            .expect("it is answered")
            .to()
            .expect("it is JSON")
    }

    /// Code and message of the error that a request gets.
    async fn refused(&self, method: &str, params: Value) -> (i64, String) {
        match self.0.request_raw(method, Some(&raw(&params))).await {
            Err(CallError::Rpc(error)) => (error.code.0, error.message),
            other => panic!("{method}: {other:?}"),
        }
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("plain data is JSON")
}

#[tokio::test]
async fn what_is_offered_comes_from_one_table_and_one_version() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(false));
    for (asked, answered) in [(json!(1), 1), (json!(2), 2), (json!(7), 2), (json!("x"), 2)] {
        client(&gateway, ConnectionOptions::default(), async |client| {
            let said = client.ask("initialize", json!({ "protocolVersion": asked })).await;
            assert_eq!(said["protocolVersion"], answered, "{said}");
            assert_eq!(said["agentInfo"]["version"], "1.2.3");
            let capabilities = if answered == 1 { &said["agentCapabilities"] } else { &said["capabilities"] };
            assert!(capabilities["nes"].is_object(), "{said}");
            assert!(capabilities["session"]["inject"].is_object(), "{said}");
        })
        .await;
    }
}

#[tokio::test]
async fn sessions_want_to_be_greeted_first() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(false));
    client(&gateway, ConnectionOptions::default(), async |client| {
        let (code, message) = client.refused("session/new", json!({ "cwd": "/", "mcpServers": [] })).await;
        assert_eq!((code, message.contains("`initialize` comes first")), (-32600, true), "{message}");
        assert_eq!(client.refused("nes/start", json!({})).await.0, -32600);
        assert_eq!(client.refused("initialize", json!([1])).await.0, -32602);
        client.ask("initialize", json!({ "protocolVersion": 1 })).await;
        let begun = client.ask("session/new", json!({ "cwd": "/", "mcpServers": [] })).await;
        assert!(begun["sessionId"].is_string(), "{begun}");
    })
    .await;
}

#[tokio::test]
async fn a_gateway_without_sessions_has_suggestions_and_no_more() {
    let gateway = Gateway::new(suggestions(), None, program(true));
    client(&gateway, ConnectionOptions::default(), async |client| {
        let said = client.ask("initialize", json!({ "protocolVersion": 1 })).await;
        assert_ne!(said["agentCapabilities"]["loadSession"], true, "{said}");
        assert!(said["agentCapabilities"]["nes"].is_object(), "{said}");
        assert!(client.ask("nes/start", json!({})).await["sessionId"].is_string());
        assert_eq!(client.refused("session/new", json!({ "cwd": "/", "mcpServers": [] })).await.0, -32601);
        assert_eq!(client.ask("_nudge/settle", json!({})).await, json!({}));
        assert_eq!(client.ask("_nudge/questions", json!({})).await, json!({ "questions": [] }));
        assert_eq!(client.ask("_nudge/status", json!({})).await["build"], "test");
    })
    .await;
}

#[tokio::test]
async fn what_nobody_understands_is_refused() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(false));
    client(&gateway, ConnectionOptions::default(), async |client| {
        client.ask("initialize", json!({ "protocolVersion": 2 })).await;
        for method in ["nobody/knows", "_nudge/unknown", "_nudge/stop"] {
            assert_eq!(client.refused(method, json!({})).await.0, -32601, "{method}");
        }
    })
    .await;
}

#[tokio::test]
async fn suggestions_can_be_left_to_an_agent() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(false));
    let options = ConnectionOptions { nes: NesProvider::Agent, ..ConnectionOptions::default() };
    client(&gateway, options, async |client| {
        let said = client.ask("initialize", json!({ "protocolVersion": 1 })).await;
        assert!(said["agentCapabilities"].get("nes").is_none(), "{said}");
        assert_eq!(client.refused("nes/start", json!({})).await.0, -32601);
    })
    .await;
}

#[tokio::test]
async fn a_daemon_is_asked_to_stop() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(true));
    client(&gateway, ConnectionOptions::default(), async |client| {
        assert_eq!(client.ask("_nudge/stop", json!({})).await, json!({}));
    })
    .await;
    gateway.stop_asked().await;
}

#[tokio::test]
async fn a_second_greeting_takes_the_place_of_the_first() {
    let gateway = Gateway::new(suggestions(), Some(sessions().await), program(false));
    client(&gateway, ConnectionOptions::default(), async |client| {
        client.ask("initialize", json!({ "protocolVersion": 1 })).await;
        let nes = client.ask("nes/start", json!({})).await["sessionId"].clone();
        client.ask("initialize", json!({ "protocolVersion": 2 })).await;
        let set = json!({ "sessionId": nes, "configId": "eagerness", "value": "low" });
        let (code, _) = client.refused("session/set_config_option", set).await;
        assert_ne!(code, -32601, "an unknown session, in the hub's words");
    })
    .await;
}

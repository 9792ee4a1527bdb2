//! Proxies and certificates: those of the environment of the client whose turn it is.

use nudge_stage::StageProvider;
use nudge_testkit::LoopbackProxy;

use super::{Client, ClientSetup, Place, VERSIONS, each, heard::TurnOver, tls::TlsFront};

/// A host that only a proxy knows.
const HOST: &str = "models.test";

/// A client that asks the provider at this address with one and the same key, with this about the network in its environment.
async fn client(place: &Place, version: u64, url: &str, network: &[(&'static str, String)]) -> Client {
    let own = [("OPENAI_API_KEY", "sk-1234-of-all".to_owned()), ("OPENAI_BASE_URL", url.to_owned())];
    let environment = own.into_iter().chain(network.iter().cloned()).collect();
    let mut client = place.client_with(version, ClientSetup { environment, ..ClientSetup::default() }).await;
    client.new_session(&place.cwd()).await;
    client
}

fn proxy_url(proxy: &LoopbackProxy, user: &str) -> String {
    format!("http://{user}:Pass-w0rd@{}", proxy.address())
}

/// What a proxy was asked for.
fn asked(proxy: &LoopbackProxy) -> Vec<String> {
    proxy.seen().into_iter().map(|seen| seen.request_line).collect()
}

#[track_caller]
fn check_answered(over: &TurnOver) {
    assert_eq!(over.reason, "end_turn", "{over:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_goes_by_its_own_proxy() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let url = format!("http://{HOST}/v1");
        let proxies = [(); 2].map(|()| LoopbackProxy::start(stage.address()));
        let by = |at: usize, user: &str| [("http_proxy", proxy_url(&proxies[at], user))];
        let mut first = client(&place, version, &url, &by(0, "anna")).await;
        check_answered(&first.turn("hello").await);
        assert!(!asked(&proxies[0]).is_empty() && asked(&proxies[1]).is_empty());
        let before = asked(&proxies[0]).len();
        let mut second = client(&place, 3 - version, &url, &by(1, "bert")).await;
        check_answered(&second.turn("hello").await);
        assert_eq!(asked(&proxies[0]).len(), before, "one client's proxy is not another's");
        // `echo -n anna:Pass-w0rd | base64`, and the same for bert.
        for (proxy, login) in proxies.iter().zip(["YW5uYTpQYXNzLXcwcmQ=", "YmVydDpQYXNzLXcwcmQ="]) {
            for seen in proxy.seen() {
                assert_eq!(seen.authorization.as_deref(), Some(format!("Basic {login}").as_str()));
                assert!(seen.request_line.contains(" http://models.test/v1/"), "{seen:?}");
            }
        }
        assert_eq!(stage.requests().len(), 2);
        // Also in the session of the other: the turn's client counts.
        let (session, before) = (first.session.clone(), asked(&proxies[0]).len());
        second.load(&session, &place.cwd()).await;
        check_answered(&second.turn("and again").await);
        assert_eq!(asked(&proxies[0]).len(), before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_client_cannot_reach_another_can() {
    each(VERSIONS, |version| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let (url, proxy) = (format!("http://{HOST}/v1"), LoopbackProxy::start(stage.address()));
        let nobody = [("http_proxy", "http://127.0.0.1:1".to_owned())];
        let mut lost = client(&place, version, &url, &nobody).await;
        lost.prompt("hello");
        lost.heard("cannot be reached: nobody listens").await;
        let own = [("http_proxy", proxy_url(&proxy, "anna"))];
        let mut found = client(&place, 3 - version, &url, &own).await;
        found.offered("model", "openai/fake-model").await;
        check_answered(&found.turn("hello").await);
        lost.cancel();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_this_machine_is_reached_without_a_proxy() {
    let (place, stage) = (Place::new().await, StageProvider::start().await);
    let proxy = LoopbackProxy::start(stage.address());
    let proxies = ["http_proxy", "https_proxy", "all_proxy"].map(|name| (name, proxy_url(&proxy, "anna")));
    let mut client = client(&place, 1, &format!("{}/v1", stage.url()), &proxies).await;
    check_answered(&client.turn("hello").await);
    assert_eq!(proxy.seen(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_of_ones_own_is_trusted_where_the_client_says_so() {
    let cases = VERSIONS
        .into_iter()
        .flat_map(|version| ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", ""].map(|variable| (version, variable)));
    each(cases, |(version, variable)| async move {
        let (place, stage) = (Place::new().await, StageProvider::start().await);
        let front = TlsFront::start(stage.address(), HOST).await;
        let (url, proxy) = (format!("https://{HOST}/v1"), LoopbackProxy::start(front.address));
        let mut network = vec![("HTTPS_PROXY", proxy_url(&proxy, "anna"))];
        if !variable.is_empty() {
            network.push((variable, front.authority().display().to_string()));
        }
        let mut own = client(&place, version, &url, &network).await;
        let over = own.turn("hello").await;
        assert!(asked(&proxy).iter().all(|line| line == "CONNECT models.test:443 HTTP/1.1"), "{proxy:?}");
        if !variable.is_empty() {
            return check_answered(&over);
        }
        let says = over.error["message"].as_str().unwrap_or_default();
        assert!(
            says.contains("its certificate is not trusted") && says.contains("SSL_CERT_FILE"),
            "{over:?}"
        );
        assert_eq!(over.error["data"]["reason"], "network", "{over:?}");
        assert_eq!(stage.requests().len(), 0);
        // Nobody else is kept from it.
        network.push(("SSL_CERT_FILE", front.authority().display().to_string()));
        let mut other = client(&place, 3 - version, &url, &network).await;
        check_answered(&other.turn("hello").await);
    })
    .await;
}

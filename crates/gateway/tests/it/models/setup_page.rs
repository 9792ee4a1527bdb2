//! The page on which a model is set up, as browsers and others find it.

use nudge_stage::{ModelReply, StageProvider};
use serde_json::json;

use super::{ClientSetup, Place, web::WebPage};

const KEY: &str = "planted-key-3";

/// Method, path, headers and body of a request, and the status of its answer.
type PageCase<'c> = (&'c str, &'c str, &'c [(&'c str, &'c str)], &'c str, u16);

/// A page that is open, with the place it is of.
async fn open(place: &Place) -> (super::Client, u64, WebPage) {
    let capabilities = json!({ "elicitation": { "url": {} } });
    let mut client = place.client_with(1, ClientSetup { capabilities, ..ClientSetup::default() }).await;
    let id = client.send("authenticate", &json!({ "methodId": "setup" }));
    let shown = client.agent_request().await;
    client.answer(&shown, &json!({ "action": "accept" }));
    (client, id, WebPage::at(shown["params"]["url"].as_str().unwrap()))
}

fn form(stage: &StageProvider) -> String {
    let address = format!("{}/v1", stage.url()).replace(':', "%3A").replace('/', "%2F");
    format!("provider=custom&address={address}&key={KEY}")
}

#[tokio::test]
async fn who_is_not_the_user_is_refused() {
    let (place, stage) = (Place::new().await, StageProvider::start().await);
    let (_client, _, page) = open(&place).await;
    let (path, form) = (page.path.as_str(), form(&stage));
    let origin = format!("http://{}", page.host);
    let own = ("origin", origin.as_str());
    let (port, long) = (page.host.rsplit(':').next().unwrap(), "x".repeat(20_000));
    let by_name = format!("localhost:{port}");
    let elsewhere = format!("http://localhost:{port}");
    let other_path = format!("{path}x");
    let query = format!("{path}?a=b");
    let cases: &[PageCase<'_>] = &[
        ("GET", path, &[("host", "evil.example")], "", 421),
        ("GET", path, &[("host", &by_name)], "", 421),
        ("POST", path, &[("host", "evil.example"), own], &form, 421),
        ("GET", "/", &[], "", 404),
        ("GET", "/setup/", &[], "", 404),
        ("GET", "/setup/00000000000000000000000000000000", &[], "", 404),
        ("GET", &other_path, &[], "", 404),
        ("GET", &query, &[], "", 404),
        ("POST", "/setup/", &[own], &form, 404),
        ("POST", path, &[], &form, 403),
        ("POST", path, &[("origin", "null")], &form, 403),
        ("POST", path, &[("origin", "http://evil.example")], &form, 403),
        ("POST", path, &[("origin", &elsewhere)], &form, 403),
        ("POST", path, &[own, ("sec-fetch-site", "cross-site")], &form, 403),
        ("POST", path, &[own, ("sec-fetch-site", "same-site")], &form, 403),
        ("POST", path, &[own], &long, 413),
        ("POST", path, &[own], "", 400),
        ("POST", path, &[own], "provider=nobody&key=x", 400),
        ("PUT", path, &[own], &form, 405),
        ("DELETE", path, &[own], "", 405),
        ("GET", path, &[], "", 200),
    ];
    for (method, path, headers, body, status) in cases {
        let answer = page.request(method, path, headers, body).await.expect("the page is there");
        assert_eq!(answer.status, *status, "{method} {path} {headers:?}: {answer:?}");
        assert!(!answer.text.contains(KEY), "{answer:?}");
        let text = answer.text.to_lowercase();
        for header in [
            "cache-control: no-store",
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
        ] {
            assert!(text.contains(header), "{header}: {answer:?}");
        }
        assert!(!text.contains("<script") && !text.contains("access-control-allow"), "{answer:?}");
    }
    assert!(stage.requests().is_empty(), "nothing of it was tried");
    assert!(place.logins.kept().is_empty());
}

#[tokio::test]
async fn what_does_not_work_is_said_and_not_kept() {
    let (place, stage) = (Place::new().await, StageProvider::start().await);
    stage.on_any().times(1).reply(ModelReply::error(401, format!("Wrong key: {KEY}")));
    let (_client, _, page) = open(&place).await;
    let answer = page.post(&form(&stage)).await;
    assert!(answer.status == 200 && answer.text.contains("does not accept the key"), "{answer:?}");
    assert!(answer.text.contains("<form") && !answer.text.contains(KEY), "{answer:?}");
    for (address, why) in [
        ("http%3A%2F%2F127.0.0.1%3A1", "nobody listens"),
        ("nonsense", "has to begin with http"),
        ("http%3A%2F%2Fuser%3Aplanted-key-3%40127.0.0.1", "has to begin with http"),
        ("", "has to begin with http"),
    ] {
        let answer = page.post(&format!("provider=custom&address={address}&key={KEY}")).await;
        assert!(answer.text.contains(why) && !answer.text.contains(KEY), "{address}: {answer:?}");
    }
    assert!(place.logins.kept().is_empty());
}

#[tokio::test]
async fn it_is_used_once() {
    let (place, stage) = (Place::new().await, StageProvider::start().await);
    let (mut client, id, page) = open(&place).await;
    assert!(!page.path.contains(KEY));
    let form = form(&stage);
    let (first, second) = tokio::join!(page.post(&form), page.post(&form));
    let works = [&first, &second].iter().filter(|answer| answer.text.contains("It works")).count();
    assert_eq!(works, 1, "{first:?} {second:?}");
    assert_eq!(client.response(id).await["result"], json!({}));
    for answer in
        [page.get().await, page.post("provider=custom&address=http%3A%2F%2F127.0.0.1%3A1&key=other").await]
    {
        assert!(answer.text.contains("This is done") && !answer.text.contains("<form"), "{answer:?}");
    }
    let kept = place.logins.kept();
    assert_eq!((kept.len(), kept[0].2.as_deref()), (1, Some(KEY)));
}

#[tokio::test]
async fn it_is_there_for_its_time_and_no_longer() {
    let place = Place::with_page_lifetime(std::time::Duration::from_millis(100)).await;
    let (mut client, id, page) = open(&place).await;
    let error = client.response(id).await["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["reason"]),
        (&json!(-32000), &json!("auth_required")),
        "{error}"
    );
    client.until("the end", |message| message["method"] == "elicitation/complete").await;
    super::eventually("the page is closed", || {
        let page = page.clone();
        async move { page.request("GET", &page.path, &[], "").await.is_none() }
    })
    .await;
    assert!(place.logins.kept().is_empty());
}

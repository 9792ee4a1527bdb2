//! What the page shows. It has no script, takes nothing from elsewhere, and repeats nothing that was typed.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Response, header};
use nudge_model::{ModelProvider, TestedProvider};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color:#1b1b1b;\
    background:#fff}label{display:block;margin:1rem 0 .25rem}input,select,button{font:inherit;width:100%;padding:.5rem;\
    box-sizing:border-box}button{margin-top:1.5rem}.wrong{border-left:4px solid #b00;padding-left:.75rem}\
    @media(prefers-color-scheme:dark){body{color:#eee;background:#161616}input,select,button{color:inherit;background:#222;\
    border:1px solid #555}}";

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page with what is safe to send with it.
pub(super) fn page(status: u16, body: &str) -> Response<Full<Bytes>> {
    let text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Nudge: set up a model</title><style>{STYLE}</style><main>{body}</main></html>"
    );
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "text/html; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::REFERRER_POLICY, "same-origin")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    response.body(Full::new(text.into())).expect("the headers are valid")
}

/// The form, in which one of these can be chosen, and what was wrong before, with the one that was chosen then.
pub(super) fn form(offered: &[&'static ModelProvider], wrong: Option<(&str, &ModelProvider)>) -> String {
    let chosen = wrong.map(|(_, provider)| provider);
    let wrong = wrong
        .map(|(why, _)| format!("<p class=\"wrong\" role=\"alert\">{}</p>", escaped(why)))
        .unwrap_or_default();
    // Nothing is chosen that nobody has chosen: a key must not go to another company.
    let none =
        (offered.len() > 1 && chosen.is_none()).then(|| "<option value=\"\">choose…</option>".to_owned());
    let options = offered.iter().map(|provider| {
        let selected = if chosen == Some(*provider) { " selected" } else { "" };
        format!("<option value=\"{}\"{selected}>{}</option>", provider.id, provider.name)
    });
    let options: String = none.into_iter().chain(options).collect();
    format!(
        "<h1>Set up a model</h1>{wrong}<form method=\"post\" autocomplete=\"off\">\
         <label for=\"provider\">Provider</label><select id=\"provider\" name=\"provider\" required>{options}</select>\
         <label for=\"key\">API key</label><input id=\"key\" name=\"key\" type=\"password\" autocomplete=\"off\">\
         <label for=\"address\">Address, if it is not the provider's own</label>\
         <input id=\"address\" name=\"address\" type=\"url\" placeholder=\"http://127.0.0.1:8080/v1\">\
         <button>Try it and keep it</button></form>\
         <p>What you type goes to Nudge on this computer, and from there to the provider alone.</p>"
    )
}

/// It works.
pub(super) fn done(tested: &TestedProvider, place: &str) -> String {
    format!(
        "<h1>It works</h1><p>{} answered in {} ms. The key is kept {}.</p><p>You can close this page.</p>",
        escaped(&tested.model),
        tested.latency.as_millis(),
        escaped(place),
    )
}

/// It was used already.
pub(super) fn over() -> String {
    "<h1>This is done</h1><p>A model is set up. You can close this page.</p>".to_owned()
}

/// What is asked for is not given.
pub(super) fn refused(why: &str) -> String {
    format!("<h1>Not here</h1><p>{}</p>", escaped(why))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

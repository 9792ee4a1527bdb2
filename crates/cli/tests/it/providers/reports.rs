//! What `nudge providers` says.

use serde_json::json;

use super::{Home, KEY};

#[test]
fn each_provider_is_listed_with_where_it_comes_from() {
    let home = Home::new();
    home.sign_in();
    let env = [("ANTHROPIC_API_KEY", KEY), ("OLLAMA_HOST", "127.0.0.1:1")];
    let (code, told) = home.run_with(&["providers"], &env, "");
    assert_eq!(code, 0, "{told}");
    let row = |id: &str| told.lines().find(|line| line.starts_with(id)).unwrap_or_default().to_owned();
    let anthropic = row("anthropic");
    assert!(anthropic.contains("ANTHROPIC_API_KEY of the environment"), "{told}");
    assert!(anthropic.ends_with("https://api.anthropic.com"), "{told}");
    assert!(
        row("custom").contains("nudge login (key in a file)") && row("custom").ends_with(&home.url()),
        "{told}"
    );
    assert!(row("ollama").contains("OLLAMA_HOST of the environment"), "{told}");
    assert!(row("openai").ends_with("not set up"), "{told}");
    let custom = &home.json(&["providers", "list", "custom", "--json"])[0];
    let expected = json!({ "providerId": "custom", "origin": "nudge login", "keptKey": "file", "baseUrl": home.url(),
        "apiType": "openai" });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&custom[name], value, "{custom}");
    }
    let (code, told) = home.run(&["providers", "list", KEY]);
    assert!(code == 1 && told.contains("no such provider"), "{told}");
}

#[test]
fn the_environment_comes_before_what_is_kept() {
    let home = Home::new();
    home.said(&["login", "anthropic", "--url", &home.provider.url(), "--key-stdin", "--no-test"], KEY);
    let listed = |env: &[(&str, &str)]| home.run_with(&["providers", "list", "anthropic"], env, "").1;
    assert!(listed(&[]).contains("nudge login"));
    assert!(listed(&[("ANTHROPIC_API_KEY", KEY)]).contains("ANTHROPIC_API_KEY of the environment"));
    let args = ["login", "anthropic", "--url", &home.provider.url(), "--key-stdin"];
    let (_, told) = home.run_with(&args, &[("ANTHROPIC_API_KEY", KEY)], KEY);
    assert!(told.contains("ANTHROPIC_API_KEY of the environment comes before it"), "{told}");
}

#[test]
fn they_are_tested_and_their_models_listed() {
    let home = Home::new();
    let (code, told) = home.run_with(&["providers", "test"], &[], "");
    // An Ollama may run on the machine that tests.
    assert!(code == 0 || told.contains("no provider is set up"), "{told}");
    home.sign_in();
    assert!(home.said(&["providers", "test"], "").contains("began to answer after"));
    let tested = &home.json(&["providers", "test", "custom", "--json"])[0];
    assert!(tested["works"] == true && tested["latencyMs"].is_u64(), "{tested}");
    let models = home.json(&["providers", "models", "custom", "--json"]);
    let first = models[0]["id"].as_str().expect("it has one");
    assert!(first.starts_with("custom/") && tested["model"] == first["custom/".len()..], "{models}");
    assert!(home.said(&["providers", "models"], "").starts_with(first));
    home.provider.otherwise(nudge_stage::ModelReply::error(401, "no"));
    let (code, told) = home.run(&["providers", "test", "--json"]);
    assert!(code == 1 && told.contains(r#""works":false"#) && told.contains(r#""error":"auth""#), "{told}");
    let (code, told) = home.run(&["providers", "models", "gemini"]);
    assert!(code == 1 && told.contains("not set up"), "{told}");
}

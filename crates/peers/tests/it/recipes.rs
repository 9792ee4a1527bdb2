use std::collections::HashSet;

use nudge_peers::recipe;
use serde_json::json;

#[test]
fn every_agent_can_be_installed_and_told_from_the_others() {
    let all = recipe::all().unwrap();
    let names: HashSet<_> = all.iter().map(|recipe| &recipe.name).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.len() >= 8);
    for recipe in &all {
        let is_exact = |(_, version): (&str, &str)| version.split('.').count() == 3;
        let npm = recipe.npm.iter().all(|package| package.rsplit_once('@').is_some_and(is_exact));
        let pip = recipe.pip.iter().all(|package| package.split_once("==").is_some_and(is_exact));
        assert!(npm && pip, "{} has a version that is not exact", recipe.name);
        assert_eq!(recipe.pip.is_empty(), recipe.python.is_none(), "{}", recipe.name);
        assert_ne!(recipe.npm.is_empty(), recipe.pip.is_empty(), "{}", recipe.name);
    }
}

#[test]
fn gaps_are_filled_wherever_they_are() {
    let all = recipe::all().unwrap();
    let codex = all.iter().find(|recipe| recipe.name == "codex-acp").unwrap();
    let arguments = codex.shell.as_ref().unwrap().filled(&[("command", "echo \"{x}\"")]);
    assert_eq!(arguments["cmd"], json!("echo \"{x}\""));
    for recipe in &all {
        for tool in [&recipe.shell, &recipe.write].into_iter().flatten() {
            let filled = tool.filled(&[("command", "c"), ("path", "p"), ("text", "t")]).to_string();
            assert!(!filled.contains("{command}") && !filled.contains("{path}"), "{filled}");
            assert_ne!(filled, tool.arguments.to_string(), "{} has a tool without a gap", recipe.name);
        }
    }
}

#[test]
fn an_unknown_agent_is_named() {
    let error = recipe::chosen(&["nobody".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("nobody") && error.contains("goose"), "{error}");
}

//! What the user is asked, and what is remembered of the answer.

use nudge_agent::Conversation;
use nudge_backend::Backend;
use tempfile::TempDir;

use crate::driver::{Driver, is_permission, question, selected};

const REHEARSAL: &str = r#"
    [[turn]]
    regex = '^write (?<path>\S+)'
    [[turn.step]]
    play = [{ call = "write", input = { path = "{path}", content = "x\n" } }]
    [[turn.step]]
    play = []

    [[turn]]
    regex = '^run (?<command>.+)'
    [[turn.step]]
    play = [{ call = "run", input = { command = "{command}" } }]
    [[turn.step]]
    play = []
"#;

const CHANGES: &str =
    "Allow|Always allow changes of files by this tool|Reject|Never allow changes of files by this tool";

fn asked(log: &[String]) -> Vec<&str> {
    log.iter().filter_map(|line| line.strip_prefix("permission ")).collect()
}

#[tokio::test]
async fn writing_and_running_ask_each_time() {
    let mut driver = Driver::new(REHEARSAL);
    for _ in 0..2 {
        let log = driver.turn("write a.txt").await;
        assert_eq!(asked(&log).len(), 1, "{log:?}");
        let log = driver.turn("run true").await;
        assert_eq!(asked(&log), ["true Allow|Always allow exactly `true`|Reject|Never allow exactly `true`"]);
    }
    assert!(driver.outcomes().iter().all(|(status, _)| status == "completed"));
    let mut driver = Driver::new(REHEARSAL);
    let log = driver.turn("write a.txt").await;
    assert_eq!(asked(&log), [format!("Added 1 line, removed 0 lines. {CHANGES}")]);
    let expected = [
        "call Write a.txt pending",
        "StreamFinished",
        "call diff add",
        &format!("permission Added 1 line, removed 0 lines. {CHANGES}"),
        "tool started",
        "call in_progress",
        "call completed diff add",
        "tool finished",
    ];
    assert_eq!(log[1..9], expected);
}

#[tokio::test]
async fn a_rejection_fails_the_call_and_changes_nothing() {
    for option in ["reject_once", "reject_always", "something else"] {
        let mut driver = Driver::new(REHEARSAL);
        driver.permits = option;
        driver.turn("write a.txt").await;
        driver.turn("run touch b.txt").await;
        let refused = ("failed".to_owned(), "The user did not permit this.".to_owned());
        assert_eq!(driver.outcomes(), [refused.clone(), refused], "{option}");
        assert!(!driver.path("a.txt").exists() && !driver.path("b.txt").exists());
    }
}

#[tokio::test]
async fn always_is_remembered_also_after_a_restart() {
    let mut driver = Driver::new(REHEARSAL);
    driver.permits = "allow_always";
    driver.turn("write a.txt").await;
    driver.turn("run true").await;
    let log = driver.turn("run git status").await;
    assert_eq!(asked(&log), ["git status Allow|Always allow `git status`|Reject|Never allow `git status`"]);
    driver.permits = "reject_always";
    driver.turn("run false y").await;
    let Driver { config, .. } = driver;
    let mut driver = Driver::with(REHEARSAL, TempDir::new().unwrap(), config, Conversation::new());
    driver.permits = "reject_once";
    for covered in ["write b.txt", "run true", "run git status --short", "run false y"] {
        assert!(asked(&driver.turn(covered).await).is_empty(), "{covered}");
    }
    let refused = driver.outcomes().iter().filter(|(_, why)| why.contains("never to permit")).count();
    assert_eq!(refused, 1);
    for other in ["run echo", "run true x", "run false", "run git push", "run git", "run git -c a=b status"] {
        assert_eq!(asked(&driver.turn(other).await).len(), 1, "{other} is another question");
    }
}

#[tokio::test]
async fn what_takes_work_away_is_allowed_to_the_letter_only() {
    let mut driver = Driver::new(REHEARSAL);
    driver.permits = "allow_always";
    let log = driver.turn("run git checkout main").await;
    let always = "Always allow exactly `git checkout main`|Reject|Never allow exactly `git checkout main`";
    assert_eq!(asked(&log), [format!("git checkout main Allow|{always}")]);
    driver.turn("run git diff").await;
    driver.permits = "reject_once";
    for covered in ["run git checkout main", "run git diff --stat"] {
        assert!(asked(&driver.turn(covered).await).is_empty(), "{covered}");
    }
    for other in
        ["run git checkout -- .", "run git diff --no-index a b", "run git diff /etc/hostname /dev/null"]
    {
        assert_eq!(asked(&driver.turn(other).await).len(), 1, "{other} is another question");
    }
}

#[tokio::test]
async fn what_earlier_versions_allowed_for_a_whole_program_is_asked_again() {
    let config = r#"{"always":{"run:git":"allow","run:env":"allow","run:rm":"reject"}}"#;
    let config = nudge_wire::RawJson::parse(config.to_owned()).unwrap();
    let mut driver = Driver::with(REHEARSAL, TempDir::new().unwrap(), Some(config), Conversation::new());
    driver.permits = "reject_once";
    for line in ["run git push --force", "run git status", "run env ls"] {
        assert_eq!(asked(&driver.turn(line).await).len(), 1, "{line}");
    }
    assert!(asked(&driver.turn("run rm x").await).is_empty());
    assert_eq!(driver.outcome().1, "The user has said never to permit this.");
}

#[tokio::test]
async fn what_runs_others_is_never_allowed_for_good() {
    let mut driver = Driver::new(REHEARSAL);
    driver.permits = "reject_always";
    for line in [
        "env true",
        "/usr/bin/env true",
        "exec true",
        "sudo true",
        "xargs true",
        "sh x",
        "python3.12 x",
        "nice true",
        "timeout 1 true",
        "git push --force",
        "git -C x status",
    ] {
        for _ in 0..2 {
            let log = driver.turn(&format!("run {line}")).await;
            assert_eq!(asked(&log), [format!("{line} Allow|Reject")]);
        }
    }
}

#[tokio::test]
async fn files_that_other_programs_run_are_always_asked_about() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write(".git/config", "");
    std::os::unix::fs::symlink(".git", driver.path("store")).unwrap();
    driver.permits = "allow_always";
    driver.turn("write a.txt").await;
    for mode in ["ask", "edit"] {
        driver.set("mode", mode);
        assert!(asked(&driver.turn("write a.txt").await).is_empty());
        for path in [".git/hooks/pre-commit", "store/config", ".GIT/config", ".vscode/tasks.json", ".envrc"] {
            driver.permits = "reject_always";
            let log = driver.turn(&format!("write {path}")).await;
            let asked = asked(&log);
            assert!(
                asked.len() == 1 && asked[0].ends_with("asked every time. Allow|Reject"),
                "{path}: {asked:?}"
            );
            assert_eq!(driver.outcome().0, "failed");
        }
    }
    driver.permits = "allow_once";
    driver.turn("write .envrc").await;
    assert_eq!(driver.text(".envrc"), "x\n");
    driver.set("mode", "read-only");
    assert!(asked(&driver.turn("write .envrc").await).is_empty());
    let mut driver = Driver::new(REHEARSAL);
    driver.permits = "reject_always";
    driver.turn("write a.txt").await;
    assert!(asked(&driver.turn("write .envrc").await).is_empty(), "a refusal covers it");
}

#[tokio::test]
async fn a_standing_permission_does_not_cover_what_a_shell_adds() {
    let mut driver = Driver::new(REHEARSAL);
    driver.permits = "allow_always";
    driver.turn("run true").await;
    driver.permits = "reject_once";
    for line in [
        "true; touch x",
        "true && touch x",
        "true | touch x",
        "true $(touch x)",
        "true `touch x`",
        "true > x",
        "X=1 true",
        "true 'a'",
        "true {a,b}",
        "true\\",
    ] {
        let log = driver.turn(&format!("run {line}")).await;
        let asked = asked(&log);
        assert!(asked.len() == 1 && asked[0].ends_with("Allow|Reject"), "{line}: {asked:?}");
    }
    assert!(!driver.path("x").exists());
}

#[tokio::test]
async fn modes_decide_before_the_user_does() {
    let mut driver = Driver::new(REHEARSAL);
    driver.set("mode", "edit");
    assert!(asked(&driver.turn("write a.txt").await).is_empty());
    assert_eq!(asked(&driver.turn("run true").await).len(), 1);
    driver.set("mode", "read-only");
    assert!(asked(&driver.turn("write b.txt").await).is_empty());
    assert!(driver.outcome().1.starts_with("The session is in read-only mode"));
    assert!(asked(&driver.turn("run true").await).is_empty());
    assert_eq!(driver.outcome().0, "failed");
    assert!(!driver.path("b.txt").exists());
}

#[tokio::test]
async fn options_are_set_told_and_kept() {
    let mut driver = Driver::new(REHEARSAL);
    driver.set("mode", "edit");
    let log = driver.turn("write a.txt").await;
    assert_eq!(log[..2], ["config", "config_option_update"]);
    let told = driver.updates[0]["configOptions"].clone();
    assert_eq!(told[0]["currentValue"], "edit");
    assert_eq!(serde_json::to_string(&told).unwrap(), driver.agent.options().as_str());

    let mut refused = |option: &str, value: &str| {
        let value = nudge_wire::RawJson::parse(value.to_owned()).unwrap();
        driver.agent.set(option, &value).unwrap_err().to_string()
    };
    assert_eq!(
        refused("sk-secret", "1"),
        "expected one of the session's options (mode, steer_in_stream, run_timeout), got another name"
    );
    assert_eq!(
        refused("mode", "\"sk-secret\""),
        "expected one of ask, edit, read-only for `mode`, got something else"
    );
    assert_eq!(
        refused("mode", "true"),
        "expected one of ask, edit, read-only for `mode`, got something else"
    );

    let again = Driver::with(REHEARSAL, TempDir::new().unwrap(), driver.config.clone(), Conversation::new());
    assert_eq!(again.agent.options(), driver.agent.options());
    let broken = nudge_wire::RawJson::parse(r#"{"options":{"mode":"gone"},"more":1}"#.to_owned()).unwrap();
    let again = Driver::with(REHEARSAL, TempDir::new().unwrap(), Some(broken), Conversation::new());
    assert_eq!(again.agent.options(), Driver::new(REHEARSAL).agent.options());
}

#[tokio::test]
async fn a_file_that_changes_while_the_user_thinks_is_not_overwritten() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write("a.txt", "old");
    driver.prompt("write a.txt");
    let event = driver.until(is_permission).await;
    driver.write("a.txt", "newer");
    driver.agent.answer(question(&event), Ok(selected("allow_once")));
    driver.idle().await;
    assert!(driver.outcome().1.starts_with("The file has changed in the meantime."));
    assert_eq!(driver.text("a.txt"), "newer");
}

//! Commands that print a key, or do not.

use std::time::{Duration, Instant};

use nudge_vault::{KeyCommand, KeyCommandError, KeyPlace, LoginKey, VaultError, VaultLogin};
use nudge_wire::Environment;

use crate::{Place, key, login, own_environment};

fn run(line: &str, limit: Duration) -> Result<String, KeyCommandError> {
    let printed = KeyCommand::parse(line)?.run(limit, &own_environment())?;
    Ok(printed.reveal().to_owned())
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn what_it_prints_is_the_key() {
    assert_eq!(run("printf sk-plain", LONG).as_deref(), Ok("sk-plain"));
    assert_eq!(run("echo 'sk-quoted'", LONG).as_deref(), Ok("sk-quoted"));
    assert_eq!(
        run("sh -c 'echo noise >&2; printf \"  sk-%s\\n\\n\" shell'", LONG).as_deref(),
        Ok("sk-shell")
    );
    assert_eq!(run("printf %s $HOME;ls", LONG).as_deref(), Ok("$HOME;ls"), "no shell reads it");
}

#[test]
fn it_runs_in_the_environment_of_who_asks() {
    let environment = Environment::new([("WHOSE".to_owned(), "sk-theirs".to_owned())].into());
    let command = KeyCommand::parse("/bin/sh -c 'printf %s%s \"$WHOSE\" \"$HOME\"'").unwrap();
    assert_eq!(command.run(LONG, &environment).unwrap().reveal(), "sk-theirs");
}

#[test]
fn what_is_no_key_is_told_and_not_shown() {
    use KeyCommandError::{Failed, NoCommand, NoKey, NotStarted, Nothing};
    for (line, expected) in [
        ("", NoCommand),
        ("echo 'open", NoCommand),
        ("'' x", NoCommand),
        ("no-such-program-of-nudge", NotStarted),
        ("false", Failed),
        ("sh -c 'echo hush; exit 3'", Failed),
        ("true", Nothing),
        ("printf ' \\n'", Nothing),
        ("printf 'hush\\nhush'", NoKey),
        ("printf 'hush hush'", NoKey),
        ("printf '\\377'", NoKey),
        ("head -c 200000 /dev/zero", NoKey),
    ] {
        let error = run(line, LONG).unwrap_err();
        // One that prints too much is not read to its end, and may fail for that.
        let is_expected = error == expected || (line.starts_with("head") && error == Failed);
        assert!(is_expected, "{line}: {error:?}");
        assert!(!error.to_string().contains("hush"), "{error}");
    }
}

#[test]
fn one_that_hangs_is_ended_with_all_that_it_has_started() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let limit = Duration::from_millis(300);
    for line in [
        format!("sh -c 'echo $$ > {0}; sleep 600'", pid.display()),
        format!("sh -c 'sleep 600 & echo $! > {0}; echo sk-early; exit 0'", pid.display()),
        format!("sh -c 'echo $$ > {0}; echo sk-early; exec >&-; sleep 600'", pid.display()),
    ] {
        let began = Instant::now();
        assert_eq!(run(&line, limit), Err(KeyCommandError::TooSlow(limit)), "{line}");
        assert!(began.elapsed() < Duration::from_secs(10));
        let child = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        nudge_testkit::eventually("it is gone", || !nudge_testkit::is_alive(child));
    }
}

#[test]
fn it_is_run_each_time() {
    let place = Place::new();
    let count = place.dir.path().join("count");
    let line = format!("sh -c 'echo x >> {0}; wc -l < {0}'", count.display());
    let vault = place.filed();
    let command = KeyCommand::parse(&line).unwrap();
    let stored = vault.put(&VaultLogin { key: LoginKey::Command(command), ..login("vertex", "") }).unwrap();
    assert!(matches!(&stored.key, KeyPlace::Command(command) if command.program() == "sh"));
    assert!(stored.to_string().starts_with("no key is kept: the command `sh` is run"), "{stored}");
    vault.list().unwrap();
    assert_eq!(key(&vault, "vertex").as_deref(), Some("1"));
    assert_eq!(key(&vault, "vertex").as_deref(), Some("2"));
    std::fs::remove_file(&count).unwrap();
    std::fs::create_dir(&count).unwrap();
    assert!(matches!(
        vault.get("vertex", &own_environment()),
        Err(VaultError::Command(KeyCommandError::Failed | KeyCommandError::Nothing))
    ));
}

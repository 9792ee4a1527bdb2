//! What `nudge login` keeps, and what it refuses, without a terminal.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use nudge_stage::ProviderDialect;

use super::{Home, KEY};

#[test]
fn a_key_is_tried_out_and_kept_and_it_is_said_where() {
    let home = Home::new();
    let (url, bare) = (home.url(), home.provider.url());
    for (provider, url, dialect, header) in [
        ("custom", &url, ProviderDialect::Chat, "authorization"),
        ("anthropic", &bare, ProviderDialect::Anthropic, "x-api-key"),
    ] {
        let told = home.said(&["login", provider, "--url", url, "--key-stdin"], &format!("{KEY}\n"));
        assert!(told.contains("began to answer after"), "{told}");
        assert!(told.contains("secrets.toml, which only you can read: the keyring is turned off"), "{told}");
        let asked = home.provider.requests().pop().expect("it was asked");
        assert!(asked.dialect == dialect && asked.has_header(header), "{}", asked.summary());
    }
    assert!(home.kept("secrets.toml").contains(KEY) && !home.kept("providers.toml").contains("hush"));
    for name in ["secrets.toml", "providers.toml"] {
        let mode = fs::metadata(home.path("data").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_does_not_work_is_not_kept_unless_it_is_not_tried() {
    let home = Home::refusing();
    let args = ["login", "custom", "--url", &home.url(), "--key-stdin"];
    let (code, told) = home.run_with(&args, &[], KEY);
    assert!(
        code == 1 && told.contains("does not accept the key") && told.contains("Nothing is kept"),
        "{told}"
    );
    assert_eq!(home.kept("providers.toml"), "");
    let (code, told) = home.run(&["login", "custom", "--url", "http://127.0.0.1:1/v1"]);
    assert!(code == 1 && told.contains("nobody listens at its address"), "{told}");
    home.said(&[&args[..], &["--no-test"]].concat(), KEY);
    assert!(home.kept("secrets.toml").contains(KEY));
}

#[test]
fn the_model_that_is_named_is_tried_out() {
    let home = Home::new();
    let told = home.said(&["login", "custom", "--url", &home.url(), "--model", "wren-1"], "");
    assert!(told.contains("wren-1 began to answer") && told.contains("no key"), "{told}");
    let asked = home.provider.requests().pop().expect("it was asked");
    assert!(asked.model() == "wren-1" && !asked.has_header("authorization"));
}

#[test]
fn another_api_can_be_chosen() {
    let home = Home::new();
    let url = home.provider.url();
    home.said(&["login", "custom", "--url", &url, "--api", "anthropic", "--key-stdin"], KEY);
    assert_eq!(home.provider.requests()[0].dialect, ProviderDialect::Anthropic);
    home.said(&["providers", "test"], "");
    assert_eq!(home.provider.requests()[1].dialect, ProviderDialect::Anthropic, "it is kept");
    let (code, told) = home.run(&["login", "custom", "--url", &url, "--api", "bedrock"]);
    assert!(code == 1 && told.contains("expected one of openai"), "{told}");
}

#[test]
fn a_command_prints_the_key() {
    let home = Home::new();
    fs::write(home.path("key"), KEY).unwrap();
    let login =
        |command: &str| home.run(&["login", "custom", "--url", &home.url(), "--key-command", command]);
    let (code, told) = login(&format!("cat {}", home.path("key").display()));
    assert!(code == 0 && told.contains("the command `cat` is run when it is needed"), "{told}");
    assert!(!home.path("data/secrets.toml").exists());
    home.said(&["providers", "test", "custom"], "");
    assert!(home.provider.requests()[1].has_header("authorization"));
    fs::remove_file(home.path("key")).unwrap();
    let (code, told) = home.run(&["providers", "test", "custom"]);
    assert!(code == 1 && told.contains("the key command failed"), "{told}");
    for (command, why) in [("false", "failed"), ("true", "printed nothing"), ("'", "not closed")] {
        let (code, told) = login(command);
        assert!(code == 1 && told.contains(why), "{told}");
    }
}

#[test]
fn a_key_is_no_argument_and_is_not_repeated() {
    let home = Home::new();
    for args in [&["login", "anthropic", KEY][..], &["login", "anthropic", "--key", KEY], &["login", KEY]] {
        let (code, told) = home.run(args);
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("not taken as an argument") || told.contains("no such provider"), "{told}");
    }
}

#[test]
fn what_needs_a_terminal_says_so() {
    let home = Home::new();
    for (args, says) in [
        (&["login"][..], "name the provider"),
        (&["login", "anthropic"], "--key-stdin"),
        (&["login", "azure", "--key-stdin"], "--url"),
        (&["login", "openai", "--key-stdin"], "there is no key"),
        (&["login", "custom", "--url", "ftp://x"], "http or https"),
        (&["login", "custom", "--url", "http://user@x/"], "without user"),
    ] {
        let (code, told) = home.run(args);
        assert!(code == 1 && told.contains(says), "{args:?}: {told}");
    }
    let (code, told) = home.run_with(&["login", "ollama"], &[("NUDGE_DATA", "")], "");
    assert!(code == 1 && told.contains("no data folder"), "{told}");
}

#[test]
fn a_secrets_file_that_others_can_read_is_refused() {
    let home = Home::new();
    home.sign_in();
    let secrets = home.path("data/secrets.toml");
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, told) = home.run(&["providers", "test"]);
    assert!(code == 1 && told.contains("chmod 600"), "{told}");
}

#[test]
fn logins_at_the_same_time_are_all_kept() {
    let home = Home::new();
    let providers = ["custom", "anthropic", "openai", "gemini", "azure"];
    let start = |provider: &&str| {
        let args = ["login", provider, "--url", "http://127.0.0.1:1", "--no-test", "--key-command", "true"];
        let mut command: Command = home.command(&args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = providers.iter().map(start).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let kept = home.kept("providers.toml");
    assert!(providers.iter().all(|provider| kept.contains(&format!("[{provider}]"))), "{kept}");
}

#[test]
fn a_login_is_forgotten_with_its_key() {
    let home = Home::new();
    assert!(home.said(&["logout"], "").contains("no such login"));
    home.sign_in();
    home.said(&["login", "anthropic", "--url", &home.provider.url(), "--key-stdin"], KEY);
    let (code, told) = home.run(&["logout"]);
    assert!(code == 1 && told.contains("anthropic, custom; name one, or use --all"), "{told}");
    assert!(home.said(&["logout", "anthropic"], "").contains("signed out of anthropic"));
    assert!(home.said(&["logout", "anthropic"], "").contains("no such login"));
    assert!(home.said(&["logout"], "").contains("signed out of custom"), "the only one");
    assert!(!home.path("data/secrets.toml").exists());
    home.sign_in();
    assert!(home.said(&["logout", "--all"], "").contains("signed out of custom"));
}

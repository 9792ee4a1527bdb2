//! A key in a real keyring: GNOME's, on a session bus of its own, unlocked and locked.

use std::process::{Command, Stdio};

use super::{Home, KEY};

/// What has to be installed.
const PROGRAMS: [&str; 3] = ["dbus-run-session", "dbus-send", "gnome-keyring-daemon"];

/// How many secrets the keyring has, as it tells itself.
const COUNT: &str = "count() { dbus-send --session --print-reply --dest=org.freedesktop.secrets \
    /org/freedesktop/secrets/aliases/default org.freedesktop.DBus.Properties.Get \
    string:org.freedesktop.Secret.Collection string:Items | grep -c 'object path'; }\n";

/// What a script says on a session bus of its own, on which there are no other programs; nothing, having said so, where that is not
/// possible.
fn on_a_bus(home: &Home, script: &str) -> Option<String> {
    let is_there = |program: &&str| {
        let mut look = Command::new("sh");
        look.args(["-c", "command -v \"$0\"", program]).stdout(Stdio::null());
        look.status().is_ok_and(|status| status.success())
    };
    if let Some(missing) = PROGRAMS.iter().find(|program| !is_there(program)) {
        nudge_testkit::skipped(&format!("{missing} is not installed"));
        return None;
    }
    std::fs::create_dir(home.path("run")).expect("the folder can be written to");
    let script = format!("set -e\n{COUNT}{script}");
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", &script]).env_clear().envs(home.env()).current_dir(home.path(""));
    command.env("NUDGE", env!("CARGO_BIN_EXE_nudge")).env("NUDGE_KEYRING", "true");
    command.env("XDG_RUNTIME_DIR", home.path("run")).env("URL", home.url()).env("KEY", KEY);
    let output = command.stdin(Stdio::null()).output().expect("it was found just now");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{errors}");
    assert!(!said.contains("hush") && !errors.contains("hush"), "a key is shown: {said}{errors}");
    Some(said.into_owned())
}

#[test]
fn a_real_keyring_keeps_a_key_until_the_user_signs_out() {
    let home = Home::new();
    let said = on_a_bus(
        &home,
        "printf %s password | gnome-keyring-daemon --unlock --components=secrets >/dev/null\n\
         for suffix in 1 2; do echo \"$KEY$suffix\" | \"$NUDGE\" login custom --url \"$URL\" --key-stdin; done\n\
         echo \"kept: $(count)\"\n\
         \"$NUDGE\" providers test custom\n\
         \"$NUDGE\" logout custom\n\
         echo \"left: $(count || true)\"\n",
    );
    let Some(said) = said else { return };
    assert_eq!(said.matches("the key is kept in the system's keyring").count(), 2, "{said}");
    assert!(said.contains("kept: 1\n") && said.contains("left: 0\n"), "{said}");
    assert!(said.contains("signed out of custom"), "{said}");
    assert!(!home.path("data/secrets.toml").exists());
    let requests = home.provider.requests();
    assert!(requests.len() == 3 && requests.iter().all(|seen| seen.has_header("authorization")));
}

#[test]
fn a_real_keyring_that_is_locked_is_passed_over_and_that_is_said() {
    let home = Home::new();
    // The bus starts the keyring, which nobody unlocks.
    let said = on_a_bus(&home, "echo \"$KEY\" | \"$NUDGE\" login custom --url \"$URL\" --key-stdin\n");
    let Some(said) = said else { return };
    assert!(said.contains("secrets.toml, which only you can read: the keyring"), "{said}");
    assert!(home.kept("secrets.toml").contains(KEY));
}

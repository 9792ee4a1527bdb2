//! What changes the user's file: `nudge config set`, `unset` and `edit`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::{Command, Stdio},
};

use super::Home;

#[test]
fn settings_that_are_put_at_the_same_time_are_all_kept() {
    let home = Home::new();
    let settings = [
        ("agent.patience", "5"),
        ("agent.isolate", "true"),
        ("agent.start_timeout", "6"),
        ("daemon.linger", "7"),
        ("nes.by", "agent"),
        ("message.limit", "2000"),
        ("log.level", "info"),
        ("output.color", "false"),
    ];
    let putting: Vec<_> = settings
        .map(|(key, value)| {
            home.command(&["config", "set", key, value], &[]).stdout(Stdio::null()).spawn().unwrap()
        })
        .into();
    for mut child in putting {
        assert!(child.wait().unwrap().success());
    }
    for (key, value) in settings {
        assert_eq!(home.run(&["config", "get", key], &[]).1, format!("{value}\n"));
    }
}

#[test]
fn a_setting_is_taken_out_of_the_file() {
    let home = Home::new();
    home.user("# mine\n[agent]\npatience = 5\n");
    let unset = || home.run(&["config", "unset", "agent.patience"], &[]);
    let (code, told, _) = unset();
    assert!(code == 0 && told.starts_with("agent.patience is taken out of "), "{told}");
    assert_eq!(fs::read_to_string(home.path(".config/nudge/config.toml")).unwrap(), "# mine\n[agent]\n");
    let (code, told, _) = unset();
    assert!(code == 0 && told.starts_with("agent.patience does not stand in "), "{told}");
    let (code, _, errors) = home.run(&["config", "unset", "agent.patiense"], &[]);
    assert!(code == 1 && errors.contains("did you mean `agent.patience`?"), "{errors}");
}

#[test]
fn an_empty_device_is_an_empty_file_and_is_not_written() {
    let home = Home::new();
    let null = ["--config", "/dev/null"];
    assert_eq!(home.run(&[&["config", "check"][..], &null].concat(), &[]).0, 0);
    home.write("own", "");
    let link = home.path("link");
    symlink("/dev/null", &link).unwrap();
    let set = ["config", "set", "agent.patience", "5", "--config", link.to_str().unwrap()];
    let (code, _, errors) = home.run(&set, &[]);
    assert!(code == 1 && errors.contains("is not a file"), "{errors}");
}

#[test]
fn a_setting_is_put_into_the_file_and_the_rest_of_it_stays() {
    let home = Home::new();
    let file = home.path(".config/nudge/config.toml");
    let set = |key: &str, value: &str| home.run(&["config", "set", key, value], &[]);
    let (code, told, errors) = set("agent.patience", "60");
    assert!(code == 0 && told.starts_with("agent.patience = 60 in "), "{told}{errors}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    home.user("# mine\n[agent]\npatience = 60 # soon\n");
    assert_eq!(set("agent.patience", "5").0, 0);
    assert_eq!(set("agent.isolate", "yes").0, 0);
    assert_eq!(set("nes.by", "agent").0, 0);
    let expected = "# mine\n[agent]\npatience = 5 # soon\nisolate = true\n\n[nes]\nby = \"agent\"\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(home.run(&["config", "get", "agent.patience"], &[]).1, "5\n");
    for (key, value, expected) in [
        ("agent.patiense", "5", "did you mean `agent.patience`?"),
        ("agent.patience", "soon", "expected a number of seconds"),
        ("data.dir", "here", "begins with `/` or `~/`"),
        ("log.level", "loud", "expected error, warn"),
    ] {
        let (code, _, errors) = set(key, value);
        assert!(code == 1 && errors.contains(expected), "{errors}");
    }
    let (_, _, errors) = home.run(&["config", "set", "agent.patience", "7"], &[("NUDGE_PATIENCE", "8")]);
    assert!(errors.contains("NUDGE_PATIENCE comes before it here"), "{errors}");
    // A link, as those have who keep their files elsewhere, stays one.
    fs::rename(&file, home.path("dotfile")).unwrap();
    symlink(home.path("dotfile"), &file).unwrap();
    assert_eq!(set("agent.patience", "9").0, 0);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read_to_string(home.path("dotfile")).unwrap().contains("patience = 9 # soon"));
    home.user("= =");
    let (code, _, errors) = set("agent.patience", "5");
    assert!(code == 1 && errors.contains("nudge config check"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "= =");
}

#[test]
fn an_editor_needs_a_terminal() {
    let home = Home::new();
    let (code, _, errors) = home.run(&["config", "edit"], &[("EDITOR", "cat")]);
    assert!(code == 1 && errors.contains("needs a terminal"), "{errors}");
    assert!(!home.path(".config").exists());
}

/// Runs `nudge` on a terminal, by way of `script`; nothing if there is no such program.
fn on_terminal(home: &Home, line: &str, env: &[(&str, &str)]) -> Option<(i32, String)> {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(home.path("repo/src")).stdin(Stdio::null());
    command.env("HOME", home.path("")).env_remove("XDG_CONFIG_HOME").env_remove("VISUAL");
    let output = command.envs(env.iter().copied()).output().ok()?;
    Some((output.status.code()?, String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn an_editor_opens_a_file_that_teaches() {
    let home = Home::new();
    let line = format!("{} config edit", env!("CARGO_BIN_EXE_nudge"));
    let Some((code, told)) = on_terminal(&home, &line, &[("EDITOR", "cat")]) else {
        return nudge_testkit::skipped("there is no program `script`");
    };
    assert_eq!(code, 0, "{told}");
    for part in ["[agent]", "# patience = 30", "no mistakes were found"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    home.write("editor", "#!/bin/sh\necho 'agent.patiense = 3' > \"$2\"\n");
    let editor = home.path("editor");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).unwrap();
    let editor = format!("{} --wait", editor.display());
    let (code, told) = on_terminal(&home, &line, &[("EDITOR", "false"), ("VISUAL", &editor)]).unwrap();
    assert!(code == 1 && told.contains("did you mean `agent.patience`?"), "{told}");
    let (code, told) = on_terminal(&home, &line, &[("EDITOR", "false")]).unwrap();
    assert!(code == 1 && told.contains("`false` ended with"), "{told}");
}

#[test]
fn a_changed_file_stays_what_it_was() {
    let home = Home::new();
    let file = home.path(".config/nudge/config.toml");
    let set = || home.run(&["config", "set", "agent.patience", "5"], &[]);
    home.user("\u{feff}# mine\r\n[agent]\r\nisolate = true\r\n");
    assert_eq!(set().0, 0);
    let expected = "\u{feff}# mine\r\n[agent]\r\nisolate = true\r\npatience = 5\r\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(home.run(&["config", "get", "agent.patience"], &[]).1, "5\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, errors) = set();
    assert!(code == 1 && errors.contains("is read-only"), "{errors}");
    fs::remove_file(&file).unwrap();
    let full = format!("# {}", "x".repeat(64 * 1024 - 2));
    home.user(&full);
    let (code, _, errors) = set();
    assert!(code == 1 && errors.contains("would be too long"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), full);
    fs::remove_file(&file).unwrap();
    symlink("../../dotfiles/nudge.toml", &file).unwrap();
    assert_eq!(set().0, 0);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read_to_string(home.path("dotfiles/nudge.toml")).unwrap().contains("patience = 5"));
}

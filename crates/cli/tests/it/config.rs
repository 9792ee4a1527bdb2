//! Settings files, and `nudge config`: the binary in a home of its own.

mod change;

use std::{
    fs,
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A home with a project in it.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
        fs::create_dir_all(dir.path().join("repo/src")).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file, and the folder it is in.
    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// The user's file.
    fn user(&self, text: &str) -> &Self {
        self.write(".config/nudge/config.toml", text)
    }

    /// The project's file.
    fn project(&self, text: &str) -> &Self {
        self.write("repo/.nudge.toml", text)
    }

    /// `nudge` in the project, with these variables and no others.
    fn command(&self, args: &[&str], env: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nudge"));
        command.args(args).current_dir(self.path("repo/src")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("")).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(env.iter().copied());
        command
    }

    fn output(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        self.command(args, env).output().expect("nudge starts")
    }

    /// The status, and what it says on standard output and standard error.
    fn run(&self, args: &[&str], env: &[(&str, &str)]) -> (i32, String, String) {
        let output = self.output(args, env);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("it ends by itself"), text(&output.stdout), text(&output.stderr))
    }

    /// The value and the origin of a setting.
    fn setting(&self, key: &str, args: &[&str], env: &[(&str, &str)]) -> (Value, Value) {
        let (code, told, errors) = self.run(&[args, &["config", "show", "--json"]].concat(), env);
        assert_eq!(code, 0, "{errors}");
        let told: Value = serde_json::from_str(&told).expect("it is JSON");
        let settings = told["settings"].as_array().expect("a list");
        let found = settings.iter().find(|setting| setting["key"] == key).expect("it is listed");
        (found["value"].clone(), found["origin"].clone())
    }
}

#[test]
fn every_source_is_shown_and_the_strongest_counts() {
    let home = Home::new();
    let check = |args: &[&str], env: &[(&str, &str)], value: &str, from: &str| {
        let (found, origin) = home.setting("session.on_close", args, env);
        assert_eq!((found.to_string(), &origin["from"]), (value.to_owned(), &Value::from(from)));
    };
    let (finish, cancel) = ("\"finish\"", "\"cancel\"");
    check(&[], &[], finish, "default");
    home.user("# mine\nsession.on_close = 'cancel'\n");
    check(&[], &[], cancel, "user");
    check(&["--config", ""], &[], finish, "default");
    home.project("[session]\non_close = 'finish'\n");
    check(&[], &[], finish, "project");
    check(&[], &[("NUDGE_ON_CLOSE", "cancel")], cancel, "environment");
    check(&[], &[("NUDGE_ON_CLOSE", "")], finish, "project");
    let (_, origin) = home.setting("session.on_close", &[], &[]);
    assert_eq!(origin["file"], home.path("repo/.nudge.toml").to_str().unwrap());
    assert_eq!(origin["line"], 2);
    let (value, origin) = home.setting("data.dir", &["--data", "/d"], &[("NUDGE_DATA", "/e")]);
    assert_eq!((value, &origin["name"]), (Value::from("/d"), &Value::from("--data")));
    let (value, origin) = home.setting("data.dir", &[], &[("NUDGE_DATA", "")]);
    assert_eq!((value, &origin["from"]), (Value::from(""), &Value::from("environment")));
    let (_, told, _) = home.run(&["config"], &[("NUDGE_PATIENCE", "3")]);
    let line = told.lines().find(|line| line.starts_with("agent.patience")).expect("it is shown");
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["agent.patience", "3", "NUDGE_PATIENCE"]);
}

#[test]
fn another_file_can_be_named() {
    let home = Home::new();
    home.user("agent.patience = 1\n").write("own.toml", "agent.patience = 9\n");
    let own = home.path("own.toml");
    let own = own.to_str().unwrap();
    for (args, env) in [(&["--config", own][..], &[][..]), (&[], &[("NUDGE_CONFIG", own)])] {
        assert_eq!(home.setting("agent.patience", args, env).0, 9);
    }
    assert_eq!(home.setting("agent.patience", &["--config", "../../own.toml"], &[]).0, 9);
    let (code, _, errors) = home.run(&["acp", "--config", "/nowhere.toml"], &[]);
    assert!(code == 1 && errors.contains("/nowhere.toml: there is no such file"), "{errors}");
    let (_, told, _) = home.run(&["config", "path"], &[("XDG_CONFIG_HOME", "/etc/nowhere")]);
    assert!(told.contains("/etc/nowhere/nudge/config.toml  is not there"), "{told}");
    let (_, told, _) = home.run(&["config", "path"], &[]);
    assert!(told.contains(".config/nudge/config.toml  is read"), "{told}");
    assert_eq!(told.matches("project ").count(), 2, "the folder and the root of the repository: {told}");
}

#[test]
fn a_file_does_what_its_flags_do() {
    let home = Home::new();
    home.user("daemon.mode = \"off\"\ndata.dir = \"~/kept\"\nmessage.limit = 2000\ntrace.file = \"~/trace.jsonl\"\n");
    let long =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[\"{}\"]}}\n", "x".repeat(3000));
    home.write("input", &long);
    let input = fs::File::open(home.path("input")).unwrap();
    let output = home.command(&["acp"], &[]).stdin(input).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && told.contains("2000"), "{told}");
    assert!(home.path("kept").is_dir() && home.path("trace.jsonl").exists());
    assert!(!home.path(".local").exists());
    home.user("data.dir = \"\"\nagent.name = \"no-such-agent\"\n");
    let (code, _, errors) = home.run(&["acp"], &[]);
    assert!(code == 1 && errors.contains("no agent `no-such-agent`"), "{errors}");
    assert_eq!(home.run(&["acp", "--", "true"], &[]).0, 0);
    home.user("log.level = \"info\"\ndata.dir = \"\"");
    let output = home.command(&["acp"], &[]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
}

#[test]
fn a_broken_file_stops_what_serves_and_nothing_that_is_needed_to_mend_it() {
    let mistakes: [(&str, &[&str]); 4] = [
        (
            "[agent]\npatiense = 3\n",
            &["config.toml:2:", "`agent.patiense`", "did you mean `agent.patience`?"],
        ),
        ("message.limit = 7\n", &["config.toml:1:", "expected a number of bytes, 1024 or more"]),
        ("agent.patience = \"soon\"", &["config.toml:1:", "expected a number of seconds from 0 to 31536000"]),
        ("hush = = \n", &["config.toml:1:", "this is no TOML"]),
    ];
    for (text, expected) in mistakes {
        let home = Home::new();
        home.user(text);
        for command in [&["acp"][..], &["lsp"], &["daemon"], &["queue", "last", "x"], &["sessions"]] {
            let (code, told, errors) = home.run(command, &[]);
            assert!(code == 1 && told.is_empty(), "{command:?}: {errors}");
            assert!(expected.iter().all(|part| errors.contains(part)), "{errors}");
        }
        let named = home.path("kept");
        let stop = ["stop", "--data", named.to_str().unwrap()];
        for command in
            [&["status"][..], &stop, &["config"], &["config", "path"], &["config", "get", "nes.by"]]
        {
            let (code, told, errors) = home.run(command, &[]);
            assert!(code == 0 && !told.is_empty(), "{command:?}: {errors}");
            assert!(expected.iter().all(|part| errors.contains(part)), "{errors}");
        }
        let (code, told, errors) = home.run(&["doctor"], &[]);
        let wrong: Vec<_> = told.lines().filter(|line| line.contains("WRONG")).collect();
        assert!(code == 1 && wrong.len() == 1 && wrong[0].starts_with("settings"), "{told} {errors}");
        assert!(expected.iter().all(|part| wrong[0].contains(part)), "{told}");
        let (code, told, errors) = home.run(&["config", "check"], &[]);
        assert!(code == 1 && told.is_empty() && errors.contains(expected[0]), "{errors}");
        for command in ["version", "agents"] {
            let (code, _, errors) = home.run(&[command], &[]);
            assert_eq!((code, &*errors), (0, ""), "{command}");
        }
    }
}

#[test]
fn a_wrong_variable_stops_what_it_is_for() {
    let home = Home::new();
    for (name, value) in [("NUDGE_PATIENCE", "soon"), ("NUDGE_NES", "me"), ("NUDGE_MAX_MESSAGE", "7")] {
        let (code, told, errors) = home.run(&["acp"], &[(name, value)]);
        assert!(code == 2 && told.is_empty() && errors.contains(name), "{errors}");
        let (code, _, errors) = home.run(&["status"], &[(name, value)]);
        assert_eq!((code, &*errors), (0, ""), "{name}");
        let (code, _, errors) = home.run(&["config"], &[(name, value)]);
        assert!(code == 0 && errors.contains(name), "{errors}");
    }
}

#[test]
fn a_project_cannot_choose_what_could_harm() {
    let home = Home::new();
    home.project("output.color = true\n[agent]\nname = \"claude\"\n[trace]\nfile = \"/tmp/x\"\n");
    let (code, _, errors) = home.run(&["acp"], &[]);
    assert_eq!(code, 1, "{errors}");
    for part in [
        ".nudge.toml:3: `agent.name` cannot stand in a project file: a project must not choose a program",
        ".nudge.toml:5: `trace.file` cannot stand in a project file",
    ] {
        assert!(errors.contains(part), "{errors}");
    }
    let (code, _, errors) = home.run(&["config", "check", "../.nudge.toml"], &[]);
    assert!(code == 1 && errors.lines().count() == 2, "{errors}");
    assert_eq!(home.setting("trace.file", &[], &[]).0, Value::Null);
}

/// What can be asked of sessions, which are not there.
const OF_SESSIONS: &[&[&str]] = &[
    &["sessions"],
    &["sessions", "list"],
    &["sessions", "show", "last"],
    &["queue", "last", "x"],
    &["steer", "last", "x"],
    &["revoke", "last", "x"],
    &["cancel"],
    &["approve"],
    &["reject"],
    &["answer", "a=b"],
    &["watch", "last"],
    &["lsp", "--no-daemon"],
];

#[test]
fn a_mistake_of_a_project_stops_nothing_but_acp() {
    let home = Home::new();
    home.user("data.dir = \"~/kept\"\n");
    let others: &[&[&str]] = &[&["status"], &["stop"], &["doctor"], &["config"], &["logs"]];
    let commands = || OF_SESSIONS.iter().chain(others);
    let before: Vec<_> = commands().map(|command| home.run(command, &[])).collect();
    for text in ["a = 1\nb = 2\n", "= =", "data.dir = '/elsewhere'\n"] {
        home.project(text);
        for (command, (code, _, errors)) in commands().zip(&before) {
            let (now, _, told) = home.run(command, &[]);
            let told: Vec<_> = told.lines().collect();
            let own: Vec<_> = told.iter().filter(|line| line.contains(".nudge.toml")).collect();
            assert_eq!(own.len(), 1, "{command:?}: {told:?}");
            assert_eq!(told.len(), errors.lines().count() + 1, "{command:?}: {told:?}, not {errors}");
            assert!(now == *code || command[0] == "doctor", "{command:?}: {told:?}");
        }
        let (code, _, errors) = home.run(&["acp"], &[]);
        assert!(code == 1 && errors.contains(".nudge.toml"), "{errors}");
    }
}

#[test]
fn a_file_that_hides_the_place_is_not_guessed_around() {
    let home = Home::new();
    let kept = home.path("kept");
    let kept = kept.to_str().unwrap();
    let wrong = ["= =", "data.dir = 3\n", "store.url = 'own.db'\n", "data = 3\n", "data.dri = '/x'\n"];
    for text in wrong {
        home.user(text);
        for command in OF_SESSIONS.iter().chain([&&["stop"][..]]) {
            let (code, told, errors) = home.run(command, &[]);
            assert!(code == 1 && told.is_empty(), "{command:?}: {told}{errors}");
            let expected = "cannot be read, so it is not known where sessions are kept; mend it or name the folder with --data";
            assert!(errors.contains(expected), "{command:?}: {errors}");
        }
        for command in ["status", "logs", "doctor"] {
            let (_, _, errors) = home.run(&[command], &[]);
            assert!(errors.contains("is a guess"), "{command}: {errors}");
        }
        assert!(home.run(&["doctor"], &[]).1.contains("this is a guess"));
        for (args, env) in [(&["stop", "--data", kept][..], &[][..]), (&["stop"], &[("NUDGE_DATA", kept)])] {
            let (code, told, errors) = home.run(args, env);
            assert_eq!((code, &*told), (0, "no daemon runs\n"), "{errors}");
        }
    }
    home.user("agent.patience = 'soon'\n");
    assert_eq!(home.run(&["stop"], &[]).0, 0, "a mistake elsewhere hides nothing");
    let (code, _, errors) = home.run(&["stop", "--config", "/nowhere.toml"], &[]);
    assert!(code == 1 && errors.contains("/nowhere.toml cannot be read"), "{errors}");
}

#[test]
fn a_project_decides_neither_what_is_sent_to_the_agent_nor_how_long_it_hangs() {
    let home = Home::new();
    for (text, why) in [
        ("nes.by = 'agent'", "what you edit is sent"),
        ("agent.patience = 9", "how long an agent that hangs"),
        ("agent.start_timeout = 9", "how long an agent that hangs"),
    ] {
        home.project(text);
        let (code, _, errors) = home.run(&["acp"], &[]);
        assert!(code == 1 && errors.contains(why), "{errors}");
    }
}

#[test]
fn a_folder_that_may_not_be_entered_holds_no_settings() {
    let home = Home::new();
    home.user("= =");
    let folder = home.path(".config");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&folder).is_ok() {
        return nudge_testkit::skipped("this user may enter every folder");
    }
    let (code, told, errors) = home.run(&["config", "check"], &[]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!((code, &*told), (0, "no mistakes were found\n"), "{errors}");
}

#[test]
fn the_built_in_agent_has_a_name() {
    let home = Home::new();
    home.user("agent.name = 'nudge'\ndaemon.mode = 'off'\ndata.dir = ''\n");
    assert_eq!(home.run(&["acp"], &[]).0, 0);
    assert_eq!(home.run(&["acp", "--agent", "nudge"], &[]).0, 0);
    assert_eq!(home.run(&["config", "check"], &[]).0, 0);
}

#[test]
fn doctor_and_check_look_at_everything() {
    let home = Home::new();
    for (variable, expected) in [
        (("NUDGE_MAX_MESSAGE", "7"), "NUDGE_MAX_MESSAGE"),
        (("NUDGE_LINGER", "soon"), "NUDGE_LINGER"),
        (("NUDGE_LOG", "loud"), "NUDGE_LOG: expected error, warn"),
    ] {
        let (code, told, _) = home.run(&["doctor"], &[variable]);
        let wrong = told.lines().find(|line| line.starts_with("settings")).expect("it is looked at");
        assert!(code == 1 && wrong.contains("WRONG") && wrong.contains(expected), "{told}");
        let (code, _, errors) = home.run(&["config", "check"], &[variable]);
        assert!(code == 1 && errors.contains(expected), "{errors}");
    }
    home.user("\nagent.name = 'nobody'\n");
    let expected = "config.toml:2: expected the name of an agent";
    assert!(home.run(&["doctor"], &[]).1.contains(expected));
    assert!(home.run(&["config", "check"], &[]).2.contains(expected));
}

#[test]
fn a_password_of_the_store_is_shown_nowhere() {
    let home = Home::new();
    let url = "postgres://ada:hush@db/nudge?password=hush";
    let commands: [&[&str]; 5] =
        [&["doctor"], &["doctor", "--json"], &["config"], &["config", "get", "store.url"], &["sessions"]];
    for command in commands {
        let (_, told, errors) = home.run(command, &[("NUDGE_STORE", url)]);
        assert!(!told.contains("hush") && !errors.contains("hush"), "{command:?}: {told}{errors}");
    }
    let (code, told, _) = home.run(&["doctor"], &[("NUDGE_STORE", url)]);
    let store = told.lines().find(|line| line.starts_with("store")).expect("it is looked at");
    assert!(code == 1 && store.contains("WRONG") && store.contains("postgres://***@db/nudge?***"), "{store}");
}

#[test]
fn links_and_pipes_in_place_of_a_project_file_hold_nothing_up() {
    let home = Home::new();
    home.write("secret", "hush = 1\n");
    let place = home.path("repo/.nudge.toml");
    symlink(home.path("secret"), &place).unwrap();
    let (code, _, errors) = home.run(&["acp"], &[]);
    assert!(code == 1 && errors.contains("it is a link") && !errors.contains("hush"), "{errors}");
    fs::remove_file(&place).unwrap();
    assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
    let (code, _, errors) = home.run(&["acp"], &[]);
    assert!(code == 1 && errors.contains("it is not a file"), "{errors}");
    assert_eq!(home.run(&["status"], &[]).0, 0);
    assert_eq!(home.run(&["acp", "--config", "", "--no-daemon", "--data", ""], &[]).0, 0);
    let own = place.to_str().unwrap();
    let (code, _, errors) = home.run(&["config", "set", "agent.patience", "3", "--config", own], &[]);
    assert!(code == 1 && errors.contains("it is not a file"), "{errors}");
}

#[test]
fn check_lists_everything() {
    let home = Home::new();
    assert_eq!(
        home.run(&["config", "check"], &[]),
        (0, "no mistakes were found\n".to_owned(), String::new())
    );
    home.user("a = 1\nb = 2\n").project("c = 3\n");
    let (code, _, errors) = home.run(&["config", "check"], &[("NUDGE_ISOLATE", "perhaps")]);
    assert!(code == 1 && errors.lines().count() == 4 && errors.contains("NUDGE_ISOLATE"), "{errors}");
    let (code, _, errors) = home.run(&["config", "check", "none.toml"], &[]);
    assert!(code == 1 && errors.contains("there is no file none.toml"), "{errors}");
}

#[test]
fn a_daemon_reads_the_file_that_was_named_where_it_was_started() {
    let home = Home::new();
    home.write("own.toml", "daemon.linger = 5\nlog.level = \"info\"\ndata.dir = \"~/kept\"\n");
    home.write(
        "input",
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n",
    );
    let input = fs::File::open(home.path("input")).unwrap();
    let mut command = home.command(&["acp", "--config", "../../own.toml"], &[]);
    let output = command.stdin(input).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let (code, told, _) = home.run(&["stop", "--config", "../../own.toml"], &[]);
    assert_eq!((code, &*told), (0, "the daemon has ended\n"));
    let log = fs::read_to_string(home.path("kept/daemon.log")).unwrap();
    assert!(log.contains("the daemon listens"), "{log}");
}

#[test]
fn a_daemon_that_was_started_on_demand_plays_what_connections_bring() {
    let home = Home::new();
    home.user("agent.rehearsal = '/nowhere.toml'\ndata.dir = '~/kept'\n");
    let (code, _, errors) = home.run(&["daemon", "--linger", "0"], &[]);
    assert!(code == 1 && errors.contains("cannot read the rehearsal"), "{errors}");
    // Nor does it look at a file of the project that it happens to be started in.
    home.project("= =");
    let mut started = home.command(&["daemon", "--detached", "--linger", "0"], &[]);
    let output = started.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("listens"), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains(".nudge.toml"), "{output:?}");
}

#[test]
fn an_editor_hears_what_is_wrong_with_the_settings() {
    let request = r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":1}}"#;
    let headed = format!("Content-Length: {}\r\n\r\n{request}", request.len());
    let line = format!("{request}\n");
    for (text, command, input, expected) in [
        ("a = 1\n", "acp", &*line, "there is no setting `a`"),
        ("a = 1\n", "lsp", &*headed, "there is no setting `a`"),
        ("agent.name = 'nobody'\n", "acp", &*line, "there is no agent `nobody`"),
        ("a = 1\n", "acp", "", ""),
    ] {
        let home = Home::new();
        home.user(text);
        let mut command = home.command(&[command], &[]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It stays open: nobody waits for its end.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{told}");
        assert!(expected.is_empty() || told.contains("\"id\":4"), "{told}");
    }
}

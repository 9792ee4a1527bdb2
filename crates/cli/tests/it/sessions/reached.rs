//! A daemon that is there is reached: when its socket is removed, when others connect and say nothing, when no more files
//! can be opened.

use std::{
    fs,
    io::Read,
    os::unix::net::UnixStream,
    path::PathBuf,
    time::{Duration, Instant},
};

use nudge_testkit::{PATIENCE, Process, eventually, is_alive};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::{Client, Place};

/// Far below the time after which a client gives up, and far above what anything here takes.
const SOON: Duration = Duration::from_secs(9);

impl Place {
    /// The file of the daemon with this ending.
    pub(super) fn file(&self, ending: &str) -> PathBuf {
        let mut files = fs::read_dir(self.data.path()).unwrap().flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("daemon-") && name.ends_with(ending)
        };
        files.find(is_it).unwrap_or_else(|| panic!("no daemon's .{ending} in the data folder"))
    }

    /// A connection to the daemon that has not greeted.
    fn silent(&self) -> UnixStream {
        let stream = UnixStream::connect(self.file("sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

fn pid(client: &mut Client) -> u32 {
    u32::try_from(client.ask("_nudge/status", &json!({}))["pid"].as_u64().unwrap()).unwrap()
}

#[test]
fn a_daemon_whose_socket_is_removed_is_found_again() {
    let place = Place::new();
    let daemon = pid(&mut place.shared_client(1));
    fs::remove_file(place.file("sock")).unwrap();
    let began = Instant::now();
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
    assert!(began.elapsed() < SOON);
}

#[test]
fn a_daemon_whose_lock_is_removed_stays_the_only_one() {
    let place = Place::new();
    let daemon = pid(&mut place.shared_client(1));
    let lock = place.file("lock");
    fs::remove_file(&lock).unwrap();
    eventually("a lock", || fs::read_to_string(&lock).is_ok_and(|said| said.trim() == daemon.to_string()));
    fs::remove_file(place.file("sock")).unwrap();
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

#[test]
fn another_file_in_place_of_the_socket_makes_room() {
    let place = Place::new();
    let daemon = pid(&mut place.shared_client(1));
    let socket = place.file("sock");
    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "").unwrap();
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

#[test]
fn status_and_stop_find_a_daemon_without_a_socket() {
    let place = Place::new();
    let daemon = pid(&mut place.shared_client(1));
    fs::remove_file(place.file("sock")).unwrap();
    let status: Value = serde_json::from_str(&place.command(&["status", "--json"])).unwrap();
    assert_eq!(status["pid"], daemon);
    fs::remove_file(place.file("sock")).unwrap();
    assert_eq!(place.command(&["stop"]), "the daemon has ended");
    assert!(!is_alive(daemon));
}

#[test]
fn a_daemon_whose_folder_is_removed_makes_room_for_another() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    let daemon = pid(&mut client);
    fs::remove_dir_all(place.data.path()).unwrap();
    assert_ne!(pid(&mut place.shared_client(1)), daemon);
    assert_eq!(pid(&mut client), daemon, "who is attached is served to the end");
    drop(client);
    eventually("the end of the first daemon", || !is_alive(daemon));
    place.file("sock");
}

/// A client of a daemon that logs all it does.
fn logged(place: &Place) -> Client {
    let mut env = place.env();
    env.extend([("NUDGE_DAEMON", "on".to_owned()), ("NUDGE_LOG", "debug".to_owned())]);
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Client::new(crate::nudge_with(&["acp"], &env), 1, &json!({}))
}

#[test]
fn a_daemon_whose_folder_was_away_is_found_again() {
    for has_another in [false, true] {
        let place = Place::new();
        let mut client = logged(&place);
        let daemon = pid(&mut client);
        let away = place.work.path().join("away");
        fs::rename(place.data.path(), &away).unwrap();
        if has_another {
            fs::create_dir(place.data.path()).unwrap();
        }
        eventually("a look at the folder", || {
            let log = fs::read_to_string(away.join("daemon.log")).unwrap();
            ["cannot be found", "another's now"].iter().any(|said| log.contains(said))
        });
        if has_another {
            fs::remove_dir(place.data.path()).unwrap();
        }
        fs::rename(&away, place.data.path()).unwrap();
        let began = Instant::now();
        assert_eq!(pid(&mut place.shared_client(1)), daemon, "another: {has_another}");
        assert!(began.elapsed() < SOON);
        assert_eq!(pid(&mut client), daemon, "who is attached is served");
        assert_eq!(place.command(&["stop"]), "the daemon has ended");
    }
}

#[test]
fn a_daemon_that_was_stopped_is_gone() {
    let place = Place::new();
    for _ in 0..3 {
        let daemon = pid(&mut place.shared_client(1));
        place.command(&["stop"]);
        assert!(!is_alive(daemon));
    }
}

#[test]
fn who_connects_and_says_nothing_is_not_kept() {
    let place = Place::new();
    let _client = place.shared_client(1);
    let mut silent = place.silent();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
}

#[test]
fn of_many_who_say_nothing_the_oldest_go_first() {
    let place = Place::new();
    let mut client = place.shared_client(1);
    let daemon = pid(&mut client);
    let open = || fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count();
    let before = open();
    let silent: Vec<_> = (0..300).map(|_| place.silent()).collect();
    assert_eq!((&silent[0]).read(&mut [0]).unwrap(), 0);
    assert_eq!((&silent[100]).read(&mut [0]).unwrap(), 0);
    eventually("few descriptors", || open() <= before + 140);
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

/// `nudge` under a limit on open files, which `option` may make a soft one.
fn limited(place: &Place, option: &str, files: usize, args: &[&str]) -> Process {
    let script = format!("ulimit {option} -n {files}; exec \"$0\" \"$@\"");
    let args = [&["-c", &script, env!("CARGO_BIN_EXE_nudge")], args].concat();
    let mut env = place.env();
    env.push(("NUDGE_DAEMON", "on".to_owned()));
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Process::start("/bin/sh", &args, &env)
}

#[test]
fn however_few_descriptors_there_are_who_says_nothing_does_not_keep_others_out() {
    let place = Place::new();
    let daemon = pid(&mut Client::new(limited(&place, "", 64, &["acp"]), 1, &json!({})));
    let _silent: Vec<_> = (0..100).map(|_| place.silent()).collect();
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

#[test]
fn a_connection_too_many_is_told_so() {
    let place = Place::new();
    let mut clients = vec![Client::new(limited(&place, "", 64, &["acp"]), 1, &json!({}))];
    clients.extend((0..3).map(|_| place.shared_client(1)));
    let (status, _, errors) = place.start(&["acp"], "on").finish();
    assert!(!status.success() && errors.contains("ulimit -n"), "{errors}");
    let daemon = pid(&mut clients[0]);
    drop(clients);
    eventually("room", || place.start(&["status"], "on").finish().0.success());
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

#[test]
fn without_descriptors_the_daemon_says_so_and_recovers() {
    let place = Place::new();
    let mut first = place.shared_client(1);
    let daemon = pid(&mut first);
    let process = Pid::from_raw(i32::try_from(daemon).unwrap());
    // The next number it would be given is the first that it may not have.
    let is_open = |number: &u64| fs::symlink_metadata(format!("/proc/{daemon}/fd/{number}")).is_ok();
    let next = (0..65_536).find(|number| !is_open(number)).unwrap();
    let limit = |current| Rlimit { current: Some(current), maximum: getrlimit(Resource::Nofile).maximum };
    let before = prlimit(process, Resource::Nofile, limit(next)).unwrap();
    let began = Instant::now();
    let refused = || {
        let (status, _, errors) = place.start(&["acp"], "on").finish();
        assert!(!status.success() && errors.contains("ulimit -n"), "{errors}");
    };
    refused();
    refused();
    assert!(began.elapsed() < SOON);
    assert_eq!(pid(&mut first), daemon, "who is attached is served");
    let log = fs::read_to_string(place.data.path().join("daemon.log")).unwrap();
    assert_eq!(log.matches("could not be taken").count(), 1, "{log}");
    prlimit(process, Resource::Nofile, before).unwrap();
    assert_eq!(pid(&mut place.shared_client(1)), daemon);
}

#[test]
fn the_daemon_may_open_many_files_and_what_it_runs_as_many_as_the_editor_may() {
    let place = Place::new();
    let mut client = Client::new(limited(&place, "-S", 256, &["acp"]), 1, &json!({}));
    let daemon = pid(&mut client);
    let limits = fs::read_to_string(format!("/proc/{daemon}/limits")).unwrap();
    let limits = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let limits: Vec<&str> = limits.split_whitespace().collect();
    if limits[1] == "256" {
        return nudge_testkit::skipped("no more files may be opened here");
    }
    assert!(limits[0].parse::<u64>().unwrap() > 256, "{limits:?}");
    client.new_session(&place.cwd());
    client.prompt("run ulimit -n > limit");
    let request = client.agent_request();
    client.permit(&request, "allow_once");
    client.turn_end(1);
    assert_eq!(fs::read_to_string(place.work.path().join("limit")).unwrap().trim(), "256");
}

//! An owner that is killed, and children that are kept.

use std::path::PathBuf;

use nudge_testkit::{Process, eventually, example, is_alive};

/// Says its own number, then those of a child in its group, of one in a session of its own, and of one without a parent
/// and without an environment.
const FAMILY: &str = "echo $$; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & \
    (env -i setsid sh -c 'echo $$; exec sleep 1000' &) ; sleep 1000";

fn owner() -> PathBuf {
    example("nudge-process", "process_owner")
}

fn start(line: &str) -> Process {
    Process::start(owner(), &[line], &[])
}

/// The keeper and the four of the family.
fn family(owner: &mut Process) -> Vec<u32> {
    let family: Vec<u32> =
        (0..5).map(|_| u32::try_from(owner.next_json().unwrap().as_u64().unwrap()).unwrap()).collect();
    eventually("the life of the family", || family.iter().all(|pid| is_alive(*pid)));
    family
}

fn kill(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

fn all_die(family: &[u32]) {
    eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
}

#[test]
fn an_owner_that_is_killed_takes_everything_with_it() {
    let mut owner = start(FAMILY);
    let family = family(&mut owner);
    kill(owner.id());
    all_die(&family);
}

#[test]
fn a_command_dies_with_its_keeper() {
    let mut owner = start("echo $$; exec sleep 1000");
    let keeper = owner.next_json().unwrap().as_u64().unwrap();
    let command = u32::try_from(owner.next_json().unwrap().as_u64().unwrap()).unwrap();
    kill(u32::try_from(keeper).unwrap());
    all_die(&[command]);
}

#[test]
fn a_status_passes_through_the_keeper() {
    let check = |line: &str, expected: &str| {
        let (_, lines, errors) = start(line).finish();
        assert_eq!(lines.last().map(String::as_str), Some(expected), "{errors}");
    };
    check("exit 0", "exit status: 0");
    check("exit 42", "exit status: 42");
    check("kill -TERM $$", "signal: 15 (SIGTERM)");
    check("kill -KILL $$", "signal: 9 (SIGKILL)");
}

#[test]
fn a_kept_family_that_is_asked_leaves_with_its_status() {
    let line = "trap 'exit 7' TERM; exec >&-; sleep 1000 & wait";
    let (_, lines, errors) = Process::start(owner(), &[line, "stop"], &[]).finish();
    assert_eq!(lines.last().map(String::as_str), Some("exit status: 7"), "{errors}");
}

/// A process without parent, group and environment that ignores requests to leave; says its number.
const ESCAPE: &str = "trap '' TERM; (env -i setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000' \
    >/dev/null 2>&1 &); while ! [ -e pid ]; do sleep 0.01; done; cat pid";

#[test]
fn a_command_that_is_to_leave_nothing_leaves_nothing() {
    for (end, expected) in [("exit 3", "exit status: 3"), ("kill -KILL $$", "signal: 9 (SIGKILL)")] {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("cd {}; {ESCAPE}; {end}", folder.path().display());
        let (_, lines, errors) = Process::start(owner(), &[&line, "sweep"], &[]).finish();
        assert_eq!(lines.last().map(String::as_str), Some(expected), "{errors}");
        let escaped = lines[1].parse().unwrap();
        assert!(!is_alive(escaped), "it is gone when the command is");
    }
}

#[test]
fn a_keeper_does_not_hold_the_output_open() {
    let mut owner = start("echo $$; exec >&- 2>&-; sleep 1000");
    let _keeper = owner.next_json().unwrap();
    let command = u32::try_from(owner.next_json().unwrap().as_u64().unwrap()).unwrap();
    assert_eq!(owner.next_json().unwrap(), "end of output");
    assert!(is_alive(command));
    kill(owner.id());
    all_die(&[command]);
}

#[test]
fn the_shim_takes_nothing_else() {
    for args in [
        &["__child"][..],
        &["__child", "keep", "1"],
        &["__child", "keep", "x", "--", "true"],
        &["__child", "no", "1", "--", "true"],
    ] {
        let (status, _, errors) = Process::start(owner(), args, &[]).finish();
        assert_eq!(status.code(), Some(2), "{args:?}");
        assert!(errors.contains("`__child` is for Nudge itself"), "{errors}");
    }
    // Somebody else's number is not the parent's.
    let (status, ..) = Process::start(owner(), &["__child", "keep", "1", "--", "true"], &[]).finish();
    assert_eq!(status.code(), Some(1));
}

//! What can be seen of a program from outside: its files, and its processes with all that they have started.

use std::{fs, path::Path};

use nudge_testkit::PlantedSecret;

/// Where keys are kept if there is no keyring, and nowhere else.
const KEPT: &str = "secrets.toml";

#[track_caller]
pub(super) fn check_absent<'s>(
    secrets: impl IntoIterator<Item = &'s PlantedSecret>,
    what: &str,
    bytes: &[u8],
) {
    secrets.into_iter().for_each(|secret| secret.check_absent(what, bytes));
}

/// Every file below a folder but the one that is for keys.
pub(super) fn check_files(secrets: &[PlantedSecret], folder: &Path) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("it has a kind"));
        if kind.is_dir() {
            check_files(secrets, &path);
        } else if kind.is_file() && entry.file_name() != KEPT {
            check_absent(secrets, &path.display().to_string(), &fs::read(&path).unwrap_or_default());
        }
    }
}

/// The command lines of these processes, which are ours, and the environment of those that work in the session's folder, from which
/// only some are `withheld`. Nobody else's is looked at.
pub(super) fn check_processes(
    own: &[u32],
    cwd: &str,
    secrets: &[PlantedSecret],
    withheld: &[&PlantedSecret],
) {
    let mut commands = 0;
    for process in own.iter().flat_map(|pid| with_descendants(*pid)) {
        let folder = Path::new("/proc").join(process.to_string());
        check_absent(secrets, "the process list", &fs::read(folder.join("cmdline")).unwrap_or_default());
        if fs::read_link(folder.join("cwd")).is_ok_and(|dir| dir == Path::new(cwd)) {
            commands += 1;
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            check_absent(withheld.iter().copied(), "the environment of a command", &environment);
        }
    }
    assert!(commands > 0, "the command runs");
}

/// A process, and all that it has started.
fn with_descendants(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = listed
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    std::iter::once(pid).chain(children.into_iter().flat_map(with_descendants)).collect()
}

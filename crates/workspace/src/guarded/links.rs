//! Links by which a file is also another one.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use super::{
    GuardedReason,
    names::{by_name, folded, holds_some},
};

/// How many entries of a folder are looked at.
const MOST_ENTRIES: usize = 20_000;
/// Into how many folders with telling names it is looked, those further up first.
const MOST_FOLDERS: usize = 64;
/// How many links one path may go over, as on Linux.
const MOST_LINKS: usize = 40;

/// What a file is by a link with a telling name in a folder, or in a folder with a telling name there. `root` is the
/// session's directory, and what that is in does not count.
pub(super) fn by_links(folder: &Path, root: &Path, file: &Path) -> Option<GuardedReason> {
    let mut ahead = VecDeque::from([(folder.to_owned(), PathBuf::new())]);
    for _ in 0..MOST_FOLDERS {
        let (folder, called) = ahead.pop_front()?;
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES) {
            let Ok(kind) = entry.file_type() else { continue };
            let (name, path) = (entry.file_name(), entry.path());
            let called = called.join(&name);
            if !(kind.is_symlink() || kind.is_dir()) || !is_telling(&name, &called) {
                continue;
            }
            if kind.is_symlink() {
                if let Some(found) = linked(&path, &called, root, file) {
                    return Some(found);
                }
            } else if folded(&name.to_string_lossy()) != ".git" {
                ahead.push_back((path, called));
            }
        }
    }
    None
}

fn is_telling(name: &OsStr, called: &Path) -> bool {
    by_name(called).is_some() || holds_some(&name.to_string_lossy())
}

fn linked(link: &Path, called: &Path, root: &Path, file: &Path) -> Option<GuardedReason> {
    let target = lead(link)?;
    let rest = file.strip_prefix(&target).ok()?;
    let holds_session = root != target && root.starts_with(&target);
    if holds_session { None } else { by_name(&called.join(rest)) }
}

/// Whether the file is what a path leads to, or inside of it.
pub(super) fn leads_to(path: &Path, file: &Path) -> bool {
    lead(path).is_some_and(|target| file.starts_with(target))
}

/// Where a path leads over all links. What is not there is taken as it is written, since it may be made.
pub(super) fn lead(path: &Path) -> Option<PathBuf> {
    let (mut real, mut ahead, mut links) = (PathBuf::new(), steps(path), 0);
    while let Some(step) = ahead.pop() {
        if step == ".." {
            real.pop();
            continue;
        }
        let next = real.join(step);
        match fs::read_link(&next) {
            Ok(_) if links == MOST_LINKS => return None,
            Ok(target) => {
                links += 1;
                ahead.extend(steps(&target));
            }
            Err(_) => real = next,
        }
    }
    Some(real)
}

/// The steps of a path, the last one first.
fn steps(path: &Path) -> Vec<OsString> {
    let steps = path.components().rev().map(|step| step.as_os_str().to_owned());
    steps.filter(|step| step != ".").collect()
}

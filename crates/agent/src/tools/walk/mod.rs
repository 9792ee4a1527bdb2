//! A walk through a folder that stays small, whatever it finds: bounded in what it keeps of names and of ignore rules.
//!
//! It follows no link, opens nothing but folders and files with ignore rules, and says what it has left out.

mod report;
mod rules;

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    vec,
};

use nudge_workspace::{SessionDirectories, files::ReadError};

pub(super) use report::{WalkReport, WalkTopic, on_one_line};
use rules::IgnoreRules;

/// How many bytes of names are kept at one time, of all folders on the way.
const MOST_NAMES: usize = 32 * 1024 * 1024;
/// What a name takes besides its bytes.
const NAME: usize = 64;
/// After so many names it is asked whether to go on.
const OFTEN: usize = 1024;

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// Something that is found, with its path.
pub(super) struct WalkEntry {
    pub(super) path: PathBuf,
    pub(super) kind: EntryKind,
}

/// Everything below a folder, in the order of names, without what is ignored.
pub(super) struct FolderWalk<'a> {
    folders: Vec<Folder>,
    /// How many folders deep it goes.
    depth: usize,
    /// What the names of all folders take, and may take.
    weight: usize,
    most: usize,
    is_over: &'a dyn Fn() -> bool,
    /// How many were passed over because a rule says so.
    pub(super) ignored: usize,
    pub(super) report: WalkReport<'a>,
}

/// A folder the walk is in.
struct Folder {
    path: PathBuf,
    rules: Arc<IgnoreRules>,
    names: vec::IntoIter<(OsString, EntryKind)>,
    weight: usize,
}

impl<'a> FolderWalk<'a> {
    /// Begins in a folder, which must be readable. The walk ends when `is_over` says so.
    pub(super) fn new(
        roots: &'a SessionDirectories,
        folder: &Path,
        depth: usize,
        is_over: &'a dyn Fn() -> bool,
    ) -> Result<Self, ReadError> {
        let report = WalkReport::new(roots);
        let walk =
            Self { folders: Vec::new(), depth, weight: 0, most: MOST_NAMES, is_over, ignored: 0, report };
        walk.begin(folder)
    }

    fn begin(mut self, folder: &Path) -> Result<Self, ReadError> {
        let rules = IgnoreRules::around(folder, &mut self.report);
        self.enter(folder, &rules)?;
        Ok(self)
    }

    fn enter(&mut self, path: &Path, around: &Arc<IgnoreRules>) -> io::Result<()> {
        let (names, weight) = self.names(path)?;
        self.weight += weight;
        let rules = around.enter(path, &mut self.report);
        self.folders.push(Folder { path: path.to_owned(), rules, names: names.into_iter(), weight });
        Ok(())
    }

    /// The names in a folder, sorted, as many as there is room for, and what they take.
    fn names(&mut self, path: &Path) -> io::Result<(Vec<(OsString, EntryKind)>, usize)> {
        let (mut names, mut weight) = (Vec::new(), 0);
        for entry in fs::read_dir(path)? {
            let Ok(entry) = entry else {
                self.report.note(WalkTopic::LeftOut, "folders that could not be read to their end", path);
                break;
            };
            let (name, kind) = (entry.file_name(), entry.file_type().map_or(EntryKind::Special, kind));
            weight += name.len() + NAME;
            if self.weight + weight > self.most {
                weight -= name.len() + NAME;
                self.report.note(WalkTopic::LeftOut, "folders with too many entries, in part", path);
                break;
            }
            names.push((name, kind));
            if names.len() % OFTEN == 0 && (self.is_over)() {
                break;
            }
        }
        names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok((names, weight))
    }
}

impl Iterator for FolderWalk<'_> {
    type Item = WalkEntry;

    fn next(&mut self) -> Option<WalkEntry> {
        loop {
            if (self.is_over)() {
                return None;
            }
            let folder = self.folders.last_mut()?;
            let Some((name, kind)) = folder.names.next() else {
                self.weight -= folder.weight;
                self.folders.pop();
                continue;
            };
            if name == ".git" {
                continue;
            }
            let path = folder.path.join(name);
            if folder.rules.ignores(&path, kind == EntryKind::Folder) {
                self.ignored += 1;
                continue;
            }
            if kind == EntryKind::Folder && self.folders.len() < self.depth {
                let rules = Arc::clone(&self.folders[self.folders.len() - 1].rules);
                if let Err(error) = self.enter(&path, &rules) {
                    self.report.note(WalkTopic::LeftOut, &ReadError::from(error).reason(), &path);
                }
            }
            return Some(WalkEntry { path, kind });
        }
    }
}

fn kind(kind: fs::FileType) -> EntryKind {
    if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_file() {
        EntryKind::File
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Special
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_more_entries_than_there_is_room_for_is_walked_in_part() {
        let folder = tempfile::tempdir().unwrap();
        for name in 0..100 {
            fs::create_dir(folder.path().join(format!("{name:03}"))).unwrap();
            fs::write(folder.path().join(format!("{name:03}/file")), "").unwrap();
        }
        let roots = SessionDirectories::new(folder.path().to_owned(), Vec::new());
        let real = folder.path().canonicalize().unwrap();
        for (room, entries, told) in [(1000, 200, false), (60, 60, true), (100, 100, true)] {
            let walk = FolderWalk {
                folders: Vec::new(),
                depth: 9,
                weight: 0,
                most: room * (NAME + 3),
                is_over: &|| false,
                ignored: 0,
                report: WalkReport::new(&roots),
            };
            let mut walk = walk.begin(&real).unwrap();
            let count = walk.by_ref().count();
            assert_eq!((count, !walk.report.is_empty()), (entries, told), "{:?}", walk.report.lines());
            assert_eq!(walk.weight, 0, "all room is given back");
        }
    }
}

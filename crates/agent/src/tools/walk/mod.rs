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

use nudge_workspace::{Directories, files::ReadError};

pub(super) use report::{Report, Topic, on_one_line};
use rules::Rules;

/// How many bytes of names are kept at one time, of all folders on the way.
const MOST_NAMES: usize = 32 * 1024 * 1024;
/// What a name takes besides its bytes.
const NAME: usize = 64;
/// After so many names it is asked whether to go on.
const OFTEN: usize = 1024;

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// Something that is found, with its path.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// Everything below a folder, in the order of names, without what is ignored.
pub(super) struct Walk<'a> {
    folders: Vec<Folder>,
    /// How many folders deep it goes.
    depth: usize,
    /// What the names of all folders take, and may take.
    weight: usize,
    most: usize,
    is_over: &'a dyn Fn() -> bool,
    /// How many were passed over because a rule says so.
    pub(super) ignored: usize,
    pub(super) report: Report<'a>,
}

/// A folder the walk is in.
struct Folder {
    path: PathBuf,
    rules: Arc<Rules>,
    names: vec::IntoIter<(OsString, Kind)>,
    weight: usize,
}

impl<'a> Walk<'a> {
    /// Begins in a folder, which must be readable. The walk ends when `is_over` says so.
    pub(super) fn new(
        roots: &'a Directories,
        folder: &Path,
        depth: usize,
        is_over: &'a dyn Fn() -> bool,
    ) -> Result<Self, ReadError> {
        let report = Report::new(roots);
        let walk =
            Self { folders: Vec::new(), depth, weight: 0, most: MOST_NAMES, is_over, ignored: 0, report };
        walk.begin(folder)
    }

    fn begin(mut self, folder: &Path) -> Result<Self, ReadError> {
        let rules = Rules::around(folder, &mut self.report);
        self.enter(folder, &rules)?;
        Ok(self)
    }

    fn enter(&mut self, path: &Path, around: &Arc<Rules>) -> io::Result<()> {
        let (names, weight) = self.names(path)?;
        self.weight += weight;
        let rules = around.enter(path, &mut self.report);
        self.folders.push(Folder { path: path.to_owned(), rules, names: names.into_iter(), weight });
        Ok(())
    }

    /// The names in a folder, sorted, as many as there is room for, and what they take.
    fn names(&mut self, path: &Path) -> io::Result<(Vec<(OsString, Kind)>, usize)> {
        let (mut names, mut weight) = (Vec::new(), 0);
        for entry in fs::read_dir(path)? {
            let Ok(entry) = entry else {
                self.report.note(Topic::LeftOut, "folders that could not be read to their end", path);
                break;
            };
            let (name, kind) = (entry.file_name(), entry.file_type().map_or(Kind::Special, kind));
            weight += name.len() + NAME;
            if self.weight + weight > self.most {
                weight -= name.len() + NAME;
                self.report.note(Topic::LeftOut, "folders with too many entries, in part", path);
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

impl Iterator for Walk<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
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
            if folder.rules.ignores(&path, kind == Kind::Folder) {
                self.ignored += 1;
                continue;
            }
            if kind == Kind::Folder && self.folders.len() < self.depth {
                let rules = Arc::clone(&self.folders[self.folders.len() - 1].rules);
                if let Err(error) = self.enter(&path, &rules) {
                    self.report.note(Topic::LeftOut, &ReadError::from(error).reason(), &path);
                }
            }
            return Some(Entry { path, kind });
        }
    }
}

fn kind(kind: fs::FileType) -> Kind {
    if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
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
        let roots = Directories::new(folder.path().to_owned(), Vec::new());
        let real = folder.path().canonicalize().unwrap();
        for (room, entries, told) in [(1000, 200, false), (60, 60, true), (100, 100, true)] {
            let walk = Walk {
                folders: Vec::new(),
                depth: 9,
                weight: 0,
                most: room * (NAME + 3),
                is_over: &|| false,
                ignored: 0,
                report: Report::new(&roots),
            };
            let mut walk = walk.begin(&real).unwrap();
            let count = walk.by_ref().count();
            assert_eq!((count, !walk.report.is_empty()), (entries, told), "{:?}", walk.report.lines());
            assert_eq!(walk.weight, 0, "all room is given back");
        }
    }
}

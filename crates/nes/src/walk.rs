//! Goes through the files of a folder as git does, but not further than makes sense: who wrote the folder need not be a
//! friend.
//!
//! Links are not followed, so there are no loops. Ignore files are read here and not by the crate that understands them,
//! because it would read them whatever they are: a pipe, or hundreds of thousands of patterns, of which each takes kilobytes.

use std::{
    ffi::OsStr,
    fmt, fs,
    io::Read,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::folders::open_file;

/// The longest ignore file that is read, in bytes and in patterns.
const IGNORE_BYTES: u64 = 128 * 1024;
const IGNORE_PATTERNS: usize = 2000;
/// Patterns of all ignore files on the way from the root to a folder.
const ALL_PATTERNS: usize = 4000;
/// How deep folders are looked into.
const DEPTH: usize = 64;
/// How many entries of one folder are looked at.
const ENTRIES: usize = 20_000;
/// How many entries of all folders are.
const ALL_ENTRIES: usize = 200_000;

/// What was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Ignore files that are too long, or no files.
    pub(crate) ignore_files: usize,
    /// Pipes, sockets and devices.
    pub(crate) special_files: usize,
    /// Files that are too long.
    pub(crate) long_files: usize,
    /// Folders that are too deep, or have more entries than are looked at.
    pub(crate) folders: usize,
    /// Whether there was too much, so that the rest was not looked at.
    pub(crate) rest: bool,
}

/// A walk through one folder. `visit` is given every file that is not ignored.
pub(crate) struct Walk<'a> {
    /// Longer files are left out.
    pub(crate) file_bytes: u64,
    pub(crate) left_out: &'a mut LeftOut,
    pub(crate) visit: &'a mut dyn FnMut(&Path) -> ControlFlow<()>,
}

/// What the folders on the way say.
struct Way {
    layers: Vec<Layer>,
    /// What holds for the whole repository, and for all of them.
    everywhere: Vec<Gitignore>,
    entries: usize,
}

/// What one folder says; `.ignore` counts more than `.gitignore`.
struct Layer {
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
}

impl Walk<'_> {
    pub(crate) fn go(mut self, root: &Path) {
        let mut way = self.begin(root);
        // That it ends early is what was wanted.
        let _ = self.folder(root, &mut way, 0);
    }

    /// What counts before the root is looked at: the folders above it, up to that of the repository.
    fn begin(&mut self, root: &Path) -> Way {
        let mut way = Way { layers: Vec::new(), everywhere: Vec::new(), entries: 0 };
        let repository = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
        if let Some(repository) = repository {
            let above: Vec<&Path> =
                root.ancestors().skip(1).take_while(|folder| folder.starts_with(repository)).collect();
            for folder in above.into_iter().rev() {
                let layer = self.layer(folder, &way);
                way.layers.push(layer);
            }
            let exclude = repository.join(".git").join("info").join("exclude");
            way.everywhere.extend(self.patterns(repository, &exclude, &way));
        }
        way.everywhere.push(Gitignore::global().0);
        way
    }

    fn folder(&mut self, folder: &Path, way: &mut Way, depth: usize) -> ControlFlow<()> {
        if depth > DEPTH {
            self.left_out.folders += 1;
            return ControlFlow::Continue(());
        }
        let entries = self.entries(folder);
        let layer = self.layer(folder, way);
        way.layers.push(layer);
        let done = entries.iter().try_for_each(|(path, kind)| {
            way.entries += 1;
            if way.entries > ALL_ENTRIES {
                self.left_out.rest = true;
                return ControlFlow::Break(());
            }
            self.entry(path, *kind, way, depth)
        });
        way.layers.pop();
        done
    }

    fn entry(&mut self, path: &Path, kind: fs::FileType, way: &mut Way, depth: usize) -> ControlFlow<()> {
        if kind.is_symlink() || way.ignores(path, kind.is_dir()) {
            return ControlFlow::Continue(());
        }
        if kind.is_dir() {
            return self.folder(path, way, depth + 1);
        }
        if !kind.is_file() {
            self.left_out.special_files += 1;
            return ControlFlow::Continue(());
        }
        if path.symlink_metadata().is_ok_and(|about| about.len() > self.file_bytes) {
            self.left_out.long_files += 1;
            return ControlFlow::Continue(());
        }
        (self.visit)(path)
    }

    /// The entries of a folder in the order of their names.
    fn entries(&mut self, folder: &Path) -> Vec<(PathBuf, fs::FileType)> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let known = entries.flatten().filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
        let mut entries: Vec<_> = known.take(ENTRIES + 1).collect();
        if entries.len() > ENTRIES {
            self.left_out.folders += 1;
            entries.pop();
        }
        entries.sort_by(|a, b| a.0.file_name().cmp(&b.0.file_name()));
        entries
    }

    fn layer(&mut self, folder: &Path, way: &Way) -> Layer {
        let ignore = self.patterns(folder, &folder.join(".ignore"), way);
        let git = self.patterns(folder, &folder.join(".gitignore"), way);
        Layer { ignore, git }
    }

    /// What an ignore file says about what is in a folder.
    fn patterns(&mut self, folder: &Path, file: &Path, way: &Way) -> Option<Gitignore> {
        file.symlink_metadata().ok()?;
        let room = ALL_PATTERNS.saturating_sub(way.patterns()).min(IGNORE_PATTERNS);
        let read = read_patterns(file, room);
        if read.is_none() {
            tracing::debug!(file = %file.display(), "an ignore file is left out");
            self.left_out.ignore_files += 1;
        }
        let mut builder = GitignoreBuilder::new(folder);
        for line in read?.lines() {
            // What is no pattern ignores nothing.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|patterns| !patterns.is_empty())
    }
}

impl Way {
    fn patterns(&self) -> usize {
        let all = self.layers.iter().flat_map(|layer| [&layer.ignore, &layer.git]).flatten();
        all.map(Gitignore::len).sum()
    }

    fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let layers = || self.layers.iter().rev();
        let ignore = layers().filter_map(|layer| layer.ignore.as_ref());
        let git = layers().filter_map(|layer| layer.git.as_ref());
        let all = ignore.chain(git).chain(&self.everywhere);
        // A pattern of a folder elsewhere says nothing about it.
        let said = all.map(|patterns| patterns.matched(path, is_dir)).find(|said| !said.is_none());
        let name = path.file_name().unwrap_or(OsStr::new(""));
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        name == ".git" || said.map_or(is_hidden, |said| matches!(said, Match::Ignore(_)))
    }
}

/// An ignore file; `None` if it is none, or has more in it than one has.
fn read_patterns(file: &Path, most: usize) -> Option<String> {
    let mut text = Vec::new();
    open_file(file, IGNORE_BYTES, false)?.take(IGNORE_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let patterns = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).count();
    (patterns <= most).then_some(text)
}

impl LeftOut {
    /// Whether something was left out that somebody has made to be in the way.
    pub(crate) fn is_odd(&self) -> bool {
        self.ignore_files > 0 || self.special_files > 0 || self.folders > 0 || self.rest
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = [
            (self.ignore_files, "ignore files that are too long or no files"),
            (self.special_files, "pipes, sockets or devices"),
            (self.folders, "folders that are too deep or too full"),
            (self.long_files, "files that are too long"),
        ];
        let counted = counted.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
        if self.rest {
            parts.push("all that comes after, since the workspace is too large".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder inside of a repository.
    #[test]
    fn what_git_ignores_is_ignored() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let files = [
            (".git/info/exclude", "excluded.rs\n"),
            (".gitignore", "# a note\n*.log\n/sub/out/\n"),
            ("sub/.gitignore", "!kept.log\n/only/*.tmp\n"),
            ("sub/.ignore", "*.gen\n"),
            ("sub/a.rs", ""),
            ("sub/a.log", ""),
            ("sub/kept.log", ""),
            ("sub/excluded.rs", ""),
            ("sub/out/b.rs", ""),
            ("sub/.hidden/c.rs", ""),
            ("sub/only/d.tmp", ""),
            ("sub/only/more/d.tmp", ""),
            ("sub/e.gen", ""),
            ("sub/f/g.rs", ""),
        ];
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (mut left_out, mut found) = (LeftOut::default(), Vec::new());
        let sub = root.join("sub");
        let mut visit = |path: &Path| {
            found.push(path.strip_prefix(&sub).unwrap().to_str().unwrap().to_owned());
            ControlFlow::Continue(())
        };
        Walk { file_bytes: 100, left_out: &mut left_out, visit: &mut visit }.go(&sub);
        assert_eq!(found, ["a.rs", "f/g.rs", "kept.log", "only/more/d.tmp"]);
        assert_eq!(left_out, LeftOut::default());
    }
}

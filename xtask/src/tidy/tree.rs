//! The files of the repository, in memory.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use ignore::WalkBuilder;

/// The files that git does not ignore, by their path below the root, with `/` between folders.
#[derive(Debug, Default)]
pub(crate) struct Tree(BTreeMap<String, Option<String>>);

impl Tree {
    /// Reads the files of the repository at `root`, whether or not it is a git checkout.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).require_git(false).git_global(false).parents(false);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        let mut files = BTreeMap::new();
        for entry in walk.build() {
            let entry = entry?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path().strip_prefix(root).context("a walk stays below its root")?;
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let content = fs::read(entry.path()).with_context(|| path.display().to_string())?;
            files.insert(parts.join("/"), String::from_utf8(content).ok());
        }
        Ok(Self(files))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a file; `None` if it is not there or not text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path)?.as_deref()
    }

    /// Every file, text or not.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Every text file: its path and its text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The text files below `folder`, which ends with `/`.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.starts_with(folder))
    }

    /// Whether there is a file or a folder at `path`; the root is the empty path.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let is_inside = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        path.is_empty() || self.0.keys().any(|file| file == path || is_inside(file))
    }
}

/// Whether the name of the file ends with `.extension`.
pub(crate) fn is(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Tree {
    fn from(files: [(&str, &str); N]) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.to_owned(), Some(text.to_owned()))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_their_folders_exist() {
        let tree = Tree::from([("a/b/c.md", "")]);
        for path in ["", "a", "a/b", "a/b/c.md"] {
            assert!(tree.exists(path), "{path}");
        }
        for path in ["a/b/c", "b", "a/b/c.md/d"] {
            assert!(!tree.exists(path), "{path}");
        }
    }

    #[test]
    fn the_repository_is_read_without_what_git_ignores() {
        let tree = Tree::read(&crate::root()).unwrap();
        assert!(tree.exists("xtask/src/tidy/tree.rs") && tree.exists(".cargo/config.toml"));
        assert!(!tree.exists(".git") && !tree.exists("target"));
    }
}

//! Which files the tools may reach.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The session's directories.
#[derive(Debug)]
pub(crate) struct Roots {
    cwd: PathBuf,
    /// Each as it was given and as it really is.
    roots: Vec<(PathBuf, PathBuf)>,
}

/// A file or folder inside the session's directories. It may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Without symbolic links.
    pub(crate) real: PathBuf,
    /// As the user knows it: below the directory as it was given.
    pub(crate) shown: PathBuf,
}

impl Roots {
    pub(crate) fn new(cwd: &Path, others: &[PathBuf]) -> Self {
        let given = std::iter::once(cwd.to_owned()).chain(others.iter().cloned());
        // A directory that is not there holds nothing that could be reached.
        let roots = given.filter_map(|root| Some((root.clone(), fs::canonicalize(root).ok()?)));
        Self { cwd: cwd.to_owned(), roots: roots.collect() }
    }

    /// The place a path leads to, links followed, if it is inside.
    pub(crate) fn resolve(&self, path: &str) -> Result<Place, String> {
        if path.contains('\0') {
            return Err("A path cannot hold a NUL character.".to_owned());
        }
        let real = follow(&self.cwd.join(path))?;
        self.place(real).ok_or_else(|| {
            "The path leads out of the session's directories. Only files inside them can be used.".to_owned()
        })
    }

    /// The place of a path without links.
    pub(crate) fn place(&self, real: PathBuf) -> Option<Place> {
        let inside = self.roots.iter().find_map(|(given, root)| Some((given, real.strip_prefix(root).ok()?)));
        let (given, below) = inside?;
        let shown = if below.as_os_str().is_empty() { given.clone() } else { given.join(below) };
        Some(Place { real, shown })
    }

    /// How a path without links is told: relative to the working directory where that is short.
    pub(crate) fn tell(&self, real: &Path) -> String {
        let shown = self.place(real.to_owned()).map_or_else(|| real.to_owned(), |place| place.shown);
        shown.strip_prefix(&self.cwd).unwrap_or(&shown).to_string_lossy().into_owned()
    }
}

/// Follows links step by step, as the system would; what does not exist is taken as it is written.
fn follow(path: &Path) -> Result<PathBuf, String> {
    let mut real = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::Normal(name) => {
                real.push(name);
                if fs::symlink_metadata(&real).is_ok() {
                    // It is there, so that a failure is a link to nowhere or a circle.
                    real = fs::canonicalize(&real)
                        .map_err(|_| "The path goes over a link that leads nowhere.".to_owned())?;
                }
            }
        }
    }
    Ok(real)
}

//! Which files may be reached.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use nudge_wire::Error;

/// The longest path, as on Linux. Every step of a path is looked at, so that a long one costs.
const MOST_PATH: usize = 4096;

/// The session's directories.
#[derive(Debug)]
pub struct SessionDirectories {
    cwd: PathBuf,
    /// Each as it was given and as it really is.
    roots: Vec<(PathBuf, PathBuf)>,
}

/// A file or folder inside the session's directories. It may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePath {
    /// The directory it is in, without symbolic links.
    root: PathBuf,
    /// The rest of its path: names only, which were no links when they were looked at.
    below: PathBuf,
    real: PathBuf,
    shown: PathBuf,
}

/// Why a path leads to no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It is relative where only an absolute one says enough.
    #[error("The path is relative. Give an absolute one.")]
    Relative,
    /// It has a character that no path has.
    #[error("A path cannot hold a NUL character.")]
    Nul,
    /// It is longer than paths are.
    #[error("The path is too long: it may have {MOST_PATH} bytes.")]
    TooLong,
    /// A link on the way is broken or goes in a circle.
    #[error("The path goes over a link that leads nowhere.")]
    Nowhere,
    /// It leads out.
    #[error("The path leads out of the session's directories. Only files inside them can be used.")]
    Outside,
}

impl SessionDirectories {
    /// A working directory and others, all absolute.
    pub fn new(cwd: PathBuf, others: Vec<PathBuf>) -> Self {
        let given = std::iter::once(cwd.clone()).chain(others);
        // A directory that is not there holds nothing that could be reached, and a relative one is nowhere in particular.
        let given = given.filter(|root| root.is_absolute());
        let roots = given.filter_map(|root| Some((root.clone(), fs::canonicalize(root).ok()?)));
        let roots = roots.collect();
        Self { cwd, roots }
    }

    /// The working directory.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The place a path leads to, links followed, if it is inside. A relative path is one below the working directory.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Result<WorkspacePath, PathError> {
        let path = self.cwd.join(path);
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(PathError::Nul);
        }
        if path.as_os_str().len() > MOST_PATH {
            return Err(PathError::TooLong);
        }
        self.place(&follow(&path)?).ok_or(PathError::Outside)
    }

    /// The same for a path that must be absolute.
    pub fn resolve_absolute(&self, path: &Path) -> Result<WorkspacePath, PathError> {
        if path.is_relative() {
            return Err(PathError::Relative);
        }
        self.resolve(path)
    }

    /// The place of a path without links.
    pub fn place(&self, real: &Path) -> Option<WorkspacePath> {
        let inside =
            self.roots.iter().find_map(|(given, root)| Some((given, root, real.strip_prefix(root).ok()?)));
        let (given, root, below) = inside?;
        let shown = if below.as_os_str().is_empty() { given.clone() } else { given.join(below) };
        Some(WorkspacePath { root: root.clone(), below: below.to_owned(), real: real.to_owned(), shown })
    }

    /// The directories, each as it was given and as it really is.
    pub(crate) fn roots(&self) -> &[(PathBuf, PathBuf)] {
        &self.roots
    }

    /// How a path without links is told: relative to the working directory where that is short.
    pub fn tell(&self, real: &Path) -> String {
        let shown = self.place(real).map_or_else(|| real.to_owned(), |place| place.shown);
        shown.strip_prefix(&self.cwd).unwrap_or(&shown).to_string_lossy().into_owned()
    }
}

impl WorkspacePath {
    /// Its path without symbolic links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Its path as the user knows it: below the directory as that was given.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The directory, and the names on the way from there.
    pub(crate) fn way(&self) -> (&Path, &Path) {
        (&self.root, &self.below)
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

/// Follows links step by step, as the system would; what does not exist is taken as it is written.
fn follow(path: &Path) -> Result<PathBuf, PathError> {
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
                    real = fs::canonicalize(&real).map_err(|_| PathError::Nowhere)?;
                }
            }
        }
    }
    Ok(real)
}

//! Files that make other programs run commands, by themselves and without being asked.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use crate::{SessionDirectories, WorkspacePath};
use names::{by_name, folded};

mod git;
mod git_config;
mod links;
mod names;

/// Why a change of a file is no ordinary change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardedReason {
    /// Git runs it or takes its settings from it.
    #[error("Git runs this file or takes its settings from it, so that this is asked every time.")]
    Git,
    /// Editors and debuggers run what is in it.
    #[error("Editors run commands that are in this file, so that this is asked every time.")]
    Editor,
    /// Shells run it when they start or enter its folder.
    #[error("Shells run this file by themselves, so that this is asked every time.")]
    Shell,
    /// Coding agents run what is in it.
    #[error("Coding agents run commands that are in this file, so that this is asked every time.")]
    Agent,
    /// Build tools and package managers run what is in it.
    #[error("Build tools run commands that are in this file, so that this is asked every time.")]
    Tool,
    /// Something that starts with the user's session, or lets others in.
    #[error("Programs of the user's account follow this file, so that this is asked every time.")]
    Account,
    /// It may be one of the others under another name.
    #[error("This file has other names (hard links), so that this is asked every time.")]
    Linked,
}

impl SessionDirectories {
    /// Whether a change of a file may make other programs run commands by themselves. `path` is how it was called, and
    /// `place` is where that leads.
    pub fn guarded(&self, path: impl AsRef<Path>, place: &WorkspacePath) -> Option<GuardedReason> {
        let (root, below) = place.way();
        let own_name = root.file_name().map_or(Path::new(""), Path::new);
        by_name(&own_name.join(below))
            .or_else(|| by_name(&self.as_called(path.as_ref())))
            .or_else(|| is_in_repository(place.real()).then_some(GuardedReason::Git))
            .or_else(|| by_folders(root, place.real()))
            .or_else(|| has_other_names(place.real()).then_some(GuardedReason::Linked))
    }

    /// A path as it was called, from the directory it begins with.
    fn as_called(&self, path: &Path) -> PathBuf {
        let mut whole = PathBuf::new();
        for component in self.cwd().join(path).components() {
            match component {
                Component::ParentDir => {
                    whole.pop();
                }
                Component::CurDir => {}
                other => whole.push(other),
            }
        }
        let below = self.roots().iter().find_map(|(given, real)| {
            whole.strip_prefix(given).or_else(|_| whole.strip_prefix(real)).ok().map(Path::to_owned)
        });
        below.unwrap_or(whole)
    }
}

/// Whether a file is in a folder of git's, whatever that is called: a bare repository, the store of a worktree.
fn is_in_repository(file: &Path) -> bool {
    if file.components().any(|name| folded(&name.as_os_str().to_string_lossy()) == ".git") {
        return true;
    }
    file.ancestors().skip(1).zip(file.ancestors()).any(|(folder, next)| {
        let next = next.file_name().map(|name| folded(&name.to_string_lossy())).unwrap_or_default();
        // What is about to be made counts as there.
        ["HEAD", "objects", "refs"]
            .iter()
            .all(|name| next == name.to_lowercase() || folder.join(name).exists())
    })
}

/// Whether a link in one of the folders around the file, or git's settings there, make it what it is not by name. The
/// folders around the session's directory count as well: a repository may begin in any of them.
fn by_folders(root: &Path, file: &Path) -> Option<GuardedReason> {
    file.ancestors().skip(1).find_map(|folder| {
        let linked = links::by_links(folder, root, file);
        linked.or_else(|| git::names(folder, file).then_some(GuardedReason::Git))
    })
}

fn has_other_names(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
}

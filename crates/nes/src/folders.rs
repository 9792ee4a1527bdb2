//! The folders of a workspace: the only place on disk that is looked at.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use nudge_wire::nes::{NesRepository, StartRequest};

use crate::{limits, uri};

/// The folders of a workspace that exist here.
#[derive(Debug, Clone, Default)]
pub(crate) struct NesFolders(Vec<NesFolder>);

/// A folder as the client names it, and where it really is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NesFolder {
    pub(crate) root: PathBuf,
    pub(crate) uri: String,
}

/// A file inside a folder, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) stamp: (Option<SystemTime>, u64),
}

impl NesFolders {
    /// Those a session is started with.
    pub(crate) fn of(start: &StartRequest) -> Self {
        let named = start.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let mut folders: Vec<NesFolder> = Vec::new();
        for uri in start.workspace_uri.iter().chain(named) {
            let root = uri::to_path(uri).and_then(|path| fs::canonicalize(path).ok());
            match root.filter(|root| root.is_dir()) {
                Some(root) if folders.iter().all(|folder| folder.root != root) => {
                    folders.push(NesFolder { uri: uri.clone(), root });
                }
                Some(_) => {}
                None => tracing::debug!(uri, "a workspace folder is not there"),
            }
        }
        Self(folders)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &NesFolder> {
        self.0.iter()
    }

    /// The folders in an order that does not depend on how they were listed.
    pub(crate) fn sorted(&self) -> Vec<NesFolder> {
        let mut folders = self.0.clone();
        folders.sort();
        folders
    }

    /// The address of a file as the index has it, whichever way a client spells it.
    pub(crate) fn uri_of(&self, path: &Path) -> Option<String> {
        let inside = |folder: &NesFolder| uri::below(&folder.uri, path.strip_prefix(&folder.root).ok()?);
        self.0.iter().find_map(inside)
    }

    /// What tells this workspace from others: its repository wherever it is checked out, or else its folders.
    pub(crate) fn key(&self, repository: Option<&NesRepository>) -> String {
        match repository {
            Some(repository) if !repository.remote_url.is_empty() => repository.remote_url.clone(),
            _ => {
                let sorted = self.sorted();
                let roots: Vec<_> = sorted.iter().map(|folder| folder.root.to_string_lossy()).collect();
                roots.join("\n")
            }
        }
    }

    /// The file with this address, if it is inside one of the folders, also after following links, and not too long.
    pub(crate) fn find(&self, uri: &str) -> Option<FoundFile> {
        if self.is_empty() {
            return None;
        }
        let path = fs::canonicalize(uri::to_path(uri)?).ok()?;
        if !self.0.iter().any(|folder| path.starts_with(&folder.root)) {
            return None;
        }
        let about = fs::metadata(&path).ok()?;
        let short = about.is_file() && about.len() <= limits::FILE_BYTES as u64;
        short.then(|| FoundFile { stamp: (about.modified().ok(), about.len()), path })
    }
}

/// The text of a file; `None` if it cannot be read, is not text, or is longer than `limit`.
pub(crate) fn read_text(path: &Path, limit: usize) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = open_file(path, limit as u64, true)?;
    // It may grow while it is read.
    file.take(limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    let is_text = bytes.len() <= limit && !bytes[..bytes.len().min(8192)].contains(&0);
    is_text.then(|| String::from_utf8(bytes).ok()).flatten()
}

/// Opens what is a file and not longer than `limit`, and never waits for it, as one would for a pipe.
pub(crate) fn open_file(path: &Path, limit: u64, follow: bool) -> Option<fs::File> {
    use rustix::fs::{Mode, OFlags};
    // To open a device may do something already; to look again afterwards is for what changes in between.
    let about = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    about.ok().filter(fs::Metadata::is_file)?;
    let link = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | link;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().is_ok_and(|about| about.is_file() && about.len() <= limit).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_wire::nes::WorkspaceFolder;

    fn started_in(paths: &[&Path]) -> StartRequest {
        let folder = |path: &&Path| WorkspaceFolder::new(format!("file://{}", path.display()), "w");
        StartRequest { workspace_folders: Some(paths.iter().map(folder).collect()), ..Default::default() }
    }

    #[test]
    fn only_files_inside_the_folders_are_found() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("w"), place.path().join("w2"));
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.rs"), "fn a() {}\n").unwrap();
        }
        std::os::unix::fs::symlink(outside.join("a.rs"), inside.join("link.rs")).unwrap();
        fs::write(inside.join("long"), vec![b'x'; limits::FILE_BYTES + 1]).unwrap();
        let folders = NesFolders::of(&started_in(&[&inside]));
        let found = |path: PathBuf| folders.find(&format!("file://{}", path.display())).is_some();
        assert!(found(inside.join("a.rs")));
        assert!(!found(outside.join("a.rs")));
        assert!(!found(inside.join("../w2/a.rs")));
        assert!(!found(inside.join("link.rs")), "a link out of the folder is outside");
        assert!(!found(inside.join("long")));
        assert!(!found(inside.clone()), "a folder is no file");
        assert!(!found(inside.join("missing.rs")));
        assert!(folders.find("untitled:1").is_none());
    }

    #[test]
    fn a_workspace_is_known_by_its_repository_or_its_folders() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a"), place.path().join("b"));
        fs::create_dir(&a).unwrap();
        fs::create_dir(&b).unwrap();
        let key = |paths: &[&Path]| NesFolders::of(&started_in(paths)).key(None);
        assert_eq!(key(&[&a, &b]), key(&[&b, &a, &a.join("../b")]));
        assert_ne!(key(&[&a]), key(&[&b]));
        let repository = NesRepository::new("w", "o", "https://git.example.org/o/w.git");
        assert_eq!(NesFolders::of(&started_in(&[&a])).key(Some(&repository)), repository.remote_url);
    }

    #[test]
    fn what_is_not_text_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let check = |bytes: &[u8], limit: usize, expected: Option<&str>| {
            let path = place.path().join("file");
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_text(&path, limit).as_deref(), expected);
        };
        check("grüße".as_bytes(), 100, Some("grüße"));
        check(b"a\0b", 100, None);
        check(b"\xff\xfe", 100, None);
        check(b"four", 3, None);
        check(b"four", 4, Some("four"));
    }
}

//! The files of a workspace, read in the background.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use ignore::WalkBuilder;
use nudge_predict::{FileFacts, Index, Language};

use crate::{
    folders::{Folder, Folders, read_text},
    lock::lock,
    uri,
};

/// The longest file that is read, in bytes.
const FILE_BYTES: usize = 1024 * 1024;
/// How much of a workspace is read.
const ENOUGH: Enough = Enough { files: 20_000, bytes: 256 * 1024 * 1024 };
/// After how many files what was found so far is made known.
const STEP: usize = 500;

/// How many saved files may wait to be read again.
const SAVED: usize = 1024;

/// How far the thread steps back, of at most 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// The index of some folders; sessions in the same folders share it. The thread that makes it ends when it is dropped.
pub(crate) struct FolderIndex {
    shared: Arc<Shared>,
    saved: SyncSender<String>,
}

/// So much is read and no more.
#[derive(Clone, Copy)]
struct Enough {
    files: usize,
    bytes: usize,
}

#[derive(Default)]
struct Shared {
    published: Mutex<Arc<Index>>,
    stopped: AtomicBool,
}

impl FolderIndex {
    /// Begins to read.
    pub(crate) fn start(folders: Arc<Folders>) -> Self {
        Self::start_until(folders, ENOUGH)
    }

    fn start_until(folders: Arc<Folders>, enough: Enough) -> Self {
        let shared = Arc::new(Shared::default());
        let (saved, changed) = sync_channel(SAVED);
        let index = Index::default();
        let builder = Builder { folders, shared: Arc::clone(&shared), index, bytes: 0, enough };
        let started =
            thread::Builder::new().name("nes-index".to_owned()).spawn(move || builder.run(&changed));
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace is not read");
        }
        Self { shared, saved }
    }

    /// What is known so far; never waits for more.
    pub(crate) fn latest(&self) -> Arc<Index> {
        Arc::clone(&lock(&self.shared.published))
    }

    /// A file was saved and is read again.
    pub(crate) fn saved(&self, uri: String) {
        // The thread may be gone, or too much may wait for it: then the file is known as it was.
        let _ = self.saved.try_send(uri);
    }
}

impl Drop for FolderIndex {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
    }
}

/// Lets everything else go first, for as long as this thread lives.
fn step_back() {
    // Linux knows this of each thread; elsewhere it would be of the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "the workspace is read at the usual priority");
    }
}

/// The thread's own state.
struct Builder {
    folders: Arc<Folders>,
    shared: Arc<Shared>,
    index: Index,
    bytes: usize,
    enough: Enough,
}

impl Builder {
    fn run(mut self, changed: &Receiver<String>) {
        step_back();
        let began = Instant::now();
        tracing::info!(folders = self.folders.iter().count(), "reading the workspace");
        let folders = Arc::clone(&self.folders);
        for folder in folders.iter() {
            self.walk(folder);
        }
        self.publish();
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (files, bytes) = (self.index.len(), self.bytes);
        tracing::info!(files, bytes, milliseconds, "the workspace is read");
        while let Ok(uri) = changed.recv() {
            self.again(&uri);
            // What was saved together is made known together.
            while let Ok(uri) = changed.try_recv() {
                self.again(&uri);
            }
            self.publish();
        }
    }

    fn walk(&mut self, folder: &Folder) {
        let mut walk = WalkBuilder::new(&folder.root);
        walk.require_git(false).follow_links(false).max_filesize(Some(FILE_BYTES as u64));
        walk.sort_by_file_name(std::ffi::OsStr::cmp);
        for entry in walk.build().filter_map(Result::ok) {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return;
            }
            let Enough { files, bytes } = self.enough;
            if self.index.len() >= files || self.bytes >= bytes {
                tracing::info!(files, bytes, "the workspace is too large to be read whole");
                return;
            }
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.add(folder, entry.path());
            }
        }
    }

    fn add(&mut self, folder: &Folder, path: &Path) {
        let below = path.strip_prefix(&folder.root).ok().and_then(|path| uri::below(&folder.uri, path));
        let (Some(uri), Some(text)) = (below, read_text(path, FILE_BYTES)) else { return };
        self.bytes += text.len();
        self.insert(&uri, &text);
        if self.index.len().is_multiple_of(STEP) {
            tracing::info!(files = self.index.len(), "reading the workspace");
            self.publish();
        }
        // Whoever waits for a suggestion goes first.
        thread::yield_now();
    }

    /// Reads a file again that was saved.
    fn again(&mut self, uri: &str) {
        let found = self.folders.find(uri);
        let known = found.as_ref().and_then(|found| self.folders.uri_of(&found.path));
        let uri = known.as_deref().unwrap_or(uri);
        match found.and_then(|found| read_text(&found.path, FILE_BYTES)) {
            Some(text) => self.insert(uri, &text),
            None => self.index.remove(uri),
        }
        // A new one has no place where all are taken.
        if self.index.len() > self.enough.files {
            self.index.remove(uri);
        }
    }

    fn insert(&mut self, uri: &str, text: &str) {
        let facts = FileFacts::of(Language::of(None, uri), text);
        self.index.insert(uri.into(), Arc::new(facts));
    }

    fn publish(&self) {
        *lock(&self.shared.published) = Arc::new(self.index.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nudge_wire::nes::StartRequest;

    use super::*;

    /// Waits for an index of the folder that holds.
    fn wait(index: &FolderIndex, holds: impl Fn(&Index) -> bool) -> Arc<Index> {
        let began = Instant::now();
        while !holds(&index.latest()) {
            assert!(began.elapsed().as_secs() < 60, "{} files are read", index.latest().len());
            thread::yield_now();
        }
        index.latest()
    }

    fn folder(files: usize, length: usize) -> (tempfile::TempDir, Arc<Folders>) {
        let place = tempfile::tempdir().unwrap();
        for number in 0..files {
            fs::write(place.path().join(format!("{number:04}.txt")), "x".repeat(length)).unwrap();
        }
        let uri = format!("file://{}", place.path().display());
        let start = StartRequest { workspace_uri: Some(uri), ..StartRequest::default() };
        let folders = Arc::new(Folders::of(&start));
        (place, folders)
    }

    /// Starts, and gives all that is ever read: what was saved is read after all else.
    fn read(files: usize, length: usize, enough: Enough) -> Arc<Index> {
        let (place, folders) = folder(files, length);
        let index = FolderIndex::start_until(folders, enough);
        let first = place.path().join("0000.txt");
        fs::write(&first, "saved").unwrap();
        index.saved(format!("file://{}", first.display()));
        wait(&index, |index| index.files().any(|(_, facts)| facts.bytes == 5))
    }

    #[test]
    fn no_more_files_are_read_than_there_may_be() {
        assert_eq!(read(30, 10, Enough { files: 20, bytes: 1 << 20 }).len(), 20);
        assert_eq!(read(20, 10, Enough { files: 20, bytes: 1 << 20 }).len(), 20);
    }

    #[test]
    fn no_more_bytes_are_read_than_there_may_be() {
        // The first may have been saved before it was read.
        let index = read(30, 1000, Enough { files: 100, bytes: 10_000 });
        assert!((10..=11).contains(&index.len()), "{} files", index.len());
    }

    #[test]
    fn a_saved_file_takes_no_place_that_is_not_there() {
        let (place, folders) = folder(20, 10);
        let index = FolderIndex::start_until(folders, Enough { files: 20, bytes: 1 << 20 });
        wait(&index, |index| index.len() == 20);
        let save = |name: &str| {
            let path = place.path().join(name);
            fs::write(&path, "saved").unwrap();
            index.saved(format!("file://{}", path.display()));
        };
        save("new.txt");
        save("0001.txt");
        let latest = wait(&index, |index| index.files().any(|(_, facts)| facts.bytes == 5));
        assert_eq!(latest.len(), 20);
        assert!(latest.files().all(|(uri, _)| !uri.ends_with("new.txt")));
    }
}

//! The files of a workspace, read in the background.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use nudge_syntax::{FileFacts, Language, WorkspaceIndex};
use parking_lot::Mutex;

use crate::{
    folders::{NesFolder, NesFolders, read_text},
    index_memory::{IndexMemory, SharedIndex},
    patience::Stopwatch,
    uri,
    walk::{LeftOut, WorkspaceWalk},
};

/// The longest file that is read, in bytes.
const FILE_BYTES: usize = 1024 * 1024;
/// How much of a workspace is read.
const ENOUGH: Enough = Enough { files: 20_000, bytes: 256 * 1024 * 1024, time: Duration::from_mins(10) };
/// After how many files what was found so far is made known.
const STEP: usize = 500;
/// After how many bytes of text it is counted how much memory they take.
const COUNTED: usize = 256 * 1024;

/// How long it takes at the least until what was read again, and forgotten again, is read once more.
const AGAIN: Duration = Duration::from_secs(30);

/// How many saved files may wait to be read again.
const SAVED: usize = 1024;

/// How far the thread steps back, of at most 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// The index of some folders; sessions in the same folders share it. The thread that makes it ends when it is dropped.
pub(crate) struct FolderIndex {
    room: Arc<IndexMemory>,
    shared: Arc<Shared>,
    tasks: SyncSender<Task>,
    /// When it was last read after it had been forgotten.
    read_again: Mutex<Option<Instant>>,
}

/// What the thread is to do.
enum Task {
    /// To read a file again that was saved.
    Saved(String),
    /// To read everything again that was forgotten.
    Read,
}

/// So much is read and no more.
#[derive(Clone, Copy)]
struct Enough {
    files: usize,
    bytes: usize,
    /// That the thread works. Patterns can be made such that to follow them takes long.
    time: Duration,
}

struct Shared {
    published: Arc<SharedIndex>,
    /// What was not read, for people.
    left_out: Mutex<Option<Arc<str>>>,
    stopped: AtomicBool,
}

impl FolderIndex {
    /// Begins to read.
    pub(crate) fn start(folders: Arc<NesFolders>, room: Arc<IndexMemory>) -> Self {
        Self::start_until(folders, room, ENOUGH)
    }

    fn start_until(folders: Arc<NesFolders>, room: Arc<IndexMemory>, enough: Enough) -> Self {
        let (left_out, stopped) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { published: room.enter(), left_out, stopped });
        let (tasks, to_do) = sync_channel(SAVED);
        let builder = Builder { folders, room: Arc::clone(&room), shared: Arc::clone(&shared), enough };
        let started = thread::Builder::new().name("nes-index".to_owned()).spawn(move || builder.run(&to_do));
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace is not read");
        }
        Self { room, shared, tasks, read_again: Mutex::default() }
    }

    /// What is known so far; never waits for more. What was forgotten to make room for others is read again.
    pub(crate) fn latest(&self) -> Arc<WorkspaceIndex> {
        self.room.uses(&self.shared.published);
        if self.shared.published.is_out() {
            self.read_again();
        }
        self.shared.published.latest()
    }

    /// Two workspaces that have no room together and are both in use must not be read without end.
    fn read_again(&self) {
        let mut last = self.read_again.lock();
        let is_time = last.is_none_or(|last| last.elapsed() >= AGAIN);
        if is_time && self.shared.published.comes_back() {
            *last = Some(Instant::now());
            if self.tasks.try_send(Task::Read).is_err() {
                self.shared.published.go();
            }
        }
    }

    /// What of the folders was not read, in words; `None` if there is nothing to tell.
    pub(crate) fn left_out(&self) -> Option<Arc<str>> {
        self.shared.left_out.lock().clone()
    }

    /// A file was saved and is read again.
    pub(crate) fn saved(&self, uri: String) {
        // The thread may be gone, or too much may wait for it: then the file is known as it was.
        let _ = self.tasks.try_send(Task::Saved(uri));
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

/// The thread's own state. Between tasks it holds nothing of the index.
struct Builder {
    folders: Arc<NesFolders>,
    room: Arc<IndexMemory>,
    shared: Arc<Shared>,
    enough: Enough,
}

/// A walk through all folders.
struct Reading<'a> {
    builder: &'a Builder,
    index: WorkspaceIndex,
    bytes: usize,
    /// How many of the bytes were there when it was last counted how much memory they take.
    counted: usize,
    is_enough: bool,
}

impl Builder {
    fn run(self, to_do: &Receiver<Task>) {
        step_back();
        self.read();
        while let Ok(task) = to_do.recv() {
            match task {
                Task::Read => self.read(),
                Task::Saved(uri) => self.again(&uri, to_do),
            }
        }
    }

    fn read(&self) {
        let began = Instant::now();
        let mut reading = Reading {
            builder: self,
            index: WorkspaceIndex::default(),
            bytes: 0,
            counted: 0,
            is_enough: false,
        };
        let watch = Stopwatch::start();
        let in_time = || watch.elapsed() < self.enough.time;
        let keep_going = || self.is_wanted() && in_time();
        let mut walk = WorkspaceWalk::new(FILE_BYTES as u64, &keep_going);
        for folder in self.folders.iter() {
            walk.go(&folder.root, &mut |path| reading.file(folder, path));
        }
        let mut left_out = walk.left_out;
        left_out.rest |= reading.is_enough || !in_time();
        let (index, bytes) = (reading.index, reading.bytes);
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(files = index.len(), bytes, milliseconds, "the workspace is read");
        self.publish(index);
        self.tell(&left_out);
    }

    /// Whether somebody still wants the index, and there is room for it.
    fn is_wanted(&self) -> bool {
        !self.shared.stopped.load(Ordering::Relaxed) && !self.shared.published.is_out()
    }

    /// Says once what was not read, and keeps it for those who ask.
    fn tell(&self, left_out: &LeftOut) {
        let said = (*left_out != LeftOut::default()).then(|| Arc::<str>::from(left_out.to_string()));
        let before = self.shared.left_out.lock().clone();
        match &said {
            Some(said) if left_out.is_odd() && before.as_ref() != Some(said) => {
                let roots: Vec<_> = self.folders.iter().map(|folder| folder.root.display()).collect();
                tracing::warn!(folders = ?roots, left_out = &**said, "not all of the workspace is read");
            }
            Some(said) => tracing::info!(left_out = &**said, "not all of the workspace is read"),
            None => {}
        }
        *self.shared.left_out.lock() = said;
    }

    /// Reads files again that were saved. What was saved together is made known together.
    fn again(&self, uri: &str, to_do: &Receiver<Task>) {
        let mut index = WorkspaceIndex::clone(&self.shared.published.latest());
        self.insert_again(&mut index, uri);
        while let Ok(task) = to_do.try_recv() {
            match task {
                Task::Saved(uri) => self.insert_again(&mut index, &uri),
                Task::Read => return self.read(),
            }
        }
        self.publish(index);
    }

    fn insert_again(&self, index: &mut WorkspaceIndex, uri: &str) {
        let found = self.folders.find(uri);
        let known = found.as_ref().and_then(|found| self.folders.uri_of(&found.path));
        let uri = known.as_deref().unwrap_or(uri);
        match found.and_then(|found| read_text(&found.path, FILE_BYTES)) {
            Some(text) => insert(index, uri, &text),
            None => index.remove(uri),
        }
        // A new one has no place where all are taken.
        if index.len() > self.enough.files {
            index.remove(uri);
        }
    }

    fn publish(&self, index: WorkspaceIndex) {
        let bytes = index.bytes();
        self.shared.published.publish(index);
        self.room.takes(&self.shared.published, bytes);
    }
}

impl Reading<'_> {
    fn file(&mut self, folder: &NesFolder, path: &Path) -> ControlFlow<()> {
        let Enough { files, bytes, .. } = self.builder.enough;
        if self.index.len() >= files || self.bytes >= bytes {
            self.is_enough = true;
            return ControlFlow::Break(());
        }
        self.add(folder, path);
        // Whoever waits for a suggestion goes first.
        thread::yield_now();
        ControlFlow::Continue(())
    }

    fn add(&mut self, folder: &NesFolder, path: &Path) {
        let below = path.strip_prefix(&folder.root).ok().and_then(|path| uri::below(&folder.uri, path));
        let (Some(uri), Some(text)) = (below, read_text(path, FILE_BYTES)) else { return };
        self.bytes += text.len();
        insert(&mut self.index, &uri, &text);
        if self.index.len().is_multiple_of(STEP) {
            tracing::info!(files = self.index.len(), "reading the workspace");
            self.builder.publish(self.index.clone());
        } else if self.bytes - self.counted >= COUNTED {
            self.counted = self.bytes;
            self.builder.room.takes(&self.builder.shared.published, self.index.bytes());
        }
    }
}

fn insert(index: &mut WorkspaceIndex, uri: &str, text: &str) {
    let facts = FileFacts::of(Language::of(None, uri), text);
    index.insert(uri.into(), Arc::new(facts));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nudge_wire::nes::StartRequest;

    use super::*;

    /// Waits for an index of the folder that holds.
    fn wait(index: &FolderIndex, holds: impl Fn(&WorkspaceIndex) -> bool) -> Arc<WorkspaceIndex> {
        let began = Instant::now();
        while !holds(&index.latest()) {
            assert!(began.elapsed().as_secs() < 60, "{} files are read", index.latest().len());
            thread::yield_now();
        }
        index.latest()
    }

    fn folder(files: usize, length: usize) -> (tempfile::TempDir, Arc<NesFolders>) {
        let place = tempfile::tempdir().unwrap();
        for number in 0..files {
            fs::write(place.path().join(format!("{number:04}.txt")), "x".repeat(length)).unwrap();
        }
        let uri = format!("file://{}", place.path().display());
        let start = StartRequest { workspace_uri: Some(uri), ..StartRequest::default() };
        let folders = Arc::new(NesFolders::of(&start));
        (place, folders)
    }

    /// Starts, and gives all that is ever read: what was saved is read after all else.
    fn read(files: usize, length: usize, enough: Enough) -> Arc<WorkspaceIndex> {
        let (place, folders) = folder(files, length);
        let index = FolderIndex::start_until(folders, IndexMemory::new(usize::MAX), enough);
        let first = place.path().join("0000.txt");
        fs::write(&first, "saved").unwrap();
        index.saved(format!("file://{}", first.display()));
        wait(&index, |index| index.files_with("saved").next().is_some())
    }

    #[test]
    fn no_more_files_are_read_than_there_may_be() {
        assert_eq!(read(30, 10, Enough { files: 20, bytes: 1 << 20, ..ENOUGH }).len(), 20);
        assert_eq!(read(20, 10, Enough { files: 20, bytes: 1 << 20, ..ENOUGH }).len(), 20);
    }

    #[test]
    fn no_more_bytes_are_read_than_there_may_be() {
        // The first may have been saved before it was read.
        let index = read(30, 1000, Enough { files: 100, bytes: 10_000, ..ENOUGH });
        assert!((10..=11).contains(&index.len()), "{} files", index.len());
    }

    #[test]
    fn reading_ends_when_it_has_taken_too_long() {
        let (_place, folders) = folder(3, 10);
        let enough = Enough { time: Duration::ZERO, ..ENOUGH };
        let index = FolderIndex::start_until(folders, IndexMemory::new(usize::MAX), enough);
        let began = Instant::now();
        while index.left_out().is_none() {
            assert!(began.elapsed().as_secs() < 60);
            thread::yield_now();
        }
        assert_eq!(index.latest().len(), 0);
    }

    #[test]
    fn a_saved_file_takes_no_place_that_is_not_there() {
        let (place, folders) = folder(20, 10);
        let enough = Enough { files: 20, bytes: 1 << 20, ..ENOUGH };
        let index = FolderIndex::start_until(folders, IndexMemory::new(usize::MAX), enough);
        wait(&index, |index| index.len() == 20);
        let save = |name: &str| {
            let path = place.path().join(name);
            fs::write(&path, "saved").unwrap();
            index.saved(format!("file://{}", path.display()));
        };
        save("new.txt");
        save("0001.txt");
        let latest = wait(&index, |index| index.files_with("saved").next().is_some());
        assert_eq!(latest.len(), 20);
        assert!(latest.files_with("saved").all(|uri| !uri.ends_with("new.txt")));
    }

    /// Many small folders, and room for some of them.
    #[test]
    fn folders_share_the_room_and_the_oldest_goes_first() {
        let text = |number: usize| -> String {
            let line = |line: usize| format!("let name_{number}_{line} = call_{line}({number});\n");
            (0..200).map(line).collect::<Vec<_>>().concat()
        };
        let one = {
            let mut index = WorkspaceIndex::default();
            (0..4).for_each(|file| insert(&mut index, &format!("file:///w/{file}.rs"), &text(file)));
            index.bytes()
        };
        let room = IndexMemory::new(one * 5);
        let started: Vec<_> = (0..20)
            .map(|_| {
                let place = tempfile::tempdir().unwrap();
                (0..4)
                    .for_each(|file| fs::write(place.path().join(format!("{file}.rs")), text(file)).unwrap());
                let uri = format!("file://{}", place.path().display());
                let start = StartRequest { workspace_uri: Some(uri), ..StartRequest::default() };
                let index = FolderIndex::start(Arc::new(NesFolders::of(&start)), Arc::clone(&room));
                wait(&index, |index| index.len() == 4);
                assert!(room.taken() <= one * 5 + one / 2, "{} bytes are taken", room.taken());
                (place, index)
            })
            .collect();
        let known = |index: &FolderIndex| index.shared.published.latest().len();
        let kept = started.iter().filter(|(_, index)| known(index) == 4).count();
        assert!((3..=5).contains(&kept), "{kept} of 20 are kept");
        assert_eq!(known(&started[0].1), 0, "the oldest has gone");
        // Who uses it again has it again, and another goes.
        wait(&started[0].1, |index| index.len() == 4);
        assert!(room.taken() <= one * 5 + one / 2, "{} bytes are taken", room.taken());
        assert_eq!(known(&started[19].1), 4, "the newest stays");
    }
}

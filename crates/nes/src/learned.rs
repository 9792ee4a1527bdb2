//! What was learned in a workspace, kept from one session to the next.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use nudge_predict::{FeedbackMemory, TrustWeights};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How often a file is written at the most while sessions go on.
const INTERVAL: Duration = Duration::from_secs(10);
/// The form of the file, and of those of earlier versions that are read as well.
const FORM: u32 = 2;
const FORMS: std::ops::RangeInclusive<u32> = 1..=FORM;

/// The weights of one workspace, shared by its sessions.
pub(crate) struct LearnedWeights {
    file: Option<PathBuf>,
    /// When it was opened, and which hour it was then, counted from 1970.
    opened: (Instant, u64),
    state: Mutex<State>,
}

struct State {
    weights: TrustWeights,
    /// The hour, counted from 1970, up to which they have faded.
    hour: u64,
    /// Counts the changes, so that a session sees whether another has learned something.
    revision: u64,
    unwritten: bool,
    written: Option<Instant>,
}

#[derive(Serialize, Deserialize)]
struct File {
    form: u32,
    weights: TrustWeights,
    #[serde(default)]
    hour: Option<u64>,
}

impl LearnedWeights {
    /// What is known of the workspace with this key.
    pub(crate) fn open(data_dir: Option<&Path>, key: &str) -> Self {
        let file = data_dir.map(|dir| dir.join("nes").join(format!("{:016x}.json", hash(key))));
        let (weights, hour) = file.as_deref().map(read).unwrap_or_default();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let opened = (Instant::now(), since.map_or(0, |since| since.as_secs() / 3600));
        // What earlier versions wrote has no hour.
        let hour = hour.unwrap_or(opened.1);
        let state = State { weights, hour, revision: 0, unwritten: false, written: None };
        Self { file, opened, state: Mutex::new(state) }
    }

    /// The weights if they are not those of this revision, with their own.
    pub(crate) fn newer_than(&self, revision: Option<u64>) -> Option<(TrustWeights, u64)> {
        let mut state = self.state.lock();
        state.age(self.hour());
        (revision != Some(state.revision)).then(|| (state.weights.clone(), state.revision))
    }

    /// Lets a session learn something on top of what all of them know; gives the new revision.
    pub(crate) fn learn(&self, memory: &mut FeedbackMemory, teach: impl FnOnce(&mut FeedbackMemory)) -> u64 {
        let mut state = self.state.lock();
        state.age(self.hour());
        memory.set_weights(state.weights.clone());
        teach(memory);
        if state.weights != *memory.weights() {
            state.weights = memory.weights().clone();
            state.revision += 1;
            state.unwritten = true;
            if state.written.is_none_or(|written| written.elapsed() >= INTERVAL) {
                self.write(&mut state);
            }
        }
        state.revision
    }

    /// The hour it is. Finer would make no difference but for answers that nobody could explain.
    fn hour(&self) -> u64 {
        let (opened, hour) = &self.opened;
        hour + opened.elapsed().as_secs() / 3600
    }

    /// Writes what is not written yet.
    pub(crate) fn flush(&self) {
        self.write(&mut self.state.lock());
    }

    fn write(&self, state: &mut State) {
        let Some(file) = self.file.as_deref().filter(|_| state.unwritten) else { return };
        state.unwritten = false;
        state.written = Some(Instant::now());
        if let Err(error) = write(file, state) {
            tracing::warn!(file = %file.display(), %error, "what was learned cannot be written");
        }
    }
}

impl State {
    /// Lets the weights fade up to this hour.
    fn age(&mut self, hour: u64) {
        let hours = hour.saturating_sub(self.hour);
        // A clock that was wrong and is put back must not stop them from fading.
        self.hour = hour;
        if hours > 0 && self.weights != TrustWeights::default() {
            self.weights.age(hours);
            self.revision += 1;
        }
    }
}

impl Drop for LearnedWeights {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The weights in a file. One that cannot be used is set aside, so that somebody can look at it.
fn read(file: &Path) -> (TrustWeights, Option<u64>) {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Default::default(),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "what was learned cannot be read");
            return Default::default();
        }
    };
    match serde_json::from_str::<File>(&text) {
        Ok(read) if FORMS.contains(&read.form) => (read.weights.checked(), read.hour),
        _ => {
            let aside = file.with_extension("json.bad");
            tracing::warn!(file = %file.display(), aside = %aside.display(), "what was learned is not readable");
            let _ = fs::rename(file, aside);
            Default::default()
        }
    }
}

/// Puts a whole file in the place of the old one, so that nobody ever sees half of it.
fn write(file: &Path, state: &State) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    fs::create_dir_all(folder)?;
    let new = file.with_extension(format!("{}.tmp", std::process::id()));
    let (weights, hour) = (state.weights.clone(), Some(state.hour));
    let text = serde_json::to_string(&File { form: FORM, weights, hour })?;
    fs::write(&new, text)?;
    fs::rename(&new, file).inspect_err(|_| drop(fs::remove_file(&new)))
}

/// FNV-1a: file names must be the same in every build.
fn hash(key: &str) -> u64 {
    key.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

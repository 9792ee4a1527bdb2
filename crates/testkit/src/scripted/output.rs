//! What it says, and the log of all that was said.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use parking_lot::Mutex;

/// Where it speaks, and the log.
pub(super) struct Output {
    to: Mutex<Box<dyn Write + Send>>,
    log: Option<File>,
    /// What it is called in the log.
    name: String,
}

impl Output {
    pub(super) fn new(to: Box<dyn Write + Send>, log: Option<&Path>, name: u32) -> Self {
        let open =
            |path| OpenOptions::new().create(true).append(true).open(path).expect("the log can be written");
        Self { to: Mutex::new(to), log: log.map(open), name: name.to_string() }
    }

    /// Says lines at once, each without its newline.
    pub(super) fn send<B: AsRef<[u8]>>(&self, lines: &[B]) {
        let mut output = self.to.lock();
        let mut bytes = Vec::new();
        for line in lines {
            self.record(b'>', line.as_ref());
            bytes.extend_from_slice(line.as_ref());
            bytes.push(b'\n');
        }
        // If nobody listens any more, the end of the input follows.
        let _ = output.write_all(&bytes).and_then(|()| output.flush());
    }

    /// Notes what was heard.
    pub(super) fn heard(&self, line: &[u8]) {
        self.record(b'<', line.trim_ascii_end());
    }

    /// Notes something that is no frame.
    pub(super) fn note(&self, what: &str) {
        self.record(b'*', what.as_bytes());
    }

    /// In one write, so that the lines of several threads and processes do not mix.
    fn record(&self, direction: u8, line: &[u8]) {
        let Some(mut log) = self.log.as_ref() else { return };
        let entry = [self.name.as_bytes(), b" ", &[direction], b" ", line, b"\n"].concat();
        log.write_all(&entry).expect("the log can be written");
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("name", &self.name).finish_non_exhaustive()
    }
}

//! What it says, and the log of all that was said.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

/// Standard output and the log.
#[derive(Debug)]
pub(super) struct Output(Option<File>);

impl Output {
    pub(super) fn new(log: Option<&Path>) -> Self {
        let open =
            |path| OpenOptions::new().create(true).append(true).open(path).expect("the log can be written");
        Self(log.map(open))
    }

    /// Says lines at once, each without its newline.
    pub(super) fn send<B: AsRef<[u8]>>(&self, lines: &[B]) {
        let mut output = std::io::stdout().lock();
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
        let Some(mut log) = self.0.as_ref() else { return };
        let pid = std::process::id().to_string();
        let entry = [pid.as_bytes(), b" ", &[direction], b" ", line, b"\n"].concat();
        log.write_all(&entry).expect("the log can be written");
    }
}

//! A record of every frame, for finding out what two programs said to each other.

use std::{
    fmt,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use nudge_wire::mask;
use parking_lot::{Mutex, MutexGuard};

/// Writes every frame of a connection as one JSON line: `{"time": …, "connection": …, "direction": "in" | "out",
/// "frame": …}`, the time in seconds since 1970. Secrets are masked; a frame that cannot be read as JSON is given by
/// its length only.
#[derive(Clone)]
pub struct FrameTap(Arc<Mutex<BufWriter<File>>>);

impl FrameTap {
    /// Appends to the file at `path`, which only its owner can read if it is new.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self(Arc::new(Mutex::new(BufWriter::new(options.open(path)?)))))
    }

    pub(crate) fn received(&self, connection: &str, frame: &[u8]) {
        self.record(connection, "in", frame);
    }

    pub(crate) fn sent(&self, connection: &str, frame: &[u8]) {
        self.record(connection, "out", frame);
    }

    /// A line that was dropped for its length.
    pub(crate) fn dropped(&self, connection: &str, length: usize) {
        self.line(connection, "in", &format!("\"dropped\":{length}"));
    }

    pub(crate) fn flush(&self) {
        if let Err(error) = self.file().flush() {
            tracing::warn!(%error, "the trace cannot be written");
        }
    }

    fn record(&self, connection: &str, direction: &str, frame: &[u8]) {
        let masked = std::str::from_utf8(frame).ok().and_then(mask::json);
        let content = match masked {
            Some(json) => format!("\"frame\":{json}"),
            None => format!("\"unreadable\":{}", frame.len()),
        };
        self.line(connection, direction, &content);
    }

    fn line(&self, connection: &str, direction: &str, content: &str) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        let connection = serde_json::Value::from(connection);
        let line = format!(
            "{{\"time\":{seconds}.{micros:06},\"connection\":{connection},\"direction\":\"{direction}\",{content}}}\n"
        );
        if let Err(error) = self.file().write_all(line.as_bytes()) {
            tracing::warn!(%error, "the trace cannot be written");
        }
    }

    fn file(&self) -> MutexGuard<'_, BufWriter<File>> {
        self.0.lock()
    }
}

impl fmt::Debug for FrameTap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}

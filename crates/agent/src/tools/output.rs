//! What is kept of a long output: its beginning and its end.

/// How much of an output a model is told.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 16 * 1024;

/// The text, without its middle if it is long.
pub(crate) fn cut(text: &str) -> String {
    let mut kept = Kept::default();
    kept.push(text.as_bytes());
    kept.text()
}

/// The beginning and the end of a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    head: Vec<u8>,
    /// At most twice as long as it is told.
    tail: Vec<u8>,
    /// How much was dropped between them.
    dropped: usize,
}

impl Kept {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * TAIL {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.dropped += surplus;
    }

    /// What is kept, with a line that says how much is missing.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let surplus = if self.dropped > 0 { self.tail.len().saturating_sub(TAIL) } else { 0 };
        let missing = self.dropped + surplus;
        let mut all = self.head.clone();
        if missing > 0 {
            all.extend_from_slice(format!("\n[{missing} bytes left out]\n").as_bytes());
        }
        all.extend_from_slice(&self.tail[surplus..]);
        all
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

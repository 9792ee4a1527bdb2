//! What is kept of a long output, and what is shown of it.

/// How much of an output is told: of its beginning and of its end.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 16 * 1024;

/// How much of an output is shown as it comes.
const MOST_SHOWN: usize = 1024 * 1024;

/// The text, without its middle if it is long.
pub fn cut(text: &str) -> String {
    let mut kept = Kept::default();
    kept.push(text.as_bytes());
    kept.text()
}

/// An output that is shown as it comes; of one that gets long, the beginning and the end are shown at the end.
#[derive(Debug, Default)]
pub struct ShownOutput {
    kept: Kept,
    /// How much has come.
    total: usize,
}

impl ShownOutput {
    /// Takes what has come, and gives what is to be shown of it now: nothing once too much has come.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        self.kept.push(bytes);
        let room = MOST_SHOWN.saturating_sub(self.total);
        self.total += bytes.len();
        &bytes[..bytes.len().min(room)]
    }

    /// What is to take the place of what was shown, if that was not all.
    pub fn instead(&self) -> Option<Vec<u8>> {
        (self.total > MOST_SHOWN).then(|| self.kept.bytes())
    }

    /// The text, without its middle if it is long.
    pub fn text(&self) -> String {
        self.kept.text()
    }
}

/// The beginning and the end of a stream of bytes.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    /// At most twice as long as it is told.
    tail: Vec<u8>,
    /// How much was dropped between them.
    dropped: usize,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
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
    fn bytes(&self) -> Vec<u8> {
        let surplus = if self.dropped > 0 { self.tail.len().saturating_sub(TAIL) } else { 0 };
        let missing = self.dropped + surplus;
        let mut all = self.head.clone();
        if missing > 0 {
            all.extend_from_slice(format!("\n[{missing} bytes left out]\n").as_bytes());
        }
        all.extend_from_slice(&self.tail[surplus..]);
        all
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

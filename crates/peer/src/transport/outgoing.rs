//! Frames on their way to the transport.

use std::{collections::VecDeque, io::IoSlice};

use bytes::{Buf, Bytes};

/// Frames to be sent, in order, to be taken one by one or as bytes with a newline behind each frame.
///
/// Small frames lie side by side in one buffer, so that one write takes many of them; a large one has its own.
#[derive(Debug, Default)]
pub struct OutgoingFrames {
    /// Whole frames, with a newline behind each but for those that have a chunk of their own: there the next chunk begins with
    /// it. The first chunk may have been taken in part.
    chunks: VecDeque<Bytes>,
    bytes: usize,
}

impl OutgoingFrames {
    /// Whether nothing is left to be taken.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// How many bytes are left to be taken, newlines included.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the first frame, without a newline. Not to be mixed with taking bytes.
    pub fn pop_frame(&mut self) -> Option<Bytes> {
        self.skip_newline();
        let first = self.chunks.front()?;
        let frame = match memchr::memchr(b'\n', first) {
            // A slice would keep the frames beside it alive.
            Some(end) => Bytes::copy_from_slice(&first[..end]),
            None => first.clone(),
        };
        self.advance(frame.len());
        self.skip_newline();
        Some(frame)
    }

    /// The bytes that come first, for a vectored write: fills `slices` and tells how many it filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, chunk) in slices.iter_mut().zip(&self.chunks) {
            *slice = IoSlice::new(chunk);
            count += 1;
        }
        count
    }

    /// Takes the first `count` bytes.
    pub fn advance(&mut self, mut count: usize) {
        while let Some(first) = self.chunks.front_mut() {
            if count < first.len() {
                first.advance(count);
                self.bytes -= count;
                return;
            }
            count -= first.len();
            self.bytes -= first.len();
            self.chunks.pop_front();
        }
    }

    /// Takes whole frames off the front, about `room` bytes, one frame at least: either some that lie side by side, with a
    /// newline behind each, or a large one by itself, without. There may be a newline before them.
    pub(super) fn pop_chunk(&mut self, room: usize) -> Option<Bytes> {
        let first = self.chunks.front_mut()?;
        let end = whole_frames(first, room);
        let chunk = first.split_to(end);
        self.bytes -= end;
        if first.is_empty() {
            self.chunks.pop_front();
        }
        Some(chunk)
    }

    /// Adds frames that are queued as the type says.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
    }

    /// Forgets what was not taken.
    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
        self.bytes = 0;
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.chunks.shrink_to_fit();
    }

    fn skip_newline(&mut self) {
        if self.chunks.front().is_some_and(|first| first.starts_with(b"\n")) {
            self.advance(1);
        }
    }
}

/// Where the last frame ends that ends within `room` bytes of a chunk, or else the first.
fn whole_frames(chunk: &[u8], room: usize) -> usize {
    if chunk.len() <= room {
        return chunk.len();
    }
    let last = memchr::memrchr(b'\n', &chunk[..room]).or_else(|| memchr::memchr(b'\n', chunk));
    last.map_or(chunk.len(), |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two small frames, a large one, and two small ones.
    fn some() -> OutgoingFrames {
        let mut frames = OutgoingFrames::default();
        for chunk in ["a\nbb\n", "large", "\nc\nd\n"] {
            frames.push(Bytes::from_static(chunk.as_bytes()));
        }
        frames
    }

    fn popped(mut frames: OutgoingFrames) -> Vec<Bytes> {
        let popped = std::iter::from_fn(|| frames.pop_frame()).collect();
        assert!(frames.is_empty());
        popped
    }

    #[test]
    fn frames_are_taken_one_by_one() {
        assert_eq!(popped(some()), ["a", "bb", "large", "c", "d"]);
        let mut frames = some();
        for left in [13, 10, 4, 2, 0] {
            frames.pop_frame();
            assert_eq!(frames.bytes(), left, "a newline goes with its frame");
        }
    }

    #[test]
    fn bytes_are_taken_however_they_are_cut() {
        for step in 1..16 {
            let mut frames = some();
            let mut taken = Vec::new();
            while !frames.is_empty() {
                let mut slices = [IoSlice::new(&[]); 2];
                let count = frames.slices(&mut slices);
                let bytes: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
                let part = &bytes[..step.min(bytes.len())];
                taken.extend_from_slice(part);
                frames.advance(part.len());
            }
            assert_eq!(taken, b"a\nbb\nlarge\nc\nd\n", "{step}");
        }
    }

    #[test]
    fn chunks_hold_whole_frames() {
        let chunks = |room| {
            let mut frames = some();
            let chunks: Vec<Bytes> = std::iter::from_fn(|| frames.pop_chunk(room)).collect();
            assert!(frames.is_empty());
            chunks
        };
        assert_eq!(chunks(1), ["a\n", "bb\n", "large", "\n", "c\n", "d\n"]);
        assert_eq!(chunks(3), ["a\n", "bb\n", "large", "\nc\n", "d\n"]);
        assert_eq!(chunks(5), ["a\nbb\n", "large", "\nc\nd\n"]);
    }
}

//! Two edits after each other as one.

use crate::{Edit, Edits};

/// What edits do, read from the front of the text they change. After the last piece everything is kept.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Keep(usize),
    Drop(usize),
    Add(&'a str),
}

impl Edits {
    /// One value with the effect of these edits and then of `then`, which is about the text after these.
    pub fn compose(&self, then: &Self) -> Self {
        let mut first = Pieces::new(self);
        let mut second = Pieces::new(then);
        let mut joined = Joined::default();
        loop {
            match (first.next(), second.next()) {
                (None, None) => return joined.finish(),
                (Some(Piece::Drop(len)), then) => {
                    joined.drop(len);
                    second.give_back(then);
                }
                (made, Some(Piece::Add(text))) => {
                    joined.add(text);
                    first.give_back(made);
                }
                (Some(piece), None) | (None, Some(piece)) => joined.push(piece),
                (Some(made), Some(then)) => {
                    let len = made.len().min(then.len());
                    let (made, made_rest) = made.split(len);
                    let (then, then_rest) = then.split(len);
                    match (made, then) {
                        (_, Piece::Keep(_)) => joined.push(made),
                        (Piece::Keep(_), _) => joined.push(then),
                        // Added, and dropped again.
                        _ => {}
                    }
                    first.give_back(made_rest);
                    second.give_back(then_rest);
                }
            }
        }
    }
}

impl Piece<'_> {
    fn len(self) -> usize {
        match self {
            Self::Keep(len) | Self::Drop(len) => len,
            Self::Add(text) => text.len(),
        }
    }

    /// The first `len` bytes, and the rest if there is one.
    fn split(self, len: usize) -> (Self, Option<Self>) {
        let rest = self.len() - len;
        let (front, back) = match self {
            Self::Keep(_) => (Self::Keep(len), Self::Keep(rest)),
            Self::Drop(_) => (Self::Drop(len), Self::Drop(rest)),
            Self::Add(text) => {
                // Edits that fit cut no code point. Where others do, it goes.
                let (front, back) = (text.floor_char_boundary(len), text.ceil_char_boundary(len));
                (Self::Add(&text[..front]), Self::Add(&text[back..]))
            }
        };
        (front, (back.len() > 0).then_some(back))
    }
}

/// The pieces of edits; one can be given back.
struct Pieces<'a> {
    edits: std::slice::Iter<'a, Edit>,
    at: usize,
    /// The piece that was given back, then those of the edit that was begun.
    next: [Option<Piece<'a>>; 3],
}

impl<'a> Pieces<'a> {
    fn new(edits: &'a Edits) -> Self {
        Self { edits: edits.iter(), at: 0, next: [const { None }; 3] }
    }

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some(piece) = self.next.iter_mut().find_map(Option::take) {
            return Some(piece);
        }
        let edit = self.edits.next()?;
        let keep = edit.range.start.saturating_sub(self.at);
        self.at = edit.range.end;
        let drop = (!edit.range.is_empty()).then_some(Piece::Drop(edit.range.len()));
        let add = (!edit.text.is_empty()).then_some(Piece::Add(&edit.text));
        if keep > 0 {
            self.next = [None, drop, add];
            Some(Piece::Keep(keep))
        } else {
            self.next = [None, None, add];
            drop.or_else(|| self.next())
        }
    }

    fn give_back(&mut self, piece: Option<Piece<'a>>) {
        self.next[0] = piece;
    }
}

/// Collects what was dropped and added between two kept parts into one edit.
#[derive(Default)]
struct Joined {
    edits: Edits,
    start: usize,
    dropped: usize,
    added: String,
}

impl Joined {
    fn push(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Keep(len) => self.keep(len),
            Piece::Drop(len) => self.drop(len),
            Piece::Add(text) => self.add(text),
        }
    }

    fn keep(&mut self, len: usize) {
        self.flush();
        self.start += len;
    }

    fn drop(&mut self, len: usize) {
        self.dropped += len;
    }

    fn add(&mut self, text: &str) {
        self.added.push_str(text);
    }

    fn flush(&mut self) {
        let end = self.start + self.dropped;
        self.edits.push(Edit::new(self.start..end, std::mem::take(&mut self.added)));
        self.start = end;
        self.dropped = 0;
    }

    fn finish(mut self) -> Edits {
        self.flush();
        self.edits
    }
}

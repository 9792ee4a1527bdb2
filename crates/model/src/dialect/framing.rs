//! How a body is cut into messages: server-sent events and lines.

use super::StreamFault;

/// The longest message of a body that is taken.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Cuts a body into lines.
#[derive(Debug, Default)]
pub(crate) struct LineFraming {
    rest: Vec<u8>,
}

impl LineFraming {
    /// Takes bytes in and gives each whole line, without its end, to `take`.
    pub(crate) fn read(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), StreamFault>,
    ) -> Result<(), StreamFault> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, later) = (&bytes[..end], &bytes[end + 1..]);
            bytes = later;
            if self.rest.is_empty() {
                take(without_return(line))?;
            } else {
                self.keep(line)?;
                let whole = std::mem::take(&mut self.rest);
                take(without_return(&whole))?;
            }
        }
        self.keep(bytes)
    }

    /// What is left at the end of the body: a line without an end.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), StreamFault> {
        if self.rest.len() + bytes.len() > MOST_BYTES {
            return Err(StreamFault::Malformed("messages of a reasonable length"));
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Cuts a body into server-sent events and gives the data of each.
#[derive(Debug, Default)]
pub(crate) struct EventFraming {
    lines: LineFraming,
    data: Vec<u8>,
}

impl EventFraming {
    /// Takes bytes in and gives the data of each whole event to `take`.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), StreamFault>,
    ) -> Result<(), StreamFault> {
        let Self { lines, data } = self;
        lines.read(bytes, |line| {
            if line.is_empty() {
                if !data.is_empty() {
                    let event = std::mem::take(data);
                    take(&event)?;
                }
                return Ok(());
            }
            let Some(value) = line.strip_prefix(b"data:") else { return Ok(()) };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if data.len() + value.len() > MOST_BYTES {
                return Err(StreamFault::Malformed("messages of a reasonable length"));
            }
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(value);
            Ok(())
        })
    }

    /// The data of an event that is not closed at the end of the body; some providers leave the last blank line out.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let line = self.lines.rest();
        let line = without_return(&line);
        if let Some(value) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        std::mem::take(&mut self.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&str]) -> Vec<String> {
        let mut framing = EventFraming::default();
        let mut told = Vec::new();
        for piece in pieces {
            let read = framing.read(piece.as_bytes(), |data| {
                told.push(String::from_utf8_lossy(data).into_owned());
                Ok(())
            });
            read.expect("nothing is too long");
        }
        let rest = framing.rest();
        if !rest.is_empty() {
            told.push(String::from_utf8_lossy(&rest).into_owned());
        }
        told
    }

    #[test]
    fn events_are_the_same_however_the_body_is_cut() {
        let body = ": hello\r\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\n\ndata:two\nid: 7\n\ndata: last";
        let whole = events(&[body]);
        assert_eq!(whole, ["{\"x\":\n1}", "two", "last"]);
        for cut in 0..body.len() {
            assert_eq!(events(&[&body[..cut], &body[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_that_does_not_end_is_given_up() {
        let mut framing = LineFraming::default();
        let mut read = Ok(());
        for _ in 0..20 {
            read = read.and_then(|()| framing.read(&vec![b'x'; 1024 * 1024], |_| Ok(())));
        }
        assert!(matches!(read, Err(StreamFault::Malformed(_))));
    }
}

//! File addresses and paths.

use std::path::{Path, PathBuf};

/// The path a `file:` address names; `None` for any other address and for files of other machines.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let decoded = decode(&path[..end])?;
    (!decoded.contains('\0')).then(|| PathBuf::from(decoded))
}

/// The address of what lies at `path` below the folder with this address; `None` if the path is not UTF-8.
pub(crate) fn below(folder: &str, path: &Path) -> Option<String> {
    let mut uri = folder.trim_end_matches('/').to_owned();
    for part in path {
        uri.push('/');
        encode(part.to_str()?, &mut uri);
    }
    Some(uri)
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Writes one part of a path, escaped as editors do it.
fn encode(part: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_read() {
        let cases = [
            ("file:///a/b.rs", Some("/a/b.rs")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%20b/%C3%A4.rs", Some("/a b/ä.rs")),
            ("file:///a.rs#L3", Some("/a.rs")),
            ("file:///a%3Fb", Some("/a?b")),
            ("file:///a%00b", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%ff", None),
            ("file://elsewhere/a", None),
            ("file:a", None),
            ("untitled:Untitled-1", None),
            ("/a/b", None),
            ("", None),
        ];
        for (uri, path) in cases {
            assert_eq!(to_path(uri), path.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn addresses_are_written_as_they_are_read() {
        for path in ["a.rs", "src/a b.rs", "ä/ü?#%.ts", "a/[id]/(x).tsx"] {
            let uri = below("file:///w/", Path::new(path)).unwrap();
            assert_eq!(to_path(&uri).unwrap(), Path::new("/w").join(path), "{uri}");
        }
    }
}

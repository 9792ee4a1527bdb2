//! One commit, ready to be done again.

use std::sync::Arc;

/// A commit with everything that is needed to do it again.
#[derive(Debug, Clone)]
pub(crate) struct ReplayCase {
    /// The repository it is from.
    pub(crate) repo: Arc<str>,
    /// Its id.
    pub(crate) commit: String,
    /// The files it changes, in the order in which they are edited.
    pub(crate) files: Vec<ChangedFile>,
    /// Files that are open beside them: bystanders from the tree before, and files that the commit adds.
    pub(crate) context: Vec<ContextFile>,
    /// Files of the tree before that are not opened until everything is done.
    pub(crate) untouched: Vec<ContextFile>,
}

/// A file before and after.
#[derive(Debug, Clone)]
pub(crate) struct ChangedFile {
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// A file that is only looked at.
#[derive(Debug, Clone)]
pub(crate) struct ContextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The address of a file of the repository, as a client would send it.
pub(crate) fn uri(path: &str) -> String {
    use std::fmt::Write;
    let mut uri = "file:///repository/".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~+@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #[test]
    fn addresses_are_encoded() {
        assert_eq!(super::uri("src/a b.rs"), "file:///repository/src/a%20b.rs");
    }
}

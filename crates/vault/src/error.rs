//! Why something cannot be kept or read.

use std::{io, path::PathBuf};

use crate::{KeyCommandError, KeyringFault};

/// Why something cannot be kept or read. No secret is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// A link stands where a file is expected.
    #[error("{} is a link, which is not followed; remove it", .0.display())]
    Link(PathBuf),
    /// Neither file nor folder, whichever was expected.
    #[error("{} is not what it has to be, a file or a folder; remove it", .0.display())]
    OfAnotherKind(PathBuf),
    /// Somebody else's.
    #[error("{} belongs to another user and is not used; remove it, and run `nudge login` again", .0.display())]
    OfAnotherUser(PathBuf),
    /// A file that others can read or write.
    #[error("others than you can open {path}; `chmod 600 {path}` makes it yours alone, but a key in it may be known by now", path = .0.display())]
    OpenFile(PathBuf),
    /// A folder that others can write in.
    #[error("others than you can write in {path}; `chmod 700 {path}` makes it yours alone", path = .0.display())]
    OpenFolder(PathBuf),
    /// What stands in a file is not what was written.
    #[error("{} cannot be read; mend it, or remove it and run `nudge login` again", .0.display())]
    Damaged(PathBuf),
    /// The disk does not do it.
    #[error("cannot {what} {}: {why}", path.display())]
    Io {
        /// What was to be done.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Somebody else writes all the time.
    #[error("another process is changing {}; try again", .0.display())]
    Busy(PathBuf),
    /// A key with characters that no request can carry.
    #[error("a key has to be one line of letters, digits and signs without blanks")]
    BadKey,
    /// A name of a provider that cannot be one.
    #[error("the name of a provider has to be of small letters, digits, `-` and `_`")]
    BadProvider,
    /// The key is gone.
    #[error("the key of {0} is not where it was kept; run `nudge login {0}` again")]
    KeyGone(String),
    /// The keyring does not give it.
    #[error("the key is in the system's keyring, and {0}")]
    Keyring(#[from] KeyringFault),
    /// The command does not print it.
    #[error("{0}")]
    Command(#[from] KeyCommandError),
}

//! The secrets of this user on this machine: how providers of models are reached, and their keys.
//!
//! A [`Vault`] is a folder. `providers.toml` in it says which providers there are, at which address, and where the key of each
//! lies: in the system's keyring, in `secrets.toml` beside it, or with a command that prints it. Both files are 0600 and replaced as a
//! whole, under a lock; a key gets a new name each time it is put, so that no crash in between pairs a key with an address that it is
//! not for.
//!
//! Nothing here awaits: a call may wait for a disk, for a keyring or for a command, each with a limit.
#![allow(clippy::disallowed_methods, reason = "this room keeps files, starts commands and waits for them")]

mod entry;
mod error;
mod key_command;
mod key_store;
mod private_folder;
mod system_keyring;
mod vault;

pub use entry::{KeyPlace, LoginKey, RemovedLogin, StoredLogin, VaultEntry, VaultLogin};
pub use error::VaultError;
pub use key_command::{KeyCommand, KeyCommandError};
pub use key_store::{KeyStore, KeyringFault};
pub use system_keyring::SystemKeyring;
pub use vault::{Vault, VaultOptions};

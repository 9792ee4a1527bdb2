//! What is kept of a provider, and how it stands in `providers.toml`.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use nudge_wire::SecretText;
use serde::{Deserialize, Serialize};

use crate::{KeyCommand, KeyringFault};

/// What is kept of a provider; its key is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultEntry {
    /// Its id.
    pub provider: String,
    /// Its address; its own unless set.
    pub base_url: Option<String>,
    /// How it is spoken to; as is usual at that address unless set.
    pub api_type: Option<String>,
    /// Where its key lies.
    pub key: KeyPlace,
}

/// Where a key lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// There is none.
    Nowhere,
    /// In the keyring of the system.
    Keyring,
    /// In this file.
    File(PathBuf),
    /// This command prints it.
    Command(KeyCommand),
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("no key"),
            Self::Keyring => f.write_str("the system's keyring"),
            Self::File(path) => write!(f, "the file {}, which only you can read", path.display()),
            Self::Command(command) => write!(f, "printed by the command `{}`", command.program()),
        }
    }
}

/// What is to be kept of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultLogin {
    /// Its id.
    pub provider: String,
    /// Its address; its own unless set.
    pub base_url: Option<String>,
    /// How it is spoken to; as is usual at that address unless set.
    pub api_type: Option<String>,
    /// Its key.
    pub key: LoginKey,
}

/// A key that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginKey {
    /// There is none.
    Nothing,
    /// This one.
    Text(SecretText),
    /// The one that this command prints each time it is needed.
    Command(KeyCommand),
}

/// What became of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLogin {
    /// Where its key lies.
    pub key: KeyPlace,
    /// Why it does not lie in the keyring.
    pub keyring_fault: Option<KeyringFault>,
}

impl fmt::Display for StoredLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.key, &self.keyring_fault) {
            (KeyPlace::Nowhere, _) => f.write_str("there is no key to be kept"),
            (KeyPlace::Command(command), _) => {
                write!(f, "no key is kept: the command `{}` is run when it is needed", command.program())
            }
            (place, Some(fault)) => write!(f, "the key is kept in {place}: {fault}"),
            (place, None) => write!(f, "the key is kept in {place}"),
        }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedLogin {
    /// Where its key lay.
    pub key: KeyPlace,
    /// Why the keyring still has it, under this name.
    pub left_behind: Option<(String, KeyringFault)>,
}

/// `providers.toml`: what is known of each provider, by its id.
pub(crate) type ProviderRows = BTreeMap<String, ProviderRow>;

/// A provider in `providers.toml`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct ProviderRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_type: Option<String>,
    /// The name of its key in the keyring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keyring: Option<String>,
    /// The name of its key in `secrets.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_command: Option<Vec<String>>,
}

//! The keyring of the system: the Secret Service on Linux, the Keychain on macOS, the Credential Manager on Windows.

use keyring::{Entry, Error};
use nudge_wire::SecretText;

use crate::{KeyStore, KeyringFault};

/// What our entries in it are for.
const SERVICE: &str = "nudge";

/// The keyring of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemKeyring;

impl KeyStore for SystemKeyring {
    fn set(&self, name: &str, secret: &SecretText) -> Result<(), KeyringFault> {
        entry(name)?.set_password(secret.reveal()).map_err(|error| fault(&error))
    }

    fn get(&self, name: &str) -> Result<Option<SecretText>, KeyringFault> {
        match entry(name)?.get_password() {
            Ok(secret) => Ok(Some(SecretText::new(secret))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(fault(&error)),
        }
    }

    fn delete(&self, name: &str) -> Result<(), KeyringFault> {
        match entry(name)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(fault(&error)),
        }
    }
}

fn entry(name: &str) -> Result<Entry, KeyringFault> {
    Entry::new(SERVICE, name).map_err(|error| fault(&error))
}

/// What is wrong, in our words: the error's own may hold the secret.
fn fault(error: &Error) -> KeyringFault {
    match error {
        Error::NoDefaultStore => KeyringFault::Absent,
        Error::NoStorageAccess(_) => KeyringFault::Locked,
        _ => KeyringFault::Broken,
    }
}

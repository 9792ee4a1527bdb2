//! The vault with real files, real commands and a keyring that is played.
#![allow(clippy::disallowed_methods, reason = "tests read files and clocks")]

mod commands;
mod files;
mod keyrings;
mod logins;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use nudge_vault::{KeyStore, KeyringFault, LoginKey, Vault, VaultLogin, VaultOptions};
use nudge_wire::{Environment, SecretText};
use parking_lot::Mutex;
use tempfile::TempDir;

/// A folder with a vault in it, which is made by whoever writes first.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("nudge")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// All that lies in the folder, by name.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).expect("the folder is there").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The vault with this keyring; `None` for a user who wants none.
    fn vault(&self, keyring: Option<Arc<dyn KeyStore>>) -> Vault {
        Vault::open(self.folder(), VaultOptions { keyring, ..options() })
    }

    /// The vault whose keys lie in a file.
    fn filed(&self) -> Vault {
        self.vault(None)
    }
}

fn options() -> VaultOptions {
    VaultOptions { command_limit: Duration::from_secs(20), ..VaultOptions::default() }
}

/// A login with this key.
fn login(provider: &str, key: &str) -> VaultLogin {
    VaultLogin {
        provider: provider.to_owned(),
        base_url: None,
        api_type: None,
        key: LoginKey::Text(SecretText::new(key)),
    }
}

/// That of the tests.
fn own_environment() -> Environment {
    Environment::new(std::env::vars().collect())
}

/// The key that a vault gives.
fn key(vault: &Vault, provider: &str) -> Option<String> {
    vault.get(provider, &own_environment()).expect("the vault can be read").map(|key| key.reveal().to_owned())
}

/// A keyring in memory.
#[derive(Default)]
struct PlayedKeyring {
    secrets: Mutex<HashMap<String, SecretText>>,
    /// What is wrong with it.
    fault: Mutex<Option<KeyringFault>>,
    /// How often something was asked of it.
    asked: Mutex<usize>,
}

impl PlayedKeyring {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn with(fault: KeyringFault) -> Arc<Self> {
        let keyring = Self::new();
        *keyring.fault.lock() = Some(fault);
        keyring
    }

    fn count(&self) -> usize {
        self.secrets.lock().len()
    }

    fn state(&self) -> Result<(), KeyringFault> {
        *self.asked.lock() += 1;
        let fault = self.fault.lock().clone();
        if matches!(fault, Some(KeyringFault::Silent(_))) {
            // As long as the test lives.
            std::thread::park();
        }
        fault.map_or(Ok(()), Err)
    }
}

impl KeyStore for PlayedKeyring {
    fn set(&self, name: &str, secret: &SecretText) -> Result<(), KeyringFault> {
        self.state()?;
        self.secrets.lock().insert(name.to_owned(), secret.clone());
        Ok(())
    }

    fn get(&self, name: &str) -> Result<Option<SecretText>, KeyringFault> {
        self.state()?;
        Ok(self.secrets.lock().get(name).cloned())
    }

    fn delete(&self, name: &str) -> Result<(), KeyringFault> {
        self.state()?;
        self.secrets.lock().remove(name);
        Ok(())
    }
}

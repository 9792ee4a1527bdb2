//! What is kept: read, put and removed.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use nudge_wire::{Environment, SecretText};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    KeyCommand, KeyPlace, KeyStore, LoginKey, RemovedLogin, StoredLogin, SystemKeyring, VaultEntry,
    VaultError, VaultLogin,
    entry::{ProviderRow, ProviderRows},
    key_command::is_key,
    key_store::PatientKeyStore,
    private_folder::PrivateFolder,
};

/// The file that says which providers there are.
const PROVIDERS: &str = "providers.toml";
/// The file that holds the keys that no keyring holds.
const SECRETS: &str = "secrets.toml";
/// What the files begin with.
const PROVIDERS_NOTE: &str = "# Written by `nudge login` and `nudge logout`. No key is in here.\n\n";
const SECRETS_NOTE: &str = "# Keys of `nudge login`. Show them to nobody; `nudge logout` removes them.\n\n";
/// How often a key is looked for that somebody replaces again and again.
const MOST_LOOKS: usize = 5;

/// `secrets.toml`: keys by their names.
type SecretRows = BTreeMap<String, String>;

/// How a vault is opened.
#[derive(Clone)]
pub struct VaultOptions {
    /// The keyring that keys are put into, if it answers; `None` puts them into a file.
    pub keyring: Option<Arc<dyn KeyStore>>,
    /// How long a keyring may take to show that it keeps something.
    pub probe_limit: Duration,
    /// How long it may take to give a key; its user may have to unlock it.
    pub read_limit: Duration,
    /// How long a command may take to print a key.
    pub command_limit: Duration,
    /// How long others may take to write.
    pub lock_limit: Duration,
}

impl Default for VaultOptions {
    fn default() -> Self {
        Self {
            keyring: Some(Arc::new(SystemKeyring)),
            probe_limit: Duration::from_secs(2),
            read_limit: Duration::from_secs(30),
            command_limit: Duration::from_secs(30),
            lock_limit: Duration::from_secs(10),
        }
    }
}

/// The secrets of a user in one folder.
pub struct Vault {
    folder: PrivateFolder,
    keyring: PatientKeyStore,
    command_limit: Duration,
    lock_limit: Duration,
}

impl Vault {
    /// The vault in this folder. Nothing is read or made yet.
    pub fn open(folder: impl Into<PathBuf>, options: VaultOptions) -> Self {
        let VaultOptions { keyring, probe_limit, read_limit, command_limit, lock_limit } = options;
        let keyring = PatientKeyStore::new(keyring, probe_limit, read_limit);
        Self { folder: PrivateFolder::new(folder.into()), keyring, command_limit, lock_limit }
    }

    /// A number that changes when what is kept does. Cheap enough to be asked before each request to a model.
    pub fn stamp(&self) -> u64 {
        self.folder.stamp(PROVIDERS)
    }

    /// What is kept, by the ids of the providers. No key is read.
    pub fn list(&self) -> Result<Vec<VaultEntry>, VaultError> {
        let rows = self.providers()?;
        rows.into_iter().map(|(provider, row)| self.entry(provider, row)).collect()
    }

    /// The key of a provider, if one is kept; a keyring or a command may be waited for, which runs in this environment.
    pub fn get(&self, provider: &str, environment: &Environment) -> Result<Option<SecretText>, VaultError> {
        for _ in 0..MOST_LOOKS {
            let Some(row) = self.providers()?.remove(provider) else { return Ok(None) };
            let found = match (&row.key_command, &row.keyring, &row.file) {
                (Some(_), ..) => {
                    let command = self.command(&row)?;
                    return Ok(Some(command.run(self.command_limit, environment)?));
                }
                (None, Some(name), _) => self.keyring.get(name)?,
                (None, None, Some(name)) => self.secrets()?.remove(name).map(SecretText::new),
                (None, None, None) => return Ok(None),
            };
            if found.is_some() {
                return Ok(found);
            }
            // Somebody may have replaced it in between.
            let now = self.providers()?.remove(provider).unwrap_or_default();
            if (now.keyring, now.file) == (row.keyring, row.file) {
                break;
            }
        }
        Err(VaultError::KeyGone(provider.to_owned()))
    }

    /// The keys that lie in the file, whoever they are for: whoever reads the file sees them.
    pub fn file_keys(&self) -> Vec<SecretText> {
        // What cannot be read by us is not read by our tools either.
        self.secrets().unwrap_or_default().into_values().map(SecretText::new).collect()
    }

    /// Keeps a login; one of the same provider is replaced.
    pub fn put(&self, login: &VaultLogin) -> Result<StoredLogin, VaultError> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if login.provider.is_empty() || !login.provider.chars().all(is_plain) {
            return Err(VaultError::BadProvider);
        }
        let _lock = self.folder.lock(self.lock_limit)?;
        let mut rows = self.providers()?;
        let (base_url, api_type) = (login.base_url.clone(), login.api_type.clone());
        let mut row = ProviderRow { base_url, api_type, ..ProviderRow::default() };
        let mut keyring_fault = None;
        match &login.key {
            LoginKey::Nothing => {}
            LoginKey::Command(command) => row.key_command = Some(command.words().to_vec()),
            LoginKey::Text(key) => keyring_fault = self.put_key(&login.provider, key, &mut row)?,
        }
        let before = rows.insert(login.provider.clone(), row.clone());
        self.write(PROVIDERS, PROVIDERS_NOTE, &rows)?;
        self.sweep(&rows)?;
        if let Some(name) = before.and_then(|before| before.keyring) {
            // The new one counts, whether the old one goes or not.
            let _ = self.keyring.delete(&name);
        }
        Ok(StoredLogin { key: self.entry(login.provider.clone(), row)?.key, keyring_fault })
    }

    /// Forgets a login; `None` if there is none.
    pub fn remove(&self, provider: &str) -> Result<Option<RemovedLogin>, VaultError> {
        let _lock = self.folder.lock(self.lock_limit)?;
        let mut rows = self.providers()?;
        let row = rows.remove(provider);
        // The key first: a login without one can be removed again.
        self.sweep(&rows)?;
        let Some(row) = row else { return Ok(None) };
        let key = self.entry(provider.to_owned(), row.clone())?.key;
        self.write(PROVIDERS, PROVIDERS_NOTE, &rows)?;
        let left_behind = row.keyring.and_then(|name| {
            let fault = self.keyring.delete(&name).err()?;
            Some((name, fault))
        });
        Ok(Some(RemovedLogin { key, left_behind }))
    }

    /// Puts a key into the keyring, else into the file, and its new name into the row; why it is not in the keyring.
    fn put_key(
        &self,
        provider: &str,
        key: &SecretText,
        row: &mut ProviderRow,
    ) -> Result<Option<crate::KeyringFault>, VaultError> {
        if !is_key(key.reveal()) {
            return Err(VaultError::BadKey);
        }
        let number = getrandom::u64().expect("the system has random numbers");
        let name = format!("{provider}-{number:016x}");
        let Err(fault) = self.keyring.set(&name, key) else {
            row.keyring = Some(name);
            return Ok(None);
        };
        let mut secrets = self.secrets()?;
        secrets.insert(name.clone(), key.reveal().to_owned());
        self.write(SECRETS, SECRETS_NOTE, &secrets)?;
        row.file = Some(name);
        Ok(Some(fault))
    }

    /// Removes the keys from the file that no provider has: replaced ones, and those of somebody who died in between.
    fn sweep(&self, rows: &ProviderRows) -> Result<(), VaultError> {
        let mut secrets = self.secrets()?;
        let count = secrets.len();
        secrets.retain(|name, _| rows.values().any(|row| row.file.as_ref() == Some(name)));
        match secrets.len() {
            0 => self.folder.remove(SECRETS),
            left if left < count => self.write(SECRETS, SECRETS_NOTE, &secrets),
            _ => Ok(()),
        }
    }

    fn entry(&self, provider: String, row: ProviderRow) -> Result<VaultEntry, VaultError> {
        let key = match (&row.key_command, &row.keyring, &row.file) {
            (Some(_), ..) => KeyPlace::Command(self.command(&row)?),
            (None, Some(_), _) => KeyPlace::Keyring,
            (None, None, Some(_)) => KeyPlace::File(self.folder.file(SECRETS)),
            (None, None, None) => KeyPlace::Nowhere,
        };
        Ok(VaultEntry { provider, base_url: row.base_url, api_type: row.api_type, key })
    }

    fn command(&self, row: &ProviderRow) -> Result<KeyCommand, VaultError> {
        let words = row.key_command.clone().unwrap_or_default();
        KeyCommand::new(words).map_err(|_| VaultError::Damaged(self.folder.file(PROVIDERS)))
    }

    fn providers(&self) -> Result<ProviderRows, VaultError> {
        self.read(PROVIDERS)
    }

    fn secrets(&self) -> Result<SecretRows, VaultError> {
        self.read(SECRETS)
    }

    /// A file, empty if there is none. What the parser says is not passed on: it quotes the file.
    fn read<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, VaultError> {
        let Some(text) = self.folder.read(name)? else { return Ok(T::default()) };
        toml::from_str(&text).map_err(|_| VaultError::Damaged(self.folder.file(name)))
    }

    fn write(&self, name: &str, note: &str, rows: &impl Serialize) -> Result<(), VaultError> {
        let text = toml::to_string(rows).map_err(|_| VaultError::Damaged(self.folder.file(name)))?;
        self.folder.write(name, &format!("{note}{text}"))
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("folder", &self.folder).finish_non_exhaustive()
    }
}

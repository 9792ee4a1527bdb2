//! What `nudge login` keeps, for the models that are asked with it and for the page on which users sign in.

use std::sync::Arc;

use nudge_gateway::{LoginStore, SetupLogin};
use nudge_model::{ApiType, ModelProvider, ProviderAccess, SecretText, StoredLogins};
use nudge_vault::{KeyPlace, LoginKey, RemovedLogin, Vault, VaultEntry, VaultLogin, VaultOptions};
use nudge_wire::Environment;

use crate::data_place::DataPlace;

/// The vault of the data folder.
pub(crate) struct VaultLogins(pub(super) Vault);

impl VaultLogins {
    /// That of this place; `None` where nothing is kept.
    pub(crate) fn at(place: &DataPlace) -> Option<Arc<Self>> {
        let mut options = VaultOptions::default();
        options.keyring = options.keyring.filter(|_| place.has_keyring);
        Some(Arc::new(Self(Vault::open(place.data_dir()?, options))))
    }
}

/// How a provider that is kept is reached, without its key; `None` if it is not known, or cannot be reached like this.
fn access(entry: &VaultEntry) -> Option<ProviderAccess> {
    let provider = ModelProvider::named(&entry.provider)?;
    let access = ProviderAccess::stored(provider, entry.base_url.as_deref(), None)?;
    match &entry.api_type {
        Some(api_type) => access.spoken(ApiType::named(api_type)?),
        None => Some(access),
    }
}

impl StoredLogins for VaultLogins {
    fn stamp(&self) -> u64 {
        self.0.stamp()
    }

    fn list(&self) -> Vec<(ProviderAccess, bool)> {
        let entries = self.0.list().unwrap_or_else(|error| {
            tracing::warn!("what `nudge login` keeps cannot be read: {error}");
            Vec::new()
        });
        let reached = |entry: &VaultEntry| Some((access(entry)?, entry.key != KeyPlace::Nowhere));
        entries.iter().filter_map(reached).collect()
    }

    fn readable_keys(&self) -> Vec<SecretText> {
        self.0.file_keys()
    }

    fn problem(&self) -> Option<String> {
        self.0.list().err().map(|error| error.to_string())
    }

    fn key(
        &self,
        provider: &'static ModelProvider,
        environment: &Environment,
    ) -> Result<Option<SecretText>, String> {
        self.0.get(provider.id, environment).map_err(|error| error.to_string())
    }
}

impl LoginStore for VaultLogins {
    fn keep(&self, login: SetupLogin) -> Result<String, String> {
        let SetupLogin { provider, base_url, key } = login;
        let key = key.map_or(LoginKey::Nothing, LoginKey::Text);
        let login = VaultLogin { provider: provider.id.to_owned(), base_url, api_type: None, key };
        let stored = self.0.put(&login).map_err(|error| error.to_string())?;
        Ok(match stored.key {
            KeyPlace::Nowhere => "in the data folder of Nudge".to_owned(),
            place => format!("in {place}"),
        })
    }

    fn forget_all(&self) -> Result<(), String> {
        let kept = self.0.list().map_err(|error| error.to_string())?;
        let left = |entry: &VaultEntry| {
            let why = match self.0.remove(&entry.provider) {
                Ok(Some(RemovedLogin { left_behind: Some((name, fault)), .. })) => {
                    format!("its key {name} is still there: {fault}")
                }
                Ok(_) => return None,
                Err(error) => error.to_string(),
            };
            Some(format!("{}: {why}", entry.provider))
        };
        let left: Vec<_> = kept.iter().filter_map(left).collect();
        if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
    }
}

//! A place for logins that is memory.

use std::sync::atomic::{AtomicU64, Ordering};

use nudge_gateway::{LoginStore, SetupLogin};
use nudge_model::{ModelProvider, ProviderAccess, SecretText, StoredLogins};
use nudge_wire::Environment;
use parking_lot::Mutex;

/// Keeps logins in memory.
#[derive(Default)]
pub(crate) struct KeptLogins {
    kept: Mutex<Vec<SetupLogin>>,
    stamp: AtomicU64,
}

impl KeptLogins {
    /// Provider, address and key of each.
    pub(crate) fn kept(&self) -> Vec<(&'static str, Option<String>, Option<String>)> {
        let shown = |login: &SetupLogin| {
            let key = login.key.as_ref().map(|key| key.reveal().to_owned());
            (login.provider.id, login.base_url.clone(), key)
        };
        self.kept.lock().iter().map(shown).collect()
    }

    fn change(&self, change: impl FnOnce(&mut Vec<SetupLogin>)) {
        change(&mut self.kept.lock());
        self.stamp.fetch_add(1, Ordering::Relaxed);
    }
}

impl LoginStore for KeptLogins {
    fn keep(&self, login: SetupLogin) -> Result<String, String> {
        self.change(|kept| {
            kept.retain(|other| other.provider != login.provider);
            kept.push(login);
        });
        Ok("in memory".to_owned())
    }

    fn forget_all(&self) -> Result<(), String> {
        self.change(Vec::clear);
        Ok(())
    }
}

impl StoredLogins for KeptLogins {
    fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Relaxed)
    }

    fn list(&self) -> Vec<(ProviderAccess, bool)> {
        let access = |login: &SetupLogin| {
            let access = ProviderAccess::stored(login.provider, login.base_url.as_deref(), None)?;
            Some((access, login.key.is_some()))
        };
        self.kept.lock().iter().filter_map(access).collect()
    }

    fn key(&self, provider: &'static ModelProvider, _: &Environment) -> Result<Option<SecretText>, String> {
        let kept = self.kept.lock();
        Ok(kept.iter().find(|login| login.provider == provider).and_then(|login| login.key.clone()))
    }
}

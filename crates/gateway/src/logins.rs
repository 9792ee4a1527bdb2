//! What a user signs in with, and where it is kept.

use nudge_model::{ModelProvider, SecretText};

/// A way to a provider that a user has set up.
#[derive(Debug, Clone)]
pub struct SetupLogin {
    /// Which provider.
    pub provider: &'static ModelProvider,
    /// Its address, if it is not the provider's own.
    pub base_url: Option<String>,
    /// Its key, if it needs one.
    pub key: Option<SecretText>,
}

impl SetupLogin {
    /// A server at this address that needs no key.
    pub(crate) fn at(provider: &'static ModelProvider, base_url: &str) -> Self {
        Self { provider, base_url: Some(base_url.to_owned()), key: None }
    }
}

/// Does what may wait for a lock or a keyring on a thread for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err("it has failed".to_owned()))
}

/// Where what users sign in with is kept. What is kept is seen by the gateway's models from then on.
pub trait LoginStore: Send + Sync {
    /// Keeps a login, in place of an earlier one of the provider. Tells where, as the end of a sentence: "in …".
    fn keep(&self, login: SetupLogin) -> Result<String, String>;

    /// Forgets all of them.
    fn forget_all(&self) -> Result<(), String>;
}

//! A key or a token, which is written nowhere.

use std::{fmt, sync::Arc};

/// A secret. It can be sent to who it is for; it cannot be shown by accident.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SecretText(Arc<str>);

impl SecretText {
    /// Keeps a text secret.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the request that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

//! Where keys can be kept beside files, and how it is asked without being waited for too long.

use std::{
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::Duration,
};

use nudge_wire::SecretText;

/// What a probe keeps for a moment, and under which name.
const PROBE: (&str, &str) = ("probe", "can-this-be-kept");

/// A place that keeps secrets by name, such as the keyring of the system. Its calls may take for ever.
pub trait KeyStore: Send + Sync {
    /// Keeps a secret; one of the same name is replaced.
    fn set(&self, name: &str, secret: &SecretText) -> Result<(), KeyringFault>;

    /// The secret of this name, if there is one.
    fn get(&self, name: &str) -> Result<Option<SecretText>, KeyringFault>;

    /// Forgets a secret, if there is one.
    fn delete(&self, name: &str) -> Result<(), KeyringFault>;
}

/// Why a keyring does not serve.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringFault {
    /// There is none.
    #[error("there is no keyring here")]
    Absent,
    /// It is locked, or does not let this program in.
    #[error("the keyring is locked; unlock it and try again")]
    Locked,
    /// It did not answer.
    #[error("the keyring did not answer within {} s; it may be locked", .0.as_secs_f32())]
    Silent(Duration),
    /// It failed in some other way.
    #[error("the keyring does not work")]
    Broken,
    /// The user wants none.
    #[error("the keyring is turned off")]
    Unwanted,
}

/// A key store that is given up on when it takes too long.
pub(crate) struct PatientKeyStore {
    store: Option<Arc<dyn KeyStore>>,
    probed: OnceLock<Result<(), KeyringFault>>,
    probe_limit: Duration,
    read_limit: Duration,
}

impl PatientKeyStore {
    /// `None` stands for a store that the user does not want.
    pub(crate) fn new(store: Option<Arc<dyn KeyStore>>, probe_limit: Duration, read_limit: Duration) -> Self {
        Self { store, probed: OnceLock::new(), probe_limit, read_limit }
    }

    /// Keeps a secret, if a secret of no worth could be kept before: one that is given up on may be kept all the same.
    pub(crate) fn set(&self, name: &str, secret: &SecretText) -> Result<(), KeyringFault> {
        self.probed.get_or_init(|| self.probe()).clone()?;
        let (name, secret) = (name.to_owned(), secret.clone());
        self.within(self.probe_limit, move |store| store.set(&name, &secret))
    }

    pub(crate) fn get(&self, name: &str) -> Result<Option<SecretText>, KeyringFault> {
        let name = name.to_owned();
        self.within(self.read_limit, move |store| store.get(&name))
    }

    pub(crate) fn delete(&self, name: &str) -> Result<(), KeyringFault> {
        let name = name.to_owned();
        self.within(self.probe_limit, move |store| store.delete(&name))
    }

    fn probe(&self) -> Result<(), KeyringFault> {
        self.within(self.probe_limit, |store| {
            let (name, secret) = (PROBE.0, SecretText::new(PROBE.1));
            store.set(name, &secret)?;
            let is_kept = store.get(name)? == Some(secret);
            store.delete(name)?;
            if is_kept { Ok(()) } else { Err(KeyringFault::Broken) }
        })
    }

    /// Does something in a thread of its own, which is left to itself when its time is over.
    fn within<T: Send + 'static>(
        &self,
        limit: Duration,
        act: impl FnOnce(&dyn KeyStore) -> Result<T, KeyringFault> + Send + 'static,
    ) -> Result<T, KeyringFault> {
        let store = Arc::clone(self.store.as_ref().ok_or(KeyringFault::Unwanted)?);
        let (sender, outcome) = mpsc::channel();
        let started = thread::Builder::new().name("keyring".to_owned()).spawn(move || {
            // Nobody may wait for it any more.
            let _ = sender.send(act(&*store));
        });
        started.map_err(|_| KeyringFault::Broken)?;
        match outcome.recv_timeout(limit) {
            Ok(outcome) => outcome,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(KeyringFault::Silent(limit)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(KeyringFault::Broken),
        }
    }
}

//! Ways to providers that are kept on this machine. Their keys are read when they are needed, and no sooner.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use nudge_wire::Environment;
use parking_lot::Mutex;

use crate::{ModelError, ModelProvider, ProviderAccess, SecretText};

/// How long a key that was read is taken for what there is: a command may print another each time.
const KEY_AGE: Duration = Duration::from_mins(1);
/// How many keys that were read are remembered, so that they are kept out of what is told.
const MOST_KEYS: usize = 64;
/// How long a key that could not be read is left alone.
const FAILED_AGE: Duration = Duration::from_secs(5);

/// What keeps ways to providers on this machine.
pub trait StoredLogins: Send + Sync {
    /// A number that changes whenever what is kept does. It is asked often.
    fn stamp(&self) -> u64;

    /// What is kept, without keys, and whether there is a key to be read.
    fn list(&self) -> Vec<(ProviderAccess, bool)>;

    /// Keys that can be read where they lie, whether they are used or not: they are kept out of what is told.
    fn readable_keys(&self) -> Vec<SecretText> {
        Vec::new()
    }

    /// Why what is kept cannot be read, if it cannot. For people.
    fn problem(&self) -> Option<String> {
        None
    }

    /// The key of a provider. May wait for the user, or for a program, which runs in this environment. The error is for people.
    fn key(
        &self,
        provider: &'static ModelProvider,
        environment: &Environment,
    ) -> Result<Option<SecretText>, String>;
}

/// A key, if there is one, or why it cannot be read.
type KeyOutcome = Result<Option<SecretText>, String>;

/// What is known of what is kept.
#[derive(Default)]
pub(crate) struct StoredAccess {
    logins: Option<Arc<dyn StoredLogins>>,
    seen: Mutex<SeenLogins>,
    keys: Arc<Mutex<ReadKeys>>,
    /// Held by who reads the key of a provider, so that nobody is asked twice at once.
    reading: Mutex<HashMap<KeyReading, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Default)]
struct SeenLogins {
    stamp: Option<u64>,
    accesses: Vec<ProviderAccess>,
    readable_keys: Vec<SecretText>,
}

/// A provider, and what its key may depend on: a command that prints it runs in the environment of who asks.
type KeyReading = (&'static str, Environment);

/// The keys that were read.
#[derive(Default)]
struct ReadKeys {
    /// Where they were read, by provider.
    now: HashMap<KeyReading, ReadKey>,
    /// Also those that were replaced since, the oldest first: they may still be good.
    ever: Vec<SecretText>,
}

impl ReadKeys {
    fn put(&mut self, at: KeyReading, read: ReadKey) {
        if let Ok(Some(key)) = &read.outcome {
            self.remember(key);
        }
        self.now.retain(|_, known| known.is_fresh(read.stamp));
        self.now.insert(at, read);
    }

    fn remember(&mut self, key: &SecretText) {
        self.ever.retain(|before| before != key);
        self.ever.push(key.clone());
        // A command may print another each time.
        if self.ever.len() > MOST_KEYS {
            self.ever.remove(0);
        }
    }
}

struct ReadKey {
    stamp: u64,
    since: Instant,
    outcome: KeyOutcome,
}

impl ReadKey {
    fn is_fresh(&self, stamp: u64) -> bool {
        let age = if self.outcome.is_ok() { KEY_AGE } else { FAILED_AGE };
        self.stamp == stamp && self.since.elapsed() < age
    }
}

impl StoredAccess {
    pub(crate) fn new(logins: Option<Arc<dyn StoredLogins>>) -> Self {
        Self { logins, ..Self::default() }
    }

    /// Looks whether something else is kept than before; whether it is.
    pub(crate) fn look(&self) -> bool {
        let Some(logins) = &self.logins else { return false };
        let mut seen = self.seen.lock();
        if seen.stamp == Some(logins.stamp()) {
            return false;
        }
        loop {
            let stamp = logins.stamp();
            let listed = logins.list();
            // What was written in between would be taken for what is listed.
            if logins.stamp() == stamp {
                let with_stamp = |(access, has_key): (ProviderAccess, bool)| ProviderAccess {
                    unread_key: has_key.then_some(stamp),
                    ..access
                };
                let accesses = listed.into_iter().map(with_stamp).collect();
                *seen = SeenLogins { stamp: Some(stamp), accesses, readable_keys: logins.readable_keys() };
                return true;
            }
        }
    }

    /// What was kept at the last look.
    pub(crate) fn accesses(&self) -> Vec<ProviderAccess> {
        self.seen.lock().accesses.clone()
    }

    /// A way with its key, for a client with this environment.
    pub(crate) async fn with_key(
        &self,
        access: &ProviderAccess,
        environment: &Environment,
    ) -> Result<ProviderAccess, ModelError> {
        let (Some(stamp), Some(logins)) = (access.unread_key, &self.logins) else {
            return Ok(access.clone());
        };
        let at = (access.provider.id, environment.clone());
        let outcome = match self.known_key(&at, stamp) {
            Some(outcome) => outcome,
            None => self.read_key(logins, access.provider, stamp, at).await,
        };
        let id = access.provider.id;
        let key = outcome.map_err(|what| ModelError::Key { provider: id.to_owned(), what })?;
        Ok(access.clone().with_key(key))
    }

    fn known_key(&self, at: &KeyReading, stamp: u64) -> Option<KeyOutcome> {
        let keys = self.keys.lock();
        keys.now.get(at).filter(|key| key.is_fresh(stamp)).map(|key| key.outcome.clone())
    }

    /// Reads a key, or waits for whoever does.
    async fn read_key(
        &self,
        logins: &Arc<dyn StoredLogins>,
        provider: &'static ModelProvider,
        stamp: u64,
        at: KeyReading,
    ) -> KeyOutcome {
        let reading = {
            let mut reading = self.reading.lock();
            reading.retain(|_, reading| Arc::strong_count(reading) > 1);
            Arc::clone(reading.entry(at.clone()).or_default())
        };
        let reading = reading.lock_owned().await;
        if let Some(outcome) = self.known_key(&at, stamp) {
            return outcome;
        }
        let keys = Arc::clone(&self.keys);
        let reads = read(Arc::clone(logins), provider, stamp, at.1.clone());
        // Beside whoever waits for it: who gives up leaves no second question to the user behind.
        let read = tokio::spawn(async move {
            let _reading = reading;
            let outcome = reads.await;
            let read = ReadKey { stamp, since: Instant::now(), outcome: outcome.clone() };
            keys.lock().put(at, read);
            outcome
        });
        read.await.unwrap_or_else(|_| Err("it cannot be read".to_owned()))
    }

    /// Every key that was read, or could be.
    pub(crate) fn secrets(&self) -> Vec<SecretText> {
        let mut secrets = self.seen.lock().readable_keys.clone();
        secrets.extend(self.keys.lock().ever.iter().cloned());
        secrets
    }

    /// Why what is kept cannot be read, if it cannot.
    pub(crate) fn problem(&self) -> Option<String> {
        self.logins.as_ref()?.problem()
    }
}

/// Reads a key that was there when what is kept had this stamp: another may be for another address.
async fn read(
    logins: Arc<dyn StoredLogins>,
    provider: &'static ModelProvider,
    stamp: u64,
    environment: Environment,
) -> KeyOutcome {
    let read = tokio::task::spawn_blocking(move || {
        let key = logins.key(provider, &environment)?;
        if logins.stamp() == stamp { Ok(key) } else { Err("it has just been replaced; try again".to_owned()) }
    });
    read.await.unwrap_or_else(|_| Err("it cannot be read".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// One login, whose stamp, address and key are the same number.
    #[derive(Default)]
    struct PlayedLogins {
        number: AtomicU64,
        reads: AtomicU64,
        /// Whether somebody replaces the login whenever its key is read.
        is_busy: bool,
    }

    impl StoredLogins for PlayedLogins {
        fn stamp(&self) -> u64 {
            self.number.load(Ordering::Relaxed)
        }

        fn list(&self) -> Vec<(ProviderAccess, bool)> {
            let custom = ModelProvider::named("custom").expect("it is in the table");
            let url = format!("http://127.0.0.1/{}", self.stamp());
            ProviderAccess::stored(custom, Some(&url), None)
                .map(|access| (access, true))
                .into_iter()
                .collect()
        }

        fn key(&self, _: &'static ModelProvider, _: &Environment) -> Result<Option<SecretText>, String> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let number = self.number.fetch_add(u64::from(self.is_busy), Ordering::Relaxed);
            match number {
                13 => Err("out of luck".to_owned()),
                number => Ok(Some(SecretText::new(format!("sk-{number}")))),
            }
        }
    }

    fn stored(logins: PlayedLogins) -> (Arc<PlayedLogins>, StoredAccess) {
        let logins = Arc::new(logins);
        (Arc::clone(&logins), StoredAccess::new(Some(logins)))
    }

    fn nowhere() -> Environment {
        Environment::new(std::collections::BTreeMap::new())
    }

    async fn key(stored: &StoredAccess) -> Result<String, ModelError> {
        stored.look();
        let access = stored.with_key(&stored.accesses()[0], &nowhere()).await?;
        Ok(format!("{} {}", access.base_url, access.key.expect("it has one").reveal()))
    }

    #[tokio::test]
    async fn a_key_is_read_when_it_is_needed_and_again_when_it_is_another() {
        let (logins, stored) = stored(PlayedLogins::default());
        assert!(stored.look() && !stored.look());
        assert!(stored.secrets().is_empty() && logins.reads.load(Ordering::Relaxed) == 0);
        assert_eq!(key(&stored).await.as_deref(), Ok("http://127.0.0.1/0 sk-0"));
        assert_eq!(key(&stored).await.as_deref(), Ok("http://127.0.0.1/0 sk-0"));
        assert_eq!(logins.reads.load(Ordering::Relaxed), 1);
        assert_eq!(stored.secrets(), [SecretText::new("sk-0")]);
        logins.number.store(1, Ordering::Relaxed);
        assert_eq!(key(&stored).await.as_deref(), Ok("http://127.0.0.1/1 sk-1"));
        assert_eq!(stored.secrets(), ["sk-0", "sk-1"].map(SecretText::new), "neither is told");
        logins.number.store(0, Ordering::Relaxed);
        assert_eq!(key(&stored).await.as_deref(), Ok("http://127.0.0.1/0 sk-0"));
        assert_eq!(stored.secrets(), ["sk-1", "sk-0"].map(SecretText::new));
    }

    #[test]
    fn not_all_keys_that_ever_were_are_remembered() {
        let stored = StoredAccess::new(None);
        for number in 0..=MOST_KEYS {
            stored.keys.lock().remember(&SecretText::new(format!("sk-{number}")));
        }
        let secrets = stored.secrets();
        assert!(secrets.len() == MOST_KEYS && secrets[0] == SecretText::new("sk-1"));
    }

    #[tokio::test]
    async fn a_key_never_goes_to_an_address_that_it_is_not_for() {
        let (logins, stored) = stored(PlayedLogins::default());
        stored.look();
        let before = stored.accesses();
        logins.number.store(1, Ordering::Relaxed);
        let read = stored.with_key(&before[0], &nowhere()).await;
        assert!(matches!(read, Err(ModelError::Key { .. })), "it is another's");
        let (_, busy) = self::stored(PlayedLogins { is_busy: true, ..PlayedLogins::default() });
        assert!(matches!(key(&busy).await, Err(ModelError::Key { .. })), "it is replaced while it is read");
    }

    #[tokio::test]
    async fn why_there_is_no_key_is_told() {
        let (logins, stored) = stored(PlayedLogins::default());
        logins.number.store(13, Ordering::Relaxed);
        let error = key(&stored).await.expect_err("there is no key");
        assert_eq!(error.to_string(), "the key for custom cannot be had: out of luck");
        assert_eq!(error.word(), "auth");
        let none = StoredAccess::new(None);
        assert!(!none.look() && none.accesses().is_empty());
    }
}

//! Lists of models that were asked for: which way to a provider each is of, and for how long it counts.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::{
    ApiType, ModelError, ProviderAccess, SecretText, dialect::ListedModel, offered_models::is_usable,
};

/// How long a list of models is taken for what there is.
const LIST_AGE: Duration = Duration::from_mins(10);
/// How long a provider that could not be asked is left alone.
const FAILED_AGE: Duration = Duration::from_secs(20);
/// The same for one that is there and not ready: it may be loading its model.
const UNREADY_AGE: Duration = Duration::from_secs(1);
/// How long a list of models may take.
pub(crate) const LIST_TIME: Duration = Duration::from_secs(15);

/// What tells two ways to a provider apart. In memory alone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AccessKey {
    provider: &'static str,
    api_type: ApiType,
    base_url: String,
    secrets: Vec<SecretText>,
    unread_key: Option<u64>,
}

pub(crate) type ListOutcome = Result<Arc<Vec<ListedModel>>, ModelError>;

pub(crate) struct KnownList {
    pub(crate) outcome: watch::Receiver<Option<ListOutcome>>,
    pub(crate) since: Instant,
}

/// What a list of models is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListNeed {
    /// To show what is known.
    Shown,
    /// To take a model of it: one in which there is none is asked for again.
    Taken,
}

impl KnownList {
    /// Whether it need not be asked for again.
    pub(crate) fn is_fresh(&self, need: ListNeed) -> bool {
        let age = match (&*self.outcome.borrow(), need) {
            (None, _) => LIST_TIME * 2,
            (Some(Ok(models)), _) if models.iter().any(is_usable) => LIST_AGE,
            (Some(_), ListNeed::Taken) => Duration::ZERO,
            (Some(Ok(_)), ListNeed::Shown) => LIST_AGE,
            (Some(Err(ModelError::Unavailable { .. })), ListNeed::Shown) => UNREADY_AGE,
            (Some(Err(_)), ListNeed::Shown) => FAILED_AGE,
        };
        self.since.elapsed() < age
    }
}

impl AccessKey {
    pub(crate) fn of(access: &ProviderAccess) -> Self {
        let ProviderAccess { provider, api_type, base_url, unread_key, .. } = access;
        Self {
            provider: provider.id,
            api_type: *api_type,
            base_url: base_url.clone(),
            secrets: access.secrets(),
            unread_key: *unread_key,
        }
    }
}

//! The models of all providers that can be reached: which there are for a client, and which one is asked.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use nudge_wire::{ClientContext, ConnectionId, ContextHold, Environment};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    AccessOrigin, ChoosingModel, ChosenModel, LanguageModel, ModelChoice, ModelError, ModelProvider,
    ModelSource, ModelWish, PROVIDERS, ProviderAccess, SecretText, SlashCommand, UntakenMedia,
    chat_model::{ProviderLimiter, ProviderModel},
    client_providers::{ClientProviders, SaidOfProvider},
    dialect::{self, ListedModel},
    environment_secrets::environment_secrets,
    http::{self, NetworkSettings, ProviderHttp, RequestLimits},
    known_list::{AccessKey, KnownList, LIST_TIME, ListNeed, ListOutcome},
    model_list,
    offered_models::{choice, is_named, is_usable, named_at, named_provider, ordered, unlisted},
    provider::{ACCOUNT_VARIABLES, key_variables},
    stored::{StoredAccess, StoredLogins},
};

/// How long it may take where nothing was set up, and an Ollama of this machine is looked for.
const LOOKING_TIME: Duration = Duration::from_secs(3);
/// How many models are offered; some providers have thousands, and any can be named.
const MOST_CHOICES: usize = 500;
/// How many ways to providers are remembered before those that are not used are forgotten.
const MOST_REMEMBERED: usize = 64;

/// How a provider stands for a client.
#[derive(Debug, Clone)]
pub struct ProviderState {
    /// Which provider.
    pub provider: &'static ModelProvider,
    /// Whether it has to be there.
    pub is_required: bool,
    /// How it is reached; `None` if it is not.
    pub access: Option<ProviderAccess>,
}

/// How the providers of a process are set up.
#[derive(Default)]
pub struct ProviderOptions {
    /// The environment of clients that have none of their own.
    pub environment: Option<Environment>,
    /// What plays where the user has chosen [`REHEARSAL`].
    pub rehearsal: Option<Arc<dyn LanguageModel>>,
    /// What is kept on this machine.
    pub stored: Option<Arc<dyn StoredLogins>>,
    /// How long providers may take.
    pub limits: RequestLimits,
}

/// The model that a user chooses to see everything but a model.
pub const REHEARSAL: &str = "rehearsal";

/// The models of all providers.
#[derive(Clone)]
pub struct ProviderModels(Arc<Shared>);

struct Shared {
    options: ProviderOptions,
    /// Where an Ollama of this machine is looked for; at its own address unless set.
    local_ollama: Option<String>,
    no_environment: Environment,
    http: ProviderHttp,
    clients: ClientProviders,
    stored: StoredAccess,
    /// What one client cannot reach, another may.
    lists: Mutex<HashMap<(AccessKey, NetworkSettings), KnownList>>,
    limiters: Mutex<HashMap<AccessKey, Arc<ProviderLimiter>>>,
    changes: watch::Sender<u64>,
}

/// Forgets what a client has said when it is dropped.
struct ConnectionGuard {
    models: Weak<Shared>,
    connection: ConnectionId,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if let Some(models) = self.models.upgrade()
            && models.clients.forget(self.connection)
        {
            models.tell_change();
        }
    }
}

impl ProviderModels {
    /// The models of the providers that clients, their environments and this machine have.
    pub fn new(options: ProviderOptions) -> Self {
        Self(Arc::new(Shared {
            no_environment: Environment::new(BTreeMap::new()),
            stored: StoredAccess::new(options.stored.clone()),
            http: ProviderHttp::new(options.limits),
            options,
            local_ollama: None,
            clients: ClientProviders::default(),
            lists: Mutex::default(),
            limiters: Mutex::default(),
            changes: watch::Sender::new(0),
        }))
    }

    /// Looks for the Ollama of this machine at another address. To be called before anything else.
    pub fn with_local_ollama(self, base_url: &str) -> Self {
        let Some(shared) = Arc::into_inner(self.0) else {
            panic!("where Ollama is looked for is said before the models are used");
        };
        Self(Arc::new(Shared { local_ollama: Some(base_url.to_owned()), ..shared }))
    }

    /// A client comes that wants this. What it says is known for as long as somebody has what is given back.
    #[must_use]
    pub fn connect(&self, connection: ConnectionId, wish: ModelWish) -> ContextHold {
        self.0.clients.connect(connection, wish);
        ContextHold::new(ConnectionGuard { models: Arc::downgrade(&self.0), connection })
    }

    /// The one provider that a client may use, if it was started so.
    pub fn pinned(&self, client: &ClientContext) -> Option<&'static ModelProvider> {
        self.0.clients.wish(client).provider
    }

    /// A client wants rehearsals until a model is set up.
    pub fn rehearse(&self, connection: ConnectionId) {
        self.0.clients.rehearse(connection);
    }

    /// A client sets how a provider is reached in the turns that it begins. Its models are asked for at once.
    pub fn set(&self, client: &ClientContext, access: ProviderAccess) {
        drop(self.0.list(&access, client, ListNeed::Shown));
        self.0.clients.set(client, access);
        self.0.tell_change();
    }

    /// A client wants a provider used no more in the turns that it begins.
    pub fn disable(&self, client: &ClientContext, provider: &'static ModelProvider) {
        self.0.clients.disable(client, provider);
        self.0.tell_change();
    }

    /// Forgets what a client has set, because it signs out.
    pub fn sign_out(&self, connection: ConnectionId) {
        self.0.clients.sign_out(connection);
        self.0.tell_change();
    }

    /// The model that is taken of one provider.
    pub(crate) async fn choose_at(
        &self,
        access: &ProviderAccess,
        client: &ClientContext,
    ) -> Result<ChosenModel, ModelError> {
        let wanted = self.0.clients.wish(client).model.filter(|model| model != REHEARSAL);
        let wanted = wanted.as_deref().and_then(|wanted| match wanted.split_once('/') {
            Some((provider, model)) if provider == access.provider.id => Some(model),
            Some((provider, _)) if ModelProvider::named(provider).is_some() => None,
            _ => Some(wanted),
        });
        if let Some(wanted) = wanted {
            return self.0.chosen(access, client, wanted).await;
        }
        // Of one that is asked for by itself it is told what is wrong.
        let asked = ProviderAccess { origin: AccessOrigin::Stored, ..access.clone() };
        self.0.choose_listed(&[asked], client, None).await.map_err(|error| match error {
            ModelError::NotSetUp => ModelError::Rejected {
                provider: access.provider.id.to_owned(),
                what: "it lists no model that can be used; name one".to_owned(),
            },
            error => error,
        })
    }

    /// The models of one provider, the one that is taken unless another is chosen first.
    pub async fn models_at(
        &self,
        access: &ProviderAccess,
        client: &ClientContext,
    ) -> Result<Vec<ModelChoice>, ModelError> {
        let listed = self.0.listed(access, client).await.unwrap_or(Err(ModelError::NotSetUp))?;
        Ok(ordered(access, &listed).into_iter().map(|model| choice(access, model)).collect())
    }

    /// Whether a client is known to have a way to some model.
    pub fn has_access(&self, client: &ClientContext) -> bool {
        let is_rehearsal = self.0.clients.wish(client).model.as_deref() == Some(REHEARSAL);
        let stored = self.0.stored_now();
        let is_reached = |provider| self.0.access(provider, client, &stored).is_some();
        is_rehearsal || PROVIDERS.iter().any(is_reached)
    }

    /// Whether an Ollama of this machine answers, with models or without.
    pub async fn is_ollama_there(&self, client: &ClientContext) -> bool {
        match self.0.local(client) {
            Some(local) => matches!(self.0.listed(&local, client).await, Some(Ok(_))),
            None => false,
        }
    }

    /// A number that changes whenever models or the ways to them may have.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// Whether a client has any model: one that is set up, one of this machine, or a rehearsal if it wants one.
    pub async fn is_ready(&self, client: &ClientContext) -> bool {
        if self.has_access(client) {
            return true;
        }
        let Some(local) = self.0.local(client) else { return false };
        matches!(self.0.listed(&local, client).await, Some(Ok(models)) if models.iter().any(is_usable))
    }

    /// The Ollama of this machine, where nothing says how a provider is reached.
    pub fn local(&self, client: &ClientContext) -> Option<ProviderAccess> {
        self.0.local(client)
    }

    /// Looks whether something else is kept on this machine than before, and tells of it. Whoever needs a model looks by itself.
    pub fn look_at_stored(&self) {
        self.0.stored_now();
    }

    /// Why a client has no model although something was set up, if that is so. For people.
    pub fn problem(&self, client: &ClientContext) -> Option<String> {
        let environment = self.0.environment(client);
        let unusable = PROVIDERS.iter().find_map(|provider| ProviderAccess::unusable(provider, environment));
        unusable.or_else(|| self.0.stored.problem())
    }

    /// How each provider stands for a client.
    pub fn states(&self, client: &ClientContext) -> Vec<ProviderState> {
        let (pinned, stored) = (self.0.clients.wish(client).provider, self.0.stored_now());
        let state = |provider: &'static ModelProvider| ProviderState {
            provider,
            is_required: pinned == Some(provider),
            access: self.0.access(provider, client, &stored),
        };
        PROVIDERS.iter().map(state).collect()
    }

    /// Every secret that is known: of a client's environment, of what is kept and was read, and of what any client has set, whether
    /// it is used or not.
    pub fn secrets(&self, client: &ClientContext) -> Vec<SecretText> {
        let mut secrets = environment_secrets(self.0.environment(client));
        secrets.extend(self.0.stored.secrets());
        secrets.extend(self.0.clients.secrets());
        secrets
    }
}

impl Shared {
    /// What is kept on this machine now.
    fn stored_now(&self) -> Vec<ProviderAccess> {
        let is_other = self.stored.look();
        let accesses = self.stored.accesses();
        if is_other {
            self.clients.end_rehearsals(&accesses);
            self.tell_change();
        }
        accesses
    }

    fn tell_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn environment<'a>(&'a self, client: &'a ClientContext) -> &'a Environment {
        client.environment.as_ref().or(self.options.environment.as_ref()).unwrap_or(&self.no_environment)
    }

    /// How a provider is reached for a client: as it has set it, as its environment says, as it is kept.
    fn access(
        &self,
        provider: &'static ModelProvider,
        client: &ClientContext,
        stored: &[ProviderAccess],
    ) -> Option<ProviderAccess> {
        if self.clients.wish(client).provider.is_some_and(|pinned| pinned != provider) {
            return None;
        }
        match self.clients.said(client, provider) {
            SaidOfProvider::Set(access) => return Some(access),
            SaidOfProvider::Disabled => return None,
            SaidOfProvider::Nothing => {}
        }
        let stored = || stored.iter().find(|access| access.provider == provider).cloned();
        // The keys of an account may be there for anything; they are used for models if the user wants that.
        let is_meant =
            |access: &ProviderAccess| access.aws.is_none() || self.clients.wish(client).names(provider);
        let found = ProviderAccess::from_environment(provider, self.environment(client)).filter(is_meant);
        match found {
            Some(found) if found.has_credential() => Some(found),
            // An address alone does not come before a login with a key.
            Some(found) => stored().filter(ProviderAccess::has_credential).or(Some(found)),
            None => stored(),
        }
    }

    /// All ways that there are for a client: what it has set comes first. Where there is none, an Ollama of this machine.
    fn accesses(&self, client: &ClientContext) -> Vec<ProviderAccess> {
        let stored = self.stored_now();
        let reached = PROVIDERS.iter().filter_map(|provider| self.access(provider, client, &stored));
        let mut accesses: Vec<_> = reached.collect();
        accesses.sort_by_key(|access| access.origin != AccessOrigin::Connection);
        if accesses.is_empty() {
            accesses.extend(self.local(client));
        }
        accesses
    }

    /// The Ollama of this machine, unless the client wants none.
    fn local(&self, client: &ClientContext) -> Option<ProviderAccess> {
        let provider = ModelProvider::named("ollama")?;
        let is_wanted = self.clients.wish(client).provider.is_none_or(|pinned| pinned == provider);
        if !is_wanted || !matches!(self.clients.said(client, provider), SaidOfProvider::Nothing) {
            return None;
        }
        let access = ProviderAccess::stored(provider, self.local_ollama.as_deref(), None)?;
        Some(ProviderAccess { origin: AccessOrigin::Local, ..access })
    }

    /// The models of a provider, which are asked for if they are not known.
    fn list(
        self: &Arc<Self>,
        access: &ProviderAccess,
        client: &ClientContext,
        need: ListNeed,
    ) -> watch::Receiver<Option<ListOutcome>> {
        let key = self.list_key(access, client);
        let mut lists = self.lists.lock();
        if let Some(known) = lists.get(&key).filter(|known| known.is_fresh(need)) {
            return known.outcome.clone();
        }
        let before = lists.get(&key).and_then(|known| known.outcome.borrow().clone());
        // What can be used is used until there is something newer.
        let is_used = |before: &ListOutcome| matches!(before, Ok(models) if models.iter().any(is_usable));
        let (sender, outcome) = watch::channel(before.clone().filter(is_used));
        if lists.len() >= MOST_REMEMBERED {
            lists.retain(|_, known| known.is_fresh(ListNeed::Shown));
        }
        lists.insert(key, KnownList { outcome: outcome.clone(), since: Instant::now() });
        drop(lists);
        let (shared, access, environment) =
            (Arc::clone(self), access.clone(), self.environment(client).clone());
        tokio::spawn(async move {
            let asked = shared.ask_for_list(&access, &environment).await;
            // What was there is better than nothing; whether it still is shows when it is asked.
            let kept = before.clone().filter(|before| asked.is_err() && is_used(before));
            let asked = kept.unwrap_or(asked);
            let is_same = before.as_ref() == Some(&asked);
            sender.send_replace(Some(asked));
            if !is_same {
                shared.tell_change();
            }
        });
        outcome
    }

    fn list_key(&self, access: &ProviderAccess, client: &ClientContext) -> (AccessKey, NetworkSettings) {
        (AccessKey::of(access), NetworkSettings::towards(access, self.environment(client)))
    }

    async fn ask_for_list(&self, access: &ProviderAccess, environment: &Environment) -> ListOutcome {
        let client =
            self.http.client(environment, access).await.map_err(|what| http::network(access, &what))?;
        let access = &self.stored.with_key(access, environment).await?;
        let dialect = dialect::of(access.api_type);
        let patience = if access.origin == AccessOrigin::Local { LOOKING_TIME } else { LIST_TIME };
        let asked = tokio::time::timeout(patience, model_list::ask(&client, access, &*dialect)).await;
        let asked = asked.unwrap_or_else(|_| Err(http::network(access, "it did not answer in time")));
        asked.map(Arc::new)
    }

    fn limiter(&self, access: &ProviderAccess) -> Arc<ProviderLimiter> {
        let mut limiters = self.limiters.lock();
        if limiters.len() >= MOST_REMEMBERED {
            limiters.retain(|_, limiter| Arc::strong_count(limiter) > 1 || limiter.wait().is_some());
        }
        Arc::clone(limiters.entry(AccessKey::of(access)).or_default())
    }

    async fn model(
        &self,
        access: &ProviderAccess,
        client: &ClientContext,
        model: &str,
        untaken: UntakenMedia,
    ) -> Result<ProviderModel, ModelError> {
        let environment = self.environment(client);
        Ok(ProviderModel {
            dialect: dialect::of(access.api_type),
            client: self
                .http
                .client(environment, access)
                .await
                .map_err(|what| http::network(access, &what))?,
            limiter: self.limiter(access),
            model: model.to_owned(),
            untaken,
            access: self.stored.with_key(access, environment).await?,
        })
    }

    /// What is known of the models of all ways, those of the first way first.
    fn known(self: &Arc<Self>, client: &ClientContext) -> Vec<ModelChoice> {
        let mut choices = Vec::new();
        let wish = self.clients.wish(client);
        if wish.model.as_deref() == Some(REHEARSAL) {
            return choices;
        }
        let accesses = self.accesses(client);
        for access in &accesses {
            let list = self.list(access, client, ListNeed::Shown).borrow().clone();
            if let Some(Ok(models)) = list {
                choices.extend(ordered(access, &models).into_iter().map(|model| choice(access, model)));
            }
        }
        if let Some(wanted) = &wish.model {
            match choices.iter().position(|choice| is_named(&choice.id, wanted)) {
                Some(at) => choices[..=at].rotate_right(1),
                None => choices.splice(0..0, unlisted(&accesses, wanted)).for_each(drop),
            }
        }
        choices.truncate(MOST_CHOICES);
        choices
    }

    async fn choose(
        self: &Arc<Self>,
        client: &ClientContext,
        id: Option<&str>,
    ) -> Result<ChosenModel, ModelError> {
        let (mut accesses, wish) = (self.accesses(client), self.clients.wish(client));
        // It may have been found, and something else set up since.
        if let Some(local) = self.local(client)
            && id.and_then(named_provider) == Some(local.provider)
            && accesses.iter().all(|access| access.provider != local.provider)
        {
            accesses.push(local);
        }
        // What another client of the session has chosen may be out of this one's reach.
        let is_reached = |id: &&str| match id.split_once('/').and_then(|(name, _)| ModelProvider::named(name))
        {
            Some(provider) => accesses.iter().any(|access| access.provider == provider),
            None => true,
        };
        let wanted = id.filter(is_reached).or(wish.model.as_deref());
        if wanted == Some(REHEARSAL) {
            return self.rehearsal();
        }
        if let Some((access, model)) = wanted.and_then(|wanted| named_at(&accesses, wanted)) {
            return self.chosen(access, client, model).await;
        }
        if wanted.and_then(named_provider).is_some() {
            return Err(ModelError::NotSetUp);
        }
        self.choose_listed(&accesses, client, wanted).await
    }

    /// The first model that there is, or the first of this name.
    async fn choose_listed(
        self: &Arc<Self>,
        accesses: &[ProviderAccess],
        client: &ClientContext,
        wanted: Option<&str>,
    ) -> Result<ChosenModel, ModelError> {
        let mut is_there = false;
        for access in accesses {
            match self.listed(access, client).await {
                Some(Ok(models)) => {
                    is_there |= !models.is_empty();
                    let models = ordered(access, &models);
                    let is_it = |model: &&&ListedModel| wanted.is_none_or(|wanted| model.id == wanted);
                    if let Some(model) = models.iter().find(is_it) {
                        return self.chosen(access, client, &model.id).await;
                    }
                }
                // What another provider would be told was meant for this one.
                Some(Err(error)) if access.origin != AccessOrigin::Local => return Err(error),
                _ => {}
            }
        }
        let unknown = wanted.filter(|_| is_there).map(|model| ModelError::UnknownModel {
            provider: accesses.first().map_or("the provider", |access| access.provider.name).to_owned(),
            model: model.to_owned(),
        });
        Err(unknown.unwrap_or(ModelError::NotSetUp))
    }

    /// The models of a provider, once they are known.
    async fn listed(
        self: &Arc<Self>,
        access: &ProviderAccess,
        client: &ClientContext,
    ) -> Option<ListOutcome> {
        let mut outcome = self.list(access, client, ListNeed::Taken);
        // The sender ends only with its outcome.
        outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }

    fn rehearsal(&self) -> Result<ChosenModel, ModelError> {
        let model = self.options.rehearsal.clone().ok_or(ModelError::NotSetUp)?;
        Ok(ChosenModel { model, choice: None, origin: None })
    }

    async fn chosen(
        &self,
        access: &ProviderAccess,
        client: &ClientContext,
        model: &str,
    ) -> Result<ChosenModel, ModelError> {
        let key = self.list_key(access, client);
        let list = self.lists.lock().get(&key).and_then(|known| known.outcome.borrow().clone());
        let listed = list.and_then(|list| list.ok()?.iter().find(|listed| listed.id == model).cloned());
        let listed = listed.unwrap_or_else(|| ListedModel { id: model.to_owned(), ..ListedModel::default() });
        let choice = choice(access, &listed);
        let untaken = UntakenMedia { images: !choice.images, audio: !choice.audio };
        let asked = self.model(access, client, model, untaken).await?;
        let origin = Some(access.origin.clone());
        Ok(ChosenModel { model: Arc::new(asked), choice: Some(choice), origin })
    }
}

impl ModelSource for ProviderModels {
    fn choices(&self, client: &ClientContext) -> Vec<ModelChoice> {
        self.0.known(client)
    }

    fn choose<'a>(&'a self, client: &'a ClientContext, id: Option<&'a str>) -> ChoosingModel<'a> {
        Box::pin(self.0.choose(client, id))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    fn secrets(&self, client: &ClientContext) -> Vec<SecretText> {
        self.secrets(client)
    }

    fn withheld_variables(&self, client: &ClientContext) -> Vec<&'static str> {
        let bedrock = ModelProvider::named("bedrock");
        let access = bedrock.and_then(|bedrock| self.0.access(bedrock, client, &[]));
        // The keys of an account are for much else, unless models are asked with them.
        let is_account_used = access.is_some_and(|access| access.aws.is_some());
        let account = ACCOUNT_VARIABLES.into_iter().filter(|_| is_account_used);
        key_variables().chain(account).collect()
    }

    fn commands(&self, client: &ClientContext) -> Vec<SlashCommand> {
        let is_rehearsal = self.0.clients.wish(client).model.as_deref() == Some(REHEARSAL);
        let played = self.0.options.rehearsal.as_ref().filter(|_| is_rehearsal);
        played.map(|model| model.commands()).unwrap_or_default()
    }
}

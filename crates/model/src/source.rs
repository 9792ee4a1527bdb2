//! Where the models of sessions come from.

use std::{pin::Pin, sync::Arc};

use nudge_wire::ClientContext;
use tokio::sync::watch;

use crate::{AccessOrigin, LanguageModel, ModelError, SecretText, ThinkingLevel, key_variables};

/// A model that a session may use.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// `provider/model`.
    pub id: String,
    /// For people.
    pub name: String,
    /// How many tokens fit, if that is known.
    pub context: Option<u64>,
    /// The sizes its context can have, where there are several, the one that is taken unless another is chosen first.
    pub context_sizes: Vec<u64>,
    /// How long it can be told to think.
    pub thinking: Vec<ThinkingLevel>,
    /// Whether it takes images.
    pub images: bool,
    /// Whether it takes sounds.
    pub audio: bool,
}

/// A model that was chosen.
#[derive(Clone)]
pub struct ChosenModel {
    /// What to ask.
    pub model: Arc<dyn LanguageModel>,
    /// Which of the choices it is; none for a model that there is no choice of.
    pub choice: Option<ModelChoice>,
    /// How its provider was found, if it is a provider's.
    pub origin: Option<AccessOrigin>,
}

/// A model that is being chosen.
pub type ChoosingModel<'a> = Pin<Box<dyn Future<Output = Result<ChosenModel, ModelError>> + Send + 'a>>;

/// Where the models of sessions come from.
pub trait ModelSource: Send + Sync {
    /// What a client may choose from, as far as is known now, the one that is taken unless another is chosen first. Empty if
    /// there is no choice.
    fn choices(&self, client: &ClientContext) -> Vec<ModelChoice>;

    /// The model of this id, or the one that is taken unless one is chosen.
    fn choose<'a>(&'a self, client: &'a ClientContext, id: Option<&'a str>) -> ChoosingModel<'a>;

    /// Every secret that is sent to models for a client.
    fn secrets(&self, client: &ClientContext) -> Vec<SecretText> {
        let _ = client;
        Vec::new()
    }

    /// The variables that commands do not get, because models are reached by them.
    fn withheld_variables(&self, client: &ClientContext) -> Vec<&'static str> {
        let _ = client;
        key_variables().collect()
    }

    /// A number that changes whenever the choices may have.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The slash commands of a model that there is no choice of.
    fn commands(&self, client: &ClientContext) -> Vec<crate::SlashCommand> {
        let _ = client;
        Vec::new()
    }
}

/// One model and no choice.
pub struct FixedModel {
    model: Arc<dyn LanguageModel>,
    changes: watch::Sender<u64>,
}

impl FixedModel {
    /// This model for every session.
    pub fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self { model, changes: watch::Sender::new(0) }
    }
}

impl ModelSource for FixedModel {
    fn choices(&self, _: &ClientContext) -> Vec<ModelChoice> {
        Vec::new()
    }

    fn choose<'a>(&'a self, _: &'a ClientContext, _: Option<&'a str>) -> ChoosingModel<'a> {
        Box::pin(async { Ok(ChosenModel { model: Arc::clone(&self.model), choice: None, origin: None }) })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn commands(&self, _: &ClientContext) -> Vec<crate::SlashCommand> {
        self.model.commands()
    }
}

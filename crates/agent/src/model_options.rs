//! The options of a session that depend on its model: which one, how long it thinks, how large its context is.

use nudge_model::{AnswerOptions, ModelChoice, ThinkingLevel};
use serde_json::{Value, json};

/// The option that says which model.
pub(crate) const MODEL: &str = "model";
const THOUGHT_LEVEL: &str = "thought_level";
const CONTEXT_SIZE: &str = "context_size";

/// An option as it is now: its values, the one that counts unless another is set first.
pub(crate) struct ModelOption {
    pub(crate) id: &'static str,
    name: &'static str,
    description: &'static str,
    category: &'static str,
    pub(crate) values: Vec<(String, String)>,
}

/// The options of a session with these choices, in which this model is set. There are none where there is no choice.
pub(crate) fn of(choices: &[ModelChoice], model: Option<&str>) -> Vec<ModelOption> {
    let Some(now) = chosen(choices, model) else { return Vec::new() };
    let models = choices.iter().map(|choice| (choice.id.clone(), choice.name.clone()));
    let mut options = vec![ModelOption {
        id: MODEL,
        name: "Model",
        description: "Which model answers",
        category: "model",
        values: models.collect(),
    }];
    if !now.thinking.is_empty() {
        let levels = now.thinking.iter().map(|level| (level.name().to_owned(), capital(level.name())));
        let auto = ("auto".to_owned(), "Auto".to_owned());
        options.push(ModelOption {
            id: THOUGHT_LEVEL,
            name: "Thinking",
            description: "How long the model thinks before it answers",
            category: "thought_level",
            values: std::iter::once(auto).chain(levels).collect(),
        });
    }
    if now.context_sizes.len() > 1 {
        let sizes = now.context_sizes.iter();
        options.push(ModelOption {
            id: CONTEXT_SIZE,
            name: "Context",
            description: "How many tokens the model keeps in mind",
            category: "model_config",
            values: sizes.map(|size| (size.to_string(), format!("{} k tokens", thousands(*size)))).collect(),
        });
    }
    options
}

/// The choice that counts: the one that is set, if there is such a one, or the first.
pub(crate) fn chosen<'c>(choices: &'c [ModelChoice], model: Option<&str>) -> Option<&'c ModelChoice> {
    let set = model.and_then(|model| choices.iter().find(|choice| choice.id == model));
    set.or(choices.first())
}

/// How a model is to answer, as these options say.
pub(crate) fn answer_options(
    choice: Option<&ModelChoice>,
    value: impl Fn(&str) -> Option<String>,
) -> AnswerOptions {
    let level = value(THOUGHT_LEVEL);
    let thinking = ThinkingLevel::ALL.into_iter().find(|known| Some(known.name()) == level.as_deref());
    let sizes = choice.map(|choice| &choice.context_sizes[..]).unwrap_or_default();
    let size = value(CONTEXT_SIZE).and_then(|size| size.parse().ok()).filter(|size| sizes.contains(size));
    AnswerOptions {
        thinking: thinking.filter(|level| choice.is_some_and(|choice| choice.thinking.contains(level))),
        context_size: size.or_else(|| sizes.first().copied()),
        ..AnswerOptions::default()
    }
}

impl ModelOption {
    /// As the protocol shows it, with this value.
    pub(crate) fn shown(&self, set: Option<&str>) -> Value {
        let is_there = |set: &&str| self.values.iter().any(|(value, _)| value == set);
        let current = set.filter(is_there).or(self.values.first().map(|(value, _)| value.as_str()));
        let values = self.values.iter().map(|(value, name)| json!({ "value": value, "name": name }));
        json!({
            "configId": self.id,
            "name": self.name,
            "description": self.description,
            "category": self.category,
            "type": "select",
            "currentValue": current,
            "options": values.collect::<Vec<_>>(),
        })
    }
}

/// Some count in thousands, some in powers of two.
fn thousands(size: u64) -> u64 {
    if size.is_multiple_of(1024) { size / 1024 } else { size / 1000 }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

//! The session's options and standing permissions.

use std::{collections::BTreeMap, time::Duration};

use nudge_model::{AnswerOptions, ModelChoice};
use nudge_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    SetOptionError,
    model_options::{self, MODEL},
    update,
};

/// How freely the agent acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentMode {
    Ask,
    Edit,
    ReadOnly,
}

/// What the user said for all times to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlwaysAnswer {
    Allow,
    Reject,
}

/// What is kept of a session besides what was said.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionConfig {
    /// Options that were set, by name. An unknown value counts as the default.
    options: BTreeMap<String, String>,
    /// By tool, and for `run` by what it was said for: `write`, `edit`, `run:cargo test`, `line:make all`. Earlier versions
    /// said it for a whole program, `run:cargo`; of that only a refusal still counts.
    always: BTreeMap<String, AlwaysAnswer>,
    /// The models there are now.
    #[serde(skip)]
    choices: Vec<ModelChoice>,
}

struct Choice {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    category: Option<&'static str>,
    /// The first one is the default.
    values: &'static [(&'static str, &'static str, &'static str)],
}

const OPTIONS: &[Choice] = &[
    Choice {
        id: "mode",
        name: "Mode",
        description: "What the agent may do without asking",
        category: Some("mode"),
        values: &[
            ("ask", "Ask", "Asks before it changes a file or runs a command"),
            (
                "edit",
                "Edit",
                "Changes files without asking, asks before it runs a command or changes a file that makes other programs run commands",
            ),
            ("read-only", "Read only", "Changes no files and runs no commands"),
        ],
    },
    Choice {
        id: "steer_in_stream",
        name: "Steering",
        description: "What happens to an answer that is being written when you steer",
        category: None,
        values: &[
            ("interrupt", "Interrupt", "The answer is cut off and the agent turns to what you said"),
            ("finish", "Finish", "The answer is written to its end first"),
        ],
    },
    Choice {
        id: "run_timeout",
        name: "Command timeout",
        description: "How long a command may run before it is stopped",
        category: None,
        values: &[
            ("600", "10 minutes", "Stops a command after 10 minutes"),
            ("60", "1 minute", "Stops a command after 1 minute"),
            ("3600", "1 hour", "Stops a command after 1 hour"),
        ],
    },
];

impl SessionConfig {
    /// What an earlier [`SessionConfig::save`] gave; the defaults where that cannot be read.
    pub(crate) fn restore(saved: Option<&RawJson>) -> Self {
        saved.and_then(|saved| saved.to().ok()).unwrap_or_default()
    }

    pub(crate) fn save(&self) -> RawJson {
        update::raw(self)
    }

    pub(crate) fn set(&mut self, id: &str, value: &RawJson) -> Result<(), SetOptionError> {
        let known = self.values();
        let names = || known.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ");
        let (id, values) = known
            .iter()
            .find(|(known, _)| *known == id)
            .ok_or_else(|| SetOptionError::UnknownOption(names()))?;
        let value: Option<String> = value.to().ok();
        let value = value.filter(|value| values.contains(value));
        let value =
            value.ok_or_else(|| SetOptionError::UnknownValue { option: id, expected: values.join(", ") })?;
        self.options.insert((*id).to_owned(), value);
        Ok(())
    }

    /// Every option and its values.
    fn values(&self) -> Vec<(&'static str, Vec<String>)> {
        let own = OPTIONS.iter().map(|option| {
            (option.id, option.values.iter().map(|(value, ..)| (*value).to_owned()).collect::<Vec<_>>())
        });
        let of_model = self.model_options().into_iter();
        let of_model =
            of_model.map(|option| (option.id, option.values.into_iter().map(|(value, _)| value).collect()));
        own.chain(of_model).collect()
    }

    fn model_options(&self) -> Vec<model_options::ModelOption> {
        model_options::of(&self.choices, self.model())
    }

    /// The model that was set, if one was.
    pub(crate) fn model(&self) -> Option<&str> {
        self.options.get(MODEL).map(String::as_str)
    }

    /// The model that counts, as far as it is known.
    pub(crate) fn choice(&self) -> Option<&ModelChoice> {
        model_options::chosen(&self.choices, self.model())
    }

    /// How a model is to answer.
    pub(crate) fn answer_options(&self, model: Option<&ModelChoice>) -> AnswerOptions {
        model_options::answer_options(model, |id| self.options.get(id).cloned())
    }

    /// Takes in which models there are; tells whether the options are others now.
    pub(crate) fn offer(&mut self, choices: Vec<ModelChoice>) -> bool {
        let is_other = self.choices != choices;
        self.choices = choices;
        is_other
    }

    /// A version 2 `configOptions` array.
    pub(crate) fn options(&self) -> Value {
        let mut options: Vec<Value> = OPTIONS.iter().map(|option| self.option(option)).collect();
        let of_model = self.model_options();
        let shown =
            of_model.iter().map(|option| option.shown(self.options.get(option.id).map(String::as_str)));
        // Behind the mode, which editors show first.
        options.splice(1..1, shown);
        options.into()
    }

    fn option(&self, option: &Choice) -> Value {
        let values = option.values.iter();
        let values: Vec<Value> = values
            .map(|(value, name, description)| json!({ "value": value, "name": name, "description": description }))
            .collect();
        let mut shown = json!({
            "configId": option.id,
            "name": option.name,
            "description": option.description,
            "type": "select",
            "currentValue": self.value(option.id),
            "options": values,
        });
        if let Some(category) = option.category {
            shown["category"] = json!(category);
        }
        shown
    }

    fn value(&self, id: &str) -> &str {
        let Some(option) = OPTIONS.iter().find(|option| option.id == id) else { return "" };
        let set = self.options.get(id).map(String::as_str);
        let known = |value: &&str| option.values.iter().any(|(known, ..)| known == value);
        set.filter(known).unwrap_or(option.values[0].0)
    }

    pub(crate) fn mode(&self) -> AgentMode {
        match self.value("mode") {
            "edit" => AgentMode::Edit,
            "read-only" => AgentMode::ReadOnly,
            _ => AgentMode::Ask,
        }
    }

    /// Whether a steer cuts off what is being streamed.
    pub(crate) fn is_cut_by_steers(&self) -> bool {
        self.value("steer_in_stream") == "interrupt"
    }

    pub(crate) fn run_timeout(&self) -> Duration {
        Duration::from_secs(self.value("run_timeout").parse().unwrap_or(600))
    }

    pub(crate) fn always(&self, key: &str) -> Option<AlwaysAnswer> {
        self.always.get(key).copied()
    }

    pub(crate) fn remember(&mut self, key: &str, always: AlwaysAnswer) {
        self.always.insert(key.to_owned(), always);
    }
}

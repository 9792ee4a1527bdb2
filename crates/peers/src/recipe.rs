//! How an agent is installed, pointed at a provider, and made to use its tools: data.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

const RECIPES: &str = include_str!("../recipes.toml");

/// One agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What it is called here.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The npm packages it is made of, with their versions.
    #[serde(default)]
    pub npm: Vec<String>,
    /// The Python packages it is made of, with their versions.
    #[serde(default)]
    pub pip: Vec<String>,
    /// The Python that these need, such as `3.13`.
    pub python: Option<String>,
    /// The program: a command of one of the packages, or a path below the folder it is installed in.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Files below its HOME.
    #[serde(default)]
    pub files: Vec<File>,
    /// The method it has to be authenticated by.
    pub authenticate: Option<String>,
    /// Whether it asks before it runs a command.
    #[serde(default = "yes")]
    pub asks: bool,
    /// Whether a cancel stops the model.
    #[serde(default = "yes")]
    pub cancels: bool,
    /// Whether it tells that a tool call has ended.
    #[serde(default = "yes")]
    pub ends_calls: bool,
    /// How a cancelled turn may end, beside `cancelled`.
    #[serde(default)]
    pub cancel_ends_as: Vec<String>,
    /// The call by which the model runs a command.
    pub shell: Option<Tool>,
    /// The call by which the model writes a file.
    pub write: Option<Tool>,
    /// The call by which the model has it ask by a form; one of the choices is `peers-chosen`.
    pub form: Option<Tool>,
    /// The request by which it asks, after a tool, for what the user has said meanwhile; then nothing is cut off for a steer.
    pub asks_for_steers_by: Option<String>,
    /// What it shows on the terminal on which a user signs in.
    pub sign_in_shows: Option<String>,
    /// What a user of it should know.
    #[serde(default)]
    pub caveat: String,
}

/// A file to be written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where, below HOME.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// A call of a tool, with gaps.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool's name, or several with `|` between them.
    pub tool: String,
    /// The arguments; in their strings `{command}`, `{path}` and `{text}` are filled in.
    pub arguments: Value,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Book {
    agent: Vec<Recipe>,
}

/// All agents, in the order in which they are shown.
pub fn all() -> Result<Vec<Recipe>> {
    let book: Book = toml::from_str(RECIPES).context("recipes.toml cannot be read")?;
    Ok(book.agent)
}

/// The agents of these names; all if there are none.
pub fn chosen(names: &[String]) -> Result<Vec<Recipe>> {
    let all = all()?;
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|recipe| recipe.name != **name)) {
        let known: Vec<_> = all.iter().map(|recipe| recipe.name.as_str()).collect();
        bail!("there is no agent `{unknown}`; there is: {}", known.join(", "));
    }
    let is_chosen = |recipe: &Recipe| names.is_empty() || names.contains(&recipe.name);
    Ok(all.into_iter().filter(is_chosen).collect())
}

impl Recipe {
    /// The folder it is installed in, below the cache.
    pub fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// Name and version, for people.
    pub fn title(&self) -> String {
        let version = &self.version;
        let name = self.name.strip_suffix(&format!("-{}", short(version))).unwrap_or(&self.name);
        format!("{name} {version}")
    }
}

impl Tool {
    /// The arguments with the gaps filled.
    pub fn filled(&self, gaps: &[(&str, &str)]) -> Value {
        fill(&self.arguments, gaps)
    }
}

fn fill(value: &Value, gaps: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => Value::String(filled(text, gaps)),
        Value::Array(items) => items.iter().map(|item| fill(item, gaps)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), fill(value, gaps))).collect()
        }
        other => other.clone(),
    }
}

/// `text` with each `{name}` replaced.
pub fn filled(text: &str, gaps: &[(&str, &str)]) -> String {
    gaps.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// `1.52` of `1.52.0`.
fn short(version: &str) -> &str {
    version.rsplit_once('.').map_or(version, |(short, _)| short)
}

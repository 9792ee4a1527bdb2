//! What can be set in a session, and how one signs in, as the agent tells it.

use serde_json::{Value, json};

use super::{ChatCore, opening::AskPurpose};
use crate::{styled::DIM, terminal_text};

/// One setting of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SessionOption {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) category: String,
    pub(super) value: Value,
    /// What it may be: value and name.
    pub(super) choices: Vec<(String, String)>,
}

impl SessionOption {
    /// All that a list tells.
    pub(super) fn all(list: &Value) -> Vec<Self> {
        list.as_array().into_iter().flatten().filter_map(Self::of).collect()
    }

    fn of(option: &Value) -> Option<Self> {
        let text = |name: &str| option[name].as_str().map(str::to_owned);
        let id = text("configId").or_else(|| text("id"))?;
        let list = option["options"].as_array().map_or(&[][..], Vec::as_slice);
        // They may stand in groups.
        let all = list.iter().flat_map(|item| match item["options"].as_array() {
            Some(group) => group.as_slice(),
            None => std::slice::from_ref(item),
        });
        let choice = |item: &Value| {
            let value = item["value"].as_str()?;
            Some((value.to_owned(), item["name"].as_str().unwrap_or(value).to_owned()))
        };
        let name = text("name").unwrap_or_else(|| id.clone());
        let category = text("category").unwrap_or_default();
        Some(Self {
            id,
            name,
            category,
            value: option["currentValue"].clone(),
            choices: all.filter_map(choice).collect(),
        })
    }

    /// What it is now, in words.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Value::String(value) => {
                let named = self.choices.iter().find(|(choice, _)| choice == value);
                terminal_text::row(named.map_or(value, |(_, name)| name))
            }
            Value::Bool(is_on) => (if *is_on { "on" } else { "off" }).to_owned(),
            other => terminal_text::row(&other.to_string()),
        }
    }

    /// The value that a user means, by its name, its beginning or a part of it.
    fn meant(&self, text: &str) -> Option<Value> {
        if self.value.is_boolean() {
            let is_on = ["on", "true", "yes"].contains(&text);
            return (is_on || ["off", "false", "no"].contains(&text)).then(|| json!(is_on));
        }
        let wanted = text.to_lowercase();
        let fits = |how: fn(&str, &str) -> bool| {
            let mut found = self.choices.iter().filter(|(value, name)| {
                how(&value.to_lowercase(), &wanted) || how(&name.to_lowercase(), &wanted)
            });
            found.next().filter(|_| found.next().is_none()).map(|(value, _)| json!(value))
        };
        fits(|name, wanted| name == wanted)
            .or_else(|| fits(|name, wanted| name.starts_with(wanted)))
            .or_else(|| fits(|name, wanted| name.contains(wanted)))
    }
}

/// A way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignInMethod {
    pub(super) id: String,
    pub(super) about: String,
    pub(super) terminal: Option<TerminalSignIn>,
}

/// With what the agent is to be started on a terminal for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TerminalSignIn {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
}

impl SignInMethod {
    pub(super) fn of(methods: &Value) -> Vec<Self> {
        methods.as_array().into_iter().flatten().filter_map(Self::one).collect()
    }

    fn one(method: &Value) -> Option<Self> {
        let id = method["methodId"].as_str().or_else(|| method["id"].as_str())?.to_owned();
        let name = terminal_text::row(method["name"].as_str().unwrap_or(&id));
        let about = match method["description"].as_str() {
            Some(more) => format!("{name}: {}", terminal_text::row(more)),
            None => name,
        };
        let texts = |list: &Value| {
            let list = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            list.map(str::to_owned).collect::<Vec<_>>()
        };
        let env = || match &method["env"] {
            Value::Object(env) => env
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            Value::Array(env) => {
                let one = |pair: &Value| {
                    Some((pair["name"].as_str()?.to_owned(), pair["value"].as_str()?.to_owned()))
                };
                env.iter().filter_map(one).collect()
            }
            _ => Vec::new(),
        };
        let is_terminal = method["type"] == "terminal";
        let terminal = is_terminal.then(|| TerminalSignIn { args: texts(&method["args"]), env: env() });
        Some(Self { id, about, terminal })
    }
}

impl ChatCore {
    /// The option of this category, or of this id or name.
    pub(super) fn option(&self, name: &str) -> Option<&SessionOption> {
        let name = name.to_lowercase();
        let is_named =
            |option: &&SessionOption| option.id.to_lowercase() == name || option.name.to_lowercase() == name;
        let of_category = |option: &&SessionOption| option.category.to_lowercase() == name;
        self.options.iter().find(is_named).or_else(|| self.options.iter().find(of_category))
    }

    /// Sets an option, or shows what it can be.
    pub(super) fn set_option(&mut self, name: &str, value: &str) {
        if name.is_empty() {
            return self.list_options();
        }
        let Some(option) = self.option(name).cloned() else {
            let names: Vec<_> = self.options.iter().map(|option| terminal_text::row(&option.id)).collect();
            let there = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return self.hint(format!("no such setting; what can be set here: {there}"));
        };
        if value.is_empty() {
            let choices = option.choices.iter().map(|(value, name)| {
                let mark = if option.value == json!(value) { "›" } else { " " };
                format!("{mark} {}  {}", terminal_text::row(value), terminal_text::row(name))
            });
            let text = choices.collect::<Vec<_>>().join("\n");
            let title = format!("{}: {}", terminal_text::row(&option.name), option.shown());
            return self.note(DIM, &if text.is_empty() { title } else { format!("{title}\n{text}") });
        }
        let Some(meant) = option.meant(value) else {
            return self
                .hint(format!("`{}` is not one of them, or not one alone", terminal_text::row(value)));
        };
        self.ask_for_option(&option.id, &meant);
    }

    /// Shows what can be set, and what it is.
    fn list_options(&mut self) {
        let line = |option: &SessionOption| {
            format!(
                "{}  {}: {}",
                terminal_text::row(&option.id),
                terminal_text::row(&option.name),
                option.shown()
            )
        };
        let text = self.options.iter().map(line).collect::<Vec<_>>().join("\n");
        self.note(DIM, if text.is_empty() { "nothing can be set here" } else { &text });
    }

    /// The next mode of the session.
    pub(super) fn next_mode(&mut self) {
        let Some(option) = self.option("mode") else { return self.hint("this session has no modes") };
        let at =
            option.choices.iter().position(|(value, _)| option.value == json!(value)).unwrap_or_default();
        let Some((next, _)) = option.choices.get((at + 1) % option.choices.len().max(1)) else { return };
        let (id, next) = (option.id.clone(), json!(next));
        self.ask_for_option(&id, &next);
    }

    fn ask_for_option(&mut self, id: &str, value: &Value) {
        let Some(session) = &self.session else { return };
        let kind = if value.is_boolean() { "boolean" } else { "id" };
        let params = json!({ "sessionId": session, "configId": id, "type": kind, "value": value });
        self.ask(AskPurpose::SetOption, "session/set_config_option", params);
    }
}

//! Texts with `{placeholders}`.

use serde_json::{Map, Value};

use super::format::ScriptCount;

/// How much one filled-in text may hold; a result that is put in many times does not grow without end.
const MOST: usize = 256 * 1024;

/// What placeholders stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct TemplateValues(Vec<(String, String)>);

impl TemplateValues {
    pub(super) fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    pub(super) fn extend(&mut self, pairs: Vec<(String, String)>) {
        for (name, value) in pairs {
            self.set(name, value);
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The template with every known placeholder filled in. `{{` is a brace; unknown placeholders stay as they are.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('{') {
                out.push('{');
                rest = after;
                continue;
            }
            let name = rest.find('}').map(|end| &rest[..end]);
            match name.and_then(|name| Some((name, self.get(name)?))) {
                Some((name, value)) => {
                    let room = MOST.saturating_sub(out.len());
                    out.push_str(&value[..value.floor_char_boundary(room)]);
                    rest = &rest[name.len() + 1..];
                }
                None => out.push('{'),
            }
        }
        out.push_str(rest);
        out
    }

    /// The number a count is; one where a template gives none.
    pub(super) fn number(&self, count: &ScriptCount) -> u64 {
        match count {
            ScriptCount::Number(number) => *number,
            ScriptCount::Template(template) => self.fill(template).trim().parse().unwrap_or(1),
        }
    }

    /// The table as JSON, with every text filled in.
    pub(super) fn json(&self, table: &toml::Table) -> Value {
        let members = table.iter().map(|(key, value)| (key.clone(), self.json_value(value)));
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn json_value(&self, value: &toml::Value) -> Value {
        match value {
            toml::Value::String(text) => Value::String(self.fill(text)),
            toml::Value::Integer(number) => Value::from(*number),
            toml::Value::Float(number) => Value::from(*number),
            toml::Value::Boolean(flag) => Value::Bool(*flag),
            toml::Value::Datetime(time) => Value::String(time.to_string()),
            toml::Value::Array(items) => items.iter().map(|item| self.json_value(item)).collect(),
            toml::Value::Table(table) => self.json(table),
        }
    }
}

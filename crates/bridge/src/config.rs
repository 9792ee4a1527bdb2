//! Config options and modes: in v2 a mode is a config option of that category.

use nudge_wire::RawJson;

use crate::object::{JsonObject, items, list, members, raw, string};

/// The option that stands for the modes of a v1 agent, unless the agent has an option of that id.
const MODE: &str = "mode";
const MODE_IF_TAKEN: &str = "nudge-mode";

/// The options of a session whose agent speaks v2, for a v1 client.
#[derive(Debug, Clone, Default)]
pub(crate) struct V2Options {
    options: Vec<String>,
    mode: Option<String>,
}

impl V2Options {
    /// Takes the options of an update or a result and gives those for v1; `None` if `text` is no list.
    pub(crate) fn take(&mut self, text: &str, booleans: bool) -> Option<String> {
        let options = items(text)?;
        let shown = list(options.iter().map(|option| option_to_v1(option, booleans)));
        self.options = options.into_iter().map(str::to_owned).collect();
        Some(shown)
    }

    /// The modes there are, as v1 has them.
    pub(crate) fn modes(&mut self) -> Option<String> {
        let (_, current, option) = self.mode_option()?;
        let modes = flat(&option).into_iter().map(mode_of);
        let state =
            JsonObject::default().with_str("currentModeId", &current).with("availableModes", list(modes));
        self.mode = Some(current);
        Some(state.text())
    }

    /// The current mode if it is another than before.
    pub(crate) fn mode_change(&mut self) -> Option<RawJson> {
        let (_, current, _) = self.mode_option()?;
        if self.mode.as_ref() == Some(&current) {
            return None;
        }
        let update = JsonObject::default().with_str("sessionUpdate", "current_mode_update");
        let update = update.with_str("currentModeId", &current).raw();
        self.mode = Some(current);
        Some(update)
    }

    /// The params of `session/set_mode` as those of `session/set_config_option`; `None` if there are no modes.
    pub(crate) fn set_mode(&self, params: &RawJson) -> Option<RawJson> {
        let mut object = JsonObject::read(params.as_str())?;
        let (id, _, _) = self.mode_option()?;
        let mode = object.take("modeId")?;
        object.put("configId", &id);
        object.put("type", "id");
        object.set("value", mode);
        Some(object.raw())
    }

    /// The params of `session/set_config_option` for v2.
    pub(crate) fn set_option(&self, params: &RawJson) -> RawJson {
        let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
        if object.get("type").is_some() {
            return params.clone();
        }
        let id = object.string("configId").unwrap_or_default();
        let is_boolean = self
            .options
            .iter()
            .filter_map(|option| JsonObject::read(option))
            .any(|option| option.is("configId", &id) && option.is("type", "boolean"));
        match object.string("value").as_deref() {
            Some(value @ ("true" | "false")) if is_boolean => {
                object.put("type", "boolean");
                object.set("value", value.to_owned());
            }
            _ => object.put("type", "id"),
        }
        object.raw()
    }

    fn mode_option(&self) -> Option<(String, String, JsonObject<'_>)> {
        let mut options = self.options.iter().filter_map(|option| JsonObject::read(option));
        let option = options.find(|option| option.is("category", "mode") && option.is("type", "select"))?;
        Some((option.string("configId")?, option.string("currentValue")?, option))
    }
}

/// The options and modes of a session whose agent speaks v1, for v2 clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct V1Options {
    options: Vec<String>,
    modes: Option<String>,
}

impl V1Options {
    /// Takes what a session begins with.
    pub(crate) fn begin(&mut self, options: Option<&str>, modes: Option<&str>) {
        self.take(options);
        self.modes = modes.filter(|modes| JsonObject::read(modes).is_some()).map(str::to_owned);
    }

    /// Takes the options of an update or a result.
    pub(crate) fn take(&mut self, options: Option<&str>) {
        let options = options.and_then(items).unwrap_or_default();
        self.options = options.into_iter().map(str::to_owned).collect();
    }

    /// All options for v2, and whether there are any.
    pub(crate) fn to_v2(&self) -> Option<String> {
        let own = self.options.iter().map(|option| option_to_v2(option));
        let options: Vec<String> = own.chain(self.mode_as_option()).collect();
        (!options.is_empty()).then(|| list(options))
    }

    /// Takes the current mode; `false` if it is known already.
    pub(crate) fn set_current(&mut self, mode: &str) -> bool {
        let changed = self.current().as_deref() != Some(mode);
        for text in &mut self.options {
            if let Some(mut option) = JsonObject::read(text).filter(|option| option.is("category", "mode")) {
                option.put("currentValue", mode);
                *text = option.text();
                return changed;
            }
        }
        let known = self.modes.take().unwrap_or_default();
        let mut modes = JsonObject::read(&known).unwrap_or_default();
        modes.put("currentModeId", mode);
        self.modes = Some(modes.text());
        changed
    }

    /// Whether the option stands for the agent's modes.
    pub(crate) fn is_mode(&self, config_id: &str) -> bool {
        self.modes.is_some() && !self.has_mode_option() && config_id == self.mode_id()
    }

    fn current(&self) -> Option<String> {
        let mut options = self.options.iter().filter_map(|option| JsonObject::read(option));
        match options.find(|option| option.is("category", "mode")) {
            Some(option) => option.string("currentValue"),
            None => JsonObject::read(self.modes.as_deref()?)?.string("currentModeId"),
        }
    }

    fn has_mode_option(&self) -> bool {
        self.options
            .iter()
            .filter_map(|option| JsonObject::read(option))
            .any(|option| option.is("category", "mode"))
    }

    fn mode_id(&self) -> &'static str {
        let taken = self
            .options
            .iter()
            .filter_map(|option| JsonObject::read(option))
            .any(|option| option.is("id", MODE));
        if taken { MODE_IF_TAKEN } else { MODE }
    }

    fn mode_as_option(&self) -> Option<String> {
        let modes = JsonObject::read(self.modes.as_deref()?).filter(|_| !self.has_mode_option())?;
        let current = modes.string("currentModeId")?;
        let mut values: Vec<String> = modes
            .get("availableModes")
            .and_then(items)
            .unwrap_or_default()
            .into_iter()
            .map(value_of)
            .collect();
        let known = |value: &String| JsonObject::read(value).is_some_and(|value| value.is("value", &current));
        if !values.iter().any(known) {
            values.push(JsonObject::default().with_str("value", &current).with_str("name", &current).text());
        }
        let option = JsonObject::default().with_str("configId", self.mode_id()).with_str("name", "Mode");
        let option = option.with_str("category", "mode").with_str("type", "select");
        Some(option.with_str("currentValue", &current).with("options", list(values)).text())
    }
}

/// The params of `session/set_config_option` for v1.
pub(crate) fn set_option_to_v1(params: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()).filter(|object| object.is("type", "id")) else {
        return params.clone();
    };
    object.take("type");
    object.raw()
}

/// The params of `session/set_config_option` as those of `session/set_mode`.
pub(crate) fn set_mode_of(params: &RawJson) -> RawJson {
    let Some(mut object) = JsonObject::read(params.as_str()) else { return params.clone() };
    object.remove(&["type", "configId"]);
    object.rename("value", "modeId");
    object.raw()
}

/// A config option for v1. A client that does not know booleans is given a choice of two.
fn option_to_v1(text: &str, booleans: bool) -> String {
    let Some(mut option) = JsonObject::read(text) else { return text.to_owned() };
    option.rename("configId", "id");
    if option.is("type", "boolean") && !booleans {
        let current = option.get("currentValue").unwrap_or("false").to_owned();
        option.put("type", "select");
        option.put("currentValue", &current);
        option.set("options", list([choice("true", "On"), choice("false", "Off")]));
        option.note("boolean", "true");
    }
    option.edit_each("options", |value| renamed(value, "groupId", "group"));
    option.text()
}

/// A config option for v2.
fn option_to_v2(text: &str) -> String {
    let Some(mut option) = JsonObject::read(text) else { return text.to_owned() };
    option.rename("id", "configId");
    if option.recall("boolean").is_some() {
        option.put("type", "boolean");
        option.take("options");
        let current = if option.is("currentValue", "true") { "true" } else { "false" };
        option.set("currentValue", current);
    }
    option.edit_each("options", |value| renamed(value, "group", "groupId"));
    option.text()
}

fn renamed(text: &str, from: &str, to: &'static str) -> String {
    let Some(mut object) = JsonObject::read(text) else { return text.to_owned() };
    object.rename(from, to);
    object.text()
}

fn choice(value: &str, name: &str) -> String {
    JsonObject::default().with_str("value", value).with_str("name", name).text()
}

/// The values of a select option, out of their groups.
fn flat<'a>(option: &'a JsonObject<'_>) -> Vec<&'a str> {
    let values = option.get("options").and_then(items).unwrap_or_default();
    let inside = |value: &'a str| members(value).into_iter().rev().find(|(key, _)| key == "options");
    let of = |value| match inside(value).and_then(|(_, group)| items(group)) {
        Some(group) => group,
        None => vec![value],
    };
    values.into_iter().flat_map(of).collect()
}

/// A value of the mode option as a v1 mode.
fn mode_of(value: &str) -> String {
    renamed(value, "value", "id")
}

/// A v1 mode as a value of the mode option.
fn value_of(mode: &str) -> String {
    renamed(mode, "id", "value")
}

/// An update that says what the options are now.
pub(crate) fn update(options: Option<String>) -> RawJson {
    let update = JsonObject::default().with_str("sessionUpdate", "config_option_update");
    raw(update.with("configOptions", options.unwrap_or_else(|| "[]".to_owned())).text())
}

/// The mode that params of `session/set_mode` or `session/set_config_option` choose.
pub(crate) fn chosen_mode(params: &RawJson) -> Option<String> {
    let object = JsonObject::read(params.as_str())?;
    object.get("modeId").or_else(|| object.get("value")).and_then(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_option_keeps_clear_of_an_option_of_that_id() {
        let mut options = V1Options::default();
        options.begin(Some(r#"[{"id":"mode","name":"M","type":"boolean","currentValue":true}]"#), Some("{}"));
        assert!(options.is_mode(MODE_IF_TAKEN) && !options.is_mode(MODE));
    }
}

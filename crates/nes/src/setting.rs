//! The settings of a session, in the shapes of ACP's config options.

use nudge_predict::Eagerness;
use nudge_wire::{Error, Version, acp};
use serde_json::Value as Json;

/// A value a setting may be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NesSettingValue {
    /// One of the values of a list.
    Id(String),
    /// On or off.
    Boolean(bool),
}

/// How settings are written for a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OptionShape {
    pub(crate) version: Version,
    /// Whether the client knows settings that are on or off; for one that does not, they are lists of two.
    pub(crate) booleans: bool,
}

/// What can be set.
#[derive(Debug, Clone)]
pub(crate) struct NesSettings {
    /// The name of the engine, the only one there is.
    engine: String,
    pub(crate) eagerness: Eagerness,
    pub(crate) enabled: bool,
}

const ENGINE: &str = "engine";
const EAGERNESS: &str = "eagerness";
const ENABLED: &str = "enabled";
const CATEGORY: &str = "_nes";
const LEVELS: [(Eagerness, &str, &str); 3] = [
    (Eagerness::Low, "low", "Low"),
    (Eagerness::Medium, "medium", "Medium"),
    (Eagerness::High, "high", "High"),
];

impl NesSettings {
    pub(crate) fn new(engine: &str) -> Self {
        Self { engine: engine.to_owned(), eagerness: Eagerness::default(), enabled: true }
    }

    /// Sets one; -32602 and nothing changed if there is no such setting or value.
    pub(crate) fn set(&mut self, id: &str, value: &NesSettingValue) -> Result<(), Error> {
        match (id, value) {
            (ENGINE, NesSettingValue::Id(name)) if *name == self.engine => {}
            (ENGINE, _) => return Err(refused(ENGINE, &format!("\"{}\"", self.engine))),
            (EAGERNESS, value) => {
                let level = LEVELS.iter().find(|(_, id, _)| *value == NesSettingValue::Id((*id).to_owned()));
                self.eagerness =
                    level.ok_or_else(|| refused(EAGERNESS, "\"low\", \"medium\" or \"high\""))?.0;
            }
            (ENABLED, NesSettingValue::Boolean(on)) => self.enabled = *on,
            (ENABLED, NesSettingValue::Id(id)) if id == "on" || id == "off" => self.enabled = id == "on",
            (ENABLED, NesSettingValue::Id(_)) => return Err(refused(ENABLED, "true or false")),
            _ => {
                let known = format!("`{ENGINE}`, `{EAGERNESS}` and `{ENABLED}`");
                return Err(Error::invalid_params(format!("No such config option; there are {known}")));
            }
        }
        Ok(())
    }

    /// All of them with their values.
    pub(crate) fn options(&self, shape: OptionShape) -> Vec<Json> {
        let level = LEVELS.iter().find(|(level, ..)| *level == self.eagerness).map_or("", |(_, id, _)| id);
        let levels: Vec<(&str, &str)> = LEVELS.iter().map(|(_, id, name)| (*id, *name)).collect();
        let engines = [(self.engine.as_str(), self.engine.as_str())];
        let enabled = if shape.booleans {
            shape.boolean(ENABLED, "Next edit suggestions", "Whether edits are suggested.", self.enabled)
        } else {
            let value = if self.enabled { "on" } else { "off" };
            let choices = [("on", "On"), ("off", "Off")];
            shape.select(ENABLED, "Next edit suggestions", "Whether edits are suggested.", value, &choices)
        };
        let sure = "How sure a suggestion has to be before it is shown.";
        vec![
            shape.select(ENGINE, "Engine", "Who makes the suggestions.", &self.engine, &engines),
            shape.select(EAGERNESS, "Eagerness", sure, level, &levels),
            enabled,
        ]
    }
}

fn refused(id: &str, expected: &str) -> Error {
    Error::invalid_params(format!("Invalid value of the config option `{id}`: expected {expected}"))
}

impl OptionShape {
    fn select(self, id: &str, name: &str, about: &str, value: &str, choices: &[(&str, &str)]) -> Json {
        macro_rules! written {
            ($version:ident) => {{
                use acp::$version::{
                    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
                };
                let choice =
                    |(value, name): &(&str, &str)| SessionConfigSelectOption::new((*value).to_owned(), *name);
                let choices: Vec<_> = choices.iter().map(choice).collect();
                json(
                    &SessionConfigOption::select(id.to_owned(), name, value.to_owned(), choices)
                        .description(about.to_owned())
                        .category(SessionConfigOptionCategory::Other(CATEGORY.to_owned())),
                )
            }};
        }
        match self.version {
            Version::V1 => written!(v1),
            Version::V2 => written!(v2),
        }
    }

    fn boolean(self, id: &str, name: &str, about: &str, value: bool) -> Json {
        macro_rules! written {
            ($version:ident) => {{
                use acp::$version::{SessionConfigOption, SessionConfigOptionCategory};
                json(
                    &SessionConfigOption::boolean(id.to_owned(), name, value)
                        .description(about.to_owned())
                        .category(SessionConfigOptionCategory::Other(CATEGORY.to_owned())),
                )
            }};
        }
        match self.version {
            Version::V1 => written!(v1),
            Version::V2 => written!(v2),
        }
    }
}

fn json(option: &impl serde::Serialize) -> Json {
    serde_json::to_value(option).expect("config options are plain data with string keys")
}

//! What the user may set, in `initializationOptions` or by `workspace/didChangeConfiguration`.

use serde_json::{Value, json};

/// The settings of one editor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct EditorSettings {
    pub(crate) enabled: bool,
    pub(crate) eagerness: EagernessSetting,
    /// Whether `nudge/status` is sent.
    pub(crate) status: bool,
    /// Whether diagnostics that come with a question for code actions are looked at.
    pub(crate) diagnostics_from_code_actions: bool,
    pub(crate) jump: bool,
    pub(crate) rename: bool,
    pub(crate) search_and_replace: bool,
}

/// How sure a suggestion has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EagernessSetting {
    Low,
    #[default]
    Medium,
    High,
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            eagerness: EagernessSetting::default(),
            status: false,
            diagnostics_from_code_actions: true,
            jump: true,
            rename: false,
            search_and_replace: false,
        }
    }
}

impl EditorSettings {
    /// Takes what is said; what is not said stays, and what cannot be read does not count.
    ///
    /// The settings may be under `nudge` or stand alone: editors do both.
    pub(crate) fn take(&mut self, said: &Value) {
        let said = said.get("nudge").unwrap_or(said);
        set(&mut self.enabled, &said["enabled"]);
        set(&mut self.status, &said["status"]);
        set(&mut self.diagnostics_from_code_actions, &said["diagnosticsFromCodeActions"]);
        if let Some(eagerness) = said["eagerness"].as_str().and_then(EagernessSetting::from_name) {
            self.eagerness = eagerness;
        }
        if let Some(kinds) = said["kinds"].as_array() {
            let has = |name: &str| kinds.iter().any(|kind| kind == name);
            self.jump = has("jump");
            self.rename = has("rename");
            self.search_and_replace = has("searchAndReplace");
        }
    }

    /// The kinds of suggestion wanted, as ACP says them.
    pub(crate) fn capabilities(&self) -> Value {
        let wanted =
            [("jump", self.jump), ("rename", self.rename), ("searchAndReplace", self.search_and_replace)];
        let wanted = wanted.into_iter().filter(|(_, wanted)| *wanted);
        Value::Object(wanted.map(|(name, _)| (name.to_owned(), json!({}))).collect())
    }
}

impl EagernessSetting {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|level| level.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

fn set(setting: &mut bool, said: &Value) {
    if let Some(said) = said.as_bool() {
        *setting = said;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(said: &Value) -> EditorSettings {
        let mut settings = EditorSettings::default();
        settings.take(said);
        settings
    }

    #[test]
    fn what_is_said_counts_and_the_rest_stays() {
        let default = EditorSettings::default;
        let cases = [
            (json!(null), default()),
            (json!("on"), default()),
            (json!({ "enabled": "yes", "eagerness": "very", "kinds": "all" }), default()),
            (json!({ "enabled": false }), EditorSettings { enabled: false, ..default() }),
            (
                json!({ "nudge": { "eagerness": "high" } }),
                EditorSettings { eagerness: EagernessSetting::High, ..default() },
            ),
            (json!({ "kinds": [] }), EditorSettings { jump: false, ..default() }),
            (
                json!({ "kinds": ["rename", "searchAndReplace", 3] }),
                EditorSettings { jump: false, rename: true, search_and_replace: true, ..default() },
            ),
        ];
        for (said, expected) in cases {
            assert_eq!(taken(&said), expected, "{said}");
        }
    }

    #[test]
    fn kinds_are_said_as_capabilities() {
        assert_eq!(taken(&json!({})).capabilities(), json!({ "jump": {} }));
        assert_eq!(
            taken(&json!({ "kinds": ["rename", "jump"] })).capabilities(),
            json!({ "jump": {}, "rename": {} })
        );
    }
}

//! What the settings are and where they come from, for people and programs.

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    output,
    settings::{FoundValue, LoadedSettings, SettingRow, SettingsProblem, ValueKind},
    terminal_text,
};

/// Every setting.
pub(super) fn show(loaded: &LoadedSettings, is_json: bool) -> Result<()> {
    if is_json {
        let settings: Vec<Value> = loaded.found.iter().map(described).collect();
        let problems: Vec<Value> = loaded.all_problems().iter().map(SettingsProblem::json).collect();
        return output::say_json(json!({ "settings": settings, "problems": problems }));
    }
    let rows: Vec<[String; 3]> = loaded.found.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (keys, values) = (width(0), width(1).min(50));
    for [key, value, origin] in &rows {
        output::say(format!("{key:<keys$}  {value:<values$}  {origin}"))?;
    }
    Ok(())
}

fn row(found: &FoundValue) -> [String; 3] {
    let value = found.shown().unwrap_or_else(|| format!("({})", found.setting.default.shown()));
    [found.setting.key.to_owned(), value, found.origin.to_string()].map(|cell| terminal_text::one_line(&cell))
}

fn described(found: &FoundValue) -> Value {
    let FoundValue { setting, origin, .. } = found;
    let value = match setting.kind {
        ValueKind::Switch => found.shown().map(|shown| json!(shown == "true")),
        ValueKind::Seconds { .. } | ValueKind::Bytes { .. } => {
            found.shown().and_then(|shown| shown.parse::<u64>().ok()).map(Value::from)
        }
        _ => found.shown().map(Value::from),
    };
    let flag = setting.flag.as_ref().map(|flag| format!("--{}", flag.name));
    json!({
        "key": setting.key, "value": value, "origin": origin.json(), "default": setting.default.shown(),
        "env": setting.env.name(), "flag": flag, "about": setting.about,
    })
}

/// One setting.
pub(super) fn get(loaded: &LoadedSettings, setting: &SettingRow) -> Result<()> {
    match FoundValue::of(setting.key, &loaded.found).shown() {
        Some(value) => output::say(value),
        None => Ok(()),
    }
}

/// The files that are looked at.
pub(super) fn paths(loaded: &LoadedSettings) -> Result<()> {
    let places = &loaded.places;
    let user = places.user.iter().map(|path| ("user", path));
    let project = places.project.iter().map(|path| ("project", path));
    let mut has_project = false;
    for (whose, path) in user.chain(project) {
        let is_read = loaded.files.iter().any(|file| file.path == *path);
        let state = match (whose, is_read) {
            (_, true) => "is read",
            // Only the nearest one counts.
            ("project", _) if has_project => "is not read: a nearer one is",
            _ => "is not there",
        };
        has_project |= whose == "project" && is_read;
        output::say(format!("{whose:<8} {}  {state}", terminal_text::one_line(&path.display().to_string())))?;
    }
    if places.user.is_none() && places.project.is_empty() {
        output::say("no settings file is looked at")?;
    }
    Ok(())
}

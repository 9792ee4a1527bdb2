//! A setting put into the user's file, of which all else stays as it is.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item, Table};

use super::user_file;
use crate::{
    output,
    settings::{FileSettings, Found, Loaded, Origin, Owner, Problem, Setting, Value},
};

/// Puts a value into the user's file.
pub(super) fn set(loaded: &Loaded, setting: &Setting, text: &str) -> Result<()> {
    let path = user_file(loaded)?;
    let shown = path.display();
    let value = setting.kind.read_text(OsStr::new(text));
    let value =
        value.with_context(|| format!("expected {} for `{}`", setting.kind.expected(), setting.key))?;
    // What is no file is not read here either: it could be a pipe.
    if is_unreadable(loaded, path) {
        bail!("{shown} has mistakes that have to go first; `nudge config check` lists them");
    }
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
    };
    let after = changed(&before, setting.key, &value)?;
    let found = FileSettings::parse(&after, path, Owner::User, std::env::home_dir().as_deref());
    if !found.entries.iter().any(|entry| entry.setting.key == setting.key) {
        bail!("expected {} for `{}`", setting.kind.expected_in_file(), setting.key);
    }
    write(path, &after)?;
    output::say(format!("{} = {} in {shown}", setting.key, setting.kind.shown(&value)))?;
    match &Found::of(setting.key, &loaded.found).origin {
        origin @ (Origin::File(Owner::Project, _) | Origin::Variable(_) | Origin::Flag(_)) => {
            output::remark(format!("{origin} comes before it here"));
        }
        Origin::Default | Origin::File(Owner::User, _) => {}
    }
    Ok(())
}

fn is_unreadable(loaded: &Loaded, path: &Path) -> bool {
    let own = loaded.files.iter().filter(|file| file.path == path);
    let mut problems = own.flat_map(|file| &file.problems);
    problems.any(|problem| matches!(problem, Problem::Syntax { .. } | Problem::Unreadable { .. }))
}

/// The text with a value in it.
fn changed(text: &str, key: &str, value: &Value) -> Result<String> {
    let mut document: DocumentMut = text.parse().ok().context("the settings file is no TOML")?;
    let (section, name) = key.split_once('.').context("a key has a section")?;
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else {
        bail!("expected a table for `{section}` in the settings file");
    };
    let mut value = match value {
        Value::Switch(is_on) => toml_edit::Value::from(*is_on),
        Value::Number(number) => {
            i64::try_from(*number).ok().context("the number is too large for a file")?.into()
        }
        Value::Text(text) => text.as_str().into(),
        Value::Path(path) => path.to_str().context("a path in a file has to be text")?.into(),
    };
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            // Blanks and a comment behind it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => drop(table.insert(name, Item::Value(value))),
    }
    Ok(document.to_string())
}

/// Writes a file at once or not at all. Where a link leads is written, so that the link stays.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let shown = path.display();
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().with_context(|| format!("{shown} is in no folder"))?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    let permitted = fs::metadata(&target).map_or(0o600, |meta| meta.permissions().mode() & 0o777);
    let beside = folder.join(format!(".config.toml.{}", std::process::id()));
    let written = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(permitted))?;
        file.sync_all()?;
        fs::rename(&beside, &target)
    };
    written().inspect_err(|_| drop(fs::remove_file(&beside))).with_context(|| format!("cannot write {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_else_in_the_file_stays() {
        let check = |before: &str, after: &str| {
            assert_eq!(changed(before, "agent.patience", &Value::Number(60)).unwrap(), after, "{before}");
        };
        check("", "[agent]\npatience = 60\n");
        check(
            "# mine\n[agent] # of all\npatience  =  30 # soon\n\n[nes]\nby = 'nudge'\n",
            "# mine\n[agent] # of all\npatience  =  60 # soon\n\n[nes]\nby = 'nudge'\n",
        );
        check("agent.isolate = true\n", "agent.isolate = true\nagent.patience = 60\n");
        check("agent = { isolate = true }\n", "agent = { isolate = true , patience = 60 }\n");
        check(
            "[agent]\n\n# of the daemon\n[daemon]\n",
            "[agent]\npatience = 60\n\n# of the daemon\n[daemon]\n",
        );
        assert!(changed("agent = 3\n", "agent.patience", &Value::Number(60)).is_err());
        assert!(changed("[[agent]]\n", "agent.patience", &Value::Number(60)).is_err());
        assert!(changed("=", "agent.patience", &Value::Number(60)).is_err());
        assert!(changed("", "agent.patience", &Value::Number(u64::MAX)).is_err());
    }
}

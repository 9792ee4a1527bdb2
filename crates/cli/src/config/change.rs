//! A setting put into the user's file, of which all else stays as it is.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item, Table};

use super::user_file;
use crate::{
    daemon::open_private,
    output,
    settings::{
        FileOwner, FileSettings, FoundValue, LONGEST_FILE, LoadedSettings, ParsedValue, SettingOrigin,
        SettingRow, read_settings_text,
    },
};

/// The byte order mark that some editors begin a text with.
const MARK: char = '\u{feff}';
/// How many links are followed, one behind the other.
const MOST_LINKS: usize = 40;
/// How long others may take to change the file.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before looking again.
const AGAIN: Duration = Duration::from_millis(5);

/// Puts a value into the user's file.
pub(super) fn set(loaded: &LoadedSettings, setting: &SettingRow, text: &str) -> Result<()> {
    let path = user_file(loaded)?;
    let value = setting.kind.read_text(OsStr::new(text));
    let value =
        value.with_context(|| format!("expected {} for `{}`", setting.kind.expected(), setting.key))?;
    change(path, |before| {
        let after = changed(before, setting.key, &value)?;
        let found = FileSettings::parse(&after, path, FileOwner::User, std::env::home_dir().as_deref());
        if !found.entries.iter().any(|entry| entry.setting.key == setting.key) {
            bail!("expected {} for `{}`", setting.kind.expected_in_file(), setting.key);
        }
        Ok(Some(after))
    })?;
    output::say(format!("{} = {} in {}", setting.key, setting.kind.shown(&value), path.display()))?;
    match &FoundValue::of(setting.key, &loaded.found).origin {
        origin @ (SettingOrigin::File(FileOwner::Project, _)
        | SettingOrigin::Variable(_)
        | SettingOrigin::Flag(_)) => {
            output::remark(format!("{origin} comes before it here"));
        }
        SettingOrigin::Default | SettingOrigin::File(FileOwner::User, _) => {}
    }
    Ok(())
}

/// Takes a setting out of the user's file.
pub(super) fn unset(loaded: &LoadedSettings, setting: &SettingRow) -> Result<()> {
    let path = user_file(loaded)?;
    let was_there = change(path, |before| removed(before, setting.key))?;
    let what = if was_there { "is taken out of" } else { "does not stand in" };
    output::say(format!("{} {what} {}", setting.key, path.display()))
}

/// Reads a file, changes its text and writes it, while nobody else of this program does; whether there was a change.
fn change(path: &Path, edit: impl FnOnce(&str) -> Result<Option<String>>) -> Result<bool> {
    let shown = path.display();
    let target = target(path);
    if fs::metadata(&target).is_ok_and(|meta| meta.permissions().readonly()) {
        bail!("{shown} is read-only; change its mode, or what makes it");
    }
    let _lock = lock(&target)?;
    let before = match read_settings_text(path, FileOwner::User) {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => bail!("{shown}: {why}"),
    };
    let form = TextForm::of(&before);
    let before = form.plain(&before);
    if before.parse::<DocumentMut>().is_err() {
        bail!("{shown} has mistakes that have to go first; `nudge config check` lists them");
    }
    let Some(after) = edit(&before)? else { return Ok(false) };
    let after = form.dressed(&after);
    if after.len() as u64 > LONGEST_FILE {
        bail!("{shown} would be too long; at most {LONGEST_FILE} bytes are taken");
    }
    write(path, &after)?;
    Ok(true)
}

/// How a text was written, beside what it says.
struct TextForm {
    /// Whether it begins with a byte order mark.
    has_mark: bool,
    /// Whether every line ends with a carriage return, too.
    has_returns: bool,
}

impl TextForm {
    fn of(text: &str) -> Self {
        let count = |part: &str| text.matches(part).count();
        let has_returns = count("\r\n") > 0 && count("\r\n") == count("\n");
        Self { has_mark: text.starts_with(MARK), has_returns }
    }

    /// The text without it.
    fn plain(&self, text: &str) -> String {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        if self.has_returns { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// A plain text, written so.
    fn dressed(&self, text: &str) -> String {
        let text = if self.has_returns { text.replace('\n', "\r\n") } else { text.to_owned() };
        if self.has_mark { format!("{MARK}{text}") } else { text }
    }
}

/// Where a file is when all links are followed, also if nothing is there yet.
fn target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(to) = fs::read_link(&target) else { break };
        target = target.parent().unwrap_or(Path::new("/")).join(to);
    }
    fs::canonicalize(path).unwrap_or(target)
}

/// Keeps others of this program from changing a file until it is dropped. The file of the lock stays: one that is removed
/// keeps out nobody who has it open.
fn lock(target: &Path) -> Result<File> {
    let shown = target.display();
    let folder = make_folder(target)?;
    let name = target.file_name().with_context(|| format!("{shown} is no file"))?;
    let file = open_private(&folder.join(format!(".{}.lock", name.to_string_lossy())))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(AGAIN),
            Err(TryLockError::WouldBlock) => bail!("another process is changing {shown}; try again"),
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {shown}"));
            }
        }
    }
}

/// The text without a value; nothing if it has none.
fn removed(text: &str, key: &str) -> Result<Option<String>> {
    let mut document: DocumentMut = text.parse().ok().context("the settings file is no TOML")?;
    let (section, name) = key.split_once('.').context("a key has a section")?;
    let table = document.get_mut(section).and_then(Item::as_table_like_mut);
    Ok(table.and_then(|table| table.remove(name)).map(|_| document.to_string()))
}

/// The text with a value in it.
fn changed(text: &str, key: &str, value: &ParsedValue) -> Result<String> {
    let mut document: DocumentMut = text.parse().ok().context("the settings file is no TOML")?;
    let (section, name) = key.split_once('.').context("a key has a section")?;
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let Some(table) = table.as_table_like_mut() else {
        bail!("expected a table for `{section}` in the settings file");
    };
    let mut value = match value {
        ParsedValue::Switch(is_on) => toml_edit::Value::from(*is_on),
        ParsedValue::Number(number) => {
            i64::try_from(*number).ok().context("the number is too large for a file")?.into()
        }
        ParsedValue::Text(text) => text.as_str().into(),
        ParsedValue::Path(path) => path.to_str().context("a path in a file has to be text")?.into(),
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
    let target = target(path);
    let folder = make_folder(&target)?;
    if fs::metadata(&target).is_ok_and(|meta| !meta.is_file()) {
        bail!("{shown} is not a file; it is not written");
    }
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

/// The folder of a file, which is made if it is not there.
fn make_folder(target: &Path) -> Result<&Path> {
    let folder = target.parent().with_context(|| format!("{} is in no folder", target.display()))?;
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_else_in_the_file_stays() {
        let check = |before: &str, after: &str| {
            assert_eq!(
                changed(before, "agent.patience", &ParsedValue::Number(60)).unwrap(),
                after,
                "{before}"
            );
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
        assert!(changed("agent = 3\n", "agent.patience", &ParsedValue::Number(60)).is_err());
        assert!(changed("[[agent]]\n", "agent.patience", &ParsedValue::Number(60)).is_err());
        assert!(changed("=", "agent.patience", &ParsedValue::Number(60)).is_err());
        assert!(changed("", "agent.patience", &ParsedValue::Number(u64::MAX)).is_err());
    }

    #[test]
    fn a_value_is_taken_out_and_all_else_stays() {
        let check = |before: &str, after: Option<&str>| {
            assert_eq!(removed(before, "agent.patience").unwrap().as_deref(), after, "{before}");
        };
        check(
            "# mine\n[agent]\npatience = 5\nisolate = true # so\n",
            Some("# mine\n[agent]\nisolate = true # so\n"),
        );
        check("agent.patience = 5\nnes.by = 'nudge'\n", Some("nes.by = 'nudge'\n"));
        check("agent = { patience = 5 }\n", Some("agent = {}\n"));
        check("[agent]\nisolate = true\n", None);
        check("", None);
        check("agent = 3\n", None);
    }
}

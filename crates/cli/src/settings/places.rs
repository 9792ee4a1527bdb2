//! Where the settings files are looked for: one of the user, and one of the project.

use std::path::{Path, PathBuf};

use super::surroundings::SettingsContext;

/// The variable that names another user file.
pub(crate) const CONFIG_VARIABLE: &str = "NUDGE_CONFIG";

/// The name of a project's file.
const PROJECT_FILE: &str = ".nudge.toml";

/// The files that are looked at.
#[derive(Debug, Default)]
pub(crate) struct SettingsPlaces {
    /// The user's file; none if there is no folder for it, or none is wanted.
    pub(crate) user: Option<PathBuf>,
    /// Whether it was named: then it has to be there.
    pub(crate) is_named: bool,
    /// Where the project's file may be, the nearest first.
    pub(crate) project: Vec<PathBuf>,
}

impl SettingsPlaces {
    /// By the flag `--config`, then by the variable, then by custom. A flag with an empty name asks for no file at all.
    pub(super) fn find(flag: Option<&Path>, around: &SettingsContext) -> Self {
        if flag.is_some_and(|flag| flag.as_os_str().is_empty()) {
            return Self { is_named: true, ..Self::default() };
        }
        let named = flag.or_else(|| around.variable(CONFIG_VARIABLE).map(Path::new));
        let absolute = |path: &Path| around.cwd.as_deref().unwrap_or(Path::new("/")).join(path);
        let custom = || {
            let folder = around.folder("XDG_CONFIG_HOME").or_else(|| Some(around.home()?.join(".config")))?;
            Some(folder.join("nudge/config.toml"))
        };
        Self {
            user: named.map(absolute).or_else(custom),
            is_named: named.is_some(),
            project: project_files(around),
        }
    }
}

/// From the working folder up to the root of its repository, and never above the user's own folder. Outside of both it is
/// the working folder alone: what lies above it may be anybody's.
fn project_files(around: &SettingsContext) -> Vec<PathBuf> {
    let Some(cwd) = &around.cwd else { return Vec::new() };
    let home = around.home();
    let real_home = home.as_ref().and_then(|home| home.canonicalize().ok());
    let is_home = |folder: &Path| [&home, &real_home].into_iter().flatten().any(|home| home == folder);
    let is_last = |folder: &Path| is_home(folder) || folder.join(".git").symlink_metadata().is_ok();
    let last = cwd.ancestors().position(is_last).unwrap_or(0);
    cwd.ancestors().take(last + 1).map(|folder| folder.join(PROJECT_FILE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(cwd: &str, variables: &[(&str, &str)]) -> SettingsContext {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        SettingsContext { variables, cwd: Some(cwd.into()) }
    }

    #[test]
    fn the_users_file_is_where_custom_or_the_user_has_it() {
        let home = ("HOME", "/nest/ada");
        let check = |flag: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>| {
            let places = SettingsPlaces::find(flag.map(Path::new), &around("/nest/bird", variables));
            assert_eq!(places.user.as_deref(), expected.map(Path::new), "{flag:?} {variables:?}");
        };
        check(None, &[home], Some("/nest/ada/.config/nudge/config.toml"));
        check(None, &[home, ("XDG_CONFIG_HOME", "/etc/ada")], Some("/etc/ada/nudge/config.toml"));
        check(None, &[home, ("XDG_CONFIG_HOME", "ada")], Some("/nest/ada/.config/nudge/config.toml"));
        check(None, &[home, (CONFIG_VARIABLE, "own.toml")], Some("/nest/bird/own.toml"));
        check(None, &[home, (CONFIG_VARIABLE, "")], Some("/nest/ada/.config/nudge/config.toml"));
        check(Some("/a.toml"), &[home, (CONFIG_VARIABLE, "own.toml")], Some("/a.toml"));
        check(Some(""), &[home], None);
        check(None, &[], None);
        check(None, &[("HOME", "")], None);
    }

    #[test]
    fn a_project_ends_at_its_repository_and_at_home() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("repo/.git")).unwrap();
        std::fs::create_dir_all(at("repo/a/b")).unwrap();
        std::fs::create_dir_all(at("ada/x/y")).unwrap();
        let check = |cwd: &str, home: &str, expected: &[&str]| {
            let found = project_files(&around(&at(cwd), &[("HOME", &at(home))]));
            let expected: Vec<_> =
                expected.iter().map(|dir| PathBuf::from(at(dir)).join(PROJECT_FILE)).collect();
            assert_eq!(found, expected, "{cwd}");
        };
        check("repo/a/b", "ada", &["repo/a/b", "repo/a", "repo"]);
        check("repo", "ada", &["repo"]);
        check("repo/a/b", "repo/a", &["repo/a/b", "repo/a"]);
        check("ada/x/y", "ada", &["ada/x/y", "ada/x", "ada"]);
        check("ada/x/y", "elsewhere", &["ada/x/y"]);
    }
}

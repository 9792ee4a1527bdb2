//! The ignore rules that hold in a folder, of which there may not be too many: a pattern takes kilobytes once it is compiled.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path},
};
use nudge_workspace::files;

use super::report::{Report, Topic};

/// How long a file with rules may be.
const MOST_BYTES: u64 = 64 * 1024;
/// How long a pattern may be. A longer one can be nested so deeply that taking it apart ends the program.
const LONGEST: usize = 1000;
/// How many patterns it may have.
const MOST_PATTERNS: usize = 2000;
/// How many may hold at one time.
const MOST_IN_FORCE: usize = 4000;

/// The rules of a folder and of those around it.
pub(super) struct Rules {
    around: Option<Arc<Rules>>,
    /// Of `.ignore`, which counts more than what git is told.
    ignore: Gitignore,
    gitignore: Gitignore,
    /// Of `.git/info/exclude`, and of the user's own file for the outermost folder.
    excluded: Gitignore,
    /// Whether a repository begins here: rules for git that are around it do not count in it.
    is_repository: bool,
    /// With those around.
    patterns: usize,
}

impl Rules {
    /// What holds in a folder because of those around it, up to the repository it is in.
    pub(super) fn around(folder: &Path, report: &mut Report<'_>) -> Arc<Self> {
        let mut folders: Vec<&Path> = Vec::new();
        for around in folder.ancestors().skip(1) {
            folders.push(around);
            if around.join(".git").exists() {
                break;
            }
        }
        let outermost = folders.last().copied().unwrap_or(folder);
        let mut rules = Self::none();
        if let Some(own) = gitconfig_excludes_path() {
            rules.excluded = rules.read(outermost, &own, 0, report);
            rules.patterns = rules.excluded.len();
        }
        let rules = Arc::new(rules);
        folders.iter().rev().fold(rules, |rules, folder| rules.enter(folder, report))
    }

    fn none() -> Self {
        let none = Gitignore::empty;
        Self {
            around: None,
            ignore: none(),
            gitignore: none(),
            excluded: none(),
            is_repository: false,
            patterns: 0,
        }
    }

    /// What holds in a folder below.
    pub(super) fn enter(self: &Arc<Self>, folder: &Path, report: &mut Report<'_>) -> Arc<Self> {
        let ignore = self.read(folder, &folder.join(".ignore"), 0, report);
        let gitignore = self.read(folder, &folder.join(".gitignore"), ignore.len(), report);
        let before = ignore.len() + gitignore.len();
        let is_repository = folder.join(".git").exists();
        let excluded = if is_repository {
            self.read(folder, &folder.join(".git/info/exclude"), before, report)
        } else {
            Gitignore::empty()
        };
        let patterns = before + excluded.len();
        if patterns == 0 && !is_repository {
            return Arc::clone(self);
        }
        let patterns = self.patterns + patterns;
        Arc::new(Self {
            around: Some(Arc::clone(self)),
            ignore,
            gitignore,
            excluded,
            is_repository,
            patterns,
        })
    }

    /// Whether something in the folder is ignored.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let decided = self.decides(|rules| &rules.ignore, false, path, is_folder);
        let decided = decided.or_else(|| self.decides(|rules| &rules.gitignore, true, path, is_folder));
        let decided = decided.or_else(|| self.decides(|rules| &rules.excluded, false, path, is_folder));
        decided.unwrap_or(false)
    }

    /// What rules of one kind say, the innermost first.
    fn decides(
        &self,
        of: impl Fn(&Self) -> &Gitignore,
        in_repository: bool,
        path: &Path,
        is_folder: bool,
    ) -> Option<bool> {
        let mut next = Some(self);
        while let Some(rules) = next {
            match of(rules).matched(path, is_folder) {
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => return Some(false),
                Match::None => {}
            }
            next = rules.around.as_deref().filter(|_| !(in_repository && rules.is_repository));
        }
        None
    }

    /// The rules in a file, none if there is none. `before` are patterns that were read for the same folder.
    fn read(&self, folder: &Path, path: &Path, before: usize, report: &mut Report<'_>) -> Gitignore {
        let text = match text(path) {
            Ok(Some(text)) => text,
            Ok(None) => return Gitignore::empty(),
            Err(why) => {
                report.note(Topic::Rules, &why, path);
                return Gitignore::empty();
            }
        };
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
        if lines.len() > MOST_PATTERNS || self.patterns + before + lines.len() > MOST_IN_FORCE {
            report.note(Topic::Rules, "too many patterns", path);
            return Gitignore::empty();
        }
        let mut builder = GitignoreBuilder::new(folder);
        let (lines, too_long): (Vec<&str>, Vec<&str>) =
            lines.into_iter().partition(|line| line.len() <= LONGEST);
        if !too_long.is_empty() {
            report.note(Topic::Rules, "patterns that are too long", path);
        }
        // As git does: a pattern that cannot be understood is none.
        for line in lines {
            let _ = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| {
            report.note(Topic::Rules, "patterns that take too much to follow", path);
            Gitignore::empty()
        })
    }
}

/// A file with rules, or why it is not read; `None` if it is not there.
fn text(path: &Path) -> Result<Option<String>, String> {
    let file = match files::open_at(path) {
        Ok(file) => file,
        // A folder of that name is not meant for git.
        Err(files::ReadError::NotFound | files::ReadError::Folder) => return Ok(None),
        Err(why) => return Err(why.reason()),
    };
    read_all(file).map_err(|error| files::ReadError::from(error).reason()).and_then(|bytes| {
        let bytes = bytes.ok_or_else(|| format!("larger than {} KiB", MOST_BYTES / 1024))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()))
    })
}

/// All of a file; `None` if that is too much.
fn read_all(file: File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MOST_BYTES).then_some(bytes))
}

//! The ignore rules that hold in a folder, of which there may not be too many: a pattern takes kilobytes once it is compiled.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path},
};
use nudge_text::IgnoreLines;
use nudge_workspace::files;

use super::report::{WalkReport, WalkTopic};

/// How much of a file with rules is read.
const MOST_BYTES: usize = 64 * 1024;
/// How many patterns of it are.
const MOST_PATTERNS: usize = 2000;
/// How many may hold at one time.
const MOST_IN_FORCE: usize = 4000;
/// How often patterns of one file that cannot be compiled together are compiled apart.
const MOST_SPLITS: usize = 30;
/// How much is read of a file that tells where a repository is.
const MOST_POINTER: u64 = 4096;

/// The rules of a folder and of those around it.
pub(super) struct IgnoreRules {
    around: Option<Arc<IgnoreRules>>,
    /// Of `.ignore`, which counts more than what git is told.
    ignore: Patterns,
    gitignore: Patterns,
    /// What only this repository is told.
    excluded: Patterns,
    /// Of the user's own file.
    own: Arc<Patterns>,
    /// Whether a repository begins here: rules for git that are around it do not count in it.
    is_repository: bool,
    /// With those around.
    weight: usize,
}

/// The patterns of one file, in the order in which they stand in it.
#[derive(Default)]
struct Patterns {
    parts: Vec<Gitignore>,
    /// What they count.
    weight: usize,
}

impl IgnoreRules {
    /// What holds in a folder because of those around it, up to the repository it is in.
    pub(super) fn around(folder: &Path, report: &mut WalkReport<'_>) -> Arc<Self> {
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
            let own = rules.read(outermost, &own, 0, report);
            rules.weight = own.weight;
            rules.own = Arc::new(own);
        }
        let rules = Arc::new(rules);
        folders.iter().rev().fold(rules, |rules, folder| rules.enter(folder, report))
    }

    fn none() -> Self {
        Self {
            around: None,
            ignore: Patterns::default(),
            gitignore: Patterns::default(),
            excluded: Patterns::default(),
            own: Arc::default(),
            is_repository: false,
            weight: 0,
        }
    }

    /// What holds in a folder below.
    pub(super) fn enter(self: &Arc<Self>, folder: &Path, report: &mut WalkReport<'_>) -> Arc<Self> {
        let ignore = self.read(folder, &folder.join(".ignore"), 0, report);
        let gitignore = self.read(folder, &folder.join(".gitignore"), ignore.weight, report);
        let before = ignore.weight + gitignore.weight;
        let is_repository = folder.join(".git").exists();
        let excluded = if is_repository {
            self.read(folder, &exclude_file(folder), before, report)
        } else {
            Patterns::default()
        };
        let weight = before + excluded.weight;
        if weight == 0 && !is_repository {
            return Arc::clone(self);
        }
        Arc::new(Self {
            around: Some(Arc::clone(self)),
            ignore,
            gitignore,
            excluded,
            own: Arc::clone(&self.own),
            is_repository,
            weight: self.weight + weight,
        })
    }

    /// Whether something in the folder is ignored.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let decided = self.decides(|rules| &rules.ignore, false, path, is_folder);
        let decided = decided.or_else(|| self.decides(|rules| &rules.gitignore, true, path, is_folder));
        let decided = decided.or_else(|| self.decides(|rules| &rules.excluded, true, path, is_folder));
        decided.or_else(|| self.own.decide(path, is_folder)).unwrap_or(false)
    }

    /// What rules of one kind say, the innermost first.
    fn decides(
        &self,
        of: impl Fn(&Self) -> &Patterns,
        in_repository: bool,
        path: &Path,
        is_folder: bool,
    ) -> Option<bool> {
        let mut next = Some(self);
        while let Some(rules) = next {
            let decided = of(rules).decide(path, is_folder);
            if decided.is_some() {
                return decided;
            }
            next = rules.around.as_deref().filter(|_| !(in_repository && rules.is_repository));
        }
        None
    }

    /// The rules in a file, none if there is none. `before` is what patterns count that were read for the same folder.
    fn read(&self, folder: &Path, path: &Path, before: usize, report: &mut WalkReport<'_>) -> Patterns {
        let bytes = match beginning(path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Patterns::default(),
            Err(why) => {
                report.note(WalkTopic::Rules, &why, path);
                return Patterns::default();
            }
        };
        let room = MOST_IN_FORCE.saturating_sub(self.weight + before).min(MOST_PATTERNS);
        let read = IgnoreLines::read(&bytes, MOST_BYTES, room);
        if read.is_part {
            report.note(WalkTopic::Rules, "too many patterns, of which only the first are followed", path);
        }
        if read.odd > 0 {
            report.note(WalkTopic::Rules, "patterns that are too long or nested too deeply", path);
        }
        let mut patterns = Patterns { parts: Vec::new(), weight: read.weight };
        if !patterns.compile(folder, &read.lines, &mut 0) {
            report.note(WalkTopic::Rules, "patterns that take too much to follow", path);
        }
        patterns
    }
}

impl Patterns {
    /// Adds patterns. Those that cannot be compiled together are compiled apart, so that one does not take the others with
    /// it. Says whether all are followed.
    fn compile(&mut self, folder: &Path, lines: &[String], splits: &mut usize) -> bool {
        let mut builder = GitignoreBuilder::new(folder);
        for line in lines {
            // As git does: a pattern that cannot be understood is none.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(part) => {
                self.parts.extend((!part.is_empty()).then_some(part));
                true
            }
            Err(_) if lines.len() > 1 && *splits < MOST_SPLITS => {
                *splits += 1;
                let (first, second) = lines.split_at(lines.len() / 2);
                let is_whole = self.compile(folder, first, splits);
                self.compile(folder, second, splits) && is_whole
            }
            Err(_) => false,
        }
    }

    /// Whether they ignore something; `None` if they say nothing about it.
    fn decide(&self, path: &Path, is_folder: bool) -> Option<bool> {
        self.parts.iter().rev().find_map(|part| match part.matched(path, is_folder) {
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
            Match::None => None,
        })
    }
}

/// The beginning of a file with rules, and a byte more than is followed of it, or why it is not read; `None` if it is not
/// there.
fn beginning(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let file = match files::open_at(path) {
        Ok(file) => file,
        // A folder of that name is not meant for git.
        Err(files::ReadError::NotFound | files::ReadError::Folder) => return Ok(None),
        Err(why) => return Err(why.reason()),
    };
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map(|_| Some(bytes)).map_err(|error| files::ReadError::from(error).reason())
}

/// Where a repository is told what to ignore that others need not know. Where it has several worktrees, `.git` is a file
/// that names a folder of the worktree, which names that of the repository.
fn exclude_file(repository: &Path) -> PathBuf {
    let git = repository.join(".git");
    let named = pointer(&git).and_then(|text| Some(repository.join(text.strip_prefix("gitdir:")?.trim())));
    let own = named.unwrap_or(git);
    let common = pointer(&own.join("commondir")).map_or_else(|| own.clone(), |text| own.join(text.trim()));
    common.join("info/exclude")
}

fn pointer(path: &Path) -> Option<String> {
    let mut text = String::new();
    files::open_at(path).ok()?.take(MOST_POINTER).read_to_string(&mut text).ok()?;
    Some(text)
}

//! Goes through the files of a folder as git does, but not further than makes sense: who wrote the folder need not be a
//! friend.
//!
//! Links are not followed, so there are no loops. Ignore files are read here and not by the crate that understands them,
//! because it would read them whatever they are: a pipe, or hundreds of thousands of patterns, of which each takes kilobytes.

use std::{
    ffi::{OsStr, OsString},
    fmt, fs,
    io::Read,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use nudge_text::IgnoreLines;

use crate::folders::open_file;

/// How much is read of an ignore file, in bytes and in patterns.
const IGNORE_BYTES: usize = 128 * 1024;
const IGNORE_PATTERNS: usize = 2000;
/// Patterns of all ignore files on the way from the root to a folder.
const ALL_PATTERNS: usize = 4000;
/// Patterns that are compiled in all.
const COMPILED: usize = 20_000;
/// How often patterns that cannot be compiled together are compiled apart.
const SPLITS: usize = 100;
/// How deep folders are looked into.
const DEPTH: usize = 64;
/// How many entries of one folder are looked at.
const ENTRIES: usize = 20_000;
/// How many entries of all folders are.
const ALL_ENTRIES: usize = 200_000;
/// How much is read of a file that tells where a repository is.
const POINTER_BYTES: u64 = 4096;

/// What was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Ignore files that are too long, of which only the beginning is followed, or that are no files.
    pub(crate) ignore_files: usize,
    /// Patterns that are too long, nested too deeply, or make no sense together.
    pub(crate) patterns: usize,
    /// Pipes, sockets and devices.
    pub(crate) special_files: usize,
    /// Files that are too long.
    pub(crate) long_files: usize,
    /// Folders that are too deep, or have more entries than are looked at.
    pub(crate) folders: usize,
    /// Whether there was too much, so that the rest was not looked at.
    pub(crate) rest: bool,
}

/// A walk through some folders, one after the other, that share what there may be.
pub(crate) struct WorkspaceWalk<'a> {
    /// Longer files are left out.
    file_bytes: u64,
    /// Asked before each folder and for each entry.
    keep_going: &'a dyn Fn() -> bool,
    pub(crate) left_out: LeftOut,
    /// Entries that were listed.
    entries: usize,
    /// Patterns that were compiled.
    compiled: usize,
    splits: usize,
}

/// The way to the folder that is looked at.
struct Way<'v> {
    layers: Vec<Layer>,
    /// What the user wants to be ignored everywhere.
    everywhere: Gitignore,
    /// Is given every file that is not ignored.
    visit: &'v mut dyn FnMut(&Path) -> ControlFlow<()>,
}

/// What one folder says; `.ignore` counts more than `.gitignore`, and that more than what only this repository is told.
#[derive(Default)]
struct Layer {
    ignore: Rules,
    git: Rules,
    exclude: Rules,
    /// Whether a repository begins here: what git is told around it does not count in it.
    is_repository: bool,
}

/// The patterns of one file, in the order in which they stand in it.
#[derive(Default)]
struct Rules {
    parts: Vec<Gitignore>,
    weight: usize,
}

impl<'a> WorkspaceWalk<'a> {
    pub(crate) fn new(file_bytes: u64, keep_going: &'a dyn Fn() -> bool) -> Self {
        let left_out = LeftOut::default();
        Self { file_bytes, keep_going, left_out, entries: 0, compiled: 0, splits: 0 }
    }

    /// Goes through a folder. `visit` is given every file that is not ignored.
    pub(crate) fn go(&mut self, root: &Path, visit: &mut dyn FnMut(&Path) -> ControlFlow<()>) {
        let mut way = self.begin(root, visit);
        // That it ends early is what was wanted.
        let _ = self.folder(root, &mut way, 0);
    }

    /// What counts before the root is looked at: the folders above it, up to that of the repository.
    fn begin<'v>(&mut self, root: &Path, visit: &'v mut dyn FnMut(&Path) -> ControlFlow<()>) -> Way<'v> {
        let mut way = Way { layers: Vec::new(), everywhere: Gitignore::global().0, visit };
        let repository = root.ancestors().find(|folder| is_repository(folder));
        if let Some(repository) = repository {
            let above: Vec<&Path> =
                root.ancestors().skip(1).take_while(|folder| folder.starts_with(repository)).collect();
            for folder in above.into_iter().rev() {
                let layer = self.layer(folder, &way);
                way.layers.push(layer);
            }
        }
        way
    }

    fn folder(&mut self, folder: &Path, way: &mut Way<'_>, depth: usize) -> ControlFlow<()> {
        self.asked()?;
        if depth > DEPTH {
            self.left_out.folders += 1;
            return ControlFlow::Continue(());
        }
        let entries = self.entries(folder)?;
        let layer = self.layer(folder, way);
        way.layers.push(layer);
        let done = entries.iter().try_for_each(|(name, kind)| {
            self.asked()?;
            self.entry(&folder.join(name), *kind, way, depth)
        });
        way.layers.pop();
        done
    }

    /// Whether it is to go on.
    fn asked(&self) -> ControlFlow<()> {
        if (self.keep_going)() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn entry(&mut self, path: &Path, kind: fs::FileType, way: &mut Way<'_>, depth: usize) -> ControlFlow<()> {
        if kind.is_symlink() || way.ignores(path, kind.is_dir()) {
            return ControlFlow::Continue(());
        }
        if kind.is_dir() {
            return self.folder(path, way, depth + 1);
        }
        if !kind.is_file() {
            self.left_out.special_files += 1;
            return ControlFlow::Continue(());
        }
        if path.symlink_metadata().is_ok_and(|about| about.len() > self.file_bytes) {
            self.left_out.long_files += 1;
            return ControlFlow::Continue(());
        }
        (way.visit)(path)
    }

    /// The entries of a folder in the order of their names. When there were too many in all, no other folder is listed.
    fn entries(&mut self, folder: &Path) -> ControlFlow<(), Vec<(OsString, fs::FileType)>> {
        let mut found = Vec::new();
        let Ok(entries) = fs::read_dir(folder) else { return ControlFlow::Continue(found) };
        for entry in entries.flatten() {
            self.asked()?;
            if self.entries >= ALL_ENTRIES {
                self.left_out.rest = true;
                break;
            }
            if found.len() == ENTRIES {
                self.left_out.folders += 1;
                break;
            }
            self.entries += 1;
            if let Ok(kind) = entry.file_type() {
                found.push((entry.file_name(), kind));
            }
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        ControlFlow::Continue(found)
    }

    fn layer(&mut self, folder: &Path, way: &Way<'_>) -> Layer {
        let mut layer = Layer { is_repository: is_repository(folder), ..Layer::default() };
        let room = ALL_PATTERNS.saturating_sub(way.weight());
        layer.ignore = self.rules(folder, &folder.join(".ignore"), room);
        let room = room - layer.ignore.weight;
        layer.git = self.rules(folder, &folder.join(".gitignore"), room);
        if layer.is_repository {
            let room = room - layer.git.weight;
            layer.exclude = self.rules(folder, &exclude_file(folder), room);
        }
        layer
    }

    /// What an ignore file says about what is in a folder.
    fn rules(&mut self, folder: &Path, file: &Path, room: usize) -> Rules {
        if file.symlink_metadata().is_err() {
            return Rules::default();
        }
        let room = room.min(IGNORE_PATTERNS).min(COMPILED.saturating_sub(self.compiled));
        let Some(read) = read_lines(file, room) else {
            tracing::debug!(file = %file.display(), "an ignore file is left out");
            self.left_out.ignore_files += 1;
            return Rules::default();
        };
        if read.is_part {
            tracing::debug!(file = %file.display(), "only the beginning of an ignore file is followed");
            self.left_out.ignore_files += 1;
        }
        self.left_out.patterns += read.odd;
        self.compiled += read.weight;
        let mut rules = Rules { parts: Vec::new(), weight: read.weight };
        self.compile(folder, &read.lines, &mut rules.parts);
        rules
    }

    /// Patterns that cannot be compiled together are compiled apart, so that one does not take the others with it.
    fn compile(&mut self, folder: &Path, lines: &[String], parts: &mut Vec<Gitignore>) {
        let mut builder = GitignoreBuilder::new(folder);
        for line in lines {
            // What is no pattern ignores nothing, as with git.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(part) => parts.extend((!part.is_empty()).then_some(part)),
            Err(_) if lines.len() > 1 && self.splits < SPLITS => {
                self.splits += 1;
                let (first, second) = lines.split_at(lines.len() / 2);
                self.compile(folder, first, parts);
                self.compile(folder, second, parts);
            }
            Err(_) => self.left_out.patterns += lines.len(),
        }
    }
}

impl Way<'_> {
    /// What all patterns count that hold here.
    fn weight(&self) -> usize {
        let of = |layer: &Layer| layer.ignore.weight + layer.git.weight + layer.exclude.weight;
        self.layers.iter().map(of).sum()
    }

    fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let layers = || self.layers.iter().rev();
        // Of what git is told, only what the repository says that this is in.
        let around = layers().take_while(|layer| !layer.is_repository).count();
        let repository = || layers().take(around + 1);
        let ignore = layers().map(|layer| &layer.ignore);
        let git = repository().map(|layer| &layer.git);
        let exclude = repository().map(|layer| &layer.exclude);
        let parts = ignore.chain(git).chain(exclude).flat_map(|rules| rules.parts.iter().rev());
        // A pattern of a folder elsewhere says nothing about it.
        let said = parts
            .chain([&self.everywhere])
            .map(|patterns| patterns.matched(path, is_dir))
            .find(|said| !said.is_none());
        let name = path.file_name().unwrap_or(OsStr::new(""));
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        name == ".git" || said.map_or(is_hidden, |said| matches!(said, Match::Ignore(_)))
    }
}

/// The patterns of an ignore file; `None` if it is no file.
fn read_lines(file: &Path, most: usize) -> Option<IgnoreLines> {
    let mut bytes = Vec::new();
    open_file(file, u64::MAX, false)?.take(IGNORE_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(IgnoreLines::read(&bytes, IGNORE_BYTES, most))
}

fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Where a repository is told what to ignore that others need not know. Where it has several worktrees, `.git` is a file
/// that names a folder of the worktree, which names that of the repository.
fn exclude_file(repository: &Path) -> PathBuf {
    let git = repository.join(".git");
    let worktree =
        read_pointer(&git).and_then(|text| Some(repository.join(text.strip_prefix("gitdir:")?.trim())));
    let own = worktree.unwrap_or(git);
    let common =
        read_pointer(&own.join("commondir")).map_or_else(|| own.clone(), |text| own.join(text.trim()));
    common.join("info").join("exclude")
}

fn read_pointer(file: &Path) -> Option<String> {
    let mut text = String::new();
    open_file(file, POINTER_BYTES, false)?.take(POINTER_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

impl LeftOut {
    /// Whether something was left out that somebody has made to be in the way.
    pub(crate) fn is_odd(&self) -> bool {
        self.ignore_files > 0 || self.patterns > 0 || self.special_files > 0 || self.folders > 0 || self.rest
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = [
            (self.ignore_files, "ignore files that are too long or no files"),
            (self.patterns, "ignore patterns that are too long or nested too deeply"),
            (self.special_files, "pipes, sockets or devices"),
            (self.folders, "folders that are too deep or too full"),
            (self.long_files, "files that are too long"),
        ];
        let counted = counted.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
        if self.rest {
            parts.push("all that comes after, since the workspace is too large".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files, and its real path.
    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (place, root)
    }

    fn found(root: &Path) -> (Vec<String>, LeftOut) {
        let mut found = Vec::new();
        let mut walk = WorkspaceWalk::new(100, &|| true);
        walk.go(root, &mut |path| {
            found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            ControlFlow::Continue(())
        });
        (found, walk.left_out)
    }

    /// A folder inside of a repository.
    #[test]
    fn what_git_ignores_is_ignored() {
        let (_place, root) = folder(&[
            (".git/info/exclude", "excluded.rs\n"),
            (".gitignore", "# a note\n*.log\n/sub/out/\n"),
            ("sub/.gitignore", "!kept.log\n/only/*.tmp\n"),
            ("sub/.ignore", "*.gen\n"),
            ("sub/a.rs", ""),
            ("sub/a.log", ""),
            ("sub/kept.log", ""),
            ("sub/excluded.rs", ""),
            ("sub/out/b.rs", ""),
            ("sub/.hidden/c.rs", ""),
            ("sub/only/d.tmp", ""),
            ("sub/only/more/d.tmp", ""),
            ("sub/e.gen", ""),
            ("sub/f/g.rs", ""),
        ]);
        let (found, left_out) = found(&root.join("sub"));
        assert_eq!(found, ["a.rs", "f/g.rs", "kept.log", "only/more/d.tmp"]);
        assert_eq!(left_out, LeftOut::default());
    }

    #[test]
    fn a_pattern_that_cannot_be_followed_does_not_take_the_others_with_it() {
        let nested = format!("{}a{}\n", "{".repeat(30_000), "}".repeat(30_000));
        let (_place, root) = folder(&[
            (".git/info/exclude", &format!("{nested}excluded\n")),
            (".ignore", &format!("{nested}other\n")),
            (".gitignore", &format!("\u{feff}target/\n[\n{nested}secret\nout\n!out\n")),
            ("target/a", ""),
            ("secret", ""),
            ("excluded", ""),
            ("other", ""),
            ("out", ""),
            ("a", ""),
        ]);
        let (found, left_out) = found(&root);
        assert_eq!(found, ["a", "out"], "{left_out:?}");
        assert!(left_out.to_string().contains("3 ignore patterns"), "{left_out}");
    }

    /// Each is well by itself, and all are too much to be compiled together.
    #[test]
    fn patterns_that_are_too_much_together_are_compiled_apart() {
        let large = format!("{}b\n", "*".repeat(990)).repeat(123);
        let (_place, root) = folder(&[
            (".git/HEAD", ""),
            (".gitignore", &format!("target/\n{large}!ab\nsecret\n")),
            ("target/a", ""),
            ("secret", ""),
            ("a", ""),
            ("ab", ""),
        ]);
        let mut found = Vec::new();
        let mut walk = WorkspaceWalk::new(100, &|| true);
        walk.go(&root, &mut |path| {
            found.push(path.strip_prefix(&root).unwrap().to_owned());
            ControlFlow::Continue(())
        });
        assert_eq!(found, [Path::new("a"), Path::new("ab")]);
        assert!(walk.splits > 0);
        assert_eq!(walk.left_out, LeftOut::default());
    }

    #[test]
    fn of_too_many_patterns_the_first_are_followed() {
        let many = (0..IGNORE_PATTERNS).map(|number| format!("x{number}\n")).collect::<Vec<_>>().concat();
        let long = format!("# {}\n", "x".repeat(IGNORE_BYTES));
        let (_place, root) = folder(&[
            (".gitignore", &format!("target\n{many}")),
            ("target/a", ""),
            ("sub/.gitignore", &format!("out\n{long}")),
            ("sub/out/b", ""),
            ("sub/c", ""),
        ]);
        let (found, left_out) = found(&root);
        assert_eq!(found, ["sub/c"]);
        assert_eq!(left_out.ignore_files, 2, "{left_out}");
    }

    #[test]
    fn a_worktree_has_the_rules_of_its_repository() {
        let (_place, root) = folder(&[
            ("main/.git/info/exclude", "excluded\n"),
            ("main/.git/worktrees/w/commondir", "../..\n"),
            ("w/excluded", ""),
            ("w/a", ""),
            // That of a module has no other.
            ("main/.git/modules/m/info/exclude", "module\n"),
            ("w/m/.git", "gitdir: ../../main/.git/modules/m\n"),
            ("w/m/module", ""),
            ("w/m/excluded", ""),
        ]);
        fs::write(root.join("w/.git"), format!("gitdir: {}/main/.git/worktrees/w\n", root.display()))
            .unwrap();
        assert_eq!(
            found(&root.join("w")),
            (vec!["a".to_owned(), "m/excluded".to_owned()], LeftOut::default())
        );
    }

    #[test]
    fn a_repository_inside_has_its_own_rules() {
        let (_place, root) = folder(&[
            (".git/info/exclude", "outer\n"),
            (".gitignore", "*.log\n/gone/\n"),
            (".ignore", "other\n"),
            ("gone/.git/HEAD", ""),
            ("gone/a", ""),
            ("in/.git/info/exclude", "inner\n"),
            ("in/a.log", ""),
            ("in/outer", ""),
            ("in/sub/inner", ""),
            ("in/sub/b.log", ""),
            ("in/other", ""),
            ("inner", ""),
        ]);
        assert_eq!(found(&root).0, ["in/a.log", "in/outer", "in/sub/b.log", "inner"]);
    }

    /// It ends where it is told to though there is no file to visit, and does not compile patterns without end.
    #[test]
    fn a_walk_ends_when_it_is_told_and_compiles_only_so_much() {
        let many = (0..1000).map(|number| format!("x{number}\n")).collect::<Vec<_>>().concat();
        let (_place, root) = folder(&[]);
        for number in 0..25 {
            fs::create_dir(root.join(format!("{number:02}"))).unwrap();
            fs::write(root.join(format!("{number:02}/.gitignore")), &many).unwrap();
        }
        let asked = std::cell::Cell::new(0);
        let keep_going = || asked.replace(asked.get() + 1) < 10;
        let mut walk = WorkspaceWalk::new(100, &keep_going);
        walk.go(&root, &mut |_| ControlFlow::Continue(()));
        assert_eq!((asked.get(), walk.compiled), (11, 0));
        let mut walk = WorkspaceWalk::new(100, &|| true);
        walk.go(&root, &mut |_| ControlFlow::Continue(()));
        assert_eq!((walk.compiled, walk.left_out.ignore_files), (COMPILED, 5));
    }
}

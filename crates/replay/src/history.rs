//! Reads commits out of a git repository.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use gix::{ObjectId, Repository, bstr::BString, objs::tree::EntryMode};

use crate::{
    ReplayError,
    case::{ChangedFile, ContextFile, ReplayCase},
    chance::SeededChance,
    draft::FileDraft,
    paths,
};

/// Files of this length or more are left out.
const MAX_FILE: usize = 512 * 1024;
/// Commits with more files than this are left out.
const MAX_FILES: usize = 100;
/// Commits with fewer hunks have no half-done state, those with more are not made by hand.
const HUNKS: std::ops::RangeInclusive<usize> = 2..=500;
/// Files that are kept back to be opened at the end.
const UNTOUCHED: usize = 2;
/// How much of what was read from a repository is kept in memory, by each thread.
const CACHE: usize = 32 * 1024 * 1024;

/// A repository, and the commits that come into question.
pub(crate) struct CommitHistory {
    path: PathBuf,
    name: Arc<str>,
    commits: Vec<Commit>,
}

#[derive(Clone, Copy)]
struct Commit {
    id: ObjectId,
    parent: ObjectId,
}

/// A repository as one thread has it open.
pub(crate) struct HistoryReader(OnceCell<Repository>);

impl CommitHistory {
    /// Lists the commits that HEAD reaches and that have one parent, in the order in which they are tried.
    pub(crate) fn open(path: &Path, seed: u64) -> Result<Self, ReplayError> {
        let name = name_of(path);
        let failed =
            |error: gix::Error| ReplayError::Git { path: path.to_owned(), reason: error.to_string() };
        let repository = open(path)?;
        let head = repository.head_id().map_err(failed)?;
        let mut commits = Vec::new();
        for info in repository.rev_walk([head.detach()]).all().map_err(failed)? {
            let info = info.map_err(failed)?;
            if let [parent] = info.parent_ids[..] {
                commits.push(Commit { id: info.id, parent });
            }
        }
        // The walk may change its order with the version of the library.
        commits.sort_unstable_by_key(|commit| commit.id);
        SeededChance::for_name(seed, &name).shuffle(&mut commits);
        Ok(Self { path: path.to_owned(), name: name.into(), commits })
    }

    /// What it is called in reports.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// How many commits there are to try.
    pub(crate) fn len(&self) -> usize {
        self.commits.len()
    }

    /// The commit that is tried in this turn, if it can be replayed.
    pub(crate) fn case(&self, reader: &HistoryReader, turn: usize, seed: u64) -> Option<ReplayCase> {
        let repository = match reader.0.get() {
            Some(repository) => repository,
            None => reader.0.get_or_init(|| {
                let mut repository = open(&self.path).expect("it could be opened before");
                repository.object_cache_size(CACHE);
                repository
            }),
        };
        let commit = self.commits[turn];
        let loaded = load(repository, commit, seed).unwrap_or_else(|error| {
            // Clones may lack objects, by depth or by filter.
            tracing::debug!(repo = %self.name, commit = %commit.id, %error, "commit left out");
            None
        });
        let Loaded { files, context, untouched } = loaded?;
        Some(ReplayCase { repo: self.name.clone(), commit: commit.id.to_string(), files, context, untouched })
    }
}

impl HistoryReader {
    pub(crate) fn new() -> Self {
        Self(OnceCell::new())
    }
}

fn open(path: &Path) -> Result<Repository, ReplayError> {
    gix::open_opts(path, gix::open::Options::isolated())
        .map_err(|error| ReplayError::Git { path: path.to_owned(), reason: error.to_string() })
}

/// The last two parts of a path that say something: `owner+name` of a mirror, or the folder of a work tree.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut parts = whole.components().rev().map(|part| part.as_os_str().to_string_lossy());
    parts
        .find(|part| !matches!(&**part, "repo" | ".git" | "git" | "/"))
        .map_or_else(|| "repository".to_owned(), |part| part.trim_end_matches(".git").to_owned())
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

type ChangedAndAdded = (Vec<ChangedFile>, Vec<ContextFile>);

struct Loaded {
    files: Vec<ChangedFile>,
    context: Vec<ContextFile>,
    untouched: Vec<ContextFile>,
}

fn load(repository: &Repository, commit: Commit, seed: u64) -> Result<Option<Loaded>, Failed> {
    let tree = |id: ObjectId| -> Result<_, gix::Error> { repository.find_commit(id)?.tree() };
    let (before, after) = (tree(commit.parent)?, tree(commit.id)?);
    let mut recorder = gix::diff::tree::Recorder::default();
    gix::diff::tree(
        gix::objs::TreeRefIter::from_bytes(&before.data, before.id.kind()),
        gix::objs::TreeRefIter::from_bytes(&after.data, after.id.kind()),
        gix::diff::tree::State::default(),
        &repository.objects,
        &mut recorder,
    )?;
    let Some((files, added)) = changed_files(repository, recorder.records)? else { return Ok(None) };
    let mut chance = SeededChance::for_name(seed, &commit.id.to_string());
    let mut context = bystanders(repository, &before, &files, &mut chance)?;
    let untouched = context.split_off(files.len().min(context.len()));
    context.extend(added);
    Ok(Some(Loaded { files, context, untouched }))
}

/// The files a commit changes, in the order in which they are edited, and those that it adds; nothing if it is not a
/// commit to replay.
fn changed_files(
    repository: &Repository,
    records: Vec<gix::diff::tree::recorder::Change>,
) -> Result<Option<ChangedAndAdded>, gix::Error> {
    use gix::diff::tree::recorder::Change;
    let deleted: Vec<ObjectId> = records
        .iter()
        .filter_map(|change| match change {
            Change::Deletion { oid, entry_mode, .. } if entry_mode.is_blob() => Some(*oid),
            _ => None,
        })
        .collect();
    let (mut files, mut added) = (Vec::new(), Vec::new());
    for change in records {
        match change {
            Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
                let Some(path) = editable(&path, entry_mode) else { continue };
                if !previous_entry_mode.is_blob() || previous_oid == oid {
                    continue;
                }
                let (Some(before), Some(after)) = (text(repository, previous_oid)?, text(repository, oid)?)
                else {
                    continue;
                };
                files.push(ChangedFile { path, before, after });
            }
            Change::Addition { entry_mode, oid, path, .. } if !deleted.contains(&oid) => {
                let Some(path) = editable(&path, entry_mode) else { continue };
                added.extend(text(repository, oid)?.map(|text| ContextFile { path, text }));
            }
            Change::Addition { .. } | Change::Deletion { .. } => {}
        }
        if files.len() + added.len() > MAX_FILES {
            return Ok(None);
        }
    }
    let hunks: usize = files.iter().map(|file| FileDraft::new(file).places()).sum();
    files.sort_by(|a, b| (paths::turn(&a.path), &a.path).cmp(&(paths::turn(&b.path), &b.path)));
    Ok(HUNKS.contains(&hunks).then_some((files, added)))
}

/// As many other files of the tree as were changed and a few more, of the same languages where there are enough.
fn bystanders(
    repository: &Repository,
    tree: &gix::Tree<'_>,
    changed: &[ChangedFile],
    chance: &mut SeededChance,
) -> Result<Vec<ContextFile>, gix::Error> {
    let mut entries: Vec<(String, ObjectId)> = tree
        .traverse()
        .breadthfirst
        .files()?
        .into_iter()
        .filter_map(|entry| Some((editable(&entry.filepath, entry.mode)?, entry.oid)))
        .filter(|(path, _)| changed.iter().all(|file| file.path != *path))
        .collect();
    entries.sort_unstable();
    chance.shuffle(&mut entries);
    let languages: Vec<&str> = changed.iter().map(|file| paths::language(&file.path)).collect();
    entries.sort_by_key(|(path, _)| !languages.contains(&paths::language(path)));
    let mut found = Vec::new();
    for (path, id) in entries {
        if found.len() == changed.len() + UNTOUCHED {
            break;
        }
        found.extend(text(repository, id)?.map(|text| ContextFile { path, text }));
    }
    Ok(found)
}

/// The path of an ordinary file that people edit.
fn editable(path: &BString, mode: EntryMode) -> Option<String> {
    let path = std::str::from_utf8(path).ok()?;
    (mode.is_blob() && !paths::is_left_out(path)).then(|| path.to_owned())
}

/// The content of a file that is text, not too long and not written by a tool.
fn text(repository: &Repository, id: ObjectId) -> Result<Option<String>, gix::Error> {
    if repository.find_header(id)?.size() >= MAX_FILE as u64 {
        return Ok(None);
    }
    let data = repository.find_blob(id)?.take_data();
    let text = String::from_utf8(data).ok().filter(|text| !text.contains('\0'));
    Ok(text.filter(|text| !paths::is_generated(text)))
}

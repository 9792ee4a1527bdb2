//! The tool `search`.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use nudge_workspace::{SessionDirectories, WorkspacePath, blocking};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, files, here,
    lines::{self, FoundLine, SearchPattern},
    spec::{ToolInput, brief, flag_field, path_field, text_field},
    walk::{EntryKind, FolderWalk, WalkEntry, WalkReport, WalkTopic, on_one_line},
};
use crate::session::{Halt, ToolRun};

const MOST_MATCHES: usize = 200;
/// How long the answer may become.
const MOST_BYTES: usize = 128 * 1024;
/// How large a pattern may become.
const MOST_PATTERN: usize = 1024 * 1024;
/// How long it may take.
const MOST_TIME: Duration = Duration::from_secs(20);
/// No folder is deeper: its path would be too long.
const MOST_DEPTH: usize = 4096;

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SearchInput {
    pub(crate) pattern: String,
    #[serde(default = "here")]
    path: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
}

impl ToolInput for SearchInput {
    const NAME: &'static str = "search";
    const DESCRIPTION: &'static str = "Searches text files of any size for a pattern, line by line. Ignored files are left out; \
                               what else could not be searched is said at the end.";
    const KIND: &'static str = "search";
    const REQUIRED: &'static [&'static str] = &["pattern"];

    fn properties() -> Value {
        json!({
            "pattern": text_field("What to look for"),
            "path": path_field("Where to look"),
            "regex": flag_field("Whether the pattern is a regular expression"),
            "ignore_case": flag_field("Whether case does not matter"),
        })
    }

    fn title(&self) -> String {
        format!("Search for `{}`", brief(&self.pattern))
    }

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        run.begin().await?;
        let roots = run.directories();
        let stop = Stop(Arc::default());
        let stopped = Arc::clone(&stop.0);
        let outcome = blocking(move || matches(&roots, &self, &stopped).into()).await;
        drop(stop);
        Ok(outcome)
    }
}

/// Stops the thread when nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is found, and where the search is.
struct Hunt<'a> {
    roots: &'a SessionDirectories,
    pattern: SearchPattern,
    is_over: &'a dyn Fn() -> bool,
    found: Vec<String>,
    bytes: usize,
    /// How many files were searched.
    files: usize,
    /// How many files and folders were passed over because a rule says so.
    ignored: usize,
}

fn matches(roots: &SessionDirectories, search: &SearchInput, stopped: &AtomicBool) -> Result<String, String> {
    let place = roots.resolve(&search.path).map_err(|why| why.to_string())?;
    if !place.real().exists() {
        return Err("There is no such file or folder.".to_owned());
    }
    let pattern = pattern(search)?;
    let (began, is_late) = (Instant::now(), Cell::new(false));
    let is_over = || {
        is_late.set(is_late.get() || began.elapsed() > MOST_TIME);
        is_late.get() || stopped.load(Ordering::Relaxed)
    };
    let mut hunt =
        Hunt { roots, pattern, is_over: &is_over, found: Vec::new(), bytes: 0, files: 0, ignored: 0 };
    let report = if place.real().is_dir() { hunt.folder(&place)? } else { hunt.only_file(&place)? };
    Ok(hunt.answer(&report, is_late.get()))
}

fn pattern(search: &SearchInput) -> Result<SearchPattern, String> {
    if search.pattern.is_empty() {
        return Err("The pattern is empty.".to_owned());
    }
    let text = if search.regex { search.pattern.clone() } else { regex::escape(&search.pattern) };
    SearchPattern::new(&text, search.ignore_case, MOST_PATTERN).ok_or_else(|| {
        "The pattern is not a regular expression; leave out `regex` to search for it as it is.".to_owned()
    })
}

impl<'a> Hunt<'a> {
    fn folder(&mut self, place: &WorkspacePath) -> Result<WalkReport<'a>, String> {
        let walk = FolderWalk::new(self.roots, place.real(), MOST_DEPTH, self.is_over);
        let mut walk = walk.map_err(|why| files::tell_folder(&why))?;
        while let Some(WalkEntry { path, kind }) = walk.next() {
            let searched = match kind {
                EntryKind::Folder => Ok(()),
                EntryKind::File => match self.roots.place(&path) {
                    Some(place) => self.file(&place, &mut walk.report).map_err(|why| why.reason()),
                    None => Err("outside the session's directories".to_owned()),
                },
                EntryKind::Link => Err("links, which are not followed".to_owned()),
                EntryKind::Special => Err(files::ReadError::Special.reason()),
            };
            if let Err(why) = searched {
                walk.report.note(WalkTopic::LeftOut, &why, &path);
            }
            if self.is_full() {
                break;
            }
        }
        self.ignored = walk.ignored;
        Ok(walk.report)
    }

    /// A file that was asked for by name must be searched.
    fn only_file(&mut self, place: &WorkspacePath) -> Result<WalkReport<'a>, String> {
        let mut report = WalkReport::new(self.roots);
        self.file(place, &mut report).map_err(|why| why.to_string())?;
        Ok(report)
    }

    fn file(&mut self, place: &WorkspacePath, report: &mut WalkReport<'a>) -> Result<(), files::ReadError> {
        let file = nudge_workspace::files::open(place)?;
        self.files += 1;
        let told = on_one_line(&self.roots.tell(place.real()));
        let is_over = self.is_over;
        let (found, bytes) = (&mut self.found, &mut self.bytes);
        let seen = lines::search(file, &self.pattern, is_over, |FoundLine { line, text }| {
            let hit = format!("{told}:{line}: {text}");
            *bytes += hit.len();
            found.push(hit);
            found.len() <= MOST_MATCHES && *bytes <= MOST_BYTES
        })?;
        if seen.is_not_utf8 {
            report.note(WalkTopic::Roughly, "not UTF-8, so that signs were replaced", place.real());
        }
        if seen.has_long_lines {
            report.note(WalkTopic::Roughly, "lines of more than 1 MiB, looked at in pieces", place.real());
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.found.len() > MOST_MATCHES || self.bytes > MOST_BYTES
    }

    /// That nothing was found, and whether that is for want of looking.
    fn nothing(&self, report: &WalkReport<'_>) -> String {
        let nothing = match (self.files, report.is_empty(), self.ignored) {
            (_, true, 0) => "Nothing was found.",
            (0, true, _) => "No file was searched.",
            _ => "Nothing was found in what was searched.",
        };
        match self.ignored {
            0 => nothing.to_owned(),
            ignored => format!("{nothing} Files and folders that are ignored: {ignored}."),
        }
    }

    fn answer(mut self, report: &WalkReport<'_>, is_late: bool) -> String {
        if self.is_full() {
            self.found.truncate(MOST_MATCHES);
            self.found.push(format!("[only the first {} are shown]", self.found.len()));
        } else if is_late {
            let (seconds, files) = (MOST_TIME.as_secs(), self.files);
            self.found.push(format!(
                "[stopped after {seconds} seconds in file number {files}: there may be more; give a path further down]"
            ));
        }
        if self.found.is_empty() {
            self.found.push(self.nothing(report));
        }
        self.found.extend(report.lines());
        self.found.join("\n")
    }
}

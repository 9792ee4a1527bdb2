//! The tool `search`.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nudge_workspace::{Directories, blocking};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::{Outcome, files, here, list::walk};

const MOST_MATCHES: usize = 200;
const MOST_LINE: usize = 300;
/// Larger files are rarely written by people.
const MOST_FILE: u64 = 2 * 1024 * 1024;
/// How large a pattern may become.
const MOST_PATTERN: usize = 1024 * 1024;

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Search {
    pub(crate) pattern: String,
    #[serde(default = "here")]
    path: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
}

/// Stops the thread when nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) async fn run(roots: &Arc<Directories>, search: Search) -> Outcome {
    let roots = Arc::clone(roots);
    let stop = Stop(Arc::default());
    let stopped = Arc::clone(&stop.0);
    let outcome = blocking(move || matches(&roots, &search, &stopped).into()).await;
    drop(stop);
    outcome
}

fn matches(roots: &Directories, search: &Search, stopped: &AtomicBool) -> Result<String, String> {
    let place = roots.resolve(&search.path).map_err(|why| why.to_string())?;
    if !place.real().exists() {
        return Err("There is no such file or folder.".to_owned());
    }
    let pattern = pattern(search)?;
    let mut found = Vec::new();
    for entry in walk(place.real()).max_filesize(Some(MOST_FILE)).build().flatten() {
        if stopped.load(Ordering::Relaxed) || found.len() > MOST_MATCHES {
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            search_file(roots, entry.path(), &pattern, &mut found);
        }
    }
    if found.is_empty() {
        return Ok("Nothing was found.".to_owned());
    }
    if found.len() > MOST_MATCHES {
        found.truncate(MOST_MATCHES);
        found.push(format!("[only the first {MOST_MATCHES} are shown]"));
    }
    Ok(found.join("\n"))
}

fn pattern(search: &Search) -> Result<Regex, String> {
    if search.pattern.is_empty() {
        return Err("The pattern is empty.".to_owned());
    }
    let text = if search.regex { search.pattern.clone() } else { regex::escape(&search.pattern) };
    let built =
        RegexBuilder::new(&text).case_insensitive(search.ignore_case).size_limit(MOST_PATTERN).build();
    built.map_err(|_| {
        "The pattern is not a regular expression; leave out `regex` to search for it as it is.".to_owned()
    })
}

/// Files that are no text are passed over.
fn search_file(roots: &Directories, path: &Path, pattern: &Regex, found: &mut Vec<String>) {
    let Some(Ok(text)) = roots.place(path).map(|place| files::read(&place)) else { return };
    let mut told = None;
    for (number, line) in (1..).zip(text.lines()) {
        if pattern.is_match(line) {
            let path = told.get_or_insert_with(|| roots.tell(path));
            let shown = &line[..line.floor_char_boundary(MOST_LINE)];
            found.push(format!("{path}:{number}: {}", shown.trim_end()));
        }
        if found.len() > MOST_MATCHES {
            return;
        }
    }
}

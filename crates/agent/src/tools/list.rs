//! The tool `list`.

use std::sync::Arc;

use ignore::WalkBuilder;
use nudge_workspace::{Directories, blocking};
use serde::Deserialize;

use super::{Outcome, here, number};

const MOST_ENTRIES: usize = 500;
const MOST_DEPTH: u32 = 10;

/// The input.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct List {
    #[serde(default = "here")]
    pub(crate) path: String,
    /// How many folders deep; one is the folder itself.
    #[serde(default, deserialize_with = "number")]
    depth: Option<u32>,
}

pub(crate) async fn run(roots: &Arc<Directories>, list: List) -> Outcome {
    let roots = Arc::clone(roots);
    blocking(move || entries(&roots, &list).into()).await
}

fn entries(roots: &Directories, list: &List) -> Result<String, String> {
    let place = roots.resolve(&list.path).map_err(|why| why.to_string())?;
    if !place.real().is_dir() {
        return Err("There is no such folder.".to_owned());
    }
    let depth = list.depth.unwrap_or(1).clamp(1, MOST_DEPTH) as usize;
    let mut lines = Vec::new();
    for entry in walk(place.real()).max_depth(Some(depth)).build().flatten().skip(1) {
        if lines.len() == MOST_ENTRIES {
            lines.push(format!("[only the first {MOST_ENTRIES} are shown]"));
            break;
        }
        let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
        lines.push(format!("{}{slash}", roots.tell(entry.path())));
    }
    if lines.is_empty() {
        return Ok("The folder is empty.".to_owned());
    }
    Ok(lines.join("\n"))
}

/// A walk that respects ignore rules and does not follow links.
pub(super) fn walk(folder: &std::path::Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(false).require_git(false).sort_by_file_name(Ord::cmp);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    walk
}

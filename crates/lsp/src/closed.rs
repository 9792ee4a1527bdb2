//! Documents that are not open: read from disk for what is suggested about them, and only below a folder of the workspace.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use async_lsp::lsp_types::Url;
use nudge_text::Text;

use crate::{
    session::LspSession,
    suggest::{LspSuggestion, SuggestionAction},
};

/// The longest file that is read.
const FILE_BYTES: usize = 4 * 1024 * 1024;

/// The texts of documents that are not open, by their address.
#[derive(Debug, Default)]
pub(crate) struct UnopenedTexts(HashMap<String, Text>);

impl UnopenedTexts {
    /// Reads what these suggestions are about, as far as it has to be looked at and may be.
    pub(crate) async fn read(lsp: &LspSession, suggestions: &[LspSuggestion]) -> Self {
        let (wanted, folders) = {
            let inner = lsp.lock();
            let is_wanted = |suggestion: &&LspSuggestion| {
                matches!(suggestion.act, SuggestionAction::Replace { .. })
                    && inner.mirror.get(&suggestion.uri).is_none()
            };
            let wanted: Vec<_> =
                suggestions.iter().filter(is_wanted).map(|suggestion| suggestion.uri.clone()).collect();
            let folders = inner.editor.folders.iter().map(|folder| folder.uri.clone()).collect::<Vec<_>>();
            (wanted, folders)
        };
        if wanted.is_empty() {
            return Self::default();
        }
        let read = move || {
            let text = |uri: String| text(&uri, &folders).map(|text| (uri, text));
            Self(wanted.into_iter().filter_map(text).collect())
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }

    pub(crate) fn get(&self, uri: &str) -> Option<&Text> {
        self.0.get(uri)
    }
}

/// The text of a file that lies below one of the folders, also after following links.
fn text(uri: &str, folders: &[String]) -> Option<Text> {
    let path = real(uri)?;
    let is_below = |folder: &String| real(folder).is_some_and(|folder| path.starts_with(folder));
    if !folders.iter().any(is_below) {
        return None;
    }
    let about = fs::metadata(&path).ok()?;
    let is_short = about.is_file() && about.len() <= FILE_BYTES as u64;
    is_short.then(|| content(&path)).flatten()
}

fn real(uri: &str) -> Option<PathBuf> {
    fs::canonicalize(Url::parse(uri).ok()?.to_file_path().ok()?).ok()
}

fn content(path: &Path) -> Option<Text> {
    let mut bytes = Vec::new();
    // It may have grown since it was looked at.
    File::open(path).ok()?.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= FILE_BYTES)?;
    Some(Text::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_below_a_folder_are_read() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("w ö"), place.path().join("w ö2"));
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a.rs"), "fn a() {}\n").unwrap();
        }
        std::os::unix::fs::symlink(outside.join("a.rs"), inside.join("out.rs")).unwrap();
        std::os::unix::fs::symlink(inside.join("a.rs"), inside.join("in.rs")).unwrap();
        fs::write(inside.join("long"), vec![b'x'; FILE_BYTES + 1]).unwrap();
        fs::write(inside.join("bytes"), [0xff]).unwrap();
        let uri = |path: &Path| Url::from_file_path(path).unwrap().to_string();
        let folders = [uri(&inside)];
        let is_read = |path: PathBuf| text(&uri(&path), &folders).is_some();
        for (name, expected) in [
            ("a.rs", true),
            ("in.rs", true),
            ("../w ö2/../w ö/a.rs", true),
            ("out.rs", false),
            ("../w ö2/a.rs", false),
            ("long", false),
            ("bytes", false),
            ("missing.rs", false),
            ("", false),
        ] {
            assert_eq!(is_read(inside.join(name)), expected, "{name}");
        }
        assert_eq!(text("untitled:1", &folders), None);
        assert_eq!(text(&uri(&inside.join("a.rs")), &[]), None);
    }
}

//! The files of a folder that can be named in a message.

use std::path::Path;

/// How many are found at the most, and how deep they are looked for.
const MOST: usize = 20_000;
const DEEPEST: usize = 24;

/// Files below a folder as git would see them, by their path from it.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder)
        .max_depth(Some(DEEPEST))
        .require_git(false)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(folder).ok()?.to_str()?;
        let is_plain = !path.chars().any(|c| c.is_whitespace() || c.is_control());
        is_plain.then(|| path.to_owned())
    });
    names.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_as_git_sees_them() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
            std::fs::write(path, text).expect("it can be written");
        };
        write("src/main.rs", "");
        write("out/made", "");
        write(".gitignore", "out/\n");
        write("with blank", "");
        write(".github/check.yml", "");
        write(".git/config", "");
        let mut found = files_below(folder.path());
        found.sort();
        assert_eq!(found, [".github/check.yml", ".gitignore", "src/main.rs"]);
    }
}

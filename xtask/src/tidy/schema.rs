//! The schemas in `spec/` are those of the types.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::{Problem, Tree};

const FOLDER: &str = "spec/schema/";
const REMEDY: &str = "run `cargo xtask tidy --fix`";

/// Compares `spec/` with the generated `files`: their paths below `spec/` and their texts.
pub(crate) fn check(tree: &Tree, files: &[(String, String)]) -> Vec<Problem> {
    let differing = files.iter().filter_map(|(path, generated)| {
        let path = format!("spec/{path}");
        let what = match tree.text(&path) {
            None => "the file is missing",
            Some(text) if text != generated => "the file is not what the types say",
            Some(_) => return None,
        };
        Some(Problem::new(path, what, REMEDY))
    });
    let is_generated = |file: &str| files.iter().any(|(path, _)| file.strip_prefix("spec/") == Some(path));
    let stale = tree.below(FOLDER).filter(|(file, _)| !is_generated(file)).map(|(file, _)| {
        Problem::new(
            file,
            "no type makes this file",
            "delete it, or have `nudge_wire::schema::files` make it",
        )
    });
    differing.chain(stale).collect()
}

/// Writes the generated files.
pub(crate) fn write(root: &Path) -> Result<()> {
    for (path, text) in nudge_wire::schema::files() {
        let path = root.join("spec").join(path);
        fs::create_dir_all(path.parent().context("a schema is in a folder")?)?;
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_a_problem() {
        let files = [("schema/a.json", "{}\n"), ("schema/b.json", "[]\n")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let current = Tree::from([("spec/schema/a.json", "{}\n"), ("spec/schema/b.json", "[]\n")]);
        assert_eq!(check(&current, &files), []);
        let drifted = Tree::from([("spec/schema/a.json", "{ }\n"), ("spec/schema/c.json", "1\n")]);
        let problems: Vec<_> = check(&drifted, &files).into_iter().map(|one| (one.place, one.what)).collect();
        let expected = [
            ("spec/schema/a.json", "the file is not what the types say"),
            ("spec/schema/b.json", "the file is missing"),
            ("spec/schema/c.json", "no type makes this file"),
        ];
        assert_eq!(problems, expected.map(|(place, what)| (place.to_owned(), what.to_owned())));
    }
}

//! What no file may contain, and how long a source file may be.

use std::path::Path;

use super::{Problem, Tree, tree::is};

/// Past this a file has become several.
const MAX_LINES: usize = 600;

/// Macros that say a thing is not done. Spelled in two parts so that this file does not contain them.
const UNFINISHED: [&str; 3] = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];

/// Where people's homes are; the golden messages are all about one who does not exist.
const HOMES: &str = concat!("/ho", "me/");
const NOBODY: &str = "ada/";
const ROOT_HOME: &str = concat!("/ro", "ot/");

/// Paths of this machine: the checkout and the user's home.
pub(crate) fn own_paths(root: &Path) -> Vec<String> {
    let paths = [Some(root.to_owned()), std::env::home_dir()].into_iter().flatten();
    // A folder right below `/` is too common a word: `/src/` is part of many honest paths.
    let paths = paths.filter(|path| path.components().count() > 2);
    paths.filter_map(|path| path.to_str().map(|path| format!("{path}/"))).collect()
}

pub(crate) fn check(tree: &Tree, own_paths: &[String]) -> Vec<Problem> {
    tree.texts().flat_map(|(path, text)| check_file(path, text, own_paths)).collect()
}

fn check_file(path: &str, text: &str, own_paths: &[String]) -> Vec<Problem> {
    let is_rust = is(path, "rs");
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", number + 1);
        if let Some(found) = machine_path(line, own_paths) {
            let what = format!("names a folder of one machine, `{found}`");
            problems.push(Problem::new(&place, what, "use a relative path, or one that exists nowhere"));
        }
        for found in UNFINISHED.iter().filter(|found| is_rust && line.contains(*found)) {
            let what = format!("`{})` is left over", found.trim_end_matches('('));
            problems.push(Problem::new(&place, what, "finish it or take it out"));
        }
    }
    let lines = text.lines().count();
    if is_rust && lines > MAX_LINES {
        let what = format!("{lines} lines are more than {MAX_LINES}");
        problems.push(Problem::new(path, what, "split it where it changes its subject"));
    }
    problems
}

/// The beginning of a path that exists on one machine only.
fn machine_path<'a>(line: &str, own_paths: &'a [String]) -> Option<&'a str> {
    let in_home = line.match_indices(HOMES).any(|(at, _)| {
        let user = &line[at + HOMES.len()..];
        user.starts_with(|c: char| c.is_alphanumeric()) && !user.starts_with(NOBODY)
    });
    if in_home {
        return Some(HOMES);
    }
    if line.contains(ROOT_HOME) {
        return Some(ROOT_HOME);
    }
    own_paths.iter().map(String::as_str).find(|path| line.contains(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let own = ["/srv/checkout/".to_owned()];
        check(&Tree::from([(path, text)]), &own)
            .iter()
            .map(|one| format!("{}: {}", one.place, one.what))
            .collect()
    }

    #[test]
    fn paths_of_a_machine_are_problems() {
        let bob = format!("file://{HOMES}bob/x");
        assert_eq!(
            problems("a.md", &format!("ok\n{bob}")),
            [format!("a.md:2: names a folder of one machine, `{HOMES}`")]
        );
        assert_eq!(problems("a.md", &format!("{ROOT_HOME}x")).len(), 1);
        assert_eq!(problems("a.sh", "cd /srv/checkout/xtask").len(), 1);
        assert!(problems("a.json", &format!("file://{HOMES}ada/x {HOMES}\u{2026} /srv/other")).is_empty());
    }

    #[test]
    fn unfinished_code_is_a_problem() {
        let line = format!("    {})", UNFINISHED[0]);
        assert_eq!(problems("a.rs", &line), [format!("a.rs:1: `{})` is left over", "todo!")]);
        assert!(problems("a.md", &line).is_empty());
        assert_eq!(problems("a.rs", &UNFINISHED.concat()).len(), 3);
    }

    #[test]
    fn long_files_are_problems() {
        assert!(problems("a.rs", &"x\n".repeat(MAX_LINES)).is_empty());
        assert_eq!(problems("a.rs", &"x\n".repeat(MAX_LINES + 1)), ["a.rs: 601 lines are more than 600"]);
        assert!(problems("a.json", &"x\n".repeat(MAX_LINES + 1)).is_empty());
    }
}

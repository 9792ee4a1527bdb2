//! What compilers and linters say, and what they want.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What to do about a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fix {
    /// Put another name in the place of this one, or of whatever the diagnostic marks.
    Rename { name: Option<String>, to: String },
    /// Import the name, or put a similar one in its place.
    Unknown(String),
    /// Import this path.
    Import(String),
    /// Take the names out of the imports.
    Unimport(Vec<String>),
    /// Mark a variable as unused.
    Unused(String),
    /// Give an initializer these fields.
    Fields(Vec<String>),
    /// Give a match these patterns.
    Arms(Vec<String>),
    /// Make a variable mutable.
    Mutable(String),
    /// Take `mut` away.
    Immutable,
    /// End the statement.
    Semicolon,
    /// Compare with `is`.
    IsNone,
}

type Make = fn(&Captures<'_>) -> Fix;

/// Patterns in the order in which they are tried. Each has an example of the tool's words in the tests.
const TABLE: &[(&str, Make)] = &[
    // rustc, rust-analyzer
    (r"(?s)`(?<name>\w+)`.* similar name exists[^`]*`(?<to>\w+)`", rename),
    (
        r"(?s)no (?:method|field|variant|associated|function)[^`]*`(?<name>\w+)`.*(?:there is|a field|similar name)[^`]*`(?<to>\w+)`",
        rename,
    ),
    (r"(?s)(?:consider importing|help: import)[^`]*`?use (?<name>[\w:]+);", import),
    (r"(?s)unused imports?: (?<names>.+)", unimport),
    (r"unused variable: `(?<name>\w+)`", unused),
    (r"missing fields? (?<names>`.+) in initializer", fields),
    (r"(?s)missing structure fields:(?<names>.+)", fields),
    (r"(?s)(?:missing match arm|non-exhaustive patterns): (?<names>`.+`) not covered", arms),
    (r"expected (?:one of .*)?`;`", |_| Fix::Semicolon),
    (r"cannot borrow `(?<name>\w+)`.* not declared as mutable", mutable),
    (r"cannot assign twice to immutable variable `(?<name>\w+)`", mutable),
    (r"variable does not need to be mutable", |_| Fix::Immutable),
    (r"cannot find [\w ,]+ `(?<name>\w+)`", unknown),
    (r"use of (?:undeclared|unresolved) [\w ]+ `(?<name>\w+)`", unknown),
    // tsc
    (r"has no exported member (?:named )?'(?<name>\w+)'. Did you mean '(?<to>\w+)'\?", rename),
    (r"Cannot find name '(?<name>\w+)'. Did you mean (?:the \w+ member )?'(?<to>[\w.]+)'\?", rename),
    (r"Property '(?<name>\w+)' does not exist on type '.*'. Did you mean '(?<to>\w+)'\?", rename),
    (r"^'(?<names>\w+)' is (?:declared but|defined but) (?:its value is )?never (?:read|used)", unimport),
    (r"Cannot find name '(?<name>\w+)'", unknown),
    // pyright, ruff, flake8
    (r#"^"(?<name>\w+)" is not defined"#, unknown),
    (r"(?i)undefined name [`'](?<name>\w+)[`']", unknown),
    (r"[`'](?<names>[\w.]+)[`'] imported but unused", unimport),
    (r#"Import "(?<names>[\w.]+)" is not accessed"#, unimport),
    (r"(?i)comparison to `?None`?", |_| Fix::IsNone),
    // gopls, go vet
    (r#""(?<names>[\w./-]+)" imported and not used"#, unimport),
    (r"declared and not used: (?<name>\w+)", unused),
    (r"(?<name>\w+) declared (?:and|but) not used", unused),
    (r"undefined: (?<name>\w+)", unknown),
    // clang, gcc
    (r"[‘'](?<name>\w+)[’'].*; did you mean [‘'](?<to>\w+)[’']", rename),
    (r"expected [‘'];[’']", |_| Fix::Semicolon),
    (r"use of undeclared identifier '(?<name>\w+)'", unknown),
    (r"‘(?<name>\w+)’ was not declared in this scope", unknown),
    // javac, jdt, csc
    (r"(?s)cannot find symbol.*symbol:\s+\w+ (?<name>\w+)", unknown),
    (r"^(?<name>\w+) cannot be resolved", unknown),
    (r"The name '(?<name>\w+)' does not exist in the current context", unknown),
    (r"The type or namespace name '(?<name>\w+)'", unknown),
    // anybody
    (r#"(?i)did you mean:? [`'"‘](?<to>\w+)[`'"’]"#, rename),
];

static PATTERNS: LazyLock<Vec<(Regex, Make)>> = LazyLock::new(|| {
    TABLE.iter().filter_map(|(pattern, make)| Regex::new(pattern).ok().map(|regex| (regex, *make))).collect()
});

/// What a message asks for, if it is understood.
pub(super) fn fix(message: &str) -> Option<Fix> {
    PATTERNS.iter().find_map(|(regex, make)| regex.captures(message).map(|captures| make(&captures)))
}

fn group(captures: &Captures<'_>, name: &str) -> String {
    captures.name(name).map(|found| found.as_str().to_owned()).unwrap_or_default()
}

fn rename(captures: &Captures<'_>) -> Fix {
    Fix::Rename {
        name: captures.name("name").map(|name| name.as_str().to_owned()),
        to: group(captures, "to"),
    }
}

fn unknown(captures: &Captures<'_>) -> Fix {
    Fix::Unknown(group(captures, "name"))
}

fn import(captures: &Captures<'_>) -> Fix {
    Fix::Import(group(captures, "name"))
}

fn unused(captures: &Captures<'_>) -> Fix {
    Fix::Unused(group(captures, "name"))
}

fn mutable(captures: &Captures<'_>) -> Fix {
    Fix::Mutable(group(captures, "name"))
}

fn unimport(captures: &Captures<'_>) -> Fix {
    Fix::Unimport(listed(&group(captures, "names")))
}

fn fields(captures: &Captures<'_>) -> Fix {
    Fix::Fields(listed(&group(captures, "names")))
}

fn arms(captures: &Captures<'_>) -> Fix {
    Fix::Arms(listed(&group(captures, "names")))
}

/// What is between backticks, or after dashes, or the whole if there are none.
fn listed(names: &str) -> Vec<String> {
    let quoted: Vec<String> = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let dashed: Vec<String> =
        names.lines().filter_map(|line| line.trim().strip_prefix("- ")).map(str::to_owned).collect();
    if dashed.is_empty() { vec![names.trim().to_owned()] } else { dashed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!(PATTERNS.len(), TABLE.len());
    }
}

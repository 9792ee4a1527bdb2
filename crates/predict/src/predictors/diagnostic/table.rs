//! What compilers and linters say, and what they want.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What to do about a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiagnosticFix {
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
    /// Give a switch this value.
    Case(String),
    /// Make a variable mutable.
    Mutable(String),
    /// Take `mut` away.
    Immutable,
    /// End the statement.
    Semicolon,
    /// Compare with `is`.
    IsNone,
    /// Put another name in the place of this one, which is that of a member.
    Member(String),
    /// Put this name in the place of one in what is marked.
    Instead { to: String, is_end: bool },
    /// Take the marked statement away.
    Statement,
    /// Take the name of what is caught away.
    Uncaught(String),
    /// Take the declaration of a variable away.
    Undeclared(String),
    /// Take the marked argument away.
    ExtraArgument,
    /// Pass one more argument.
    Argument,
    /// Take away what is around.
    Unwrapped,
    /// Take a `&` away.
    Unborrowed,
    /// Take `return` away.
    Unreturned,
    /// Put a word before.
    Preceded(&'static str),
    /// Say that there are no parameters.
    WithoutParameters,
    /// Give a variable a first value.
    Initial(String),
    /// Make a value of the type that is wanted from the one that is found.
    Converted { wanted: String, found: String },
    /// Declare a constant as a variable.
    Variable(String),
    /// Wait for a value: for the one that has this member, or for the marked one.
    Awaited(Option<String>),
    /// Put a colon at the end of the line.
    Colon,
    /// Take away what says that a string has values in it.
    PlainString,
}

type Make = fn(&Captures<'_>) -> DiagnosticFix;

/// Patterns in the order in which they are tried; the next one where one leads to nothing.
const TABLE: &[(&str, Make)] = &[
    // rustc, rust-analyzer
    (r"(?s)`(?<name>\w+)`.* similar name exists[^`]*`(?<to>\w+)`", rename),
    (
        r"(?s)no (?:method|field|variant|associated|function)[^`]*`(?<name>\w+)`.*(?:there is|a field|similar name)[^`]*`(?<to>\w+)`",
        rename,
    ),
    (r"no (?:method|field|variant|associated|function)[^`]*`(?<name>\w+)`", member),
    (r"has no field named `(?<name>\w+)`", member),
    (r"(?s)(?:consider importing|help: import)[^`]*`?use (?<name>[\w:]+);", import),
    (r"(?s)unused imports?: (?<names>.+)", unimport),
    (r"unused variable: `(?<name>\w+)`", unused),
    (r"missing fields? (?<names>`.+) in initializer", fields),
    (r"(?s)missing structure fields:(?<names>.+)", fields),
    (r"(?s)(?:missing match arm|non-exhaustive patterns): (?<names>`.+`) not covered", arms),
    (r"expected (?:one of .*)?`;`", |_| DiagnosticFix::Semicolon),
    (r"cannot borrow `(?<name>\w+)`.* not declared as mutable", mutable),
    (r"cannot assign twice to immutable variable `(?<name>\w+)`", mutable),
    (r"variable does not need to be mutable", |_| DiagnosticFix::Immutable),
    (r"cannot find [\w ,]+ `(?<name>\w+)`", unknown),
    (r"use of (?:undeclared|unresolved) [\w ]+ `(?<name>\w+)`", unknown),
    (
        r"(?s)mismatched types.*expected (?:struct )?`(?<wanted>[^`]+)`, found (?:struct )?`(?<found>[^`]+)`",
        converted,
    ),
    (r"takes (?<wanted>\d+) arguments? but (?<given>\d+) arguments? w(?:as|ere) supplied", arguments),
    (r"unneeded `return` statement", |_| DiagnosticFix::Unreturned),
    (r"consider removing the borrow", |_| DiagnosticFix::Unborrowed),
    (r"use `(?<path>(?:\w+::)*)(?<to>\w+)` instead", instead),
    // tsc
    (r"(?s)Property '(?<name>\w+)' does not exist on type 'Promise<.*Did you forget to use 'await'", awaited),
    (r"Did you forget to use 'await'", awaited),
    (r"Cannot assign to '(?<name>\w+)' because it is a constant", variable),
    (r"^'(?<name>\w+)' is constant", variable),
    (r"has no exported member (?:named )?'(?<name>\w+)'. Did you mean '(?<to>\w+)'\?", rename),
    (r"Cannot find name '(?<name>\w+)'. Did you mean (?:the \w+ member )?'(?<to>[\w.]+)'\?", rename),
    (r"Property '(?<name>\w+)' does not exist on type '.*'. Did you mean '(?<to>\w+)'\?", rename),
    (r"^'(?<names>\w+)' is (?:declared but|defined but) (?:its value is )?never (?:read|used)", unimport),
    (r"Cannot find name '(?<name>\w+)'", unknown),
    (r"Property '(?<name>\w+)' does not exist on type", member),
    (r"'(?<name>\w+)' does not exist in type", member),
    (r"All imports in import declaration are unused", |_| DiagnosticFix::Statement),
    (r"Expected (?<wanted>\d+) arguments?, but got (?<given>\d+)", arguments),
    (r"must be imported using a type-only import", |_| DiagnosticFix::Preceded("type ")),
    // pyright, ruff, flake8
    (r#"^"(?<name>\w+)" is not defined"#, unknown),
    (r"(?i)undefined name [`'](?<name>\w+)[`']", unknown),
    (r#"Cannot access attribute "(?<name>\w+)" for"#, member),
    (r"[`'](?<names>[\w.]+)[`'] imported but unused", unimport),
    (r"(?i)local variable [`'](?<name>\w+)[`'] is assigned to but never used", uncaught),
    (r#"Import "(?<names>[\w.]+)" is not accessed"#, unimport),
    (r"(?i)comparison to `?None`?", |_| DiagnosticFix::IsNone),
    (r#"(?i)\bexpected ["'`]:["'`]"#, |_| DiagnosticFix::Colon),
    (r"(?i)f-string (?:without any|is missing) placeholders", |_| DiagnosticFix::PlainString),
    // gopls, go vet
    (r#""(?<names>[\w./-]+)" imported (?:and|but) not used"#, unimport),
    (r"declared and not used: (?<name>\w+)", unused),
    (r"(?<name>\w+) declared (?:and|but) not used", unused),
    (r"undefined: (?:\w+\.)?(?<name>\w+) \(but have (?:\w+ )?(?<to>\w+)\)", rename),
    (r"has no field or method (?<name>\w+), but does have (?:\w+ )?(?<to>\w+)\)", rename),
    (r"undefined: \w+\.(?<name>\w+)", member),
    (r"(?:undefined|undeclared name): (?<name>\w+)(?:[^\w.]|$)", unknown),
    (r"has no field or method (?<name>\w+)", member),
    (r"unknown field '?(?<name>\w+)'? in struct literal", member),
    (r"too many arguments in call", |_| DiagnosticFix::ExtraArgument),
    (r"not enough arguments in call", |_| DiagnosticFix::Argument),
    (r"(?<name>\w+) call has possible (?:Printf )?formatting directive", formatting),
    // clang, gcc
    (r"[‘'](?<name>\w+)[’'].*; did you mean [‘'](?<to>\w+)[’']", rename),
    (r"expected [‘'];[’']", |_| DiagnosticFix::Semicolon),
    (r"(?i)use of undeclared identifier '(?<name>\w+)'", unknown),
    (r"no (?:template|type|member) named '(?<name>\w+)' in namespace 'std'", unknown),
    (r"(?i)no member named [‘'](?<name>\w+)[’']", member),
    (r"(?i)implicit declaration of function [‘'](?<name>\w+)[’']", member),
    (r"(?i)unused variable [‘'](?<name>\w+)[’']", undeclared),
    (r"(?i)[‘'](?<name>\w+)[’'] (?:may be|is) used uninitialized", initial),
    (
        r"(?i)function (?:declaration (?:is not|isn[’']t|without)|definition is not preceded by) a prototype",
        |_| DiagnosticFix::WithoutParameters,
    ),
    (r"too few arguments to function", |_| DiagnosticFix::Argument),
    (r"(?i)enumeration value [‘'](?<name>\w+)[’'] not handled in switch", case),
    (r"‘(?<name>\w+)’ was not declared in this scope", unknown),
    // javac, jdt, csc
    (r"(?s)cannot find symbol.*symbol:\s+\w+ (?<name>\w+)", unknown),
    (r"^(?<name>\w+) cannot be resolved", unknown),
    (r"^'?;'? expected", |_| DiagnosticFix::Semicolon),
    (r#"insert ";" to complete"#, |_| DiagnosticFix::Semicolon),
    (r"The name '(?<name>\w+)' does not exist in the current context", unknown),
    (r"The type or namespace name '(?<name>\w+)'", unknown),
    // anybody
    (r"(?i)(?:unnecessary|redundant|extraneous|remove) (?:braces|parenthes[ei]s|quotes)", |_| {
        DiagnosticFix::Unwrapped
    }),
    (r#"(?i)did you mean:? [`'"‘](?<to>\w+)[`'"’]"#, rename),
];

static PATTERNS: LazyLock<Vec<(Regex, Make)>> = LazyLock::new(|| {
    TABLE.iter().filter_map(|(pattern, make)| Regex::new(pattern).ok().map(|regex| (regex, *make))).collect()
});

/// What a message may ask for, as far as it is understood.
pub(super) fn fixes(message: &str) -> impl Iterator<Item = DiagnosticFix> {
    PATTERNS.iter().filter_map(move |(regex, make)| regex.captures(message).map(|captures| make(&captures)))
}

fn group(captures: &Captures<'_>, name: &str) -> String {
    captures.name(name).map(|found| found.as_str().to_owned()).unwrap_or_default()
}

fn rename(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Rename {
        name: captures.name("name").map(|name| name.as_str().to_owned()),
        to: group(captures, "to"),
    }
}

fn unknown(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Unknown(group(captures, "name"))
}

fn import(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Import(group(captures, "name"))
}

fn unused(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Unused(group(captures, "name"))
}

fn case(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Case(group(captures, "name"))
}

fn mutable(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Mutable(group(captures, "name"))
}

fn member(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Member(group(captures, "name"))
}

fn instead(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Instead { to: group(captures, "to"), is_end: !captures["path"].is_empty() }
}

/// One more argument is wanted, or fewer.
fn arguments(captures: &Captures<'_>) -> DiagnosticFix {
    let number = |name| group(captures, name).parse::<usize>().unwrap_or_default();
    if number("given") < number("wanted") { DiagnosticFix::Argument } else { DiagnosticFix::ExtraArgument }
}

fn uncaught(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Uncaught(group(captures, "name"))
}

fn undeclared(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Undeclared(group(captures, "name"))
}

fn initial(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Initial(group(captures, "name"))
}

fn converted(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Converted { wanted: group(captures, "wanted"), found: group(captures, "found") }
}

fn variable(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Variable(group(captures, "name"))
}

fn awaited(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Awaited(captures.name("name").map(|name| name.as_str().to_owned()))
}

/// `Print` and `Println` become `Printf`.
fn formatting(captures: &Captures<'_>) -> DiagnosticFix {
    let name = group(captures, "name");
    let to = format!("{}f", name.strip_suffix("ln").unwrap_or(&name));
    DiagnosticFix::Rename { name: Some(name), to }
}

fn unimport(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Unimport(listed(&group(captures, "names")))
}

fn fields(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Fields(listed(&group(captures, "names")))
}

fn arms(captures: &Captures<'_>) -> DiagnosticFix {
    DiagnosticFix::Arms(listed(&group(captures, "names")))
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

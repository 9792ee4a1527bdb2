//! How the command of a terminal is run and told.

use std::{borrow::Cow, path::Path};

use nudge_process::ProcessCommand;

/// The command to run. Many agents give a line for a shell and no arguments, so that a command without arguments is one,
/// unless it is the path of a file.
pub(crate) fn command(program: &str, args: &[String], folder: &Path) -> ProcessCommand {
    if args.is_empty() && !is_file(program, folder) {
        return ProcessCommand::new("sh").args(["-c", program]);
    }
    ProcessCommand::new(program).args(args)
}

/// The command as one would type it.
pub(crate) fn command_line(program: &str, args: &[String], folder: &Path) -> String {
    if args.is_empty() && !is_file(program, folder) {
        return program.to_owned();
    }
    let words = std::iter::once(program).chain(args.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

fn is_file(program: &str, folder: &Path) -> bool {
    program.contains('/') && folder.join(program).is_file()
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_as_one_would_type_it() {
        let check = |words: &[&str], expected: &str| {
            let args: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
            assert_eq!(command_line(words[0], &args, Path::new("/")), expected);
        };
        check(&["npm test && echo ok"], "npm test && echo ok");
        check(&["npm", "test", "--filter=a/b"], "npm test --filter=a/b");
        check(&["git", "commit", "-m", "it's done", ""], r"git commit -m 'it'\''s done' ''");
        check(&["/a folder/x", "y"], "'/a folder/x' y");
    }
}

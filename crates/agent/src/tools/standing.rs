//! What a standing permission for a command line covers.
//!
//! A permission that stands must not cover what the user did not have in mind: another program behind the one that was
//! named, another subcommand, another machine, an option that makes the program run or overwrite something else, a file
//! elsewhere. So it is for a subcommand of a program whose subcommands and options are known, and which does no harm by its
//! arguments, or else for one command line, to the letter. What runs whatever it is told to, and a line of which a shell
//! would make more than one plain command, has none.

mod known;

use known::KNOWN;

/// How long a line may be that is allowed to the letter: the user has to read it in the name of an option.
const MOST_LINE: usize = 120;

/// What "always" means for a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StandingScope {
    /// A program and its subcommand, whatever follows that is not a question of its own.
    Subcommand(String),
    /// This line and no other.
    Line(String),
}

impl StandingScope {
    /// The key it is kept under.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Subcommand(name) => format!("run:{name}"),
            Self::Line(line) => format!("line:{line}"),
        }
    }

    /// How it is named to the user.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Subcommand(name) => format!("`{name}`"),
            Self::Line(line) => format!("exactly `{line}`"),
        }
    }
}

/// Programs that run what they are told to: shells and what a shell has built in, interpreters, wrappers, other machines.
/// Without a version at the end.
#[rustfmt::skip]
const RUNNERS: &[&str] = &[
    // Shells, and words that mean something to one.
    "!", ".", "alias", "ash", "bash", "bind", "builtin", "busybox", "case", "cmd", "command", "coproc", "csh", "dash", "do",
    "elvish", "enable", "eval", "exec", "export", "fc", "fish", "for", "function", "hash", "if", "ksh", "mapfile", "mksh",
    "nu", "oksh", "powershell", "pwsh", "rbash", "readonly", "select", "set", "sh", "shopt", "source", "tcsh", "time",
    "toybox", "trap", "typeset", "unalias", "unset", "until", "while", "xonsh", "yash", "zsh",
    // Interpreters, and programs with a language of their own.
    "awk", "bb", "bc", "bun", "clj", "clojure", "cscript", "deno", "dc", "ed", "elixir", "emacs", "erl", "escript", "ex",
    "expect", "gawk", "gdb", "ghci", "gosh", "groovy", "guile", "iex", "ipython", "irb", "java", "jjs", "jshell", "julia",
    "kotlin", "lldb", "lua", "luajit", "mawk", "micropython", "mysql", "nawk", "nim", "node", "nodejs", "nvim", "ocaml",
    "osascript", "perl", "php", "psql", "pypy", "python", "racket", "raku", "rscript", "r", "ruby", "runghc", "scala",
    "sed", "sqlite", "swift", "tclsh", "ts-node", "tsx", "vi", "view", "vim", "wine", "wish", "wscript",
    // Wrappers.
    "at", "authbind", "batch", "bunx", "bwrap", "caffeinate", "capsh", "catchsegv", "ccache", "cgexec", "chpst",
    "chroot", "chrt", "concurrently", "corepack", "cpulimit", "cronic", "crontab", "cross-env", "daemonize", "dbus-launch",
    "dbus-run-session", "direnv", "distrobox", "doas", "dotenv", "dotenvx", "dumb-init", "entr", "env", "envdir",
    "envsubst", "eatmydata", "fakechroot", "fakeroot", "faketime", "fd", "fdfind", "find", "firejail", "flatpak",
    "flatpak-spawn", "flock", "foreman", "forever", "gosu", "gtimeout", "genv", "gnice", "gxargs", "hyperfine", "honcho",
    "ionice", "jexec", "launchctl", "ld.so", "ld-linux", "less", "linux", "logsave", "ltrace", "man", 
    "mise", "more", "multitime", "newgrp", "nice", "nix", "nix-shell", "nodemon", "nohup", "npx", "nsenter", "numactl",
    "open", "op", "parallel", "perf", "pipx", "pkexec", "pnpx", "prlimit", "proot", "proxychains", "rlwrap", 
    "run-parts", "runcon", "runit", "runuser", "rr", "sccache", "schroot", "screen", "script", "scriptreplay", "setarch",
    "setpriv", "setsid", "setuidgid", "sg", "softlimit", "split", "start-stop-daemon", "stdbuf", "strace", "su",
    "su-exec", "sudo", "sudoedit", "supervise", "systemd-inhibit", "systemd-nspawn", "systemd-run", "tar", "taskset",
    "timelimit", "timeout", "tini", "tmux", "torify", "torsocks", "tsocks", "unbuffer", "unshare", "uvx", "valgrind",
    "watch", "watchexec", "watchman", "wsl", "xargs", "xdg-open", "xvfb-run", "zellij", "zip",
    // Other machines and containers.
    "adb", "ansible", "buildah", "ctr", "docker", "docker-compose", "incus", "kubectl", "lima", "limactl", "lxc",
    "lxc-attach", "machinectl", "mosh", "nerdctl", "oc", "orb", "podman", "podman-compose", "rsh", "rsync", "scp", "sftp",
    "ssh", "sshpass", "toolbox", "vagrant",
];

/// Subcommands by which any program may run another one.
const RUNNING: &[&str] =
    &["dlx", "eval", "exec", "foreach", "repl", "run", "script", "shell", "ssh", "sudo", "x"];

/// Programs whose `run` is for what the project has: a script, or the program itself.
const SCRIPTED: &[&str] = &["cargo", "npm", "pnpm", "yarn"];

/// What a standing permission for this line would be for; `None` if there is none.
pub(crate) fn scope(line: &str) -> Option<StandingScope> {
    let words = plain_words(line)?;
    let (program, rest) = words.split_first()?;
    if is_runner(program) {
        return None;
    }
    let Some((subcommand, arguments)) = rest.split_first() else { return to_the_letter(&words) };
    // What stands before the subcommand may change what that means: `git -c`, `cargo +nightly`.
    if subcommand.starts_with(['-', '+']) {
        return None;
    }
    let known =
        KNOWN.iter().find(|known| known.program == *program && known.subcommands.contains(subcommand));
    match known {
        Some(known) if arguments.iter().any(|argument| known.asks(argument)) => None,
        Some(known) if known.covers(arguments) => {
            Some(StandingScope::Subcommand(format!("{program} {subcommand}")))
        }
        None if RUNNING.contains(subcommand) && !SCRIPTED.contains(program) => None,
        // A wrapper that is not listed above is not to be a way around the list.
        _ if rest.iter().any(|word| *word != "." && is_runner(word)) => None,
        _ => to_the_letter(&words),
    }
}

/// The program of a line, where the line runs that and nothing else.
pub(crate) fn program(line: &str) -> Option<&str> {
    plain_words(line)?.first().copied()
}

/// The words of a line of which a shell makes one command with exactly these words.
fn plain_words(line: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " \t-_./:,=+@%".contains(c);
    let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    // A variable that is set first is for the program that follows.
    let sets_variable = words.first()?.contains('=');
    (line.chars().all(is_plain) && !sets_variable).then_some(words)
}

fn to_the_letter(words: &[&str]) -> Option<StandingScope> {
    let line = words.join(" ");
    (line.len() <= MOST_LINE).then_some(StandingScope::Line(line))
}

/// Whether a word names a program that runs others, by whatever path and in whatever version.
fn is_runner(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-_".contains(c));
    RUNNERS.contains(&name) || RUNNERS.contains(&unversioned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(line: &str, expected: Option<&str>) {
        assert_eq!(scope(line).map(|scope| scope.key()).as_deref(), expected, "{line}");
    }

    #[test]
    fn a_subcommand_is_allowed_with_what_follows() {
        check("cargo test", Some("run:cargo test"));
        check("  cargo   test -p x --release -- --nocapture", Some("run:cargo test"));
        check("git status -sb", Some("run:git status"));
        check("git diff -M --stat HEAD", Some("run:git diff"));
        check("git diff main..dev -- src/a.rs", Some("run:git diff"));
        check("git log -n 5 --oneline --no-merges", Some("run:git log"));
        check("git commit -am x", Some("run:git commit"));
        check("git add .", Some("run:git add"));
        check("cargo test x -- --exact --test-threads=1", Some("run:cargo test"));
        check("cargo clippy --all-targets -- -D warnings", Some("run:cargo clippy"));
        check("cargo fmt --all", Some("run:cargo fmt"));
        check("cargo build --features a,b", Some("run:cargo build"));
        check("go test -v -count=1 -run X ./...", Some("run:go test"));
    }

    #[test]
    fn a_subcommand_that_is_allowed_does_not_cover_what_the_user_did_not_have_in_mind() {
        for (allowed, other) in [
            ("git push origin main", "git push /any/url main"),
            ("git push origin main", "git push"),
            ("git checkout main", "git checkout -- ."),
            ("git checkout main", "git checkout ."),
            ("git restore a", "git restore ."),
            ("git switch main", "git switch --discard-changes main"),
            ("git switch main", "git switch other"),
            ("git branch x", "git branch -M y"),
            ("git branch x", "git branch y"),
            ("git tag x", "git tag y"),
            ("git commit -m x", "git commit --amend -m y"),
            ("git commit -m x", "git commit --am -m y"),
            ("git commit -m x", "git commit --no-verify -m y"),
            ("git commit -m x", "git commit -anm y"),
            ("git commit -m x", "git commit -F /etc/hostname"),
            ("git commit -m x", "git commit -F/etc/hostname"),
            ("git pull", "git pull OTHER"),
            ("git fetch origin", "git fetch /any/url"),
            ("git clone a", "git clone b"),
            ("git merge x", "git merge -s evil x"),
            ("git merge x", "git merge y"),
            ("git rebase x", "git rebase y"),
            ("git reset a", "git reset --hard"),
            ("git remote", "git remote add x y"),
            ("git stash", "git stash drop"),
            ("git rm a", "git rm ."),
            ("git mv a b", "git mv b a"),
            ("git diff", "git diff --no-index /etc/hostname /dev/null"),
            ("git diff", "git diff --no-i a b"),
            ("git diff", "git diff /etc/hostname /dev/null"),
            ("git diff", "git diff ../a ../b"),
            ("git diff", "git diff -- a/../../b c"),
            ("git log", "git log --output=x"),
            ("git blame a", "git blame --contents=/etc/hostname a"),
            ("git status", "git stash"),
            ("cargo test", "cargo fmt"),
            ("cargo test", "cargo test -- --logfile /any"),
            ("cargo test", "cargo test -- --logfile=src/main.rs"),
            ("cargo test", "cargo test -- --any"),
            ("cargo test", "cargo test -p x ../y"),
            ("cargo clippy", "cargo clippy --fix"),
            ("cargo clippy", "cargo clippy -- -o x"),
            ("cargo clippy", "cargo clippy -- @x"),
            ("cargo clippy", "cargo clippy -- -Clinker=x"),
            ("cargo fmt", "cargo fmt -- /any.rs"),
            ("cargo fmt", "cargo fmt -- any.rs"),
            ("cargo run", "cargo run -- x"),
            ("go test ./...", "go test -coverprofile=/any ./..."),
            ("go test ./...", "go test -coverprofile any ./..."),
            ("go test ./...", "go test --cpuprofile=any"),
            ("go test ./...", "go test -memprofile=any"),
            ("go test ./...", "go test -trace any"),
            ("go test ./...", "go test -outputdir any"),
            ("go test ./...", "go test -test.trace=any"),
            ("go test ./...", "go test ./... -args -x"),
            ("go test ./...", "go test -c -o any"),
            ("go vet", "go vet -vettool=any"),
        ] {
            let key = |line: &str| scope(line).map(|scope| scope.key());
            assert!(key(allowed).is_some(), "{allowed}");
            assert_ne!(key(allowed), key(other), "{allowed} does not cover {other}");
        }
    }

    #[test]
    fn what_takes_work_away_or_reaches_others_is_allowed_to_the_letter() {
        for line in [
            "git push origin main",
            "git pull",
            "git checkout -- .",
            "git restore .",
            "git merge x",
            "git branch x",
            "git stash",
            "git remote add x y",
            "git diff /etc/hostname /dev/null",
            "cargo fmt -- --check",
            "cargo run",
            "cargo test -- --any",
            "go test ./... -args -x",
        ] {
            check(line, Some(&format!("line:{line}")));
        }
    }

    #[test]
    fn what_forces_or_runs_something_else_is_asked() {
        for line in [
            "git push --force",
            "git push --force-with-lease origin main",
            "git push --forc",
            "git push -f",
            "git push -uf origin main",
            "git push origin +main",
            "git push origin :main",
            "git push origin --delete main",
            "git fetch --upload-pack=./x origin",
            "git fetch --upload-p=./x origin",
            "git diff --ext-diff",
            "git diff --no-index a b",
            "git commit --amend",
            "git commit -n",
            "git branch -M y",
            "git switch --discard-changes main",
            "git reset --hard",
            "git rebase --exec ./x main",
            "git diff --output=/etc/x",
            "cargo test --config target.x.runner=./x",
            "cargo build -Zunstable-options",
            "cargo test --manifest-path ../x/Cargo.toml",
            "go test -exec ./x",
            "go build --toolexec=./x",
            "go build -ldflags=-extld=./x",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn other_programs_are_allowed_to_the_letter() {
        check("true", Some("line:true"));
        check("make  test", Some("line:make test"));
        check("npm run build", Some("line:npm run build"));
        check("npm test", Some("line:npm test"));
        check("npm install left-pad", Some("line:npm install left-pad"));
        check("./check.sh all", Some("line:./check.sh all"));
        check("ls .", Some("line:ls ."));
        check("ls src/ 7", Some("line:ls src/ 7"));
        check("git config user.name x", Some("line:git config user.name x"));
        check("./git push", Some("line:./git push"));
        check(&format!("make {}", "x".repeat(200)), None);
    }

    #[test]
    fn options_before_the_subcommand_are_asked() {
        for line in [
            "git -C x status",
            "git --exec-path=x status",
            "cargo +nightly test",
            "make -f x",
            "ls -la",
            "rm -rf x",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn shells_interpreters_and_wrappers_are_asked() {
        for line in [
            "sh x",
            "bash",
            "/bin/bash x",
            "env ls",
            "/usr/bin/env ls",
            "sudo ls",
            "xargs rm",
            "ssh host ls",
            "docker run x",
            "docker ps",
            "nice ls",
            "timeout 5 ls",
            "nohup ls",
            "exec ls",
            "command ls",
            "eval ls",
            ". x",
            "source x",
            "python x.py",
            "python3 x.py",
            "python3.12 x.py",
            "PYTHON x",
            "node x.js",
            "perl x",
            "find x",
            "awk x",
            "setsid ls",
            "stdbuf ls",
            "time ls",
            "npx x",
            "poetry run ls",
            "bundle exec ls",
            "rustup run stable ls",
            "git submodule foreach ls bash",
            "numerator bash x",
            "X=1 ls",
            "kubectl exec pod ls",
            "uv run x",
            "go run x",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn more_than_one_plain_command_is_asked() {
        for line in [
            "",
            "  ",
            "cargo test; ls",
            "cargo test && ls",
            "cargo test | ls",
            "cargo test & ls",
            "cargo test\nls",
            "cargo test\rls",
            "cargo test $(ls)",
            "cargo test `ls`",
            "cargo test > x",
            "cargo test < x",
            "cargo test $X",
            "cargo test 'a'",
            "cargo test \"a\"",
            "cargo test \\",
            "cargo test {a,b}",
            "cargo test *",
            "cargo test ~",
            "cargo test #",
            "cargo\u{a0}test",
            "(cargo test)",
            "! cargo test",
            "cargo test\0",
        ] {
            check(line, None);
        }
    }

    /// Lines made of what matters, so that chance finds it.
    fn lines() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            prop::sample::select(RUNNERS).prop_map(str::to_owned),
            prop::sample::select(vec![
                "git", "cargo", "status", "test", "push", "run", "make", "/bin/", "./", "-f", "--force",
                "-c", "+x", "3", ".exe", "A=1", ";", "&", "&&", "|", "\n", "$(", ")", "`", ">", "<", "'",
                "\"", "\\", "*", "{", "}", "#", "~", "!", "\t", "\u{a0}", "\0", "é",
            ])
            .prop_map(str::to_owned),
            "[ -~]{0,6}",
        ];
        let gap = prop::sample::select(vec![" ", "", "  ", "\t"]);
        prop::collection::vec((word, gap), 0..7)
            .prop_map(|parts| parts.into_iter().map(|(word, gap)| word + gap).collect())
    }

    /// What a shell may take for more than letters of a word, said another way than above.
    fn is_compound(line: &str) -> bool {
        line.contains(|c: char| {
            c.is_control() && c != '\t' || !c.is_ascii() || ";&|$`<>(){}[]*?~#!'\"\\^".contains(c)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn no_line_of_several_commands_and_no_runner_is_allowed_for_good(line in lines()) {
            let Some(scope) = scope(&line) else { return Ok(()) };
            prop_assert!(!is_compound(&line));
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words[0].rsplit('/').next().unwrap();
            prop_assert!(!RUNNERS.contains(&name) && !words[0].contains('='));
            prop_assert!(words.get(1).is_none_or(|word| !word.starts_with(['-', '+'])));
            match &scope {
                // The same line, and so the same words, or it is another permission.
                StandingScope::Line(whole) => prop_assert_eq!(whole.split(' ').collect::<Vec<_>>(), words),
                StandingScope::Subcommand(name) => prop_assert_eq!(name.clone(), words[..2].join(" ")),
            }
        }

        #[test]
        fn what_is_added_to_a_line_that_is_allowed_does_not_make_it_run_more(line in lines(), more in "[;&|\n`$<>(){}'\"\\\\*?~#!]") {
            prop_assert_eq!(scope(&format!("{line}{more}")), None);
        }
    }
}

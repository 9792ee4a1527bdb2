//! Programs whose subcommands and options are known.

/// Subcommands of a program that may be allowed for good.
pub(super) struct AllowedSubcommands {
    pub(super) program: &'static str,
    pub(super) subcommands: &'static [&'static str],
    /// Whether that is for whatever follows; it is to the letter for what takes work away, reaches other machines or means
    /// something else with each argument.
    whatever_follows: bool,
    /// Options that are asked about each time: with them it runs another program, follows other settings, writes elsewhere
    /// or destroys. Without dashes; one that begins like this counts, and so does a short form of it after two dashes.
    asked: &'static [&'static str],
    /// Letters of the same kind, alone or among others after one dash.
    asked_letters: &'static str,
    /// Options that may follow `--`, or `-args` for Go, where they are for another program. Words may always.
    passed_on: Option<&'static [&'static str]>,
}

const CARGO: AllowedSubcommands = AllowedSubcommands {
    program: "cargo",
    subcommands: &[],
    whatever_follows: true,
    asked: &[
        "artifact-dir",
        "config",
        "fix",
        "lockfile-path",
        "logfile",
        "manifest-path",
        "out-dir",
        "target-dir",
    ],
    asked_letters: "CZ",
    passed_on: None,
};

const GIT: AllowedSubcommands = AllowedSubcommands {
    program: "git",
    subcommands: &[],
    whatever_follows: true,
    asked: &[
        "amend",
        "config",
        "delete",
        "discard-changes",
        "exec",
        "ext-diff",
        "force",
        "hard",
        "mirror",
        "no-index",
        "no-verify",
        "output",
        "prune",
        "receive-pack",
        "strategy",
        "textconv",
        "upload-pack",
    ],
    asked_letters: "DdfO",
    // Names of files.
    passed_on: Some(&[]),
};

#[rustfmt::skip]
pub(super) const KNOWN: &[AllowedSubcommands] = &[
    AllowedSubcommands { subcommands: &["build", "check", "doc", "fmt", "metadata", "tree"], ..CARGO },
    AllowedSubcommands {
        subcommands: &["bench", "test"],
        passed_on: Some(&[
            "--color", "--exact", "--ignored", "--include-ignored", "--list", "--no-capture", "--nocapture", "--quiet",
            "--show-output", "--skip", "--test-threads", "-q",
        ]),
        ..CARGO
    },
    AllowedSubcommands { subcommands: &["clippy"], passed_on: Some(&["-A", "-D", "-F", "-W"]), ..CARGO },
    AllowedSubcommands {
        subcommands: &[
            "add", "blame", "describe", "diff", "log", "ls-files", "ls-tree", "merge-base", "rev-list", "rev-parse",
            "shortlog", "show", "status",
        ],
        ..GIT
    },
    AllowedSubcommands { subcommands: &["commit"], asked_letters: "DdfOn", ..GIT },
    AllowedSubcommands {
        subcommands: &[
            "am", "apply", "branch", "checkout", "cherry-pick", "clean", "clone", "config", "fetch", "merge", "mv", "pull",
            "push", "rebase", "remote", "reset", "restore", "revert", "rm", "stash", "submodule", "switch", "tag", "worktree",
        ],
        whatever_follows: false,
        asked_letters: "DdfMO",
        ..GIT
    },
    AllowedSubcommands {
        program: "go",
        subcommands: &["build", "fmt", "list", "test", "vet"],
        whatever_follows: true,
        asked: &[
            "C", "asmflags", "blockprofile", "compiler", "coverprofile", "cpuprofile", "exec", "fix", "gccgoflags", "gcflags",
            "ldflags", "memprofile", "modfile", "mutexprofile", "o", "outputdir", "overlay", "pkgdir", "test.", "toolexec",
            "trace", "vettool",
        ],
        asked_letters: "",
        passed_on: None,
    },
];

impl AllowedSubcommands {
    /// Whether a permission for the subcommand is for these arguments as well.
    pub(super) fn covers(&self, arguments: &[&str]) -> bool {
        let passed_on = arguments.iter().position(|argument| matches!(*argument, "--" | "-args" | "--args"));
        let (own, passed_on) = arguments.split_at(passed_on.unwrap_or(arguments.len()));
        let is_known = match (passed_on.get(1..), self.passed_on) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(passed_on), Some(known)) => passed_on.iter().all(|word| {
                let name = word.split('=').next().unwrap_or_default();
                !word.starts_with(['-', '@']) || known.contains(&name)
            }),
        };
        self.whatever_follows && is_known && !own.iter().chain(passed_on).any(|word| leads_out(word))
    }

    /// Whether an argument is a question each time.
    pub(super) fn asks(&self, argument: &str) -> bool {
        // A refspec that forces or deletes.
        if self.program == "git" && argument.starts_with(['+', ':']) {
            return true;
        }
        let Some(option) = argument.strip_prefix('-') else { return false };
        let (name, is_long) = option.strip_prefix('-').map_or((option, false), |name| (name, true));
        let name = name.split('=').next().unwrap_or_default();
        if name.is_empty() {
            return false;
        }
        let is_listed = self.asked.iter().any(|asked| {
            name == *asked || asked.len() > 1 && name.starts_with(asked) || is_long && asked.starts_with(name)
        });
        is_listed || !is_long && name.contains(|letter| self.asked_letters.contains(letter))
    }
}

/// Whether an argument, or the value of one, is a path that may be outside the folder.
fn leads_out(argument: &str) -> bool {
    let value = argument.split_once('=').map(|(_, value)| value);
    // The value of a letter may follow it at once.
    let of_letter = argument.strip_prefix('-').and_then(|letter| letter.get(1..));
    let is_outside = |path: &str| path.starts_with('/') || path.split('/').any(|step| step == "..");
    [Some(argument), value, of_letter].into_iter().flatten().any(is_outside)
}

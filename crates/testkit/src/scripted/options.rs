//! What kind of agent it is.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

/// Options without a value.
const FLAGS: &[&str] = &[
    "v2",
    "steering",
    "steering-fails",
    "prompt-steering",
    "inject",
    "drains",
    "nes",
    "resume",
    "load",
    "late-replay",
    "list",
    "close",
    "delete",
    "fork",
    "echo",
    "bold",
    "gemini",
    "rude",
    "providers",
    "log-in",
];

#[derive(Debug, Default)]
pub(super) struct Options {
    flags: BTreeSet<String>,
    pub(super) memory: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
    pub(super) ids: Option<String>,
    pub(super) slow_start: Duration,
    pub(super) start_after: Option<PathBuf>,
    /// The file that says that a user has signed in, and whether it was there.
    pub(super) signed_in: Option<(PathBuf, bool)>,
    fail_start: Option<(u32, PathBuf)>,
}

impl Options {
    pub(super) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let name = arg.strip_prefix("--").unwrap_or_default().to_owned();
            if FLAGS.contains(&&*name) {
                options.flags.insert(name);
                continue;
            }
            let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
            match &*name {
                "memory" => options.memory = Some(value()?.into()),
                "log" => options.log = Some(value()?.into()),
                "ids" => options.ids = Some(value()?),
                "slow-start" => options.slow_start = Duration::from_millis(number(&value()?)?),
                "terminal-sign-in" => {
                    let file = PathBuf::from(value()?);
                    let is_there = file.exists();
                    options.signed_in = Some((file, is_there));
                }
                "start-after" => options.start_after = Some(value()?.into()),
                "fail-start" => {
                    let count = u32::try_from(number(&value()?)?).map_err(|error| error.to_string())?;
                    options.fail_start = Some((count, value()?.into()));
                }
                _ => return Err(format!("there is no option {arg}")),
            }
        }
        Ok(options)
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        debug_assert!(FLAGS.contains(&flag), "{flag} is no flag");
        self.flags.contains(flag)
    }

    pub(super) fn is_v2(&self) -> bool {
        self.has("v2")
    }

    /// Counts a start, and says whether it is one of those that fail.
    pub(super) fn fails_to_start(&self) -> bool {
        let Some((count, file)) = &self.fail_start else { return false };
        let before =
            std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        std::fs::write(file, (before + 1).to_string()).expect("the count can be written");
        before < *count
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number, got {text}"))
}

//! What is said on the daemon's socket before ACP: one line each way.

use std::{collections::BTreeMap, ffi::OsString};

use serde::{Deserialize, Serialize};

use crate::serving::ServingMode;

/// The longest greeting taken; an environment can be long.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;

/// Who connects. Commands have to run as if the editor had started them, so its environment is here; it may have keys in
/// it, and is never logged.
#[derive(Serialize, Deserialize)]
pub(crate) struct RelayGreeting {
    /// The version of the program that connects.
    pub(crate) version: String,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) serving: ServingMode,
}

/// What the daemon answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DaemonWelcome {
    /// ACP may begin.
    Ready {
        /// The daemon's version.
        version: String,
        /// Its process.
        pid: u32,
        /// Whether it took over the pipes that came with the greeting.
        #[serde(default)]
        has_pipes: bool,
        /// Whether it plays the rehearsal that came with the greeting.
        #[serde(default)]
        has_rehearsal: bool,
        /// What it logs, as `NUDGE_LOG` says it.
        #[serde(default)]
        log: Option<String>,
    },
    /// It cannot serve who connects.
    Refused {
        /// Why, and what to do.
        why: String,
    },
    /// It is older than who connects and does nothing right now: it ends, and a new one can be started.
    Leaving,
}

/// What the daemon says in the end to a relay whose pipes it took over.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DaemonFarewell {
    /// Why the daemon ended the connection; nothing if the editor did.
    pub(crate) why: Option<String>,
}

impl RelayGreeting {
    /// That of this process.
    pub(crate) fn new(serving: ServingMode) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), env: own_environment(), serving }
    }

    /// Whether the program that connects is newer than this one.
    pub(crate) fn is_newer(&self) -> bool {
        let numbers = |version: &str| -> Vec<u64> {
            version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
        };
        numbers(&self.version) > numbers(env!("CARGO_PKG_VERSION"))
    }
}

/// The variables of this process that are text.
pub(crate) fn own_environment() -> BTreeMap<String, String> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_version_is_known_by_its_numbers() {
        let check = |version: &str, is_newer: bool| {
            let greeting = RelayGreeting {
                version: version.to_owned(),
                env: BTreeMap::new(),
                serving: ServingMode::default(),
            };
            assert_eq!(greeting.is_newer(), is_newer, "{version}");
        };
        check(env!("CARGO_PKG_VERSION"), false);
        check("0.0.9", false);
        check("999.0.0", true);
        check("0.999.0-rc.1", true);
        check("", false);
    }
}

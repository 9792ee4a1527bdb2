//! What is said on the daemon's socket before ACP: one line each way.

use std::{collections::BTreeMap, io, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::house::Serving;

/// The longest greeting taken; an environment can be long.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;

/// Who connects: an agent has to run as if the editor had started it. Never logged, for the environment has keys in it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// The version of the program that connects.
    pub(crate) version: String,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) serving: Serving,
}

/// What the daemon answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Welcome {
    /// ACP may begin.
    Ready {
        /// The daemon's version.
        version: String,
        /// Its process.
        pid: u32,
    },
    /// It cannot serve who connects.
    Refused {
        /// Why, and what to do.
        why: String,
    },
    /// It is older than who connects and does nothing right now: it ends, and a new one can be started.
    Leaving,
}

impl Greeting {
    /// That of this process.
    pub(crate) fn new(serving: Serving) -> io::Result<Self> {
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: std::env::current_dir()?,
            env: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            serving,
        })
    }

    /// Whether the program that connects is newer than this one.
    pub(crate) fn is_newer(&self) -> bool {
        let numbers = |version: &str| -> Vec<u64> {
            version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
        };
        numbers(&self.version) > numbers(env!("CARGO_PKG_VERSION"))
    }
}

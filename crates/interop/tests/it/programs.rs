//! The programs under test and how one is run.

use std::{path::Path, process::ExitStatus, sync::OnceLock};

use nudge_testkit::Process;
use serde_json::Value;

pub(crate) const OUR_AGENT: &str = env!("CARGO_BIN_EXE_our_agent");
pub(crate) const OUR_AGENT_V2: &str = env!("CARGO_BIN_EXE_our_agent_v2");
pub(crate) const OUR_CLIENT: &str = env!("CARGO_BIN_EXE_our_client");
pub(crate) const OUR_CLIENT_V2: &str = env!("CARGO_BIN_EXE_our_client_v2");
pub(crate) const SDK_AGENT: &str = env!("CARGO_BIN_EXE_sdk_agent");
pub(crate) const SDK_AGENT_V2: &str = env!("CARGO_BIN_EXE_sdk_agent_v2");
pub(crate) const SDK_CLIENT: &str = env!("CARGO_BIN_EXE_sdk_client");
pub(crate) const SDK_CLIENT_V2: &str = env!("CARGO_BIN_EXE_sdk_client_v2");
pub(crate) const SDK_ECHO_AGENT: &str = env!("CARGO_BIN_EXE_sdk_echo_agent");

/// What came of a program.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a program to its end.
pub(crate) fn run(program: impl AsRef<Path>, args: &[&str]) -> Outcome {
    run_with(program, args, &[])
}

/// Runs a program to its end, with more in its environment.
pub(crate) fn run_with(program: impl AsRef<Path>, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    let (status, lines, errors) = Process::start(program, args, env).finish();
    Outcome { status, output: lines.join("\n"), errors }
}

impl Outcome {
    /// Asserts that it went well.
    pub(crate) fn ok(self) -> Self {
        assert!(self.status.success(), "{self:#?}");
        self
    }

    /// The JSON values it printed, one a line.
    pub(crate) fn json(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}\n{self:#?}"));
        self.output.lines().map(parse).collect()
    }
}

/// The folder of this package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of what is built.
pub(crate) fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's folder for tests is in the target folder")
}

/// The binary `nudge`, built on first use.
pub(crate) fn nudge() -> &'static str {
    static NUDGE: OnceLock<String> = OnceLock::new();
    NUDGE.get_or_init(|| nudge_testkit::build_nudge(package(), target()))
}

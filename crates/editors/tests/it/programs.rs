//! The programs under test and where they are.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The folder of this package.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the repository.
pub(crate) fn repository() -> PathBuf {
    package().join("../..").canonicalize().expect("the package is in the repository")
}

/// The folder of what is built.
pub(crate) fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's folder for tests is in the target folder")
}

/// A program that `setup` has installed, or nothing, said on standard error.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = target().join("editors/bin").join(name);
    if path.exists() {
        return Some(path);
    }
    nudge_testkit::skipped(&format!("{name} is not installed; crates/editors/setup installs it"));
    None
}

/// The binary `nudge`: the one named by `NUDGE_BIN`, or built on first use.
pub(crate) fn nudge() -> &'static str {
    static NUDGE: OnceLock<String> = OnceLock::new();
    NUDGE.get_or_init(|| {
        std::env::var("NUDGE_BIN").unwrap_or_else(|_| nudge_testkit::build_nudge(package(), target()))
    })
}

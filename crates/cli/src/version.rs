//! Which Nudge this is.

/// The version with the build, such as `0.1.0 (1a2b3c4d5e6f)`.
pub(crate) const LONG: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("NUDGE_BUILD_ID"), ")");

/// The commit that it was built from, or what the packager set.
pub(crate) const BUILD: &str = env!("NUDGE_BUILD_ID");

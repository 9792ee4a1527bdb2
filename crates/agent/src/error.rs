//! What the agent can refuse.

/// Why an option was not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetOptionError {
    /// There is no such option.
    #[error("expected one of the session's options ({0}), got another name")]
    UnknownOption(String),
    /// The option does not have this value.
    #[error("expected one of {expected} for `{option}`, got something else")]
    UnknownValue {
        /// Which option.
        option: &'static str,
        /// The values it has.
        expected: String,
    },
}

//! Why a model does not answer.

/// Why a model does not answer, or stopped in the middle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider cannot be reached or is overloaded.
    #[error("the model cannot be reached: {0}; try again in a moment")]
    Unavailable(String),
    /// The provider did not take the request.
    #[error("the model did not accept the request: {0}")]
    Rejected(String),
    /// A rehearsal cannot be read.
    #[error("the rehearsal cannot be played: {0}; REHEARSAL.md describes the format")]
    Rehearsal(String),
}

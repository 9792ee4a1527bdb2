//! Why a connection ended and why a call failed.

use std::{io, sync::Arc};

use nudge_wire::Error;

use crate::ExitReport;

/// Why a connection is over.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectionClosed {
    /// The other side closed its end.
    #[error("the connection was closed by the other side")]
    Eof,
    /// This side closed the connection.
    #[error("the connection was closed")]
    Local,
    /// Reading or writing failed.
    #[error("the connection failed: {0}")]
    Io(Arc<io::Error>),
    /// The child process ended.
    #[error("{0}")]
    Exited(Arc<ExitReport>),
    /// As much as may be held waits to be handled, and nothing moves.
    #[error(
        "the connection was given up: {held} bytes wait to be handled (limit {limit}) and nothing has moved for too \
         long; two sides may be waiting for each other, or a handler never ends"
    )]
    InboundFull {
        /// Bytes held.
        held: usize,
        /// The limit.
        limit: usize,
    },
    /// The other side does not read.
    #[error(
        "the connection was ended: {held} bytes wait to be written and the other side does not read (limit {limit})"
    )]
    OutboundFull {
        /// Bytes held.
        held: usize,
        /// The limit.
        limit: usize,
    },
}

impl From<io::Error> for ConnectionClosed {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// Why a request got no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The other side answered with an error.
    #[error("{0}")]
    Rpc(Error),
    /// The connection ended before the answer came.
    #[error("no answer: {0}")]
    Closed(#[from] ConnectionClosed),
    /// The params could not be written as JSON.
    #[error("the params of {method} cannot be written as JSON")]
    Encode {
        /// The method.
        method: String,
    },
    /// The result is not of the expected shape.
    #[error("the result of {method} does not fit: {expectation}")]
    Decode {
        /// The method.
        method: String,
        /// What was expected and where.
        expectation: String,
    },
    /// The result was longer than a message may be.
    #[error("the response was dropped: {length} bytes are over the limit of {limit}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit.
        limit: usize,
    },
}

/// A handler may pass on the error of a call it made; errors of the other side keep their code.
impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Rpc(error) => error,
            other => Error::internal(other.to_string()),
        }
    }
}

impl From<ConnectionClosed> for Error {
    fn from(closed: ConnectionClosed) -> Self {
        Error::internal(closed.to_string())
    }
}

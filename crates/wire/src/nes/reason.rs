//! Why an NES request fails, as `error.data.reason` says it.

use super::shape::open_enum;
use crate::{Error, ErrorCode};

open_enum! {
    /// Why an NES request failed.
    pub enum ErrorReason as "NesErrorReason" {
        /// The chosen engine has no credentials; the user has to authenticate first.
        AuthRequired = "auth_required",
        /// No such NES session is open.
        UnknownSession = "unknown_session",
        /// The document was neither opened nor attached, and is in no workspace folder.
        UnknownDocument = "unknown_document",
        /// The agent's copy of the document is not the client's; opening it again or a full change mends that.
        DocumentOutOfSync = "document_out_of_sync",
    }
}

impl ErrorReason {
    /// The error this is the reason of.
    pub fn error(&self) -> Error {
        match self {
            Self::AuthRequired => Error::auth_required(),
            Self::UnknownSession | Self::UnknownDocument | Self::DocumentOutOfSync => {
                Error::not_found(self.as_str())
            }
            Self::Other(reason) => Error::new(ErrorCode::INTERNAL_ERROR, "NES request failed").reason(reason),
        }
    }
}

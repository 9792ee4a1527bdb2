//! A message of an agent, looked at once on its way to the session it is about.

use std::borrow::Cow;

use nudge_bridge::IndexedUpdate;
use nudge_peer::{ConnectionClosed, RawNotification, UnhandledMessage};
use nudge_wire::Version;
use serde::Deserialize;

/// Something an agent says of a session.
pub(crate) enum RoutedMessage {
    /// A `session/update`.
    Update(IndexedUpdate),
    /// Anything else, also an update that cannot be read.
    Other(UnhandledMessage),
}

impl RoutedMessage {
    /// Looks at what an agent of this version says.
    pub(crate) fn new(message: UnhandledMessage, version: Option<Version>) -> Self {
        let update = match (&message, version) {
            (UnhandledMessage::Notification(note), Some(version)) => {
                IndexedUpdate::from_message(note.message(), version)
            }
            _ => None,
        };
        update.map_or(Self::Other(message), Self::Update)
    }

    /// The session it is about.
    pub(crate) fn session(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Update(update) => update.session_id(),
            Self::Other(message) => {
                message.params()?.to::<Named>().ok().map(|named| Cow::Owned(named.session_id))
            }
        }
    }

    /// How long it is, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Update(update) => update.size(),
            Self::Other(message) => message.size(),
        }
    }

    /// The usual end: an error for a request, nothing for a notification.
    pub(crate) async fn refuse(self) -> Result<(), ConnectionClosed> {
        match self {
            Self::Update(_) => Ok(()),
            Self::Other(message) => message.refuse().await,
        }
    }

    /// As it came.
    pub(crate) fn into_unhandled(self) -> Option<UnhandledMessage> {
        match self {
            Self::Update(update) => update
                .into_message()
                .and_then(RawNotification::from_message)
                .map(UnhandledMessage::Notification),
            Self::Other(message) => Some(message),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    session_id: String,
}

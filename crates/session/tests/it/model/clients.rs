//! The clients of a session: what each has asked for and been told, seen and been asked.

use std::collections::{BTreeMap, BTreeSet};

use nudge_mailbox::{ClientId, DeliveryMode, MessageId};
use nudge_session::{AskId, InputContent, RequestId, SessionRequest};
use nudge_wire::Version;

use super::said;

/// How a message of a play is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum How {
    Prompt,
    Queue,
    Steer,
    Steering,
}

/// One message of a play.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The first client speaks version 1, the second version 2.
    pub(super) client: usize,
    pub(super) how: How,
    /// Whether it has a key, and may be sent twice.
    pub(super) is_keyed: bool,
}

impl Part {
    /// Whether its sender shows it itself.
    pub(super) fn is_shown_by_sender(&self) -> bool {
        match self.how {
            How::Prompt => version(self.client) == Version::V1,
            How::Steering => true,
            How::Queue | How::Steer => false,
        }
    }

    pub(super) fn is_prompt(&self) -> bool {
        self.how == How::Prompt
    }

    pub(super) fn request(&self, place: u8) -> SessionRequest {
        let content = said::blocks((place, 0));
        let key = self.is_keyed.then(|| format!("key {place}"));
        match self.how {
            How::Prompt => {
                let params = Some(said::params(&content, version(self.client)));
                SessionRequest::Prompt { body: InputContent { content, params }, key }
            }
            How::Queue => SessionRequest::Inject { mode: DeliveryMode::Queue, content, key },
            How::Steer => SessionRequest::Inject { mode: DeliveryMode::Steer, content, key },
            How::Steering => SessionRequest::Steering { content, prompt_required: false },
        }
    }
}

/// The id of the connection of a client by its place: one that comes back has another.
pub(super) fn id(client: usize, life: u8) -> ClientId {
    ClientId(client as u64 + 1 + 2 * u64::from(life))
}

/// The place of the client of this connection, and which connection it is.
pub(super) fn of(ClientId(id): ClientId) -> (usize, u8) {
    (usize::from(id % 2 == 0), u8::try_from((id - 1) / 2).unwrap_or(u8::MAX))
}

pub(super) fn version(client: usize) -> Version {
    if client == 0 { Version::V1 } else { Version::V2 }
}

/// A client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Client {
    /// How often it has left.
    pub(super) life: u8,
    pub(super) is_attached: bool,
    /// It reads the history, and has read what comes before this number.
    pub(super) has_read: Option<u64>,
    /// It asks to join, having read so far.
    pub(super) joins: Option<u64>,
    /// It has been shown all that comes before this number.
    pub(super) seen: u64,
    pub(super) asked: BTreeSet<AskId>,
    /// It has said all it will to the question that is open.
    pub(super) has_answered: bool,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum What {
    /// A message of this place, and which time.
    Send(u8, u8),
    Revoke(u8),
    /// A replacement of this number.
    Replace(u8, u8),
    Attach,
    Close,
    Delete,
    Leave,
}

/// Requests that are not answered, and who waits for them, as long as that client is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Requests(BTreeMap<RequestId, (What, Option<usize>)>);

impl Requests {
    /// Notes a request; `None` if the same is open.
    pub(super) fn open(&mut self, client: usize, what: What) -> Option<RequestId> {
        let (kind, place) = match what {
            What::Send(place, time) => (u64::from(time), place),
            What::Revoke(place) => (10, place),
            What::Replace(place, version) => (20 + u64::from(version), place),
            What::Attach => (30, 0),
            What::Close => (40, 0),
            What::Delete => (50, 0),
            What::Leave => (60, 0),
        };
        let request = RequestId(kind * 100 + u64::from(place) * 10 + client as u64);
        let is_new = !self.0.contains_key(&request);
        self.0.entry(request).or_insert((what, Some(client)));
        is_new.then_some(request)
    }

    /// Takes a request out that is answered.
    pub(super) fn close(&mut self, request: RequestId) -> Option<(What, Option<usize>)> {
        self.0.remove(&request)
    }

    /// A client is gone. What it asked for may still be answered.
    pub(super) fn forget(&mut self, gone: usize) {
        self.0.retain(|_, (what, client)| *what != What::Attach || *client != Some(gone));
        for (_, client) in self.0.values_mut() {
            client.take_if(|client| *client == gone);
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Those that somebody waits for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = What> {
        self.0.values().filter(|(_, client)| client.is_some()).map(|(what, _)| *what)
    }

    /// Whether nobody waits.
    pub(super) fn are_answered(&self) -> bool {
        self.awaited().next().is_none()
    }

    /// Whether one that is open is about the message of this place.
    pub(super) fn mention(&self, place: usize) -> bool {
        self.0.values().any(|(what, _)| match what {
            What::Send(of, _) | What::Revoke(of) | What::Replace(of, _) => usize::from(*of) == place,
            _ => false,
        })
    }

    pub(super) fn of_message(&self, place: u8) -> Option<RequestId> {
        let mut all = self.0.iter().rev();
        all.find(|(_, (what, _))| matches!(what, What::Send(of, _) if *of == place)).map(|(id, _)| *id)
    }
}

/// What a client asked for and was told about one message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub(super) struct Told {
    pub(super) sent: u8,
    pub(super) is_accepted: bool,
    /// How often there was nothing to steer.
    pub(super) idle_tries: u8,
    /// It was answered that it was not taken in.
    pub(super) is_refused: bool,
    /// It is of a process that is gone.
    pub(super) is_former: bool,
    /// Which connection of its sender sent it.
    pub(super) life: u8,
    pub(super) asked_to_revoke: bool,
    pub(super) is_revoked: bool,
    pub(super) asked_to_replace: u8,
    pub(super) replaced: u8,
    /// As it is known on disk.
    pub(super) id: Option<MessageId>,
    /// What it said when it was delivered, until all have got it.
    pub(super) delivered: Option<u8>,
    pub(super) is_given: bool,
}

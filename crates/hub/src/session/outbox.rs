//! What a session shows, held back until the commit it depends on is on disk.

use std::{collections::VecDeque, sync::Arc};

use nudge_backend::{Question, UserMessage};
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, MessageId};
use nudge_peer::{RawNotification, Responder};
use nudge_store::{Op, SessionChange, StoreError, Ticket};
use nudge_wire::{Error, RawJson};

use crate::{
    client::{Client, Out},
    params::SetOption,
    permission::Permission,
    session::{Pending, actor::Ending, attach::Attaching},
};

/// Commits that may be under way before the backend has to wait.
const MOST: usize = 256;
/// Bytes that may wait for the disk before the backend has to wait: as much as goes into one transaction.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that may wait for the disk before clients have to wait as well.
const BRIM: usize = 32 * 1024 * 1024;

/// Something that is seen from outside.
pub(crate) enum Effect {
    /// An update for the clients, with its number if it is written down.
    Show { update: IndexedUpdate, seq: Option<u64>, but: Option<ClientId> },
    /// The answer to a request.
    Answer { client: Arc<Client>, responder: Responder, outcome: Result<RawJson, Error> },
    /// A turn begins.
    Prompt(Vec<UserMessage>),
    /// The turn is ended.
    Cancel,
    /// The backend goes on from a break-point, with these messages.
    GoOn(Vec<UserMessage>),
    /// These go to a backend that takes them while it works.
    Steer(Vec<UserMessage>),
    /// The backend's stream is cut off for a steer that waits.
    Interrupt,
    /// The answer to a permission request goes to the backend.
    Permit { permission: Permission, by: ClientId, answer: RawJson },
    /// An option of the backend is set.
    SetOption(SetOption),
    /// This is what waits to be delivered, as it is on disk.
    Pending(Vec<Pending>),
    /// A permission request goes to every client.
    Ask(u64),
    /// A request of the agent goes to the client that prompted.
    AskClient(Question),
    /// A notification of the agent that is no update goes to every client.
    Pass(RawNotification),
    /// The session is called this, unless its agent has named it meanwhile.
    Titled(String),
    /// A client joins.
    Attach(Box<Attaching>),
    /// The session is left, and then those are told who wait for it.
    Leave(Ending),
}

impl Effect {
    /// It does not come about: whoever waits for it is told why.
    pub(crate) fn refuse(self, error: &Error) {
        match self {
            Self::Answer { client, responder, .. } => client.push(Out::Answer(responder, Err(error.clone()))),
            Self::Attach(attaching) => attaching.refuse(error),
            Self::Leave(ending) => ending.refuse(error),
            _ => {}
        }
    }

    /// About how many bytes it takes up while it waits, beside what is written down.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Show { update, .. } => update.size(),
                Self::Pass(note) => note.size(),
                Self::AskClient(request) => request.params.as_str().len(),
                _ => 0,
            }
    }
}

/// What is written down and what is shown for it.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) ops: Vec<Op>,
    pub(crate) effects: Vec<Effect>,
    /// How long what the backend says in it is.
    pub(crate) bytes: usize,
    /// Whether the effects wait for the disk.
    pub(crate) is_durable: bool,
    /// Whether it changes what waits to be delivered.
    pub(crate) is_input: bool,
    pub(crate) in_doubt: InDoubt,
}

/// What a commit says of messages, which is not so if it fails.
#[derive(Debug, Default)]
pub(crate) struct InDoubt {
    /// Those whose senders are told by it that they are accepted.
    pub(crate) accepted: Vec<MessageId>,
    /// Those that are given out by it, and who they are from.
    pub(crate) delivered: Vec<(MessageId, ClientId)>,
}

impl InDoubt {
    fn extend(&mut self, other: Self) {
        self.accepted.extend(other.accepted);
        self.delivered.extend(other.delivered);
    }
}

impl Step {
    pub(crate) fn answer(
        &mut self,
        client: &Arc<Client>,
        responder: Responder,
        outcome: Result<RawJson, Error>,
    ) {
        self.effects.push(Effect::Answer { client: Arc::clone(client), responder, outcome });
    }

    /// Changes the session's row, and with it the time of its last change.
    pub(crate) fn update_row(&mut self, change: SessionChange) {
        let change = SessionChange { updated_at: Some(crate::time::now()), ..change };
        self.ops.push(Op::UpdateSession(change));
    }

    pub(crate) fn show(&mut self, update: IndexedUpdate, but: Option<ClientId>) {
        self.bytes += update.raw.as_str().len();
        self.effects.push(Effect::Show { update, seq: None, but });
    }
}

/// Commits under way and the effects that wait for them, oldest first.
#[derive(Default)]
pub(crate) struct Outbox {
    groups: VecDeque<Group>,
    bytes: usize,
    /// A commit has failed; what became of those behind it is not all known.
    failed: Option<Failed>,
}

struct Group {
    ticket: Ticket,
    effects: Vec<Effect>,
    bytes: usize,
    next_seq: u64,
    is_durable: bool,
    in_doubt: InDoubt,
}

/// A commit that failed, and all those behind it.
pub(crate) struct Failed {
    pub(crate) error: StoreError,
    /// What has waited for them.
    pub(crate) effects: Vec<Effect>,
    pub(crate) in_doubt: InDoubt,
    /// The end of the session's use, if there was room to write that after all.
    pub(crate) ending: Option<Ending>,
}

impl Failed {
    fn new(error: StoreError) -> Self {
        Self { error, effects: Vec::new(), in_doubt: InDoubt::default(), ending: None }
    }

    /// Takes in a commit behind the one that failed.
    fn take(&mut self, group: Group, is_written: bool) {
        self.in_doubt.extend(group.in_doubt);
        for effect in group.effects {
            match effect {
                Effect::Leave(ending) if is_written => self.ending = Some(ending),
                effect => self.effects.push(effect),
            }
        }
    }
}

/// A commit that is on disk.
pub(crate) struct Landed {
    /// What has waited for it.
    pub(crate) effects: Vec<Effect>,
    /// The number after that of the last entry that is on disk.
    pub(crate) next_seq: u64,
}

/// A commit on its way.
pub(crate) struct UnderWay {
    pub(crate) ticket: Ticket,
    /// How many bytes it takes up with what waits for it.
    pub(crate) bytes: usize,
    /// The number after that of its last entry.
    pub(crate) next_seq: u64,
    pub(crate) in_doubt: InDoubt,
}

impl Outbox {
    /// Notes a commit and what waits for it.
    pub(crate) fn wait(&mut self, commit: UnderWay, effects: Vec<Effect>, is_durable: bool) {
        let UnderWay { ticket, bytes, next_seq, in_doubt } = commit;
        self.bytes += bytes;
        self.groups.push_back(Group { ticket, effects, bytes, next_seq, is_durable, in_doubt });
    }

    /// Puts effects that wait for no commit of their own behind the last one that others wait for. Gives them back if
    /// there is none.
    pub(crate) fn follow(&mut self, effects: Vec<Effect>) -> Option<Vec<Effect>> {
        let Some(last) = self.groups.iter_mut().rev().find(|group| group.is_durable) else {
            return Some(effects);
        };
        let bytes: usize = effects.iter().map(Effect::size).sum();
        last.bytes += bytes;
        self.bytes += bytes;
        last.effects.extend(effects);
        None
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.failed.is_none()
    }

    /// Whether a commit has failed, and nothing new should be written before it is known what became of those behind it.
    pub(crate) fn is_failing(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether so much is being written that no more of the backend should come before some of it is.
    pub(crate) fn is_full(&self) -> bool {
        self.groups.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// Whether so much is being written that no more of anybody should come before some of it is.
    pub(crate) fn is_brimful(&self) -> bool {
        self.bytes >= BRIM
    }

    /// Waits for the oldest commit; if that fails, for all those behind it, which may have been written. Safe to drop and
    /// call again.
    pub(crate) async fn next(&mut self) -> Result<Landed, Failed> {
        loop {
            let Some(front) = self.groups.front_mut() else {
                match self.failed.take() {
                    Some(failed) => return Err(failed),
                    None => return std::future::pending().await,
                }
            };
            let outcome = (&mut front.ticket).await;
            let group = self.groups.pop_front().expect("its ticket has just been awaited");
            self.bytes -= group.bytes;
            match (outcome, &mut self.failed) {
                (Ok(()), None) => return Ok(Landed { effects: group.effects, next_seq: group.next_seq }),
                (outcome, Some(failed)) => failed.take(group, outcome.is_ok()),
                (Err(error), failed @ None) => failed.insert(Failed::new(error)).take(group, false),
            }
        }
    }
}

//! What a session does, held back until the commit it depends on is on disk.

use std::collections::VecDeque;

use nudge_backend::{AgentQuestion, OptionChange, UserMessage};
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, MessageId};
use nudge_wire::{Error, Message, RawJson};

use crate::{
    AttachRequest, PendingMessage, RequestId, lifecycle::IdleEnding, user_questions::OpenUserQuestion,
};

/// Commits that may be under way before the agent has to wait.
const MOST: usize = 256;
/// Bytes that may wait for the disk before the agent has to wait: as much as goes into one transaction.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that may wait for the disk before clients have to wait as well.
const BRIM: usize = 32 * 1024 * 1024;

/// Something that is to be done, in its place behind what was decided before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum OutboxAct {
    /// An update for the clients, with its number if it is written down.
    Show {
        update: IndexedUpdate,
        seq: Option<u64>,
        but: Option<ClientId>,
    },
    Answer {
        request: RequestId,
        outcome: Result<RawJson, Error>,
    },
    /// The turn of this number begins.
    Prompt {
        turn: u64,
        messages: Vec<UserMessage>,
        prompter: ClientId,
    },
    /// The turn of this number is ended.
    Cancel {
        turn: u64,
    },
    /// The agent goes on from a break-point.
    GoOn(Vec<UserMessage>),
    /// These go to an agent that takes them while it works on the turn of this number.
    Steer {
        turn: u64,
        messages: Vec<UserMessage>,
    },
    /// The agent's stream is cut off for a steer that waits.
    Interrupt,
    /// The answer to a permission request goes to the agent.
    Permit {
        permission: OpenUserQuestion,
        by: ClientId,
        answer: RawJson,
    },
    SetOption(OptionChange),
    /// This is what waits to be delivered, as it is on disk.
    Pending(Vec<PendingMessage>),
    /// The user is asked: by every client, or by one.
    AskUser(crate::AskId),
    /// Another request of the agent goes to one client.
    AskOne(AgentQuestion),
    /// A notification of the agent that is no update.
    Notify(Message),
    /// The session is called this, unless its agent has named it meanwhile.
    Title(String),
    /// A client joins.
    Join(AttachRequest),
    /// The session is left.
    Leave(IdleEnding),
}

impl OutboxAct {
    /// Those who wait for it.
    pub(crate) fn requests(&self) -> Vec<RequestId> {
        match self {
            Self::Answer { request, .. } | Self::Join(AttachRequest { request, .. }) => vec![*request],
            Self::Leave(ending) => ending.waiting(),
            _ => Vec::new(),
        }
    }

    /// About how many bytes it takes up while it waits, beside what is written down.
    fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Show { update, .. } => update.size(),
                Self::Notify(message) => message.frame().len(),
                Self::AskOne(question) => question.params.as_str().len(),
                _ => 0,
            }
    }
}

/// What a commit says of messages, which is not so if it fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct InDoubt {
    /// Those whose senders are told by it that they are accepted.
    pub(crate) accepted: Vec<MessageId>,
    /// Those that are given out by it, and who they are from.
    pub(crate) delivered: Vec<(MessageId, ClientId)>,
}

impl InDoubt {
    pub(crate) fn extend(&mut self, other: Self) {
        self.accepted.extend(other.accepted);
        self.delivered.extend(other.delivered);
    }
}

/// A commit under way, and what waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CommitGroup {
    pub(crate) acts: Vec<OutboxAct>,
    /// The number after that of its last entry.
    pub(crate) next_seq: u64,
    pub(crate) in_doubt: InDoubt,
    is_durable: bool,
    bytes: usize,
}

/// Commits under way and what waits for them, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct CommitOutbox {
    groups: VecDeque<CommitGroup>,
    bytes: usize,
}

impl CommitOutbox {
    /// Notes a commit of so many bytes that these wait for.
    pub(crate) fn wait(&mut self, acts: Vec<OutboxAct>, next_seq: u64, in_doubt: InDoubt, bytes: usize) {
        let bytes = bytes + acts.iter().map(OutboxAct::size).sum::<usize>();
        self.push(CommitGroup { acts, next_seq, in_doubt, is_durable: true, bytes });
    }

    /// Notes a commit that nothing waits for. What it says is remembered until it is on disk, so `shown` counts.
    pub(crate) fn note(&mut self, shown: &[OutboxAct], next_seq: u64, bytes: usize) {
        let bytes = bytes + shown.iter().map(OutboxAct::size).sum::<usize>();
        let in_doubt = InDoubt::default();
        self.push(CommitGroup { acts: Vec::new(), next_seq, in_doubt, is_durable: false, bytes });
    }

    fn push(&mut self, group: CommitGroup) {
        self.bytes += group.bytes;
        self.groups.push_back(group);
    }

    /// Puts acts that wait for no commit of their own behind the last one that others wait for. Gives them back if there is
    /// none.
    pub(crate) fn follow(&mut self, acts: Vec<OutboxAct>) -> Option<Vec<OutboxAct>> {
        let Some(last) = self.groups.iter_mut().rev().find(|group| group.is_durable) else {
            return Some(acts);
        };
        let bytes: usize = acts.iter().map(OutboxAct::size).sum();
        last.bytes += bytes;
        self.bytes += bytes;
        last.acts.extend(acts);
        None
    }

    /// The oldest commit, which is not under way any more.
    pub(crate) fn pop(&mut self) -> Option<CommitGroup> {
        let group = self.groups.pop_front()?;
        self.bytes -= group.bytes;
        Some(group)
    }

    /// Takes a wish to join out that was not come to yet.
    pub(crate) fn drop_joins(&mut self, client: ClientId) {
        for group in &mut self.groups {
            group.acts.retain(|act| !matches!(act, OutboxAct::Join(attach) if attach.attendee.id == client));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether so much is being written that no more of the agent should come before some of it is.
    pub(crate) fn is_full(&self) -> bool {
        self.groups.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// Whether so much is being written that no more of anybody should come before some of it is.
    pub(crate) fn is_brimful(&self) -> bool {
        self.bytes >= BRIM
    }
}

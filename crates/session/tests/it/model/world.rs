//! The world around the core of a session: its disk, its driver, its agent and its clients.

use std::{collections::VecDeque, time::Duration};

use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{DeliveryMode, InputDialect, MailboxChange, MailboxMessage, MessageId, SavedMailbox};
use nudge_session::{
    AgentTraits, AttachOptions, AttachRequest, Attendee, ClientOffers, CommitFailure, InputChange,
    InputContent, Moment, RestoredSession, SessionCommit, SessionCore, SessionEffect, SessionInput,
    SessionStart, SessionStep, StoreOperation,
};
use nudge_wire::Error;

use super::{
    Play,
    agent::{Agent, AgentTurn, Phase},
    audit::{self, Wrong},
    clients::{self, Client, Requests, Told, What},
    disk::Disk,
    said,
};

/// It is always the same time: what takes time is an input.
pub(super) const NOW: Moment = Moment { unix_millis: 0, uptime: Duration::ZERO };

/// What clients are told that cannot be served.
pub(super) const FULL: &str = "full";

/// How often something may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) crashes: u8,
    pub(super) failures: u8,
    pub(super) cancels: u8,
    pub(super) asks: u8,
    pub(super) says: u8,
    pub(super) starts: u8,
    pub(super) deaths: u8,
    /// How often a client may join.
    pub(super) joins: u8,
    /// How often a client may leave.
    pub(super) detaches: u8,
    pub(super) ends: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub(super) struct World {
    pub(super) core: Option<SessionCore>,
    pub(super) disk: Disk,
    /// Commits that are not on disk yet.
    pub(super) under_way: VecDeque<SessionCommit>,
    /// How many of them are on disk after all, and the core was not told.
    pub(super) untold: usize,
    pub(super) agent: Agent,
    pub(super) clients: [Client; 2],
    pub(super) requests: Requests,
    pub(super) told: Vec<Told>,
    pub(super) left: Budget,
    /// How many cores there have been.
    cores: u64,
    /// Entries that are being written and were not shown.
    pub(super) log: VecDeque<(u64, IndexedUpdate)>,
    /// Entries that were shown, and that a client may still have to be shown which reads the history.
    pub(super) shown: Vec<(u64, IndexedUpdate)>,
    /// What the user says to the question that is open.
    pub(super) is_decided: bool,
    /// Nobody has come back yet.
    pub(super) is_held: bool,
    pub(super) is_ending: bool,
    pub(super) is_left: bool,
    /// A commit fails, and those behind it are written or not.
    is_failing: bool,
    pub(super) is_recovering: bool,
    pub(super) wrong: Option<Wrong>,
}

impl World {
    pub(super) fn new(play: &Play) -> Self {
        let mut world = Self {
            core: None,
            disk: Disk::default(),
            under_way: VecDeque::new(),
            untold: 0,
            agent: Agent::default(),
            clients: Default::default(),
            requests: Requests::default(),
            told: vec![Told::default(); play.parts.len()],
            left: play.budget,
            cores: 0,
            log: VecDeque::new(),
            shown: Vec::new(),
            is_decided: false,
            is_held: false,
            is_ending: false,
            is_left: false,
            is_failing: false,
            is_recovering: false,
            wrong: None,
        };
        for client in 0..play.attached {
            world.attach(play, client);
        }
        world
    }

    /// Whether all that was decided is done.
    pub(super) fn is_settled(&self) -> bool {
        let is_in_use = self.core.as_ref().is_some_and(|core| !core.is_stalled());
        is_in_use && !self.is_left && self.under_way.is_empty() && self.agent.unheard.is_empty()
    }

    /// Whether the user is asked for something, and has not answered.
    pub(super) fn is_asking(&self) -> bool {
        self.agent.question.is_some() && !self.is_decided
    }

    pub(super) fn note(&mut self, wrong: Option<Wrong>) {
        self.wrong = self.wrong.or(wrong);
    }

    pub(super) fn check(&mut self, holds: bool, wrong: Wrong) {
        self.note((!holds).then_some(wrong));
    }

    /// Tells the core something, and does what comes of it.
    pub(super) fn feed(&mut self, play: &Play, input: SessionInput) {
        let Some(core) = &mut self.core else { return };
        core.handle(input, NOW);
        self.finish(play);
    }

    pub(super) fn finish(&mut self, play: &Play) {
        let Some(core) = &mut self.core else { return };
        let SessionStep { commits, effects } = core.finish();
        // The answer to who comes back is before all that was held.
        self.is_held &= !effects.iter().any(|effect| matches!(effect, SessionEffect::Joined(_)));
        for commit in commits {
            self.note(audit::judge(play, self, &commit));
            self.decide(play, &commit);
            self.under_way.push_back(commit);
        }
        for effect in effects {
            self.perform(play, effect);
        }
        self.drop_if_left();
    }

    /// Notes what a commit will have done.
    fn decide(&mut self, play: &Play, commit: &SessionCommit) {
        for operation in &commit.operations {
            if let StoreOperation::Append { seq, update } = operation
                && update.kind != UpdateKind::PermissionAnswer
            {
                self.log.push_back((*seq, update.clone()));
            }
        }
        if !audit::delivered(commit).is_empty() {
            let prompt = Self::prompt_in(play, commit);
            match &mut self.agent.heard {
                Some(turn) => turn.phase = Phase::Busy,
                turn => *turn = Some(AgentTurn { prompt, ..AgentTurn::new(Phase::Starting) }),
            }
        }
    }

    /// The prompt of version 1 that a commit delivers.
    fn prompt_in(play: &Play, commit: &SessionCommit) -> Option<u8> {
        let appended = commit.operations.iter().filter_map(|operation| match operation {
            StoreOperation::Append { update, .. } if update.kind == UpdateKind::UserMessage => Some(update),
            _ => None,
        });
        let mut places = appended.filter_map(|update| Some(said::read(update.raw.as_str())?.0));
        places.find(|place| {
            let part = play.parts[usize::from(*place)];
            part.is_prompt() && part.client == 0
        })
    }

    /// What waits once all that is under way is on disk, and this, but for what it delivers.
    fn ahead(&self, commit: Option<&SessionCommit>) -> SavedMailbox<InputContent> {
        let mut inputs = self.disk.inputs.clone();
        for commit in self.under_way.iter().skip(self.untold).chain(commit) {
            for operation in &commit.operations {
                if let StoreOperation::Input(InputChange { change, .. }) = operation {
                    inputs.apply(change.clone());
                }
            }
        }
        inputs
    }

    /// Whether a steer waits after this.
    pub(super) fn steers_after(&self, commit: Option<&SessionCommit>) -> bool {
        self.ahead(commit).pending.iter().any(|message| message.mode == DeliveryMode::Steer)
    }

    /// Whether a message is delivered, or about to be.
    pub(super) fn will_be_delivered(&self, id: &MessageId) -> bool {
        self.ahead(None).delivered.contains(id)
    }

    /// How a message waits that a commit delivers.
    pub(super) fn mode_of(&self, id: &MessageId, commit: &SessionCommit) -> Option<DeliveryMode> {
        let added = commit.operations.iter().filter_map(|operation| match operation {
            StoreOperation::Input(InputChange { change: MailboxChange::Added(message), .. }) => Some(message),
            _ => None,
        });
        let is_it = |message: &&MailboxMessage<InputContent>| message.id == *id;
        let ahead = self.ahead(None).pending;
        added.chain(&ahead).find(is_it).map(|message| message.mode)
    }

    /// Brings the session into use, from what is on disk.
    fn open(&mut self, play: &Play) {
        let (seed, is_first) = (self.cores * 2, self.cores == 0);
        self.cores += 1;
        let restored = RestoredSession::new(self.disk.inputs.clone(), &self.disk.past, seed);
        let RestoredSession { mailbox, next_seq, operations, .. } = restored;
        self.write(&SessionCommit { operations, is_durable: true, at: 0 });
        let agent = AgentTraits {
            steer_method: play.method,
            wants_title: false,
            has_own_tools: true,
            elicitation: nudge_wire::caps::ElicitationModes::default(),
        };
        let start = SessionStart {
            seed: seed + 1,
            title: Some("t".into()),
            agent_session_id: Some("s".into()),
            mailbox,
            is_held: !is_first,
            next_seq,
            next_input: self.disk.next_input(),
            agent,
            linger: Duration::ZERO,
            outlives_clients: true,
        };
        (self.disk.is_closed, self.is_held) = (false, !is_first);
        self.core = Some(SessionCore::new(start, NOW));
    }

    /// A client joins that has read the history.
    pub(super) fn attach(&mut self, play: &Play, client: usize) {
        if self.core.is_none() {
            self.open(play);
        }
        let Some(request) = self.requests.open(client, What::Attach) else { return };
        let from = self.clients[client].has_read.take().unwrap_or(self.disk.past.next_seq);
        self.clients[client].joins = Some(from);
        let life = self.clients[client].life;
        let (id, version) = (clients::id(client, life), clients::version(client));
        let attendee = Attendee { id, version, offers: ClientOffers::default() };
        let options = AttachOptions { wants_history: true, ..AttachOptions::default() };
        self.feed(play, SessionInput::Attach(AttachRequest { request, attendee, from, options }));
    }

    /// A commit reaches the disk.
    fn write(&mut self, commit: &SessionCommit) {
        for operation in &commit.operations {
            if let StoreOperation::Input(InputChange { change: MailboxChange::Added(message), .. }) =
                operation
            {
                self.added(message);
            }
        }
        let written = self.disk.apply(commit);
        // One that was revoked, if only that could have been written, may be overtaken.
        self.note(written.wrong.filter(|wrong| !(self.is_failing && *wrong == Wrong::Order)));
        for (_, (place, version)) in written.delivered {
            let told = &mut self.told[usize::from(place)];
            (told.delivered, told.is_given) = (Some(version), false);
        }
    }

    fn added(&mut self, message: &MailboxMessage<InputContent>) {
        let Some((place, _)) = said::read(message.content.content.as_str()) else { return };
        let told = &mut self.told[usize::from(place)];
        let before = told.id.replace(message.id.clone());
        // The key of a prompt that was dropped is free again.
        let is_free = |id: &MessageId| {
            matches!(message.dialect, InputDialect::PromptV1 | InputDialect::PromptV2)
                && self.disk.inputs.revoked.contains(id)
        };
        let is_again = before.is_some_and(|id| !is_free(&id));
        let is_wrong = is_again && !told.is_refused && !self.is_failing;
        (told.is_refused, told.is_accepted) = (false, false);
        (told.asked_to_revoke, told.is_revoked, told.replaced) = (false, false, 0);
        self.check(!is_wrong, Wrong::Twice);
    }

    pub(super) fn land(&mut self, play: &Play) {
        if self.untold == 0 {
            self.reach_disk();
        }
        self.untold -= 1;
        self.under_way.pop_front();
        self.feed(play, SessionInput::Committed);
    }

    /// The oldest commit that is not on disk reaches it.
    pub(super) fn reach_disk(&mut self) {
        if let Some(commit) = self.under_way.get(self.untold).cloned() {
            self.untold += 1;
            self.write(&commit);
        }
    }

    /// The oldest commit cannot be written; of those behind it, these are.
    pub(super) fn fail(&mut self, play: &Play, mask: u8, may_pass: bool) {
        self.left.failures -= 1;
        let behind: Vec<_> = self.under_way.drain(..).skip(1).collect();
        let mut written: Vec<_> = (0..behind.len()).map(|at| mask & (1 << at) != 0).collect();
        self.is_failing = true;
        for (commit, is_written) in behind.iter().zip(&mut written) {
            *is_written &= self.disk.takes(commit);
            if *is_written {
                self.write(commit);
            }
        }
        self.is_failing = false;
        self.log.clear();
        self.excuse();
        self.is_ending = false;
        if may_pass {
            self.agent.abandoned();
        }
        let error = Error::internal(FULL);
        self.feed(play, SessionInput::CommitFailed(CommitFailure { error, may_pass, written }));
        let are_answered = self.requests.are_answered();
        self.check(are_answered, Wrong::Unanswered);
    }

    /// The agent cannot be given any more what was delivered.
    fn excuse(&mut self) {
        for told in &mut self.told {
            told.is_given |= told.delivered.is_some();
        }
    }

    /// The disk has room again.
    pub(super) fn recover(&mut self, play: &Play) {
        let stored = self.disk.stored();
        let Some(core) = &mut self.core else { return };
        let Some((commit, recovery)) = core.plan_recovery(stored, NOW) else { return };
        self.write(&commit);
        self.decide(play, &commit);
        self.is_recovering = true;
        self.feed(play, SessionInput::Recovered(recovery));
        self.is_recovering = false;
        self.check_refused();
        self.check_shown();
        let is_later = |(seq, _): &(u64, IndexedUpdate)| *seq >= self.disk.past.next_seq;
        self.log.retain(is_later);
        for client in &mut self.clients {
            client.seen = client.seen.max(self.disk.past.next_seq);
        }
        self.drop_if_left();
    }

    /// Every prompt that waited was refused when the disk was full, and must not come back.
    fn check_refused(&mut self) {
        let is_back = self.disk.inputs.pending.iter().any(|message| {
            let place = said::read(message.content.content.as_str()).map(|(place, _)| usize::from(place));
            let is_prompt = matches!(message.dialect, InputDialect::PromptV1 | InputDialect::PromptV2);
            let told = place.map(|place| &self.told[place]);
            is_prompt && told.is_some_and(|told| !told.is_former && told.id.as_ref() == Some(&message.id))
        });
        self.check(!is_back, Wrong::Refused);
    }

    /// What was shown is written, and nothing twice.
    fn check_shown(&mut self) {
        let words = self.shown.iter().filter(|(_, update)| update.kind == UpdateKind::AgentMessageChunk);
        let times: Vec<_> = words.map(|(_, update)| self.disk.times(update)).collect();
        self.check(!times.contains(&0), Wrong::Lost);
        self.check(times.iter().all(|times| *times < 2), Wrong::Twice);
    }

    /// The process dies after so many commits have reached the disk.
    pub(super) fn crash(&mut self, landed: usize) {
        while self.untold < landed {
            self.reach_disk();
        }
        self.requests.clear();
        self.drop_core();
    }

    /// A session that was left goes once all of it is on disk.
    fn drop_if_left(&mut self) {
        let is_stalled = self.core.as_ref().is_some_and(SessionCore::is_stalled);
        if self.is_left && self.under_way.is_empty() && !is_stalled {
            let are_answered = self.requests.are_answered();
            self.check(are_answered, Wrong::Unanswered);
            self.drop_core();
        }
    }

    pub(super) fn drop_core(&mut self) {
        self.excuse();
        self.core = None;
        self.under_way.clear();
        self.untold = 0;
        self.agent = Agent::default();
        self.clients = Default::default();
        self.requests.clear();
        self.log.clear();
        self.shown.clear();
        (self.is_decided, self.is_ending, self.is_left) = (false, false, false);
        self.disk.permits = 0;
        for told in &mut self.told {
            told.is_former = told.id.is_some();
        }
    }

    /// Forgets what can make no difference any more, so that worlds which differ in it alone count as one.
    pub(super) fn forget(&mut self, play: &Play) {
        let on_disk = self.core.as_ref().map_or(u64::MAX, SessionCore::on_disk);
        let reads = self.clients.iter().filter_map(|client| client.has_read.or(client.joins)).min();
        let oldest = reads.unwrap_or(u64::MAX).min(on_disk);
        self.shown.retain(|(seq, _)| *seq >= oldest);
        self.disk.forget(on_disk);
        if let Some(core) = &mut self.core {
            core.forget_entries(reads.unwrap_or(u64::MAX));
        }
        for (place, (told, part)) in self.told.iter_mut().zip(play.parts).enumerate() {
            let is_delivered = told.id.as_ref().is_some_and(|id| self.disk.inputs.delivered.contains(id));
            let is_given = told.delivered.is_none() || told.is_given;
            if !is_delivered || !is_given || self.requests.mention(place) {
                continue;
            }
            let can_matter = part.is_keyed || (play.revokes && !told.asked_to_revoke);
            let id = told.id.take().filter(|_| can_matter);
            let Told { sent, asked_to_revoke, is_refused, .. } = *told;
            *told = Told { sent, is_refused, asked_to_revoke, id, ..Told::default() };
        }
    }
}

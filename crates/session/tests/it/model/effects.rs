//! What the core does to the world, held against what it may do.

use nudge_backend::BackendParting;
use nudge_backend::{QuestionAnswer, QuestionId, SteerMethod, UserMessage};
use nudge_bridge::{IndexedUpdate, UpdateKind};
use nudge_mailbox::{ClientId, DeliveryMode};
use nudge_session::{AskId, JoinedClient, SessionCore, SessionEffect};

use super::{
    Play,
    agent::{AgentTurn, Phase},
    audit::{Wrong, must_wait},
    clients::{self, Client},
    said,
    world::World,
};

impl World {
    pub(super) fn perform(&mut self, play: &Play, effect: SessionEffect) {
        match effect {
            SessionEffect::Show { update, skip } => self.show(play, &update, &skip),
            SessionEffect::Answer { request, outcome } => self.answered(play, request, outcome),
            SessionEffect::Joined(joined) => self.joined(&joined),
            SessionEffect::ReadOn(request) => {
                if let Some((_, Some(client))) = self.requests.close(request) {
                    let client = &mut self.clients[client];
                    (client.joins, client.has_read) = (None, Some(self.disk.past.next_seq));
                }
            }
            SessionEffect::Prompt { messages, .. } => self.prompted(&messages),
            SessionEffect::Steer(messages) => self.steered(&messages),
            SessionEffect::GoOn(messages) => self.goes_on(&messages),
            SessionEffect::Interrupt => self.interrupted(play),
            SessionEffect::Cancel => {
                for turn in self.agent.turn.iter_mut().chain(&mut self.agent.heard) {
                    turn.is_cancelled = true;
                }
            }
            SessionEffect::AnswerAgent(id, answer) => self.agent_answered(id, &answer),
            SessionEffect::Ask { ask, client, .. } => self.asked(ask, client),
            SessionEffect::WithdrawAsk { ask, client } => {
                if let Some(client) = self.client(client) {
                    client.asked.remove(&ask);
                }
            }
            SessionEffect::Leave { parting, waiting } => {
                let is_written = match parting {
                    BackendParting::Leave => true,
                    BackendParting::Close => self.disk.is_closed,
                    BackendParting::Delete => self.disk.is_deleted,
                };
                self.check(is_written, Wrong::TooEarly);
                for request in waiting {
                    let was_open = self.requests.close(request).is_some();
                    self.check(was_open, Wrong::AnsweredTwice);
                }
                (self.is_ending, self.is_left) = (true, true);
                self.log.clear();
            }
            SessionEffect::Notify(_)
            | SessionEffect::NotifyOne(..)
            | SessionEffect::TakenUpBy(_)
            | SessionEffect::Flush
            | SessionEffect::TellPending(_)
            | SessionEffect::SetOption(_)
            | SessionEffect::ForgetOptions
            | SessionEffect::Serve(_) => {}
        }
    }

    /// The client of this connection, if that is not gone.
    fn client(&mut self, id: ClientId) -> Option<&mut Client> {
        let (place, life) = clients::of(id);
        Some(&mut self.clients[place]).filter(|client| client.life == life)
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.core.as_ref().is_some_and(SessionCore::is_stalled)
    }

    /// An entry is shown in its place, to everybody who has not got it.
    fn show(&mut self, play: &Play, update: &IndexedUpdate, skip: &[ClientId]) {
        if self.is_left
            || !update.kind.is_stored()
            || (self.is_stalled() && update.kind == UpdateKind::StateUpdate)
        {
            return;
        }
        if self.is_recovering {
            // What was shown before is written again, and not shown.
            while self.log.front().is_some_and(|(_, written)| written != update) {
                self.log.pop_front();
            }
        }
        let Some((seq, _)) = self.log.pop_front().filter(|(_, written)| written == update) else {
            return self.note(Some(Wrong::OtherEntry));
        };
        self.shown.push((seq, update.clone()));
        let sender = self.shows_message(play, update);
        for client in 0..self.clients.len() {
            let id = clients::id(client, self.clients[client].life);
            self.show_to(client, seq, update, skip.contains(&id), sender);
        }
    }

    /// The client that shows the message itself.
    fn shows_message(&mut self, play: &Play, update: &IndexedUpdate) -> Option<usize> {
        let id = update.message_id.as_ref().filter(|_| update.kind == UpdateKind::UserMessage)?;
        let is_written = self.disk.inputs.delivered.contains(id);
        self.check(is_written, Wrong::TooEarly);
        let (place, _) = said::read(update.raw.as_str())?;
        let part = play.parts[usize::from(place)];
        let told = &self.told[usize::from(place)];
        let is_there = !told.is_former && told.life == self.clients[part.client].life;
        (part.is_shown_by_sender() && is_there).then_some(part.client)
    }

    fn show_to(
        &mut self,
        client: usize,
        seq: u64,
        update: &IndexedUpdate,
        is_skipped: bool,
        sender: Option<usize>,
    ) {
        let is_prompting = self.is_prompting(client);
        let Self { clients, wrong, .. } = self;
        let place = client;
        let client = &mut clients[client];
        if !client.is_attached {
            return;
        }
        let has_seen = client.seen > seq;
        let found = match update.kind {
            _ if has_seen => (!is_skipped).then_some(Wrong::SeenTwice),
            UpdateKind::UserMessage => (is_skipped != (sender == Some(place))).then_some(Wrong::Echo),
            UpdateKind::StateUpdate => (is_skipped && !is_prompting).then_some(Wrong::Missed),
            _ => is_skipped.then_some(Wrong::Missed),
        };
        *wrong = wrong.or(found);
        client.seen = client.seen.max(seq + 1);
    }

    /// A client has joined: it has read up to some number, and is given what was shown since.
    fn joined(&mut self, joined: &JoinedClient) {
        let Some((_, Some(place))) = self.requests.close(joined.request) else {
            return self.note(Some(Wrong::AnsweredTwice));
        };
        let Some(from) = self.clients[place].joins.take() else { return };
        let missed = self.shown.iter().filter(|(seq, update)| *seq >= from && update.kind.is_replayed());
        let is_same = missed.map(|(_, update)| update).eq(&joined.missed);
        // One that is left is shown to nobody.
        self.check(is_same || self.is_left, Wrong::Missed);
        let end = self.shown.last().map_or(0, |(seq, _)| seq + 1).max(from);
        let client = &mut self.clients[place];
        (client.is_attached, client.seen) = (true, end);
        client.asked.clear();
        client.has_answered = false;
        let mut told: Vec<_> =
            joined.pending.iter().map(|waiting| (&*waiting.message_id, &waiting.content)).collect();
        let mut there: Vec<_> =
            self.disk.inputs.pending.iter().map(|message| (&*message.id, &message.content.content)).collect();
        told.sort_by_key(|(id, _)| *id);
        there.sort_by_key(|(id, _)| *id);
        let is_same = told == there || self.untold > 0;
        self.check(is_same, Wrong::OtherPending);
    }

    /// The agent begins a turn.
    fn prompted(&mut self, messages: &[UserMessage]) {
        let is_between = self.agent.turn.is_none_or(|turn| turn.is_own);
        let is_decided = self.agent.heard.is_some_and(|turn| turn.phase == Phase::Starting);
        self.check(is_between && is_decided, Wrong::TurnInTurn);
        self.agent.turn = Some(AgentTurn::new(Phase::Busy));
        if let Some(turn) = &mut self.agent.heard {
            turn.phase = Phase::Busy;
        }
        self.give(messages);
    }

    fn steered(&mut self, messages: &[UserMessage]) {
        let is_over = self.agent.heard.is_some_and(|turn| turn.is_cancelled);
        self.check(!is_over, Wrong::NoOpening);
        self.give(messages);
    }

    fn goes_on(&mut self, messages: &[UserMessage]) {
        let heard = self.agent.heard;
        let is_over = heard.is_some_and(|turn| turn.is_cancelled);
        self.check(messages.is_empty() || !is_over, Wrong::NoOpening);
        let is_at_break = heard.is_some_and(|turn| turn.phase == Phase::AtBreak && !must_wait(self, &turn));
        let is_open = messages.is_empty() && is_at_break;
        let is_held_back = is_open && !self.is_stalled() && !self.is_ending && self.steers_after(None);
        self.check(!is_held_back, Wrong::HeldBack);
        let was_owed = self.agent.goes_on();
        self.check(was_owed, Wrong::GoOnTwice);
        self.give(messages);
    }

    /// The agent gets messages, each once, as they are in the transcript.
    fn give(&mut self, messages: &[UserMessage]) {
        for UserMessage { id, content, params } in messages {
            let is_written = self.disk.inputs.delivered.contains(id);
            self.check(is_written, Wrong::TooEarly);
            let Some((place, version)) = said::read(content.as_str()) else { continue };
            let says = params.as_ref().map(|params| params.raw.get(&["prompt"]));
            let agrees = says.is_none_or(|says| says.as_ref() == Some(content));
            let told = &mut self.told[usize::from(place)];
            let is_same = told.delivered == Some(version) && agrees;
            let is_twice = std::mem::replace(&mut told.is_given, true);
            self.check(is_same, Wrong::OtherContent);
            self.check(!is_twice, Wrong::Twice);
        }
    }

    fn interrupted(&mut self, play: &Play) {
        let has_steer = self.disk.inputs.pending.iter().any(|message| message.mode == DeliveryMode::Steer);
        self.check(has_steer, Wrong::TooEarly);
        let may_be = self.agent.heard.is_some_and(|turn| {
            turn.phase == Phase::Streaming && !turn.is_interrupted && !must_wait(self, &turn)
        });
        self.check(may_be && play.method == SteerMethod::Interrupt, Wrong::Interrupted);
        if let Some(turn) = &mut self.agent.heard {
            turn.is_interrupted = true;
        }
    }

    fn agent_answered(&mut self, id: QuestionId, answer: &QuestionAnswer) {
        let was_open = self.agent.answered(id);
        self.check(was_open, Wrong::AnsweredTwice);
        if answer.as_ref().is_ok_and(|answer| answer.as_str().contains("selected")) {
            self.check(self.disk.permits > 0, Wrong::TooEarly);
            self.disk.permits = self.disk.permits.saturating_sub(1);
        }
    }

    fn asked(&mut self, ask: AskId, client: ClientId) {
        let client = self.client(client).filter(|client| client.is_attached);
        let is_new = client.is_some_and(|client| client.asked.insert(ask));
        self.check(is_new, Wrong::Asked);
    }
}

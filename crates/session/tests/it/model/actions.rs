//! What can happen next in a world, and what comes of it.

use nudge_session::{ClientAnswer, EndWish, SessionCore, SessionInput, SessionRequest};
use nudge_wire::{Error, RawJson};

use super::{
    Play,
    agent::Did,
    clients::{self, Client, How, What},
    said,
    world::World,
};

/// How a session is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum End {
    Close,
    Delete,
    LeaveIfUnused,
    Process,
    PatientProcess,
    /// Nobody looks, and time has passed.
    Tick,
    /// The agent has ended for good.
    AgentEnded,
}

/// What a client says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reply {
    Allow,
    Refuse,
    Gone,
}

/// What can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// A client reads the history.
    Read(usize),
    Attach(usize),
    Detach(usize),
    Send(u8),
    Revoke(u8),
    Replace(u8),
    Cancel,
    CancelRequest(u8),
    Reply(usize, Reply),
    End(End),
    Did(Did),
    /// The session hears of so many things that the agent did, at once.
    Hear(usize),
    /// The oldest commit reaches the disk, and the core is not told.
    Write,
    /// The core is told that the oldest commit is on disk.
    Land,
    /// The oldest commit is not written; which of those behind it are, and whether that may pass.
    Fail(u8, bool),
    Recover,
    /// After so many commits.
    Crash(usize),
}

impl World {
    pub(super) fn actions(&self, play: &Play, actions: &mut Vec<Action>) {
        if self.wrong.is_some() || self.disk.is_deleted && self.core.is_none() {
            return;
        }
        let Some(core) = &self.core else { return self.join_actions(play, actions) };
        self.disk_actions(play, core, actions);
        if self.under_way.len() >= play.under_way || self.is_left {
            return;
        }
        if core.hears_clients() {
            self.join_actions(play, actions);
            self.message_actions(play, actions);
            self.other_actions(play, actions);
        }
        self.agent_actions(play, core, actions);
    }

    fn disk_actions(&self, play: &Play, core: &SessionCore, actions: &mut Vec<Action>) {
        if self.left.crashes > 0 {
            actions.extend((self.untold..=self.under_way.len()).map(Action::Crash));
        }
        if self.under_way.is_empty() {
            actions.extend(core.is_stalled().then_some(Action::Recover));
            return;
        }
        actions.push(Action::Land);
        let is_slow = play.reads && self.untold < self.under_way.len();
        actions.extend(is_slow.then_some(Action::Write));
        if self.left.failures > 0 && self.untold == 0 {
            let behind = self.under_way.len() - 1;
            actions.extend((0..1 << behind).map(|mask| Action::Fail(mask, true)));
            actions.extend(play.fails_for_good.then_some(Action::Fail(0, false)));
        }
    }

    fn join_actions(&self, play: &Play, actions: &mut Vec<Action>) {
        for (place, client) in self.clients.iter().enumerate() {
            if client.is_attached || client.joins.is_some() {
                actions.extend((self.left.detaches > 0).then_some(Action::Detach(place)));
            } else if client.has_read.is_some() {
                actions.push(Action::Attach(place));
            } else if self.left.joins > 0 || self.core.is_none() {
                actions.push(Action::Attach(place));
                actions.extend((play.reads && self.core.is_some()).then_some(Action::Read(place)));
            }
        }
    }

    fn message_actions(&self, play: &Play, actions: &mut Vec<Action>) {
        for ((place, told), part) in (0..).zip(&self.told).zip(play.parts) {
            let may_send = told.sent == 0 || (part.is_keyed && told.sent == 1);
            let is_steer = part.how == How::Steer;
            let has_sense = !is_steer || self.agent.heard.is_some() || told.idle_tries < play.idle_tries;
            if may_send && has_sense && self.clients[part.client].is_attached {
                actions.push(Action::Send(place));
            }
            // One that was revoked may have been sent again, as another.
            let is_known = told.id.as_ref().is_some_and(|id| !self.disk.inputs.revoked.contains(id))
                && self.clients.iter().any(|client| client.is_attached);
            if play.revokes && is_known && !told.asked_to_revoke {
                actions.push(Action::Revoke(place));
            }
            if play.replaces > told.asked_to_replace && is_known && place == 0 {
                actions.push(Action::Replace(place));
            }
            if part.is_prompt() && play.cancels_requests && self.requests.of_message(place).is_some() {
                actions.push(Action::CancelRequest(place));
            }
        }
    }

    fn other_actions(&self, play: &Play, actions: &mut Vec<Action>) {
        if self.left.cancels > 0 && self.agent.heard.is_some_and(|turn| !turn.is_unwanted) {
            actions.push(Action::Cancel);
        }
        for (place, client) in self.clients.iter().enumerate() {
            if !client.asked.is_empty() {
                actions.extend(play.replies.iter().map(|reply| Action::Reply(place, *reply)));
            }
        }
        if self.left.ends > 0 {
            // Who has not joined cannot close.
            let can = |end: &&End| **end != End::Close || self.who_closes().is_some();
            actions.extend(play.ends.iter().filter(can).map(|end| Action::End(*end)));
        }
    }

    fn agent_actions(&self, play: &Play, core: &SessionCore, actions: &mut Vec<Action>) {
        if !core.hears_agent() {
            return;
        }
        actions.extend((1..=self.agent.unheard.len()).map(Action::Hear));
        if self.agent.unheard.len() > play.lag {
            return;
        }
        let always = [Did::End];
        let may_do = |did: &Did| {
            self.agent.can(*did)
                && match did {
                    Did::Ask => self.left.asks > 0,
                    Did::Say => self.left.says > 0,
                    Did::Start => self.left.starts > 0,
                    Did::Die => self.left.deaths > 0,
                    _ => true,
                }
        };
        let dids = play.does.iter().chain(&always).filter(|did| may_do(did));
        actions.extend(dids.map(|did| Action::Did(*did)));
    }

    pub(super) fn take(&mut self, play: &Play, action: Action) {
        match action {
            Action::Read(client) => {
                self.left.joins -= 1;
                self.clients[client].has_read = Some(self.disk.past.next_seq);
            }
            Action::Attach(client) => {
                let is_free = self.clients[client].has_read.is_some() || self.core.is_none();
                self.left.joins -= u8::from(!is_free);
                self.attach(play, client);
            }
            Action::Detach(client) => self.detach(play, client),
            Action::Send(place) => self.send(play, place),
            Action::Revoke(place) => self.revoke(play, place),
            Action::Replace(place) => self.replace(play, place),
            Action::Cancel => self.cancel(play),
            Action::CancelRequest(place) => self.cancel_request(play, place),
            Action::Reply(client, reply) => self.reply(play, client, reply),
            Action::End(end) => self.end(play, end),
            Action::Did(did) => self.did(play, did),
            Action::Hear(count) => self.hear(play, count),
            Action::Write => self.reach_disk(),
            Action::Land => self.land(play),
            Action::Fail(mask, may_pass) => self.fail(play, mask, may_pass),
            Action::Recover => self.recover(play),
            Action::Crash(landed) => {
                self.left.crashes -= 1;
                self.crash(landed);
            }
        }
    }

    fn detach(&mut self, play: &Play, client: usize) {
        self.left.detaches -= 1;
        self.requests.forget(client);
        let life = self.clients[client].life;
        self.clients[client] = Client { life: life + 1, ..Client::default() };
        self.feed(play, SessionInput::Detach(clients::id(client, life)));
    }

    fn request(&mut self, play: &Play, client: usize, of: What, what: SessionRequest) {
        if let Some(request) = self.requests.open(client, of) {
            let client = clients::id(client, self.clients[client].life);
            self.feed(play, SessionInput::Request { client, request, what });
        }
    }

    fn send(&mut self, play: &Play, place: u8) {
        let part = play.parts[usize::from(place)];
        // One that is about to be delivered is shown as if it had not been sent again.
        let id = self.told[usize::from(place)].id.as_ref();
        let is_heard = !self.is_stalled() && id.is_none_or(|id| !self.will_be_delivered(id));
        let told = &mut self.told[usize::from(place)];
        told.sent += 1;
        if is_heard {
            (told.life, told.is_former) = (self.clients[part.client].life, false);
        }
        let of = What::Send(place, told.sent);
        self.request(play, part.client, of, part.request(place));
    }

    /// Somebody who is there does something to a message.
    fn about(&mut self, play: &Play, of: What, what: SessionRequest) {
        let client = usize::from(!self.clients[0].is_attached);
        self.request(play, client, of, what);
    }

    fn revoke(&mut self, play: &Play, place: u8) {
        let told = &mut self.told[usize::from(place)];
        let Some(id) = &told.id else { return };
        told.asked_to_revoke = true;
        let what = SessionRequest::Revoke { id: id.to_string() };
        self.about(play, What::Revoke(place), what);
    }

    fn replace(&mut self, play: &Play, place: u8) {
        let told = &mut self.told[usize::from(place)];
        let Some(id) = &told.id else { return };
        told.asked_to_replace += 1;
        let version = told.asked_to_replace;
        let what = SessionRequest::Replace { id: id.to_string(), content: said::blocks((place, version)) };
        self.about(play, What::Replace(place, version), what);
    }

    fn cancel(&mut self, play: &Play) {
        self.left.cancels -= 1;
        self.unwant();
        self.feed(play, SessionInput::Cancel);
    }

    fn unwant(&mut self) {
        if let Some(turn) = &mut self.agent.heard {
            turn.is_unwanted = true;
        }
    }

    /// A prompt is taken back, or its turn is ended.
    fn cancel_request(&mut self, play: &Play, place: u8) {
        let Some(request) = self.requests.of_message(place) else { return };
        if self.agent.heard.is_some_and(|turn| turn.prompt == Some(place)) {
            self.unwant();
        }
        self.feed(play, SessionInput::CancelRequest(request));
    }

    fn reply(&mut self, play: &Play, client: usize, reply: Reply) {
        let Some(ask) = self.clients[client].asked.pop_first() else { return };
        self.clients[client].has_answered = true;
        let is_last = self.clients.iter().all(|client| client.asked.is_empty());
        self.is_decided |= reply == Reply::Allow || (reply == Reply::Refuse && is_last);
        let answer = match reply {
            Reply::Allow => ClientAnswer::Answer(RawJson::written(ALLOW)),
            Reply::Refuse => ClientAnswer::Refused(Error::internal("no")),
            Reply::Gone => ClientAnswer::Gone,
        };
        let client = clients::id(client, self.clients[client].life);
        self.feed(play, SessionInput::Answered { ask, client, answer });
    }

    fn who_closes(&self) -> Option<usize> {
        self.clients.iter().position(|client| client.is_attached)
    }

    fn end(&mut self, play: &Play, end: End) {
        self.left.ends -= 1;
        self.is_ending = !matches!(end, End::Tick | End::AgentEnded);
        let input = match end {
            End::Tick => SessionInput::Tick,
            End::AgentEnded => SessionInput::AgentEnded,
            End::Process => SessionInput::End(EndWish::Process { is_patient: false }),
            End::PatientProcess => SessionInput::End(EndWish::Process { is_patient: true }),
            End::Close => {
                let Some(client) = self.who_closes() else { return };
                let Some(request) = self.requests.open(client, What::Close) else { return };
                let id = clients::id(client, self.clients[client].life);
                SessionInput::End(EndWish::Close(id, request))
            }
            End::Delete | End::LeaveIfUnused => {
                let (what, wish): (_, fn(_) -> _) = match end {
                    End::Delete => (What::Delete, EndWish::Delete),
                    _ => (What::Leave, EndWish::LeaveIfUnused),
                };
                let Some(request) = self.requests.open(0, what) else { return };
                SessionInput::End(wish(request))
            }
        };
        self.feed(play, input);
    }

    /// The agent does something, and the session hears of it at once unless it lags behind.
    fn did(&mut self, play: &Play, did: Did) {
        match did {
            Did::Ask => self.left.asks -= 1,
            Did::Say => self.left.says -= 1,
            Did::Start => self.left.starts -= 1,
            Did::Die => self.left.deaths -= 1,
            _ => {}
        }
        self.agent.does(did);
        while play.lag == 0 && !self.agent.unheard.is_empty() {
            self.hear(play, 1);
        }
    }

    fn hear(&mut self, play: &Play, count: usize) {
        for _ in 0..count {
            if self.agent.unheard.front() == Some(&Did::Lost) {
                // What is done comes before an agent that is gone.
                self.finish(play);
            }
            let Some(event) = self.agent.heard() else { continue };
            if let nudge_backend::BackendEvent::Question(_) = event {
                self.is_decided = false;
                self.disk.permits = 0;
                self.clients.iter_mut().for_each(|client| client.has_answered = false);
            }
            let Some(core) = &mut self.core else { return };
            if core.is_stalled() {
                self.agent.abandoned();
            }
            core.handle(SessionInput::Agent(event), super::world::NOW);
            if core.wants_finish(usize::MAX) {
                self.finish(play);
            }
        }
        self.finish(play);
    }
}

const ALLOW: &str = "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\"}}";

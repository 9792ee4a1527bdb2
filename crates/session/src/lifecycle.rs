//! How the use of a session ends: cancelled, closed, deleted, left.

use std::time::Duration;

use nudge_backend::BackendParting;
use nudge_wire::Error;
use serde_json::json;

use crate::{
    EndWish, Moment, RequestId, RowChange, SessionCore, StoreOperation, outbox::OutboxAct, own_updates,
    stall::StoreStall,
};

/// How far the end of a session's use has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum LifecycleStage {
    Open,
    /// The end is being written.
    Ending,
    Left,
}

/// What happens once the session is idle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each says something else of the same end")]
pub(crate) struct IdleEnding {
    /// Requests to delete the session.
    deleting: Vec<RequestId>,
    /// Other requests that wait for it.
    waiting: Vec<RequestId>,
    /// The turn that runs may end by itself.
    is_patient: bool,
    /// The session is not closed by it.
    is_open: bool,
    /// The session is left whether or not that can be written down.
    pub(crate) is_final: bool,
    /// A turn is cut off by it that waited for an answer when nobody was there.
    pub(crate) cuts_off: bool,
    /// Nothing was to be delivered before it either.
    pub(crate) was_held: bool,
}

impl IdleEnding {
    fn of(wish: EndWish) -> Self {
        match wish {
            EndWish::Close(_, request) => Self { waiting: vec![request], ..Self::default() },
            EndWish::Delete(request) => Self { deleting: vec![request], is_final: true, ..Self::default() },
            EndWish::LeaveIfUnused(request) => {
                Self { waiting: vec![request], is_open: true, ..Self::default() }
            }
            EndWish::Process { is_patient } => {
                Self { is_patient, is_open: true, is_final: true, ..Self::default() }
            }
        }
    }

    /// Both: the session is deleted if either says so, and waits for a turn only if both do.
    fn and(mut self, other: Self) -> Self {
        self.deleting.extend(other.deleting);
        self.waiting.extend(other.waiting);
        self.is_patient &= other.is_patient;
        self.is_open &= other.is_open;
        self.is_final |= other.is_final;
        self.cuts_off |= other.cuts_off;
        self
    }

    /// All requests that wait for it.
    pub(crate) fn waiting(&self) -> Vec<RequestId> {
        self.waiting.iter().chain(&self.deleting).copied().collect()
    }

    /// What the agent is told.
    pub(crate) fn parting(&self) -> BackendParting {
        match self {
            Self { deleting, .. } if !deleting.is_empty() => BackendParting::Delete,
            Self { is_open: false, .. } => BackendParting::Close,
            Self { .. } => BackendParting::Leave,
        }
    }
}

/// Whether a session is in use, how that ends, and what keeps it from going on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionLifecycle {
    pub(crate) stage: LifecycleStage,
    pub(crate) ending: Option<IdleEnding>,
    /// The store cannot be written.
    pub(crate) stall: Option<StoreStall>,
    /// Since when nothing runs and nobody looks.
    unused_since: Option<Duration>,
    linger: Duration,
}

impl SessionLifecycle {
    pub(crate) fn new(linger: Duration, now: Moment) -> Self {
        Self {
            stage: LifecycleStage::Open,
            ending: None,
            stall: None,
            unused_since: Some(now.uptime),
            linger,
        }
    }

    /// Why nobody can ask for anything: nothing can be written down, or the session is not in use any more.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let is_over = self.stage != LifecycleStage::Open;
        let stalled = || self.stall.as_ref().map(|stall| stall.error.clone());
        if is_over { Some(crate::answers::unknown_session()) } else { stalled() }
    }
}

impl SessionCore {
    /// When [`SessionInput::Tick`](crate::SessionInput::Tick) is due, in terms of [`Moment::uptime`].
    pub fn deadline(&self) -> Option<Duration> {
        Some(self.lifecycle.unused_since? + self.lifecycle.linger)
    }

    /// Nothing runs and nobody looks. What is pending is held until somebody comes back.
    fn is_unused(&self) -> bool {
        let is_quiet = self.turn.is_none() && self.outbox.is_empty();
        is_quiet && self.attendance.is_empty() && self.lifecycle.ending.is_none()
    }

    /// Notes since when the session is not used.
    pub(crate) fn note_use(&mut self) {
        let since = self.lifecycle.unused_since.or(Some(self.now.uptime));
        let is_over = self.lifecycle.stage == LifecycleStage::Left;
        self.lifecycle.unused_since = since.filter(|_| !is_over && self.is_unused());
    }

    pub(crate) fn tick(&mut self) {
        if self.is_unused() && self.deadline().is_some_and(|at| at <= self.now.uptime) {
            self.leave(BackendParting::Leave, Vec::new());
        }
    }

    /// The user ends the turn. What waits and is not part of it follows, and the clients are told how much that is.
    pub(crate) fn cancel(&mut self) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_cancelled()) else { return };
        turn.cancel();
        let turn = turn.number;
        for message in self.delivery.mailbox.drop_prompts() {
            self.release(&message);
        }
        let pending = self.pending();
        if !pending.is_empty() {
            let count = pending.len();
            let what =
                if count == 1 { "1 message follows".to_owned() } else { format!("{count} messages follow") };
            let title = format!("{what} the cancelled turn; revoke what is not wanted");
            let meta = json!({ "inject": { "following": count, "pending": pending } });
            self.show(own_updates::notice("info", &title, &meta), None);
        }
        // Behind the prompt that it ends, which may still wait for the disk.
        self.draft.acts.push(OutboxAct::Cancel { turn });
    }

    /// Ends the session's use, after the turn that runs.
    pub(crate) fn end(&mut self, wish: EndWish) {
        if let EndWish::LeaveIfUnused(request) = wish
            && !(self.attendance.is_empty() && self.turn.is_none())
        {
            return self.answer_now(request, Err(Error::invalid_request("The session is in use")));
        }
        let is_joined = |client| self.attendance.get(client).is_some();
        let is_theirs = !matches!(wish, EndWish::Close(client, _) if !is_joined(client));
        if self.lifecycle.stage != LifecycleStage::Open || !is_theirs {
            return self.refuse_end(wish);
        }
        // A stall holds all, and ends.
        let stall = self.lifecycle.stall.as_ref();
        let was_held = stall.map_or(self.delivery.is_held, |stall| stall.is_held);
        let ending = IdleEnding { was_held, ..IdleEnding::of(wish) };
        self.lifecycle.ending = Some(match self.lifecycle.ending.take() {
            Some(before) => before.and(ending),
            None => ending,
        });
        self.delivery.is_held = true;
        // A turn that cannot be kept is over already.
        if self.turn.is_some() && !self.is_stalled() {
            self.end_turn_of_ending();
        } else {
            self.end_now();
        }
    }

    /// It ends already, or whoever wants to close it has not joined it.
    fn refuse_end(&mut self, wish: EndWish) {
        match wish {
            EndWish::Close(_, request) | EndWish::Delete(request) | EndWish::LeaveIfUnused(request) => {
                self.answer_now(request, Err(crate::answers::unknown_session()));
            }
            EndWish::Process { .. } => {}
        }
    }

    /// Cancels the turn that stands in the way of an end, unless it may end by itself. Nobody is left to be asked then.
    pub(crate) fn end_turn_of_ending(&mut self) {
        let is_asked = self.questions.needs_user();
        let Some(ending) = &mut self.lifecycle.ending else { return };
        if ending.is_patient && !is_asked {
            return;
        }
        // Whoever comes back finds out why there is no more.
        ending.cuts_off |= ending.is_open && self.attendance.is_empty() && is_asked;
        self.cancel();
    }

    /// Ends the session's use, if that is to be: what waits is kept, and prompts that wait are answered.
    pub(crate) fn end_now(&mut self) {
        let Some(ending) = self.lifecycle.ending.take() else { return };
        self.delivery.is_held = true;
        self.lifecycle.stage = LifecycleStage::Ending;
        self.draft.is_durable = true;
        let waiting: Vec<_> = self.unanswered.keys().cloned().collect();
        for id in waiting {
            self.take_back(&id);
        }
        self.note_input_changes();
        if ending.parting() == BackendParting::Delete {
            self.draft.operations.push(StoreOperation::DeleteSession);
        } else {
            let closed = (!ending.is_open).then_some(true);
            self.update_row(RowChange { closed, ..RowChange::default() });
        }
        self.draft.acts.push(OutboxAct::Leave(ending));
    }

    /// Answers every request that still waits for a turn.
    pub(crate) fn refuse_unanswered(&mut self, error: &Error) {
        let owner = self.turn.as_mut().and_then(|turn| turn.unanswered.take());
        let waiting = std::mem::take(&mut self.unanswered).into_values();
        for prompt in waiting.chain(owner) {
            self.answer_now(prompt.request, Err(error.clone()));
        }
    }
}

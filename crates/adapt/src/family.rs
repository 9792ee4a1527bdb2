//! What the processes of one agent have in common: who uses them, and what was set. There is one process, or with `isolate` one for
//! each session.

use std::sync::{Arc, Weak};

use nudge_wire::{ConnectionId, Error, RawJson};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    agent::ProcessState,
    remembered::{ProcessSetting, RememberedSettings},
    running::RunningAgent,
};

/// Requests that set something of a process and are not answered yet.
const MOST_UNDER_WAY: usize = 16;

/// What the processes of one agent have in common.
#[derive(Default)]
pub(crate) struct AgentFamily {
    users: Mutex<AgentUsers>,
    /// Told when something is set.
    changes: watch::Sender<()>,
    /// One for each request that sets something and is not answered yet.
    under_way: Arc<()>,
    /// What was set, and how often.
    remembered: Mutex<(RememberedSettings, u64)>,
    processes: Mutex<Vec<Weak<Mutex<ProcessState>>>>,
}

/// Which connections use an agent, or have used it.
#[derive(Default)]
struct AgentUsers {
    first: Option<ConnectionId>,
    has_others: bool,
    /// The one that has it to itself.
    owner: Option<ConnectionId>,
}

impl AgentFamily {
    /// A connection uses the agent; whether it may.
    pub(crate) fn join(&self, connection: ConnectionId) -> bool {
        let mut users = self.users.lock();
        if users.owner.is_some_and(|owner| owner != connection) {
            return false;
        }
        users.has_others |= *users.first.get_or_insert(connection) != connection;
        true
    }

    /// A connection wants the agent to itself from now on; whether it has it. One that others have used stays theirs: sessions
    /// of theirs may be in it.
    pub(crate) fn take(&self, connection: ConnectionId) -> bool {
        let mut users = self.users.lock();
        if users.owner.is_none() && users.first == Some(connection) && !users.has_others {
            users.owner = Some(connection);
        }
        users.owner == Some(connection)
    }

    /// Whether a connection has it to itself.
    pub(crate) fn is_owned(&self) -> bool {
        self.users.lock().owner.is_some()
    }

    /// A process that belongs to it.
    pub(crate) fn add(&self, state: &Arc<Mutex<ProcessState>>) {
        let mut processes = self.processes.lock();
        processes.retain(|process| process.strong_count() > 0);
        processes.push(Arc::downgrade(state));
    }

    /// What was set, and how often something was.
    pub(crate) fn remembered(&self) -> (RememberedSettings, u64) {
        self.remembered.lock().clone()
    }

    /// How often something was set.
    pub(crate) fn times(&self) -> u64 {
        self.remembered.lock().1
    }

    /// Whether anything was ever set.
    pub(crate) fn is_set(&self) -> bool {
        self.times() > 0
    }

    /// Makes room for what is asked for now. What comes back is kept until that is answered.
    pub(crate) fn make_room(&self, setting: ProcessSetting, params: &RawJson) -> Result<Arc<()>, Error> {
        self.remembered.lock().0.has_room(setting, params)?;
        if Arc::strong_count(&self.under_way) > MOST_UNDER_WAY {
            let what = format!(
                "More than {MOST_UNDER_WAY} settings of the agent wait for its answer; set the next when it has answered"
            );
            return Err(Error::invalid_request(what).reason("too_many_settings"));
        }
        Ok(Arc::clone(&self.under_way))
    }

    /// Told when something is set.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// A process has agreed to this. All others give way to processes that are told.
    pub(crate) fn remember(
        &self,
        setting: ProcessSetting,
        params: RawJson,
        (by, running): (&Arc<Mutex<ProcessState>>, &Arc<RunningAgent>),
    ) {
        let number = self.change(|remembered, number| remembered.remember(setting, params, number));
        running.note_agreed(number);
        by.lock().agreed(running);
        for process in self.processes() {
            if !Arc::ptr_eq(&process, by) {
                process.lock().retire();
            }
        }
        self.changes.send_replace(());
    }

    /// The user has signed in beside the protocol, over this connection if that is known: processes that have not seen it give way
    /// to others. What somebody else has signed in to for itself stays.
    pub(crate) fn signed_in_elsewhere(&self, by: Option<ConnectionId>) {
        let owner = self.users.lock().owner;
        let is_anothers = owner.is_some() && owner != by;
        if is_anothers && self.remembered.lock().0.is_signed_in() {
            return;
        }
        self.change(|remembered, _| remembered.forget_sign_in());
        for process in self.processes() {
            process.lock().replace();
        }
        self.changes.send_replace(());
    }

    /// Changes what is remembered; gives the number of the change.
    fn change(&self, change: impl FnOnce(&mut RememberedSettings, u64)) -> u64 {
        let mut remembered = self.remembered.lock();
        let (settings, times) = &mut *remembered;
        *times += 1;
        change(settings, *times);
        *times
    }

    fn processes(&self) -> Vec<Arc<Mutex<ProcessState>>> {
        self.processes.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_taken_by_the_only_one_that_has_used_it() {
        let [first, second] = [ConnectionId(1), ConnectionId(2)];
        let alone = AgentFamily::default();
        assert!(alone.join(first) && alone.join(first));
        assert!(alone.take(first) && alone.is_owned());
        assert!(!alone.join(second) && !alone.take(second));
        assert!(alone.join(first) && alone.take(first));
        let shared = AgentFamily::default();
        assert!(shared.join(first) && shared.join(second));
        assert!(!shared.take(first) && !shared.take(second) && !shared.is_owned());
    }
}

//! What the processes of one agent have in common: who uses them, and what was set. There is one process, or with `isolate` one for
//! each session.

use std::sync::{Arc, Weak};

use nudge_wire::{ConnectionId, Error, RawJson};
use parking_lot::Mutex;

use crate::{
    agent::ProcessState,
    remembered::{ProcessSetting, RememberedSettings},
};

/// What the processes of one agent have in common.
#[derive(Default)]
pub(crate) struct AgentFamily {
    users: Mutex<AgentUsers>,
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

    pub(crate) fn has_room(&self, setting: ProcessSetting, params: &RawJson) -> Result<(), Error> {
        self.remembered.lock().0.has_room(setting, params)
    }

    /// One of the processes has agreed to this. The others give way to processes that are told.
    pub(crate) fn remember(&self, setting: ProcessSetting, params: RawJson, by: &Arc<Mutex<ProcessState>>) {
        self.change(|remembered| remembered.remember(setting, params));
        by.lock().may_settle();
        self.retire(|process| !Arc::ptr_eq(process, by));
    }

    /// The user has signed in beside the protocol: processes that have not seen it give way to others.
    pub(crate) fn signed_in_elsewhere(&self) {
        self.change(RememberedSettings::forget_sign_in);
        self.retire(|_| true);
    }

    fn change(&self, change: impl FnOnce(&mut RememberedSettings)) {
        let mut remembered = self.remembered.lock();
        change(&mut remembered.0);
        remembered.1 += 1;
    }

    fn retire(&self, is_meant: impl Fn(&Arc<Mutex<ProcessState>>) -> bool) {
        let processes: Vec<_> = self.processes.lock().iter().filter_map(Weak::upgrade).collect();
        for process in processes.iter().filter(|process| is_meant(process)) {
            process.lock().retire();
        }
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

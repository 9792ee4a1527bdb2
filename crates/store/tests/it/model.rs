//! Random work against a naive store: the same outcomes, the same state, also after opening again.

use std::collections::BTreeMap;

use nudge_store::{
    InputState, PageLimit, SessionChange, SessionFilter, SessionLease, SessionRow, Store, StoreOp,
    StoredInput, TranscriptEntry, WriteBatch, WriteTicket,
};
use proptest::{collection::vec, prelude::*, test_runner::Config};

use crate::support::{Place, entry, input, name, session as session_row};

const IDS: [&str; 3] = ["a", "b", "c"];
const OWNERS: [&str; 2] = ["one", "two"];
const TTL: u64 = 10;

/// What a session is, said as simply as possible.
#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    session: SessionRow,
    entries: Vec<TranscriptEntry>,
    inputs: Vec<StoredInput>,
}

#[derive(Debug, Clone, Default)]
struct Model {
    sessions: BTreeMap<String, Known>,
    /// Owner, epoch and end; without an owner nobody holds it.
    leases: BTreeMap<String, (Option<String>, u64, u64)>,
    now: u64,
}

impl Model {
    fn apply(&mut self, batch: &WriteBatch) -> &'static str {
        let id = batch.session.to_string();
        let current = self.leases.get(&id).map(|(owner, epoch, _)| (owner.as_deref(), *epoch));
        if current != Some((Some(&batch.lease.owner), batch.lease.epoch)) {
            return "Fenced";
        }
        let before = self.clone();
        for op in &batch.ops {
            let told = self.step(&id, op);
            if told != "ok" {
                *self = before;
                return told;
            }
        }
        "ok"
    }

    fn step(&mut self, id: &str, op: &StoreOp) -> &'static str {
        if !self.leases.contains_key(id) {
            return "Fenced";
        }
        if let StoreOp::CreateSession(session) = op {
            if self.sessions.contains_key(id) {
                return "SessionExists";
            }
            self.sessions.insert(id.to_owned(), Known { session: session.clone(), ..Known::default() });
            return "ok";
        }
        let source = match op {
            StoreOp::CopyTranscript { from, .. } => self.sessions.get(&**from).cloned(),
            _ => None,
        };
        let Some(known) = self.sessions.get_mut(id) else { return "NoSession" };
        let last = known.entries.last().map(|entry| entry.seq);
        match op {
            StoreOp::CreateSession(_) => unreachable!("it was done above"),
            StoreOp::UpdateSession(change) => change.clone().apply(&mut known.session),
            StoreOp::DeleteSession => {
                self.sessions.remove(id);
                self.leases.remove(id);
            }
            StoreOp::Append(entry) if last.is_some_and(|last| last >= entry.seq) => return "SeqOrder",
            StoreOp::Append(entry) => known.entries.push(entry.clone()),
            StoreOp::CopyTranscript { .. } if last.is_some() => return "SeqOrder",
            StoreOp::CopyTranscript { up_to, .. } => {
                let Some(source) = source else { return "NoSession" };
                known.entries = source.entries.into_iter().filter(|entry| entry.seq <= *up_to).collect();
            }
            StoreOp::AddInput(input) if known.inputs.iter().any(|other| other.id == input.id) => {
                return "InputExists";
            }
            StoreOp::AddInput(input) => known.inputs.push(input.clone()),
            StoreOp::ReplaceInput { id, content } => match known.pending(id) {
                Some(input) => input.content = Some(content.clone()),
                None => return "InputNotPending",
            },
            StoreOp::SetInput { state: InputState::Pending, .. } => return "InputNotPending",
            StoreOp::SetInput { id, state } => match known.pending(id) {
                Some(input) => (input.state, input.content) = (*state, None),
                None => return "InputNotPending",
            },
            StoreOp::ForgetInput { id } => {
                known.inputs.retain(|input| input.id != *id || input.state != InputState::Pending);
                for input in known.inputs.iter_mut().filter(|input| input.id == *id) {
                    input.key = None;
                }
            }
        }
        "ok"
    }

    /// Whether the lease can be taken.
    fn is_free(&self, id: &str) -> bool {
        self.leases.get(id).is_none_or(|(owner, _, until)| owner.is_none() || *until <= self.now)
    }
}

impl Known {
    fn pending(&mut self, id: &str) -> Option<&mut StoredInput> {
        self.inputs.iter_mut().find(|input| &*input.id == id && input.state == InputState::Pending)
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// With the newest lease this owner has got, current or not, or with an older one.
    Write {
        session: usize,
        owner: usize,
        older: bool,
        ops: Vec<StoreOp>,
        urgent: bool,
    },
    Acquire {
        session: usize,
        owner: usize,
    },
    Release {
        session: usize,
        owner: usize,
    },
    ReleaseOwner(usize),
    Pass(u64),
    Reopen,
}

fn op() -> impl Strategy<Value = StoreOp> {
    let id = prop::sample::select(vec!["i", "j", "k"]);
    let state = prop::sample::select(vec![InputState::Pending, InputState::Delivered, InputState::Revoked]);
    let from = prop::sample::select(IDS.to_vec());
    prop_oneof![
        2 => Just(StoreOp::CreateSession(session_row("a"))),
        3 => change().prop_map(StoreOp::UpdateSession),
        1 => Just(StoreOp::DeleteSession),
        8 => (0..12_u64).prop_map(|seq| StoreOp::Append(entry(seq))),
        1 => (from, 0..12_u64).prop_map(|(from, up_to)| StoreOp::CopyTranscript { from: from.into(), up_to }),
        4 => (id.clone(), 0..9_u64).prop_map(|(id, seq)| StoreOp::AddInput(input(id, seq))),
        3 => (id.clone(), "[a-z]{1,3}").prop_map(|(id, content)| StoreOp::ReplaceInput { id: id.into(), content }),
        1 => id.clone().prop_map(|id| StoreOp::ForgetInput { id: id.into() }),
        3 => (id, state).prop_map(|(id, state)| StoreOp::SetInput { id: id.into(), state }),
    ]
}

fn change() -> impl Strategy<Value = SessionChange> {
    let text = || prop::option::of(prop::option::of("[a-zA-ZÄß%]{0,3}"));
    (text(), prop::option::of(0..5_u64), prop::option::of("[a-z]"), prop::option::of(any::<bool>()), text())
        .prop_map(|(title, updated_at, config, closed, agent_session_id)| SessionChange {
            title,
            updated_at,
            config,
            closed,
            agent_session_id,
        })
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || (0..IDS.len(), 0..OWNERS.len());
    prop_oneof![
        20 => (ids(), prop::bool::weighted(0.1), vec(op(), 1..5), any::<bool>())
            .prop_map(|((session, owner), older, ops, urgent)| Step::Write { session, owner, older, ops, urgent }),
        8 => ids().prop_map(|(session, owner)| Step::Acquire { session, owner }),
        1 => ids().prop_map(|(session, owner)| Step::Release { session, owner }),
        1 => (0..OWNERS.len()).prop_map(Step::ReleaseOwner),
        3 => (1..15_u64).prop_map(Step::Pass),
        1 => Just(Step::Reopen),
    ]
}

/// The store under test, the model, and the tickets that are still open.
struct Pair {
    place: Place,
    store: std::sync::Arc<dyn Store>,
    model: Model,
    /// What each owner has got for each session, the newest last.
    got: BTreeMap<(usize, usize), Vec<SessionLease>>,
    open: Vec<(WriteTicket, &'static str)>,
    highest: u64,
}

impl Pair {
    async fn take(&mut self, step: Step) {
        match step {
            Step::Write { session, owner, older, ops, urgent } => {
                let got = self.got.get(&(session, owner));
                let lease = got.and_then(|got| got.iter().rev().nth(usize::from(older)).cloned());
                if let Some(lease) = lease {
                    self.write(lease, ops, urgent);
                }
            }
            Step::Acquire { session, owner } => self.acquire(session, owner).await,
            Step::Release { session, owner } => self.release(session, owner).await,
            Step::ReleaseOwner(owner) => {
                let owner = OWNERS[owner];
                let mut freed = 0;
                for (holder, _, _) in
                    self.model.leases.values_mut().filter(|(holder, ..)| holder.as_deref() == Some(owner))
                {
                    *holder = None;
                    freed += 1;
                }
                assert_eq!(self.store.release_owner(owner).await.expect("freed"), freed);
            }
            Step::Pass(time) => self.model.now += time,
            Step::Reopen => {
                self.settle().await;
                self.store.close().await.expect("closed");
                self.store = self.place.open().await;
                self.compare().await;
            }
        }
    }

    fn write(&mut self, lease: SessionLease, mut ops: Vec<StoreOp>, urgent: bool) {
        for op in &mut ops {
            if let StoreOp::CreateSession(session) = op {
                session.id = lease.session.clone();
            }
        }
        let batch = WriteBatch { session: lease.session.clone(), lease, ops };
        let expected = self.model.apply(&batch);
        let ticket = if urgent { self.store.commit(batch) } else { self.store.append(batch) };
        self.open.push((ticket, expected));
    }

    async fn acquire(&mut self, session: usize, owner: usize) {
        let (id, who) = (IDS[session], OWNERS[owner]);
        let taken = self.store.acquire(id, who, self.model.now, TTL).await.expect("an answer");
        assert_eq!(taken.is_ok(), self.model.is_free(id));
        match taken {
            Ok(lease) => {
                assert!(lease.epoch > self.highest, "epochs grow");
                self.highest = lease.epoch;
                let until = self.model.now + TTL;
                self.model.leases.insert(id.to_owned(), (Some(who.to_owned()), lease.epoch, until));
                self.got.entry((session, owner)).or_default().push(lease);
            }
            Err(held) => {
                let expected = &self.model.leases[id];
                assert_eq!((Some(held.owner), held.epoch, held.until), *expected);
            }
        }
    }

    async fn release(&mut self, session: usize, owner: usize) {
        let Some(lease) = self.got.get(&(session, owner)).and_then(|got| got.first()) else { return };
        if let Some((holder, epoch, _)) = self.model.leases.get_mut(IDS[session])
            && *epoch == lease.epoch
        {
            *holder = None;
        }
        self.store.release(lease.clone()).await.expect("given back");
    }

    async fn settle(&mut self) {
        for (ticket, expected) in std::mem::take(&mut self.open) {
            // A batch with several faults may be refused for any of them.
            assert_eq!(name(ticket.await) == "ok", expected == "ok", "{expected}");
        }
    }

    async fn compare(&self) {
        let mut listed: Vec<&SessionRow> = self.model.sessions.values().map(|known| &known.session).collect();
        listed.sort_by_key(|session| (std::cmp::Reverse(session.updated_at), session.id.clone()));
        let page = self.store.sessions(&SessionFilter::default(), None, 100).await.expect("a page");
        assert_eq!(page.sessions.iter().collect::<Vec<_>>(), listed);
        for id in IDS {
            let mut known = self.model.sessions.get(id).cloned().unwrap_or_default();
            known.inputs.sort_by_key(|input| (input.seq, input.id.clone()));
            let entries = self.store.transcript(id, 0, PageLimit::default()).await.expect("read");
            assert_eq!(self.store.last_seq(id).await.expect("read"), entries.last().map(|entry| entry.seq));
            assert_eq!(entries, known.entries, "{id}");
            assert_eq!(self.store.inputs(id).await.expect("read"), known.inputs, "{id}");
        }
    }
}

/// A case opens and fills files; `PROPTEST_CASES` asks for more of them.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(Config { cases: cases(), failure_persistence: None, ..Config::default() })]

    #[test]
    fn it_does_what_a_naive_store_does(steps in vec(step(), 1..120)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let place = Place::new();
            let store = place.open().await;
            let mut pair =
                Pair { place, store, model: Model::default(), got: BTreeMap::new(), open: Vec::new(), highest: 0 };
            // Most of what follows needs sessions that exist.
            for (session, id) in IDS.into_iter().enumerate() {
                pair.acquire(session, 0).await;
                let lease = pair.got[&(session, 0)][0].clone();
                pair.write(lease, vec![StoreOp::CreateSession(session_row(id))], true);
            }
            for step in steps {
                pair.take(step).await;
            }
            pair.settle().await;
            pair.compare().await;
        });
    }
}

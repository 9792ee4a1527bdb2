//! Sessions, entries and stores to test with.

use std::{env, path::PathBuf, process::Command, sync::Arc};

use nudge_store::{
    FrameDialect, InputState, PageLimit, SessionLease, SessionRow, Store, StoreError, StoreOp, StoredInput,
    TranscriptEntry, WriteBatch, open,
};
use tempfile::TempDir;

/// A directory with a store's file in it, or soon.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().expect("a temporary directory") }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("data/nudge.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        let opened = open(&self.url()).await.expect("the store opens");
        assert_eq!(opened.set_aside, None);
        opened.store
    }
}

pub(crate) async fn memory() -> Arc<dyn Store> {
    open("memory").await.expect("memory opens").store
}

pub(crate) fn session(id: &str) -> SessionRow {
    SessionRow {
        id: id.into(),
        cwd: "/project".into(),
        additional_directories: vec!["/lib a".into(), "/\"q\"".into()],
        title: Some(format!("Title of {id}")),
        created_at: 100,
        updated_at: 200,
        backend: "builtin".into(),
        agent_session_id: Some("theirs".into()),
        parent: None,
        config: r#"{"mode":"ask"}"#.into(),
        closed: false,
    }
}

pub(crate) fn entry(seq: u64) -> TranscriptEntry {
    TranscriptEntry {
        seq,
        at: 1_000 + seq,
        dialect: if seq.is_multiple_of(2) { FrameDialect::V1 } else { FrameDialect::V2 },
        kind: "agent_message_chunk".into(),
        message_id: seq.is_multiple_of(3).then(|| format!("m{seq}")),
        tool_call_id: seq.is_multiple_of(5).then(|| format!("t{seq}")),
        origin: seq.is_multiple_of(4).then_some(u64::MAX - seq),
        frame: format!(r#"{{"sessionUpdate":"agent_message_chunk","n":{seq}}}"#).into(),
    }
}

pub(crate) fn input(id: &str, seq: u64) -> StoredInput {
    StoredInput {
        id: id.into(),
        seq,
        client: u64::MAX,
        mode: "queue".into(),
        dialect: "inject".into(),
        key: Some(format!("key of {id}")),
        state: InputState::Pending,
        content: Some(format!(r#"[{{"type":"text","text":"{id}"}}]"#)),
    }
}

pub(crate) fn set(id: &str, state: InputState) -> StoreOp {
    StoreOp::SetInput { id: id.into(), state }
}

pub(crate) fn replace(id: &str, content: &str) -> StoreOp {
    StoreOp::ReplaceInput { id: id.into(), content: content.into() }
}

pub(crate) fn batch(lease: &SessionLease, ops: Vec<StoreOp>) -> WriteBatch {
    WriteBatch { session: lease.session.clone(), lease: lease.clone(), ops }
}

pub(crate) async fn lease(store: &dyn Store, session: &str) -> SessionLease {
    store.acquire(session, "me", 1_000, 1_000).await.expect("the store answers").expect("the lease is free")
}

/// A session that exists, and the right to write to it.
pub(crate) async fn created(store: &dyn Store, id: &str) -> SessionLease {
    let lease = lease(store, id).await;
    write(store, &lease, vec![StoreOp::CreateSession(session(id))]).await.expect("it is created");
    lease
}

pub(crate) async fn write(
    store: &dyn Store,
    lease: &SessionLease,
    ops: Vec<StoreOp>,
) -> Result<(), StoreError> {
    store.commit(batch(lease, ops)).await
}

pub(crate) fn appends(seqs: impl IntoIterator<Item = u64>) -> Vec<StoreOp> {
    seqs.into_iter().map(|seq| StoreOp::Append(entry(seq))).collect()
}

pub(crate) async fn seqs(store: &dyn Store, id: &str) -> Vec<u64> {
    let entries = store.transcript(id, 0, PageLimit::default()).await.expect("the transcript is read");
    entries.iter().map(|entry| entry.seq).collect()
}

/// The variant's name: errors are compared by it.
pub(crate) fn name(outcome: Result<(), StoreError>) -> String {
    match outcome {
        Ok(()) => "ok".to_owned(),
        Err(error) => {
            let text = format!("{error:?}");
            text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
        }
    }
}

/// This program again, to run one ignored test.
pub(crate) fn rerun(test: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a program has a path"));
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

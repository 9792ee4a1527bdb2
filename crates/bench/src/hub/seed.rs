//! What is in the store before a case begins.

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use futures::future::try_join_all;
use nudge_store::{
    FrameDialect, SessionLease, SessionRow, Store, StoreOp, TranscriptEntry, WriteBatch, open,
};
use serde_json::{Value, json};

/// The first millisecond of what is made up.
const EPOCH: u64 = 1_790_000_000_000;

/// Sessions or entries that are written together.
const TOGETHER: usize = 200;

/// Many short sessions.
pub(crate) fn sessions(url: &str, count: usize) -> Result<()> {
    filled(url, async |store| {
        for first in (0..count).step_by(TOGETHER) {
            let some = first..count.min(first + TOGETHER);
            try_join_all(some.map(|number| short(store, number))).await?;
        }
        Ok(())
    })
}

/// One session with this much history, as an agent that reads and edits files makes it, or of tokens alone.
pub(crate) fn history(url: &str, id: &str, bytes: usize, tokens_alone: bool) -> Result<()> {
    filled(url, async |store| {
        let lease = lease(store, id).await?;
        let session = session(id, "A long session", 0);
        store.commit(batch(&lease, vec![StoreOp::CreateSession(session)])).await?;
        let (mut written, mut seq) = (0, 0);
        for turn in 0.. {
            if written >= bytes {
                break;
            }
            let frames = if tokens_alone { tokens(turn, 200) } else { coding(turn) };
            let entries: Vec<_> = frames.iter().zip(seq..).map(|(frame, seq)| entry(seq, frame)).collect();
            seq += entries.len() as u64;
            written += entries.iter().map(|entry| entry.frame.len()).sum::<usize>();
            store.append(batch(&lease, entries.into_iter().map(StoreOp::Append).collect())).await?;
        }
        Ok(store.release(lease).await?)
    })
}

fn filled(url: &str, fill: impl AsyncFnOnce(&dyn Store) -> Result<()>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = open(url).await?.store;
        fill(&*store).await?;
        Ok(store.close().await?)
    })
}

async fn short(store: &dyn Store, number: usize) -> Result<()> {
    let id = format!("sess_{:032x}", number * 0x9e37_79b9);
    let lease = lease(store, &id).await?;
    let title = format!("Fix the flaky test of part {number} and write down why it was flaky");
    let mut ops = vec![StoreOp::CreateSession(session(&id, &title, number as u64 * 7_919 % 10_000_000))];
    ops.extend(tokens(0, 4).iter().zip(0..).map(|(frame, seq)| StoreOp::Append(entry(seq, frame))));
    store.commit(batch(&lease, ops)).await?;
    Ok(store.release(lease).await?)
}

async fn lease(store: &dyn Store, id: &str) -> Result<SessionLease> {
    let acquired = store.acquire(id, "bench", EPOCH, 60_000).await?;
    acquired.map_err(|held| anyhow!("{} holds the session", held.owner)).context("the store is a new one")
}

fn batch(lease: &SessionLease, ops: Vec<StoreOp>) -> WriteBatch {
    WriteBatch { session: lease.session.clone(), lease: lease.clone(), ops }
}

fn session(id: &str, title: &str, after: u64) -> SessionRow {
    SessionRow {
        id: id.into(),
        cwd: "/".into(),
        title: Some(title.to_owned()),
        created_at: EPOCH,
        updated_at: EPOCH + after,
        backend: "builtin".into(),
        ..SessionRow::default()
    }
}

fn entry(seq: u64, frame: &Value) -> TranscriptEntry {
    let text = |name: &str| frame[name].as_str().map(str::to_owned);
    TranscriptEntry {
        seq,
        at: EPOCH + seq,
        dialect: FrameDialect::V2,
        kind: text("sessionUpdate").unwrap_or_default(),
        message_id: text("messageId"),
        tool_call_id: text("toolCallId"),
        origin: None,
        frame: Bytes::from(frame.to_string()),
    }
}

/// A message and its answer in tokens.
fn tokens(turn: u64, count: usize) -> Vec<Value> {
    let said = json!([{"type": "text", "text": "Rename the option and keep the old name as an alias."}]);
    let message =
        json!({"sessionUpdate": "user_message", "messageId": format!("msg_{turn:032x}"), "content": said});
    let mut frames = vec![message];
    frames.extend((0..count).map(|token| chunk(turn, token)));
    frames.push(json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}));
    frames
}

fn chunk(turn: u64, token: usize) -> Value {
    let text = format!(" the {token}th word of what is said,");
    json!({
        "sessionUpdate": "agent_message_chunk", "messageId": format!("msg_a{turn:031x}"),
        "content": {"type": "text", "text": text},
    })
}

/// A part of a file, with as much to escape in JSON as source code has.
const SOURCE: &str = "    /// The value under this name, if there is one.
    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
";

/// A turn in which files are read: about a kilobyte for each update, most of it in what the tools bring.
fn coding(turn: u64) -> Vec<Value> {
    let mut frames = tokens(turn, 40);
    let end = frames.pop();
    for call in 0..6 {
        let id = format!("call_{turn}_{call}");
        let path = format!("/project/src/part_{turn}/file_{call}.rs");
        let begun = json!({"title": format!("Read {path}"), "kind": "read", "status": "in_progress", "locations": [{"path": path}]});
        let text = SOURCE.repeat(36);
        let done = json!({"status": "completed", "content": [{"type": "content", "content": {"type": "text", "text": text}}]});
        for mut update in [begun, done] {
            update["sessionUpdate"] = json!("tool_call_update");
            update["toolCallId"] = json!(id);
            frames.push(update);
        }
    }
    frames.extend(end);
    frames
}

//! How fast the store is on the disk of a directory, in all or one of its parts:
//! `cargo run --release -p nudge-store --example measure -- DIR [commits | transcript | lists]`.
#![allow(clippy::disallowed_methods, reason = "it measures time on real files")]
#![allow(clippy::cast_precision_loss, reason = "figures are printed with two digits")]

use std::{
    error::Error,
    fs::File,
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use nudge_store::{
    FrameDialect, InputState, PageLimit, SessionChange, SessionFilter, SessionLease, SessionRow, Store,
    StoreOp, StoredInput, TranscriptEntry, WriteBatch, open,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome {
    let dir = std::env::args().nth(1).ok_or("expected a directory to measure in")?;
    let only = std::env::args().nth(2);
    let wanted = |part: &str| only.as_ref().is_none_or(|only| only == part);
    let dir = tempfile::tempdir_in(dir)?;
    if wanted("commits") {
        bare_sync(dir.path())?;
        commits(dir.path()).await?;
    }
    if wanted("transcript") {
        transcript(dir.path()).await?;
    }
    if wanted("lists") {
        lists(dir.path()).await?;
    }
    Ok(())
}

fn bare_sync(dir: &Path) -> Outcome {
    let mut file = File::create(dir.join("bare"))?;
    let mut times = Vec::new();
    for _ in 0..500 {
        file.write_all(&[7; 8192])?;
        let start = Instant::now();
        file.sync_data()?;
        times.push(start.elapsed());
    }
    report("bare fdatasync behind 8 KB", times);
    Ok(())
}

async fn commits(dir: &Path) -> Outcome {
    let store = open(&dir.join("commits").display().to_string()).await?.store;
    let lease = created(&*store, "alone").await?;
    let start = Instant::now();
    let mut times = Vec::new();
    for n in 0..1000 {
        let start = Instant::now();
        store.commit(message(&lease, n)).await?;
        times.push(start.elapsed());
    }
    let alone = 1000.0 / start.elapsed().as_secs_f64();
    report("one commit at a time", times);

    let before = store.counts();
    let start = Instant::now();
    let mut tasks = Vec::new();
    for task in 0..64 {
        let lease = created(&*store, &format!("s{task}")).await?;
        tasks.push(tokio::spawn(commit_many(Arc::clone(&store), lease, 200)));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await?);
    }
    let together = 64.0 * 200.0 / start.elapsed().as_secs_f64();
    report("64 commits in flight", times);
    let counts = store.counts();
    let (batches, transactions) =
        (counts.batches - before.batches, counts.transactions - before.transactions);
    println!("  {alone:.0}/s alone, {together:.0}/s with 64 in flight: {:.1} times", together / alone);
    println!("  {:.1} batches a transaction", batches as f64 / transactions as f64);
    store.close().await?;
    Ok(())
}

async fn commit_many(store: Arc<dyn Store>, lease: SessionLease, count: u64) -> Vec<Duration> {
    let mut times = Vec::new();
    for n in 0..count {
        let start = Instant::now();
        store.commit(message(&lease, n)).await.expect("it is written");
        times.push(start.elapsed());
    }
    times
}

async fn transcript(dir: &Path) -> Outcome {
    const FRAMES: u64 = 100_000;
    let store = open(&dir.join("transcript").display().to_string()).await?.store;
    let lease = created(&*store, "long").await?;
    let start = Instant::now();
    let mut tickets = Vec::new();
    for first in (0..FRAMES).step_by(100) {
        let ops = (first..first + 100).map(|seq| StoreOp::Append(entry(seq))).collect();
        tickets.push(store.append(batch(&lease, ops)));
    }
    for ticket in tickets {
        ticket.await?;
    }
    let megabytes = FRAMES as f64 * 1024.0 / 1e6;
    println!("appending {megabytes:.0} MB: {:.0} MB/s", megabytes / start.elapsed().as_secs_f64());
    for page in [256 << 10, 1 << 20, 4 << 20] {
        let start = Instant::now();
        let (mut from, mut bytes) = (0, 0);
        loop {
            let entries = store.transcript("long", from, PageLimit { rows: 100_000, bytes: page }).await?;
            let Some(last) = entries.last() else { break };
            from = last.seq + 1;
            bytes += entries.iter().map(|entry| entry.frame.len()).sum::<usize>();
        }
        let rate = bytes as f64 / 1e6 / start.elapsed().as_secs_f64();
        println!("reading in pages of {} KB: {rate:.0} MB/s", page >> 10);
    }
    store.close().await?;
    Ok(())
}

async fn lists(dir: &Path) -> Outcome {
    let path = dir.join("lists").display().to_string();
    let store = open(&path).await?.store;
    let mut tickets = Vec::new();
    for n in 0..10_000 {
        let session = SessionRow {
            cwd: format!("/projects/number-{}", n % 20),
            title: Some(format!("Fix the flaky test of part {n} and write down why it was flaky")),
            updated_at: 1_700_000_000_000 + n * 7_919 % 10_000,
            ..session(&format!("0192f0c1-7d2a-7c3e-8f00-{n:012}"))
        };
        let lease = store.acquire(&session.id, "me", 1, 1).await?.map_err(|_| "held")?;
        tickets.push(store.append(batch(&lease, vec![StoreOp::CreateSession(session)])));
    }
    for ticket in tickets {
        ticket.await?;
    }
    store.close().await?;

    let mut times = Vec::new();
    for _ in 0..10 {
        let start = Instant::now();
        let store = open(&path).await?.store;
        times.push(start.elapsed());
        store.close().await?;
    }
    report("opening with 10,000 sessions", times);

    let store = open(&path).await?.store;
    let search = |text: &str| SessionFilter { search: Some(text.to_owned()), ..SessionFilter::default() };
    let here = "/projects/number-7".to_owned();
    for (what, filter) in [
        ("a page of 50", SessionFilter::default()),
        ("a page of 50 of one directory", SessionFilter { cwd: Some(here), ..SessionFilter::default() }),
        ("a search that finds many", search("FLAKY")),
        ("a search that finds one", search("part 9999 ")),
        ("a search that finds none", search("nothing like it")),
    ] {
        let mut times = Vec::new();
        for _ in 0..50 {
            let start = Instant::now();
            store.sessions(&filter, None, 50).await?;
            times.push(start.elapsed());
        }
        report(what, times);
    }
    store.close().await?;
    Ok(())
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.2} ms, p99 {:.2} ms", at(50), at(99));
}

async fn created(store: &dyn Store, id: &str) -> Outcome<SessionLease> {
    let lease = store.acquire(id, "me", 1, 1).await?.map_err(|_| "the lease is held")?;
    store.commit(batch(&lease, vec![StoreOp::CreateSession(session(id))])).await?;
    Ok(lease)
}

fn batch(lease: &SessionLease, ops: Vec<StoreOp>) -> WriteBatch {
    WriteBatch { session: lease.session.clone(), lease: lease.clone(), ops }
}

/// What one accepted message writes.
fn message(lease: &SessionLease, n: u64) -> WriteBatch {
    let input = StoredInput {
        id: format!("message-{n}").into(),
        seq: n,
        client: 1,
        mode: "queue".into(),
        dialect: "inject".into(),
        key: None,
        state: InputState::Pending,
        content: Some(r#"[{"type":"text","text":"please also run the tests"}]"#.to_owned()),
    };
    let change = SessionChange { updated_at: Some(n), ..SessionChange::default() };
    batch(lease, vec![StoreOp::AddInput(input), StoreOp::UpdateSession(change)])
}

fn session(id: &str) -> SessionRow {
    SessionRow { id: id.into(), backend: "builtin".into(), config: "{}".into(), ..SessionRow::default() }
}

fn entry(seq: u64) -> TranscriptEntry {
    TranscriptEntry {
        seq,
        at: seq,
        dialect: FrameDialect::V2,
        kind: "agent_message_chunk".into(),
        message_id: Some(format!("message-{}", seq / 50)),
        tool_call_id: None,
        origin: None,
        frame: vec![b'x'; 1024].into(),
    }
}

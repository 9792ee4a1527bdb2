//! Parses documents when nobody waits for it.
//!
//! The first parse of a long document takes much longer than any other; whoever opens one and then types should not wait
//! for it. And what a question had no time for is made up for when the user pauses.

use std::{
    sync::{
        OnceLock,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use nudge_syntax::AnalysedDocument;

use crate::patience::Stopwatch;

/// How many documents may wait; what comes on top is parsed when it is asked about.
const WAITING: usize = 64;
/// How long nobody has asked about a document before what a question had no time for is made up for.
const PAUSE: Duration = Duration::from_millis(300);
/// How long a parse may take that nobody waits for. What takes longer is not tried again until the text changes.
const PARSE_TIME: Duration = Duration::from_secs(5);

/// A thread that parses, begun with the first document. It ends when this is dropped.
#[derive(Default)]
pub(crate) struct WarmParser(OnceLock<SyncSender<Job>>);

enum Job {
    Now(AnalysedDocument),
    /// When the user pauses.
    Later(AnalysedDocument),
}

impl WarmParser {
    /// Parses a document in the background. Never waits.
    pub(crate) fn parse(&self, source: AnalysedDocument) {
        self.send(Job::Now(source));
    }

    /// Parses a document in the background that a question had no time for, when none has come for a while. Never waits.
    pub(crate) fn parse_later(&self, source: AnalysedDocument) {
        self.send(Job::Later(source));
    }

    fn send(&self, job: Job) {
        // The thread may be gone, or too much may wait for it.
        let _ = self.0.get_or_init(start).try_send(job);
    }
}

fn start() -> SyncSender<Job> {
    let (sender, jobs) = sync_channel(WAITING);
    let started = thread::Builder::new().name("nes-parse".to_owned()).spawn(move || run(&jobs));
    if let Err(error) = started {
        tracing::warn!(%error, "documents are not parsed ahead");
    }
    sender
}

fn run(jobs: &Receiver<Job>) {
    let mut later: Vec<AnalysedDocument> = Vec::new();
    loop {
        let job = if later.is_empty() {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            jobs.recv_timeout(PAUSE)
        };
        match job {
            Ok(Job::Now(source)) => parse(&source),
            Ok(Job::Later(source)) => {
                later.retain(|other| other.uri() != source.uri());
                later.truncate(WAITING);
                later.push(source);
            }
            Err(RecvTimeoutError::Timeout) => later.drain(..).for_each(|source| parse(&source)),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn parse(source: &AnalysedDocument) {
    let watch = Stopwatch::start();
    source.prepare(&|| watch.elapsed() < PARSE_TIME);
}

//! Parses documents before somebody asks about them.
//!
//! The first parse of a long document takes much longer than any other; whoever opens one and then types should not wait
//! for it.

use std::{
    sync::{
        OnceLock,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use nudge_predict::Source;

/// How many documents may wait; what comes on top is parsed when it is asked about.
const WAITING: usize = 64;

/// A thread that parses, begun with the first document. It ends when this is dropped.
#[derive(Default)]
pub(crate) struct Warm(OnceLock<SyncSender<Source>>);

impl Warm {
    /// Parses a document in the background. Never waits.
    pub(crate) fn parse(&self, source: Source) {
        // The thread may be gone, or too much may wait for it.
        let _ = self.0.get_or_init(start).try_send(source);
    }
}

fn start() -> SyncSender<Source> {
    let (sender, documents) = sync_channel(WAITING);
    let started = thread::Builder::new().name("nes-parse".to_owned()).spawn(move || run(&documents));
    if let Err(error) = started {
        tracing::warn!(%error, "documents are not parsed ahead");
    }
    sender
}

fn run(documents: &Receiver<Source>) {
    while let Ok(source) = documents.recv() {
        source.prepare();
    }
}

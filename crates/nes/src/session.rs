//! One NES session.

use std::{collections::HashMap, sync::Arc};

use nudge_predict::{FeedbackMemory, LessonCache, SuggestionFeedback};
use nudge_syntax::{AnalysedDocument, HeldBytes};
use nudge_text::{Encoding, history::EditHistory};
use nudge_wire::{
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    nes::RejectReason,
};

use crate::{
    SuggestCanceller, convert,
    documents::{DocumentChange, NotChanged, OpenDocuments},
    recent_files::RecentFiles,
    service::NesWorkspace,
    setting::NesSettings,
    shown::ShownSuggestions,
};

/// What a session knows.
pub(crate) struct NesSession {
    pub(crate) id: String,
    pub(crate) workspace: NesWorkspace,
    pub(crate) documents: OpenDocuments,
    pub(crate) history: EditHistory,
    pub(crate) recent: RecentFiles,
    pub(crate) settings: NesSettings,
    pub(crate) offered: ShownSuggestions,
    /// What its changes teach.
    pub(crate) lessons: Arc<LessonCache>,
    memory: Arc<FeedbackMemory>,
    /// The state of the workspace's weights that the memory has.
    revision: Option<u64>,
    running: SuggestCanceller,
    /// Bytes of text that may have syntax trees.
    parsed_bytes: usize,
}

impl NesSession {
    pub(crate) fn new(
        id: String,
        workspace: NesWorkspace,
        settings: NesSettings,
        parsed_bytes: usize,
    ) -> Self {
        Self {
            id,
            workspace,
            documents: OpenDocuments::default(),
            history: EditHistory::default(),
            recent: RecentFiles::default(),
            settings,
            offered: ShownSuggestions::default(),
            lessons: Arc::default(),
            memory: Arc::default(),
            revision: None,
            running: SuggestCanceller::default(),
            parsed_bytes,
        }
    }

    /// Gives the document back if it is worth parsing before somebody asks.
    pub(crate) fn did_open(&mut self, event: DidOpen) -> Option<AnalysedDocument> {
        self.history.forget(&event.uri);
        let source = self.documents.open(event.uri, &event.language_id, event.version, &event.text);
        source.filter(|_| self.documents.bytes() <= self.parsed_bytes)
    }

    pub(crate) fn did_change(&mut self, event: DidChange, encoding: Encoding, now: u64) {
        let changes = convert::changes(event.content_changes);
        match self.documents.change(&event.uri, event.version, &changes, encoding) {
            Ok(made) => self.changed(&made, now),
            Err(NotChanged::Still) => {}
            Err(why) => {
                self.history.forget(&event.uri);
                tracing::warn!(session = self.id, uri = event.uri, %why, "a change could not be made");
            }
        }
    }

    /// A document was changed by the user.
    pub(crate) fn changed(&mut self, made: &DocumentChange, now: u64) {
        let DocumentChange { uri, before, edits, after } = made;
        self.history.record(uri, before, edits, after, now);
        if self.memory.watches(uri) {
            Arc::make_mut(&mut self.memory).changed(uri, before, edits, after);
        }
    }

    pub(crate) fn did_close(&mut self, event: &DidClose) {
        self.history.forget(&event.uri);
        if !self.documents.close(&event.uri) {
            tracing::debug!(session = self.id, uri = event.uri, "a document was closed that was not open");
        }
    }

    pub(crate) fn did_save(&mut self, event: DidSave) {
        if let Some(index) = &self.workspace.index {
            index.saved(event.uri);
        }
    }

    pub(crate) fn did_focus(&mut self, event: DidFocus) {
        self.documents.focus(&event.uri, event.visible_range);
    }

    pub(crate) fn accept(&mut self, id: &str) {
        self.feedback(id, SuggestionFeedback::Accepted);
    }

    pub(crate) fn reject(&mut self, id: &str, reason: Option<&RejectReason>) {
        let feedback = match reason {
            None | Some(RejectReason::Rejected) => SuggestionFeedback::Rejected,
            Some(RejectReason::Ignored) => SuggestionFeedback::Ignored,
            Some(RejectReason::Replaced) => SuggestionFeedback::Replaced,
            // What a reason means that is not known is not known either.
            Some(RejectReason::Cancelled | RejectReason::Other(_)) => SuggestionFeedback::Cancelled,
        };
        self.feedback(id, feedback);
    }

    fn feedback(&mut self, id: &str, feedback: SuggestionFeedback) {
        let Some(suggestion) = self.offered.find(id) else {
            tracing::debug!(session = self.id, "feedback came for a suggestion that is not known");
            return;
        };
        tracing::debug!(session = self.id, predictor = suggestion.predictor.name(), ?feedback, "feedback");
        if matches!(feedback, SuggestionFeedback::Replaced | SuggestionFeedback::Cancelled) {
            return;
        }
        let memory = Arc::make_mut(&mut self.memory);
        let revision = self.workspace.learned.learn(memory, |memory| memory.feedback(suggestion, feedback));
        self.revision = Some(revision);
        self.offered.settle(id);
    }

    /// What was not shown because of what was learned is trusted a little more again.
    pub(crate) fn recover(&mut self) {
        if self.memory.has_held_back() {
            let memory = Arc::make_mut(&mut self.memory);
            self.revision = Some(self.workspace.learned.learn(memory, FeedbackMemory::recover));
        }
    }

    /// What became of earlier suggestions, in this session and in the others of the workspace.
    pub(crate) fn memory(&mut self) -> Arc<FeedbackMemory> {
        if let Some((weights, revision)) = self.workspace.learned.newer_than(self.revision) {
            Arc::make_mut(&mut self.memory).set_weights(weights);
            self.revision = Some(revision);
        }
        Arc::clone(&self.memory)
    }

    /// The same, for documents that have these texts now.
    pub(crate) fn memory_of<'a>(
        &mut self,
        sources: impl Iterator<Item = &'a AnalysedDocument>,
    ) -> Arc<FeedbackMemory> {
        for source in sources {
            if self.memory.is_behind(source.uri(), source.text()) {
                Arc::make_mut(&mut self.memory).follow(source.uri(), source.text());
            }
        }
        self.memory()
    }

    /// Decides what is kept of the session's documents when a question is asked: syntax trees of those at hand, the first of
    /// them first and up to a number of bytes; of all that are not at hand, nothing.
    pub(crate) fn keep_only(&mut self, at_hand: &mut [&mut AnalysedDocument]) {
        let mut room = self.parsed_bytes;
        let mut is_new = false;
        for source in at_hand.iter_mut() {
            let left = room.checked_sub(source.tree_bytes());
            room = left.unwrap_or(room);
            if left.is_none() != source.is_by_tokens() {
                **source = if left.is_none() { source.by_tokens() } else { source.with_tree() };
                is_new = true;
            }
        }
        if !is_new && self.documents.bytes() + self.recent.bytes() <= self.parsed_bytes {
            return;
        }
        let mut kept: HashMap<Arc<str>, &AnalysedDocument> =
            at_hand.iter().map(|source| (Arc::clone(source.uri()), &**source)).collect();
        // Where a document is both open and among the recent files, the open one is at hand.
        for source in self.documents.sources().chain(self.recent.sources()) {
            match kept.remove(source.uri()) {
                Some(kept) => *source = kept.clone(),
                None => *source = source.bare(),
            }
        }
    }

    /// What is held of the session's documents.
    pub(crate) fn held(&mut self) -> HeldBytes {
        let mut held = HeldBytes::default();
        self.documents.sources().chain(self.recent.sources()).for_each(|source| held += source.held());
        held
    }

    /// Begins a request for suggestions, which supersedes the one that runs.
    pub(crate) fn begin(&mut self) -> SuggestCanceller {
        self.running.cancel();
        self.running = SuggestCanceller::default();
        self.running.clone()
    }

    /// Ends what is running.
    pub(crate) fn cancel(&mut self) {
        self.running.cancel();
    }
}

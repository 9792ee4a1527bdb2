//! What is said of NES in `initialize`.

use nudge_wire::nes::{
    ContextCapabilities, DidChangeCapability, DocumentEventCapabilities, EventCapabilities, Limited,
    NesCapabilities, Supported, SyncKind,
};

use crate::limits;

/// What Nudge wants to be told: all of it, documents in pieces.
pub(crate) fn ours() -> NesCapabilities {
    let document = DocumentEventCapabilities {
        did_open: Some(Supported::default()),
        did_change: Some(DidChangeCapability::new(SyncKind::Incremental)),
        did_close: Some(Supported::default()),
        did_save: Some(Supported::default()),
        did_focus: Some(Supported::default()),
        ..Default::default()
    };
    let context = ContextCapabilities {
        recent_files: Some(limited(limits::RECENT_FILES)),
        related_snippets: Some(Supported::default()),
        edit_history: Some(limited(limits::EDIT_HISTORY)),
        user_actions: Some(limited(limits::USER_ACTIONS)),
        open_files: Some(Supported::default()),
        diagnostics: Some(Supported::default()),
        ..Default::default()
    };
    NesCapabilities {
        events: Some(EventCapabilities { document: Some(document), ..Default::default() }),
        context: Some(context),
        ..Default::default()
    }
}

fn limited(count: usize) -> Limited {
    Limited::to(u32::try_from(count).unwrap_or(u32::MAX))
}

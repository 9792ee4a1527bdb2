//! What is said of NES in `initialize`.

use nudge_wire::nes::{
    ContextCapabilities, DidChangeCapability, DocumentEventCapabilities, EventCapabilities,
    LimitedCapability, NesCapabilities, SupportedCapability, SyncKind,
};

use crate::limits;

/// What Nudge wants to be told: all of it, documents in pieces.
pub(crate) fn ours() -> NesCapabilities {
    let document = DocumentEventCapabilities {
        did_open: Some(SupportedCapability::default()),
        did_change: Some(DidChangeCapability::new(SyncKind::Incremental)),
        did_close: Some(SupportedCapability::default()),
        did_save: Some(SupportedCapability::default()),
        did_focus: Some(SupportedCapability::default()),
        ..Default::default()
    };
    let context = ContextCapabilities {
        recent_files: Some(limited(limits::RECENT_FILES)),
        related_snippets: Some(SupportedCapability::default()),
        edit_history: Some(limited(limits::EDIT_HISTORY)),
        user_actions: Some(limited(limits::USER_ACTIONS)),
        open_files: Some(SupportedCapability::default()),
        diagnostics: Some(SupportedCapability::default()),
        ..Default::default()
    };
    NesCapabilities {
        events: Some(EventCapabilities { document: Some(document), ..Default::default() }),
        context: Some(context),
        ..Default::default()
    }
}

fn limited(count: usize) -> LimitedCapability {
    LimitedCapability::to(u32::try_from(count).unwrap_or(u32::MAX))
}

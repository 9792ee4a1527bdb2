//! The messages that chunks belong to which do not say so.

use std::sync::Arc;

use nudge_bridge::{IndexedUpdate, UpdateKind};

use crate::shape;

/// Names the messages that chunks belong to. Version 1 need not do that itself: a chunk belongs to the message of the one
/// before it, if it is of the same kind.
#[derive(Debug, Default)]
pub(crate) struct MessageRuns(Option<(UpdateKind, Arc<str>)>);

impl MessageRuns {
    pub(crate) fn name(&mut self, update: &mut IndexedUpdate) {
        let kind = &update.kind;
        if !kind.is_message_chunk() {
            if kind.is_stored() {
                self.0 = None;
            }
            return;
        }
        if update.message_id.is_some() {
            self.0 = None;
        } else if let Some((_, id)) = self.0.as_ref().filter(|(run, _)| run == kind) {
            update.message_id = Some(Arc::clone(id));
        } else {
            let id = shape::mint("msg");
            self.0 = Some((kind.clone(), Arc::clone(&id)));
            update.message_id = Some(id);
        }
    }
}

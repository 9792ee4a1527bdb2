//! The built-in engine, watched: what it thought of and did not say is kept too.

use nudge_nes::Engine;
use nudge_predict::{Outcome, Scene, Suggestion};
use parking_lot::Mutex;

/// Answers as the built-in engine does. Slower, as everything is thought of twice.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<Vec<Suggestion>>);

impl Watched {
    /// What was thought of for the last answer.
    pub(crate) fn take(&self) -> Vec<Suggestion> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Engine for Watched {
    fn name(&self) -> &'static str {
        "local"
    }

    fn suggest(&self, scene: &Scene<'_>) -> Outcome {
        let considered = nudge_predict::consider(scene).suggestions;
        *self.0.lock() = considered;
        nudge_predict::suggest(scene)
    }
}

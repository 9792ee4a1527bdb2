//! The built-in engine, watched: what it thought of and did not say is kept too.

use nudge_nes::NesEngine;
use nudge_predict::{EngineSuggestion, Scene, SuggestOutcome};
use parking_lot::Mutex;

/// Answers as the built-in engine does. Slower, as everything is thought of twice.
#[derive(Debug, Default)]
pub(crate) struct WatchedEngine(Mutex<Vec<EngineSuggestion>>);

impl WatchedEngine {
    /// What was thought of for the last answer.
    pub(crate) fn take(&self) -> Vec<EngineSuggestion> {
        std::mem::take(&mut self.0.lock())
    }
}

impl NesEngine for WatchedEngine {
    fn name(&self) -> &'static str {
        "local"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        let considered = nudge_predict::consider(scene).suggestions;
        *self.0.lock() = considered;
        nudge_predict::suggest(scene)
    }
}

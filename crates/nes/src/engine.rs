//! Who makes the suggestions.

use nudge_predict::{Scene, SuggestOutcome};

/// Something that makes suggestions.
pub trait NesEngine: Send + Sync {
    /// Its name among the settings.
    fn name(&self) -> &str;

    /// Whether the user has to authenticate before it can be used.
    fn needs_auth(&self) -> bool {
        false
    }

    /// What the user may want to do next. Gives up early once the scene says that the answer is not wanted any more.
    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome;
}

/// The engine that needs no model, no network and no account.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalEngine;

impl NesEngine for LocalEngine {
    fn name(&self) -> &'static str {
        "local"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        nudge_predict::suggest(scene)
    }
}

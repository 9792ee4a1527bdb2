//! A stand-in for a model: it plays a rehearsal.
//!
//! A rehearsal is a TOML file of turns. The turn is chosen by what the user said, each of its steps is one answer:
//!
//! ```
//! # use nudge_model::script::ScriptedModel;
//! let script = ScriptedModel::parse(r#"
//! [[turn]]
//! regex = '^run (?<command>.+)$'
//!
//! [[turn.step]]
//! play = [
//!   { text = "I run it.", token_ms = 20 },
//!   { call = "run", input = { command = "{command}" } },
//! ]
//!
//! [[turn.step]]
//! play = [{ text = "It said: {result}" }]
//!
//! [[turn.steer]]
//! literal = "stop"
//! play = [{ text = "I leave it at that." }]
//! next = "end"
//! "#)?;
//! # Ok::<(), nudge_model::ModelError>(())
//! ```
//!
//! `REHEARSAL.md` beside this crate's manifest describes all of it. What is played depends on the request alone: the
//! place in the rehearsal is found anew each time by going through what was said.

mod format;
mod place;
mod play;
mod template;

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use crate::{AnswerPieces, LanguageModel, ModelError, ModelRequest, SlashCommand};
use format::Rehearsal;

/// A model that plays a rehearsal.
#[derive(Debug, Clone)]
pub struct ScriptedModel(Arc<Rehearsal>);

impl ScriptedModel {
    /// Reads a rehearsal.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        Rehearsal::parse(text).map(|rehearsal| Self(Arc::new(rehearsal))).map_err(ModelError::Rehearsal)
    }

    /// The rehearsal that Nudge brings with it: a short tour of the workspace, with the real tools.
    pub fn built_in() -> Self {
        Self::parse(include_str!("built_in.toml")).expect("a test plays the built-in rehearsal")
    }
}

impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn stream(&self, request: ModelRequest) -> AnswerPieces {
        let cues = match place::next(&self.0, &request.messages) {
            Ok(scene) => play::cues(scene),
            Err(why) => vec![play::ScriptCue::at_once(Err(ModelError::Rehearsal(why)))],
        };
        let played = stream::iter(cues).then(|cue| async move {
            if !cue.after.is_zero() {
                tokio::time::sleep(cue.after).await;
            }
            cue.piece
        });
        Box::pin(played)
    }

    fn commands(&self) -> Vec<SlashCommand> {
        self.0.command.clone()
    }
}

//! A call that shows whether a way to a provider works.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use nudge_wire::{ClientContext, RawJson};

use crate::{AnswerPiece, ChatMessage, ModelError, ModelRequest, ProviderAccess, ProviderModels};

/// What a test call has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedProvider {
    /// The model that answered.
    pub model: String,
    /// How long it took to begin.
    pub latency: Duration,
}

impl ProviderModels {
    /// Asks the model of a provider that would be taken for one word.
    pub async fn test(
        &self,
        access: &ProviderAccess,
        client: &ClientContext,
    ) -> Result<TestedProvider, ModelError> {
        let chosen = self.choose_at(access, client).await?;
        let content = RawJson::written(r#"[{"type":"text","text":"Say yes."}]"#);
        let said = ChatMessage::User { text: "Say yes.".to_owned(), content, steer: false };
        let began = Instant::now();
        let mut pieces =
            chosen.model.stream(ModelRequest { messages: vec![said], ..ModelRequest::default() });
        while let Some(piece) = pieces.next().await {
            if !matches!(piece?, AnswerPiece::Tokens(_)) {
                break;
            }
        }
        Ok(TestedProvider { model: chosen.model.name().to_owned(), latency: began.elapsed() })
    }
}

//! What is said in a play: every text names its message and how often that was replaced.

use nudge_backend::PromptParams;
use nudge_wire::{RawJson, Version};

/// Which message, by its place in the play, and how often it was replaced.
pub(super) type Content = (u8, u8);

const BEFORE: &str = "\"text\":\"";

/// The content blocks of a message.
pub(super) fn blocks((place, version): Content) -> RawJson {
    RawJson::written(format!("[{{\"type\":\"text\",{BEFORE}{place}{version}\"}}]"))
}

/// The params of a prompt that says this.
pub(super) fn params(blocks: &RawJson, version: Version) -> PromptParams {
    let text = format!("{{\"sessionId\":\"s\",\"prompt\":{}}}", blocks.as_str());
    PromptParams { version, raw: RawJson::written(text) }
}

/// Which message speaks in a text that holds its content.
pub(super) fn read(text: &str) -> Option<Content> {
    let at = text.find(BEFORE)? + BEFORE.len();
    let digit = |at: usize| text.as_bytes().get(at).map(|byte| byte.wrapping_sub(b'0'));
    Some((digit(at)?, digit(at + 1)?))
}

//! What a user's message is made of, as models take it.

use nudge_wire::RawJson;
use serde::Deserialize;

use crate::request::block_text;

/// A part of what the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserPart {
    /// Text; links and embedded files are told in words.
    Text(String),
    /// An image.
    Image(MediaData),
    /// A sound.
    Audio(MediaData),
}

/// An image or a sound.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MediaData {
    /// Its media type, such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// The parts of an array of content blocks; texts that follow each other are one.
pub fn user_parts(content: &RawJson) -> Vec<UserPart> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Kind {
        r#type: String,
    }
    let blocks: Vec<RawJson> = content.to().unwrap_or_default();
    let mut parts: Vec<UserPart> = Vec::new();
    for block in &blocks {
        let kind: Kind = block.to().unwrap_or_default();
        let media = || block.to::<MediaData>().ok();
        let part = match kind.r#type.as_str() {
            "image" => media().map(UserPart::Image),
            "audio" => media().map(UserPart::Audio),
            _ => None,
        };
        match (part, parts.last_mut()) {
            (Some(part), _) => parts.push(part),
            (None, Some(UserPart::Text(before))) => {
                if !before.ends_with('\n') {
                    before.push('\n');
                }
                before.push_str(&block_text(block));
            }
            (None, _) => parts.push(UserPart::Text(block_text(block))),
        }
    }
    parts
}

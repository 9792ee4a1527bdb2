//! What is known of models that their providers do not say: rows by the beginning of the name, the first that fits counts.

use crate::TokenCount;

/// What is known of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KnownModel {
    /// How many tokens fit.
    pub context: Option<u64>,
    /// Whether it takes images.
    pub images: bool,
    /// Whether it takes sounds.
    pub audio: bool,
    /// Whether it can be told how long to think.
    pub thinks: bool,
    /// What a million tokens cost in US dollars.
    pub price: Option<ModelPrice>,
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelPrice {
    /// Asked.
    pub input: f64,
    /// Asked, and read from a cache.
    pub cached: f64,
    /// Asked, and written to a cache.
    pub cached_write: f64,
    /// Answered.
    pub output: f64,
}

impl ModelPrice {
    /// What these tokens cost, in US dollars.
    #[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
    pub fn of(&self, tokens: TokenCount) -> f64 {
        let read = tokens.cached_read.min(tokens.input);
        let written = tokens.cached_write.min(tokens.input - read);
        let parts = [
            (tokens.input - read - written, self.input),
            (read, self.cached),
            (written, self.cached_write),
            (tokens.output, self.output),
        ];
        parts.into_iter().map(|(count, price)| count as f64 * price / 1e6).sum()
    }
}

const fn row(
    name: &'static str,
    context: u64,
    images: bool,
    thinks: bool,
    price: Option<(f64, f64, f64)>,
) -> (&'static str, KnownModel) {
    let price = match price {
        // Those that have a price here take a quarter more for what they write to a cache.
        Some((input, cached, output)) => {
            Some(ModelPrice { input, cached, cached_write: input * 1.25, output })
        }
        None => None,
    };
    let context = if context == 0 { None } else { Some(context) };
    (name, KnownModel { context, images, audio: false, thinks, price })
}

/// As published by the providers; a price is only here if it is one for all requests of the model.
const KNOWN: &[(&str, KnownModel)] = &[
    row("claude-opus-4-5", 200_000, true, true, Some((5.0, 0.5, 25.0))),
    row("claude-opus-4-6", 200_000, true, true, Some((5.0, 0.5, 25.0))),
    row("claude-opus-4-0", 200_000, true, true, Some((15.0, 1.5, 75.0))),
    row("claude-opus-4-1", 200_000, true, true, Some((15.0, 1.5, 75.0))),
    row("claude-opus-4-2025", 200_000, true, true, Some((15.0, 1.5, 75.0))),
    row("claude-opus", 200_000, true, true, None),
    row("claude-sonnet-4", 200_000, true, true, None),
    row("claude-haiku-4", 200_000, true, true, Some((1.0, 0.1, 5.0))),
    row("claude-3-7", 200_000, true, true, Some((3.0, 0.3, 15.0))),
    row("claude-3", 200_000, true, false, None),
    row("claude", 200_000, true, true, None),
    row("gpt-5", 400_000, true, true, None),
    row("gpt-4.1", 1_047_576, true, false, None),
    row("gpt-4o-audio", 128_000, false, false, None),
    row("gpt-4o", 128_000, true, false, None),
    row("o3", 200_000, true, true, None),
    row("o4", 200_000, true, true, None),
    row("gemini", 1_048_576, true, true, None),
    row("deepseek", 128_000, false, false, None),
    row("gpt-oss", 131_072, false, true, None),
    row("qwen3", 0, false, true, None),
];

/// What is known of a model of this name, whatever stands before its last slash or, at Bedrock, before its maker's dot.
pub fn known_model(name: &str) -> KnownModel {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let name = ["anthropic.", "openai.", "qwen."]
        .iter()
        .find_map(|maker| Some(name.split_once(maker)?.1))
        .unwrap_or(&name);
    let row = KNOWN.iter().find(|(beginning, _)| name.starts_with(beginning));
    let mut known = row.map(|(_, known)| *known).unwrap_or_default();
    known.audio = name.starts_with("gemini") || name.contains("audio");
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_a_cache_has_a_price_of_its_own() {
        let price = ModelPrice { input: 1.0, cached: 0.1, cached_write: 1.25, output: 5.0 };
        let tokens =
            TokenCount { input: 1_000_000, output: 100_000, cached_read: 500_000, ..TokenCount::default() };
        assert!((price.of(tokens) - 1.05).abs() < 1e-9);
        let written = TokenCount { cached_write: 400_000, ..tokens };
        assert!((price.of(written) - 1.15).abs() < 1e-9);
    }

    #[test]
    fn models_are_known_by_the_beginning_of_their_name() {
        assert_eq!(known_model("claude-opus-4-5-20251101").price.map(|price| price.input), Some(5.0));
        assert_eq!(known_model("claude-opus-4-20250514").price.map(|price| price.input), Some(15.0));
        assert_eq!(known_model("claude-opus-4-9").price, None, "nobody has said it yet");
        assert_eq!(known_model("us.anthropic.claude-haiku-4-5-v1:0").context, Some(200_000));
        assert_eq!(known_model("openai/gpt-4.1-mini").context, Some(1_047_576));
        assert!(known_model("gemini-2.5-pro").audio);
        assert_eq!(known_model("smollm2"), KnownModel::default());
    }
}

//! How models are told how long to think: each generation in its own way.

use serde::Serialize;

use crate::{AnswerOptions, ThinkingLevel, known_model};

/// What a request says about thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThinkingPlan {
    pub(crate) thinking: Option<ThinkingField>,
    pub(crate) effort: Option<&'static str>,
    /// Whether a tool call can be demanded.
    pub(crate) is_forced: bool,
    /// The longest answer, thinking included.
    pub(crate) max_tokens: u32,
}

/// The member `thinking` of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ThinkingField {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<&'static str>,
}

/// How a model takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThinkingWay {
    /// It does not think.
    Never,
    /// It thinks for as many tokens as it is given.
    Budget,
    /// It thinks as long as it sees fit, if it is told to.
    IfTold,
    /// It thinks unless it is told not to, with this word; some cannot be told.
    Always { off: Option<&'static str> },
}

/// What to say. `has_gap` is whether the last answer called tools without the reasoning that led to it.
pub(crate) fn plan(model: &str, options: &AnswerOptions, has_gap: bool) -> ThinkingPlan {
    let (way, max_tokens) = way(model);
    // While a model thinks no call can be demanded of it.
    let can_be_forced = !matches!(way, ThinkingWay::Always { off: None | Some("between_tools") });
    let is_forced = options.must_call && can_be_forced;
    let level = options.thinking;
    let (thinking, effort) = match way {
        ThinkingWay::Always { off } if is_forced => (off.map(bare), None),
        _ if is_forced || options.without_reasoning => (None, None),
        ThinkingWay::Never => (None, None),
        // What the model called without thinking it also has to end without.
        ThinkingWay::Budget if has_gap => (None, None),
        ThinkingWay::Budget => (level.and_then(|level| budget(level, max_tokens)), None),
        ThinkingWay::IfTold => match level {
            None | Some(ThinkingLevel::Off) => (None, None),
            Some(level) => (Some(adaptive()), Some(level.name())),
        },
        ThinkingWay::Always { off } => match (level, off) {
            (Some(ThinkingLevel::Off), Some(word)) => (Some(bare(word)), None),
            (Some(ThinkingLevel::Off), None) => (Some(adaptive()), Some(ThinkingLevel::Low.name())),
            (level, _) => (Some(adaptive()), level.map(ThinkingLevel::name)),
        },
    };
    ThinkingPlan { thinking, effort, is_forced, max_tokens }
}

fn bare(r#type: &'static str) -> ThinkingField {
    ThinkingField { r#type, budget_tokens: None, display: None }
}

/// Newer models show nothing of what they think unless asked to.
fn adaptive() -> ThinkingField {
    ThinkingField { r#type: "adaptive", budget_tokens: None, display: Some("summarized") }
}

fn budget(level: ThinkingLevel, max_tokens: u32) -> Option<ThinkingField> {
    let tokens = match level {
        ThinkingLevel::Off => return None,
        ThinkingLevel::Low => 4_096,
        ThinkingLevel::Medium => 12_288,
        ThinkingLevel::High => 24_576,
    };
    // Some are left for the answer.
    let tokens = tokens.min(max_tokens / 4 * 3);
    Some(ThinkingField { budget_tokens: Some(tokens), ..bare("enabled") })
}

/// How a model thinks, and how long its answers may be.
fn way(model: &str) -> (ThinkingWay, u32) {
    let Some((_, name)) = model.split_once("claude-") else { return (ThinkingWay::Budget, 8_192) };
    // A name without a number is one of a preview: of the newest.
    let version = version(name).unwrap_or((u32::MAX, 0));
    match version {
        old if old < (3, 5) => (ThinkingWay::Never, 4_096),
        _ if !known_model(model).thinks => (ThinkingWay::Never, 8_192),
        old if old < (4, 6) => (ThinkingWay::Budget, 32_000),
        old if old < (5, 0) => (ThinkingWay::IfTold, 64_000),
        _ => (ThinkingWay::Always { off: off_word(name, version) }, 64_000),
    }
}

fn off_word(name: &str, version: (u32, u32)) -> Option<&'static str> {
    let family = name.split('-').next().unwrap_or_default();
    match (family, version) {
        ("opus" | "sonnet" | "haiku", early) if early < (5, 5) => Some("disabled"),
        ("sonnet", late) if late < (6, 0) => Some("between_tools"),
        ("haiku", late) if late < (6, 0) => Some("disabled"),
        _ => None,
    }
}

/// The version in a name such as `sonnet-4-5-20250929` or `3-7-sonnet-latest`; dates are none.
fn version(name: &str) -> Option<(u32, u32)> {
    let number = |part: &str| part.parse().ok().filter(|_| part.len() <= 2);
    let mut parts = name.split(['-', '.', '@', ':']).skip_while(|part| number(part).is_none());
    let major = number(parts.next()?)?;
    Some((major, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_thinks_in_its_own_way() {
        for (model, expected, max_tokens) in [
            ("claude-3-haiku-20240307", ThinkingWay::Never, 4_096),
            ("claude-3-5-sonnet-latest", ThinkingWay::Never, 8_192),
            ("claude-3-7-sonnet-20250219", ThinkingWay::Budget, 32_000),
            ("claude-sonnet-4-20250514", ThinkingWay::Budget, 32_000),
            ("claude-opus-4-1", ThinkingWay::Budget, 32_000),
            ("claude-haiku-4-5@20251001", ThinkingWay::Budget, 32_000),
            ("claude-opus-4-6", ThinkingWay::IfTold, 64_000),
            ("anthropic/claude-opus-4.8", ThinkingWay::IfTold, 64_000),
            ("claude-sonnet-5", ThinkingWay::Always { off: Some("disabled") }, 64_000),
            ("claude-sonnet-5-5", ThinkingWay::Always { off: Some("between_tools") }, 64_000),
            ("claude-haiku-5-5", ThinkingWay::Always { off: Some("disabled") }, 64_000),
            ("claude-opus-5-5-20260922", ThinkingWay::Always { off: None }, 64_000),
            ("claude-fable-5", ThinkingWay::Always { off: None }, 64_000),
            ("claude-mythos-preview", ThinkingWay::Always { off: None }, 64_000),
            ("glm-4.6", ThinkingWay::Budget, 8_192),
        ] {
            assert_eq!(way(model), (expected, max_tokens), "{model}");
        }
    }

    #[test]
    fn a_level_is_told_as_the_model_takes_it() {
        let told = |model: &str, options: AnswerOptions| {
            let plan = plan(model, &options, false);
            let thinking = serde_json::to_string(&plan.thinking).unwrap();
            format!("{} {thinking} {}", plan.effort.unwrap_or("-"), plan.is_forced)
        };
        let level = |level| AnswerOptions { thinking: level, ..AnswerOptions::default() };
        let (off, low, high) =
            (Some(ThinkingLevel::Off), Some(ThinkingLevel::Low), Some(ThinkingLevel::High));
        let shown = r#"{"type":"adaptive","display":"summarized"}"#;
        for (model, options, expected) in [
            ("claude-3-haiku", level(high), "- null false".to_owned()),
            ("claude-opus-4-5", level(None), "- null false".to_owned()),
            ("claude-opus-4-5", level(off), "- null false".to_owned()),
            ("claude-opus-4-5", level(low), r#"- {"type":"enabled","budget_tokens":4096} false"#.to_owned()),
            ("glm-4.6", level(high), r#"- {"type":"enabled","budget_tokens":6144} false"#.to_owned()),
            ("claude-opus-4-6", level(None), "- null false".to_owned()),
            ("claude-opus-4-6", level(off), "- null false".to_owned()),
            ("claude-opus-4-6", level(high), format!("high {shown} false")),
            ("claude-sonnet-5", level(None), format!("- {shown} false")),
            ("claude-sonnet-5", level(off), r#"- {"type":"disabled"} false"#.to_owned()),
            ("claude-sonnet-5-5", level(off), r#"- {"type":"between_tools"} false"#.to_owned()),
            ("claude-opus-5-5", level(off), format!("low {shown} false")),
        ] {
            assert_eq!(told(model, options.clone()), expected, "{model}");
            let without = AnswerOptions { without_reasoning: true, ..options.clone() };
            assert_eq!(told(model, without), "- null false", "{model}");
            let forced = told(model, AnswerOptions { must_call: true, ..options });
            let expected = match way(model).0 {
                ThinkingWay::Always { off: Some("disabled") } => r#"- {"type":"disabled"} true"#.to_owned(),
                ThinkingWay::Always { .. } => expected,
                _ => "- null true".to_owned(),
            };
            assert_eq!(forced, expected, "{model}");
        }
    }

    #[test]
    fn a_call_that_was_not_thought_about_ends_without_thinking() {
        let options = AnswerOptions { thinking: Some(ThinkingLevel::Low), ..AnswerOptions::default() };
        assert_eq!(plan("claude-opus-4-5", &options, true).thinking, None);
        assert_eq!(plan("claude-opus-4-6", &options, true).thinking, Some(adaptive()));
    }
}

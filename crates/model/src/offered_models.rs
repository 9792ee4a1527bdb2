//! The models of a provider as they are offered: which can be used, which is taken first, and what is known of each.

use crate::{
    ApiType, ModelChoice, ModelProvider, ProviderAccess, ThinkingLevel,
    dialect::{self, ListedModel},
    known_model,
};

/// The context that Ollama is asked for unless another is chosen, and those that can be.
const OLLAMA_CONTEXTS: [u64; 5] = [16_384, 8_192, 32_768, 65_536, 131_072];

/// Whether a choice is the one that the user names, with or without its provider.
pub(crate) fn is_named(id: &str, wanted: &str) -> bool {
    id == wanted || id.split_once('/').is_some_and(|(_, model)| model == wanted)
}

/// The provider that the name of a model begins with.
pub(crate) fn named_provider(wanted: &str) -> Option<&'static ModelProvider> {
    wanted.split_once('/').and_then(|(provider, _)| ModelProvider::named(provider))
}

/// Where a model of this name is asked, and under which name, if that is clear: at the provider that it begins with, or at the only
/// one that there is. Some servers have models whose names begin with a provider's.
pub(crate) fn named_at<'a, 'w>(
    accesses: &'a [ProviderAccess],
    wanted: &'w str,
) -> Option<(&'a ProviderAccess, &'w str)> {
    let named = named_provider(wanted);
    let of_provider = accesses.iter().find(|access| Some(access.provider) == named);
    match (of_provider, accesses) {
        (Some(access), _) => Some((access, wanted.split_once('/').map_or(wanted, |(_, model)| model))),
        (None, [only]) if named.is_none() || only.is_anybodys() => Some((only, wanted)),
        _ => None,
    }
}

/// Whether an agent can do something with a model: nothing says that it calls no tools.
pub(crate) fn is_usable(model: &ListedModel) -> bool {
    model.calls_tools != Some(false)
}

/// The models of a provider, the one to be taken first.
pub(crate) fn ordered<'m>(access: &ProviderAccess, models: &'m [ListedModel]) -> Vec<&'m ListedModel> {
    let preferred = access.provider.preferred;
    let rank = |model: &ListedModel| {
        let at = preferred.iter().position(|beginning| model.id.starts_with(beginning));
        at.unwrap_or(preferred.len())
    };
    let mut ordered: Vec<_> = models.iter().filter(|model| is_usable(model)).collect();
    // Of those that are alike the largest, where a size is said, then the newest, else as the provider lists them.
    ordered.sort_by_key(|model| {
        let newest = std::cmp::Reverse((model.bytes, gpt_version(&model.id)));
        (rank(model), is_variant(&model.id), newest)
    });
    ordered
}

/// Whether a model is one for a purpose, or a small or dear one, of several of its kind.
fn is_variant(id: &str) -> bool {
    let for_all = ["nano", "mini", "lite", "search", "chat", "research", "audio", "image"];
    let of_gpt = ["pro", "codex", "max"];
    id.split(['-', '.', '/'])
        .any(|part| for_all.contains(&part) || id.starts_with("gpt") && of_gpt.contains(&part))
}

/// `(5, 1)` of `gpt-5.1`; other makers list the newest first.
fn gpt_version(id: &str) -> Option<(u32, u32)> {
    let number = id.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A model that is wanted and that no list has, if it is clear whose it is.
pub(crate) fn unlisted(accesses: &[ProviderAccess], wanted: &str) -> Option<ModelChoice> {
    let (access, model) = named_at(accesses, wanted)?;
    Some(choice(access, &ListedModel { id: model.to_owned(), ..ListedModel::default() }))
}

/// A model as clients may choose it.
pub(crate) fn choice(access: &ProviderAccess, model: &ListedModel) -> ModelChoice {
    let known = known_model(&model.id);
    let largest = model.context.or(known.context);
    let context_sizes: Vec<u64> = match access.api_type {
        ApiType::Ollama => {
            let fits = |size: &u64| largest.is_none_or(|largest| *size <= largest);
            OLLAMA_CONTEXTS.into_iter().filter(fits).collect()
        }
        ApiType::Anthropic => dialect::anthropic_contexts(&model.id).to_vec(),
        _ => Vec::new(),
    };
    ModelChoice {
        id: format!("{}/{}", access.provider.id, model.id),
        name: model.name.clone().unwrap_or_else(|| model.id.clone()),
        context: context_sizes.first().copied().or(largest),
        context_sizes,
        thinking: if model.thinks.unwrap_or(known.thinks) { ThinkingLevel::ALL.to_vec() } else { Vec::new() },
        images: model.takes_images.unwrap_or(known.images),
        audio: known.audio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(provider: &str, listed: &[&str]) -> Vec<String> {
        let provider = ModelProvider::named(provider).expect("it is in the table");
        let access = ProviderAccess::stored(provider, None, None).expect("it has an address");
        let models: Vec<_> =
            listed.iter().map(|id| ListedModel { id: (*id).to_owned(), ..ListedModel::default() }).collect();
        ordered(&access, &models).into_iter().map(|model| model.id.clone()).collect()
    }

    #[test]
    fn contexts_can_be_chosen_where_there_are_several() {
        let anthropic = ModelProvider::named("anthropic").expect("it is in the table");
        let access = ProviderAccess::stored(anthropic, None, None).expect("it has an address");
        let of = |id: &str| {
            let choice = choice(&access, &ListedModel { id: id.to_owned(), ..ListedModel::default() });
            (choice.context, choice.context_sizes)
        };
        assert_eq!(of("claude-sonnet-4-5-20250929"), (Some(200_000), vec![200_000, 1_000_000]));
        assert_eq!(of("claude-opus-4-5"), (Some(200_000), vec![]));
    }

    #[test]
    fn the_plain_newest_model_comes_first() {
        let listed = ["gpt-4.1", "gpt-5-pro", "gpt-5-nano", "gpt-5", "gpt-5.1-codex", "gpt-5.1", "o3"];
        let expected = ["gpt-5.1", "gpt-5", "gpt-5.1-codex", "gpt-5-pro", "gpt-5-nano", "gpt-4.1", "o3"];
        assert_eq!(first("openai", &listed), expected);
        let listed = ["claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5", "claude-sonnet-4-0"];
        let expected = ["claude-sonnet-4-5", "claude-sonnet-4-0", "claude-opus-4-5", "claude-haiku-4-5"];
        assert_eq!(first("anthropic", &listed), expected);
        let listed = ["gemini-2.5-flash-lite", "gemini-2.5-flash", "gemini-2.5-pro"];
        let expected = ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"];
        assert_eq!(first("gemini", &listed), expected);
    }
}

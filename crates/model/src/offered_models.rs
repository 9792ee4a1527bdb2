//! The models of a provider as they are offered: which can be used, which is taken first, and what is known of each.

use crate::{ApiType, ModelChoice, ProviderAccess, ThinkingLevel, dialect::ListedModel, known_model};

/// The context that Ollama is asked for unless another is chosen, and those that can be.
const OLLAMA_CONTEXTS: [u64; 5] = [16_384, 8_192, 32_768, 65_536, 131_072];

/// Whether a choice is the one that the user names, with or without its provider.
pub(crate) fn is_named(id: &str, wanted: &str) -> bool {
    id == wanted || id.split_once('/').is_some_and(|(_, model)| model == wanted)
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
    // Of those that are alike the largest, where a size is said, else as the provider lists them.
    ordered.sort_by_key(|model| (rank(model), std::cmp::Reverse(model.bytes)));
    ordered
}

/// A model as clients may choose it.
pub(crate) fn choice(access: &ProviderAccess, model: &ListedModel) -> ModelChoice {
    let known = known_model(&model.id);
    let largest = model.context.or(known.context);
    let context_sizes: Vec<u64> = if access.api_type == ApiType::Ollama {
        OLLAMA_CONTEXTS.into_iter().filter(|size| largest.is_none_or(|largest| *size <= largest)).collect()
    } else {
        Vec::new()
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

//! Which known key somebody meant who wrote another.

use super::table::TABLE;

/// A key that is longer was not mistyped.
const LONGEST: usize = 64;

/// The known key or section that is nearest to an unknown one, if one is near.
pub(crate) fn nearest_key(unknown: &str) -> Option<String> {
    if unknown.len() > LONGEST {
        return None;
    }
    let sections = TABLE.iter().filter_map(|setting| setting.key.split('.').next());
    let known = TABLE.iter().map(|setting| setting.key).chain(sections);
    let (far, key) = known.map(|key| (distance(unknown, key), key)).min_by_key(|(far, _)| *far)?;
    (far <= unknown.len() / 3).then(|| key.to_owned())
}

/// How far two keys are apart. A key without its section is as near as the whole.
fn distance(unknown: &str, known: &str) -> usize {
    let whole = strsim::damerau_levenshtein(unknown, known);
    let name = known.rsplit('.').next().unwrap_or(known);
    if unknown.contains('.') { whole } else { whole.min(strsim::damerau_levenshtein(unknown, name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_found() {
        for (unknown, meant) in [
            ("agent.patiense", Some("agent.patience")),
            ("agnet.patience", Some("agent.patience")),
            ("patience", Some("agent.patience")),
            ("agnet", Some("agent")),
            ("message.limits", Some("message.limit")),
            ("max_message", None),
            ("colour.of.the.bird", None),
            ("", None),
        ] {
            assert_eq!(nearest_key(unknown).as_deref(), meant, "{unknown}");
        }
    }
}

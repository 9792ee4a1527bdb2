//! How likely it is that uses follow their declaration.

/// What is known about a run of uses.
pub(in crate::predictors) type UseEvidence = Vec<(&'static str, f32)>;

/// What each piece of evidence counts, in the logarithm of the odds. Fitted on the histories of open source projects.
const WEIGHTS: &[(&str, f32)] = &[
    ("bias", -0.78),
    ("local", 0.92),
    ("parameter", 0.24),
    ("field", 0.77),
    ("method", 0.41),
    ("variant", -0.46),
    ("import", -0.83),
    ("used", -0.02),
    ("unknown", -0.63),
    ("unknown_again", -0.35),
    ("again", -0.46),
    ("often", 1.09),
    ("alone", 0.43),
    ("mixed", -1.53),
    ("age", -0.62),
    ("rivals", 0.32),
    ("member_rivals", -0.95),
    ("elsewhere", -0.32),
    ("current", 0.33),
    ("near", -0.30),
    ("kept", -1.62),
    ("typed_again", -1.00),
    ("uses", -0.43),
    ("rank", -0.56),
    ("left", -0.75),
    ("has_new", -1.96),
    ("similar", 0.96),
    ("parts", -0.54),
    ("short", 0.28),
    ("long", 0.14),
];

/// The probability that a run of uses with this evidence follows.
pub(super) fn probability(evidence: &UseEvidence) -> f32 {
    let weight =
        |name: &str| WEIGHTS.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, weight)| *weight);
    let sum: f32 = evidence.iter().map(|(name, value)| weight(name) * value).sum();
    1.0 / (1.0 + (-sum).exp())
}

//! Names that are almost the same.

use nudge_syntax::{
    AnalysedDocument, Grammar, NameRole, NameSort, NodePath, declaration_at, role_at,
    token::{TokenKind, solid},
};

/// How much text around a place is searched.
const WINDOW: usize = 24 * 1024;

/// Names of so many letters are not compared.
const MAX_NAME: usize = 80;

/// The one declared name near `offset` that is spelled most like `name`, if there is just one.
pub(super) fn similar(source: &AnalysedDocument, name: &str, offset: usize) -> Option<String> {
    let text = source.content();
    let allowed = match name.chars().count() {
        0..=2 | MAX_NAME.. => return None,
        3..=5 => 1,
        _ => 2,
    };
    let start = source.text().line_start(source.text().line_of(offset.saturating_sub(WINDOW)));
    let end = source.text().line_end(source.text().line_of((offset + WINDOW).min(text.len())));
    let window = text.get(start..end)?;
    let mut best: Vec<(usize, &str)> = Vec::new();
    for token in solid(window) {
        let other = token.text(window);
        let plausible =
            token.kind == TokenKind::Word && other != name && other.len().abs_diff(name.len()) <= allowed;
        if !plausible || best.iter().any(|(_, known)| *known == other) {
            continue;
        }
        let distance = distance(name, other);
        if distance <= allowed {
            best.push((distance, other));
        }
    }
    let least = best.iter().map(|(distance, _)| *distance).min()?;
    best.retain(|(distance, _)| *distance == least);
    let mut declared = best.iter().filter(|(_, other)| is_declared(source, other)).map(|(_, other)| *other);
    let first = declared.next()?;
    declared.next().is_none().then(|| first.to_owned())
}

/// Whether one name is sure to be the other with a slip of a key in it, where that can be used at `offset`.
///
/// `items` may well be meant to be declared beside `item`, and `a2` beside `a1`.
pub(super) fn is_slip(
    source: &AnalysedDocument,
    name: &str,
    other: &str,
    offset: usize,
    is_member: bool,
) -> bool {
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_begun = name.starts_with(other) || other.starts_with(name);
    let is_like = name.chars().count() > 3 && distance(name, other) == 1 && digits(name) == digits(other);
    if is_begun || !is_like {
        return false;
    }
    let implicit = Grammar::of(source.language()).is_some_and(|grammar| grammar.implicit_this);
    source.occurrences(other, 30).iter().filter_map(|range| declaration_at(source, range)).any(|found| {
        let of_type = matches!(found.sort, NameSort::Field | NameSort::Method | NameSort::Variant);
        let is_seen = !found.sort.is_local() || found.scope.contains(&offset);
        if is_member { of_type } else { (!of_type || implicit) && is_seen }
    })
}

fn is_declared(source: &AnalysedDocument, name: &str) -> bool {
    let text = source.content();
    let found = source.occurrences(name, 30);
    let (Some(grammar), Some(parsed)) = (Grammar::of(source.language()), source.parsed()) else {
        return found.len() > 1;
    };
    found.iter().any(|range| {
        let role = role_at(grammar, &NodePath::at(parsed, range.start), text, range);
        matches!(role, NameRole::Declares(_) | NameRole::ShorthandPattern)
            || declaration_at(source, range).is_some()
    })
}

/// How many letters differ; two that changed places count once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for row in 0..=a.len() {
        for column in 0..=b.len() {
            let at = row * width + column;
            table[at] = match (row, column) {
                (0, column) => column,
                (row, 0) => row,
                _ => {
                    let same = usize::from(a[row - 1] != b[column - 1]);
                    let swapped =
                        row > 1 && column > 1 && a[row - 1] == b[column - 2] && a[row - 2] == b[column - 1];
                    let plain =
                        (table[at - width - 1] + same).min(table[at - 1] + 1).min(table[at - width] + 1);
                    if swapped { plain.min(table[at - 2 * width - 2] + 1) } else { plain }
                }
            };
        }
    }
    table[a.len() * width + b.len()]
}

//! How values are written in columns.

use crate::InputState;

/// Times and numbers in columns are signed; what is above is as good as never.
pub(super) fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn from_i64(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

pub(super) fn state_to(state: InputState) -> i64 {
    match state {
        InputState::Pending => 0,
        InputState::Delivered => 1,
        InputState::Revoked => 2,
    }
}

pub(super) fn state_of(value: i64) -> Result<InputState, sqlx::Error> {
    match value {
        0 => Ok(InputState::Pending),
        1 => Ok(InputState::Delivered),
        2 => Ok(InputState::Revoked),
        other => Err(unknown("state of an input", other)),
    }
}

/// Title and id as they are searched. Folding is done here because databases fold ASCII only, or by locale.
pub(super) fn searched(title: Option<&str>, id: &str) -> String {
    let mut text = title.map(fold).unwrap_or_default();
    text.push(SEPARATOR);
    text.push_str(&fold(id));
    text
}

/// Text without regard to case, without what separates title and id, and without what ends a pattern.
pub(super) fn fold(text: &str) -> String {
    text.to_lowercase().replace([SEPARATOR, '\0'], " ")
}

/// The `LIKE` pattern (with `\` as its escape) that finds `text` taken literally, anywhere.
pub(super) fn like(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

const SEPARATOR: char = '\u{1f}';

fn unknown(what: &str, value: i64) -> sqlx::Error {
    sqlx::Error::Decode(format!("expected a known {what}, found {value}; a newer version wrote it").into())
}

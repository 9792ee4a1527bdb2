//! How the head of a function changed.

use nudge_syntax::{FunctionHeader, FunctionParam, token::solid};

/// What became of the parameters and what stands around them.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each says of another part whether it changed")]
pub(super) struct SignatureDelta {
    /// For each parameter now, which one it was.
    pub(super) from: Vec<Option<usize>>,
    /// Parameters that are gone.
    pub(super) removed: Vec<usize>,
    /// The parameters changed in some way.
    pub(super) params: bool,
    pub(super) result: bool,
    pub(super) tail: bool,
    pub(super) became_async: bool,
}

impl SignatureDelta {
    pub(super) fn of(old: &str, before: &FunctionHeader, new: &str, after: &FunctionHeader) -> Self {
        let mut from: Vec<Option<usize>> = vec![None; after.list.len()];
        let mut taken = vec![false; before.list.len()];
        let old_code = |param: &FunctionParam| plain(&old[param.range.clone()]);
        let new_code = |param: &FunctionParam| plain(&new[param.range.clone()]);
        let mut pair = |from: &mut Vec<Option<usize>>, alike: &dyn Fn(usize, usize) -> bool| {
            for (now, was) in from.iter_mut().enumerate().filter(|(_, was)| was.is_none()) {
                *was = (0..taken.len()).find(|&was| !taken[was] && alike(was, now));
                was.inspect(|&was| taken[was] = true);
            }
        };
        pair(&mut from, &|was, now| {
            before.list[was].name == after.list[now].name
                && old_code(&before.list[was]) == new_code(&after.list[now])
        });
        pair(&mut from, &|was, now| before.list[was].name == after.list[now].name);
        if before.list.len() == after.list.len() {
            pair(&mut from, &|was, now| was == now);
        }
        let removed = (0..taken.len()).filter(|&was| !taken[was]).collect();
        let result =
            |text: &str, header: &FunctionHeader| header.result.clone().map(|range| plain(&text[range]));
        Self {
            from,
            removed,
            params: plain(&old[before.params.clone()]) != plain(&new[after.params.clone()]),
            result: result(old, before) != result(new, after),
            tail: plain(&old[before.tail.clone()]) != plain(&new[after.tail.clone()]),
            became_async: after.is_async(new) && !before.is_async(old),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.params && !self.result && !self.tail && !self.became_async
    }

    /// Parameters that were not there before.
    pub(super) fn added(&self) -> impl Iterator<Item = usize> {
        self.from.iter().enumerate().filter(|(_, was)| was.is_none()).map(|(now, _)| now)
    }

    /// Whether those that stayed stand in another order.
    pub(super) fn reorders(&self) -> bool {
        let stayed: Vec<usize> = self.from.iter().flatten().copied().collect();
        !stayed.is_sorted()
    }
}

/// Code without its layout: space only where it is needed, no comma before a closing bracket.
pub(super) fn plain(code: &str) -> String {
    let tokens = solid(code);
    let mut plain = String::with_capacity(code.len());
    for (at, token) in tokens.iter().enumerate() {
        let text = token.text(code);
        let closes = tokens.get(at + 1).is_some_and(|next| next.text(code) == ")");
        if text == "," && closes {
            continue;
        }
        if at > 0 {
            plain.push(' ');
        }
        plain.push_str(text);
    }
    plain
}

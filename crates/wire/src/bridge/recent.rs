//! What is remembered of a session's parts: the latest of them, never more than a fixed number.

use std::collections::VecDeque;

/// The latest `LIMIT` values by their ids. The oldest is forgotten first.
#[derive(Debug, Clone)]
pub(super) struct Recent<V, const LIMIT: usize>(VecDeque<(String, V)>);

impl<V, const LIMIT: usize> Default for Recent<V, LIMIT> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<V, const LIMIT: usize> Recent<V, LIMIT> {
    // Updates are nearly always about what came last, so looking from the back finds it at once.
    pub(super) fn get(&self, id: &str) -> Option<&V> {
        self.0.iter().rev().find(|(known, _)| known == id).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut V> {
        self.0.iter_mut().rev().find(|(known, _)| known == id).map(|(_, value)| value)
    }

    pub(super) fn insert(&mut self, id: &str, value: V) {
        if let Some(known) = self.get_mut(id) {
            *known = value;
            return;
        }
        if self.0.len() == LIMIT {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), value));
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.0.iter_mut().map(|(id, value)| (id.as_str(), value))
    }
}

impl<V: Default, const LIMIT: usize> Recent<V, LIMIT> {
    /// The value of `id`, made if it is not known.
    pub(super) fn entry(&mut self, id: &str) -> &mut V {
        if self.get(id).is_none() {
            self.insert(id, V::default());
        }
        self.get_mut(id).expect("just inserted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut recent: Recent<u8, 2> = Recent::default();
        *recent.entry("a") = 1;
        recent.insert("b", 2);
        recent.insert("a", 3);
        recent.insert("c", 4);
        assert_eq!((recent.get("a"), recent.get("b"), recent.get("c")), (None, Some(&2), Some(&4)));
        assert_eq!(recent.iter_mut().count(), 2);
    }
}

//! What is remembered of a session's parts: the latest of them, never more than a fixed number.

use std::collections::{BTreeMap, VecDeque};

/// The latest `LIMIT` values by their ids. The oldest is forgotten first.
#[derive(Debug, Clone)]
pub(crate) struct RecentValues<V, const LIMIT: usize> {
    values: VecDeque<(String, V)>,
    /// The number of each value, counted from the first there ever was.
    numbers: BTreeMap<String, usize>,
    /// How many were forgotten.
    forgotten: usize,
}

impl<V, const LIMIT: usize> Default for RecentValues<V, LIMIT> {
    fn default() -> Self {
        Self { values: VecDeque::new(), numbers: BTreeMap::new(), forgotten: 0 }
    }
}

impl<V, const LIMIT: usize> RecentValues<V, LIMIT> {
    pub(crate) fn get(&self, id: &str) -> Option<&V> {
        Some(&self.values.get(self.place(id)?)?.1)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut V> {
        let place = self.place(id)?;
        Some(&mut self.values.get_mut(place)?.1)
    }

    /// Gives the value that was forgotten for this one, if there is one.
    pub(crate) fn insert(&mut self, id: &str, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(id) {
            *known = value;
            return None;
        }
        let oldest = if self.values.len() == LIMIT { self.values.pop_front() } else { None };
        if let Some((id, _)) = &oldest {
            self.numbers.remove(id);
            self.forgotten += 1;
        }
        self.numbers.insert(id.to_owned(), self.forgotten + self.values.len());
        self.values.push_back((id.to_owned(), value));
        oldest.map(|(_, value)| value)
    }

    /// The number of a value, counted from the first there ever was: it stays the same.
    pub(crate) fn number(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    /// Values with their numbers and ids, those with this number and later ones.
    pub(crate) fn range_mut(&mut self, number: usize) -> impl Iterator<Item = (usize, &str, &mut V)> {
        let skipped = number.saturating_sub(self.forgotten).min(self.values.len());
        let numbers = self.forgotten + skipped..;
        numbers.zip(self.values.range_mut(skipped..)).map(|(number, (id, value))| (number, &**id, value))
    }

    /// The id of the value that is forgotten if another one comes.
    pub(crate) fn next_to_go(&self) -> Option<&str> {
        self.values.front().filter(|_| self.values.len() == LIMIT).map(|(id, _)| id.as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.values.iter().map(|(id, value)| (id.as_str(), value))
    }

    fn place(&self, id: &str) -> Option<usize> {
        // Updates are nearly always about what came last.
        match self.values.back() {
            Some((last, _)) if last == id => Some(self.values.len() - 1),
            _ => Some(self.number(id)? - self.forgotten),
        }
    }
}

impl<V: Default, const LIMIT: usize> RecentValues<V, LIMIT> {
    /// The value of `id`, made if it is not known.
    pub(crate) fn entry(&mut self, id: &str) -> &mut V {
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
        let mut recent: RecentValues<u8, 2> = RecentValues::default();
        *recent.entry("a") = 1;
        recent.insert("b", 2);
        recent.insert("a", 3);
        recent.insert("c", 4);
        assert_eq!((recent.get("a"), recent.get("b"), recent.get("c")), (None, Some(&2), Some(&4)));
        assert_eq!(recent.iter().map(|(id, value)| (id, *value)).collect::<Vec<_>>(), [("b", 2), ("c", 4)]);
        assert_eq!((recent.number("a"), recent.number("b"), recent.number("c")), (None, Some(1), Some(2)));
        let from_two: Vec<_> = recent.range_mut(2).map(|(number, id, value)| (number, id, *value)).collect();
        assert_eq!(from_two, [(2, "c", 4)]);
        assert_eq!(recent.next_to_go(), Some("b"));
        assert_eq!(recent.insert("d", 5), Some(2));
        assert_eq!(recent.range_mut(0).count(), 2);
    }
}

//! What is shared while somebody uses it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Weak},
};

/// The value that others use under this key, or a new one. Keys whose value nobody uses any more are forgotten.
pub(crate) fn shared<K: Eq + Hash + Clone, V>(
    values: &mut HashMap<K, Weak<V>>,
    key: &K,
    make: impl FnOnce() -> V,
) -> Arc<V> {
    if let Some(value) = values.get(key).and_then(Weak::upgrade) {
        return value;
    }
    values.retain(|_, value| value.strong_count() > 0);
    let value = Arc::new(make());
    values.insert(key.clone(), Arc::downgrade(&value));
    value
}

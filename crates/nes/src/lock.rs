//! Locks and what is shared while somebody uses it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// Locks. A panic elsewhere leaves the data as good as any other interruption would.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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

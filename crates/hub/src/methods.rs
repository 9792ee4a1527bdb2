//! The methods about sessions, and where each is handled.

use nudge_wire::Version;

/// A request about sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionMethod {
    /// Brings a session into use or looks at the store: `lifecycle/`, a file for each.
    Lifecycle(LifecycleMethod),
    /// Goes to a session that is in use: `session/`.
    InUse(InUseMethod),
}

/// A request that brings a session into use or looks at the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifecycleMethod {
    New,
    Load,
    Resume,
    List,
    Fork,
    Delete,
}

/// A request to a session that is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InUseMethod {
    Prompt,
    Inject,
    RevokeInject,
    ReplaceInject,
    Steering,
    SetMode,
    SetConfigOption,
    CancelToolCall,
    CancelTerminal,
    Close,
}

/// Every method, the versions that have it, and what handles it.
const METHODS: &[(&str, &[Version], SessionMethod)] = {
    use SessionMethod::{InUse as Use, Lifecycle as Life};
    use Version::{V1, V2};
    &[
        ("session/new", &[V1, V2], Life(LifecycleMethod::New)), // lifecycle/new.rs
        ("session/load", &[V1, V2], Life(LifecycleMethod::Load)), // lifecycle/load.rs
        ("session/resume", &[V1, V2], Life(LifecycleMethod::Resume)), // lifecycle/load.rs
        ("session/list", &[V1, V2], Life(LifecycleMethod::List)), // lifecycle/list.rs
        ("session/fork", &[V1, V2], Life(LifecycleMethod::Fork)), // lifecycle/fork.rs
        ("session/delete", &[V1, V2], Life(LifecycleMethod::Delete)), // lifecycle/delete.rs
        ("session/prompt", &[V1, V2], Use(InUseMethod::Prompt)), // crates/session/src/requests.rs
        ("session/inject", &[V1, V2], Use(InUseMethod::Inject)), // crates/session/src/requests.rs
        ("session/revoke_inject", &[V1, V2], Use(InUseMethod::RevokeInject)), // crates/session/src/requests.rs
        ("session/replace_inject", &[V1, V2], Use(InUseMethod::ReplaceInject)), // crates/session/src/requests.rs
        ("_session/steering", &[V1, V2], Use(InUseMethod::Steering)), // crates/session/src/requests.rs
        ("session/set_mode", &[V1], Use(InUseMethod::SetMode)),       // session/set.rs
        ("session/set_config_option", &[V1, V2], Use(InUseMethod::SetConfigOption)), // session/set.rs
        ("tool_call/cancel", &[V2], Use(InUseMethod::CancelToolCall)), // session/driver.rs
        ("terminal/cancel", &[V2], Use(InUseMethod::CancelTerminal)), // session/driver.rs
        ("session/close", &[V1, V2], Use(InUseMethod::Close)),        // crates/session/src/lifecycle.rs
    ]
};

impl SessionMethod {
    /// What a client of this version means by a method, if it is about sessions. What `inject` is about may be written as an
    /// extension.
    pub(crate) fn of(method: &str, version: Version) -> Option<Self> {
        let plain = method.strip_prefix('_').filter(|name| name.ends_with("inject")).unwrap_or(method);
        let row = METHODS.iter().find(|(name, versions, _)| *name == plain && versions.contains(&version))?;
        Some(row.2)
    }

    /// The method's name.
    pub(crate) fn name(self) -> &'static str {
        let row = METHODS.iter().find(|(.., method)| *method == self);
        row.expect("every method has a row").0
    }
}

impl LifecycleMethod {
    /// The method's name.
    pub(crate) fn name(self) -> &'static str {
        SessionMethod::Lifecycle(self).name()
    }
}

impl InUseMethod {
    /// The method's name.
    pub(crate) fn name(self) -> &'static str {
        SessionMethod::InUse(self).name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name_in_its_versions() {
        for (name, versions, method) in METHODS {
            assert_eq!(method.name(), *name);
            for version in [Version::V1, Version::V2] {
                let found = SessionMethod::of(name, version);
                assert_eq!(found, versions.contains(&version).then_some(*method), "{name}");
            }
        }
        assert_eq!(
            SessionMethod::of("_session/revoke_inject", Version::V1),
            Some(SessionMethod::InUse(InUseMethod::RevokeInject))
        );
        assert_eq!(SessionMethod::of("_session/prompt", Version::V1), None);
        assert_eq!(SessionMethod::of("session/unknown", Version::V2), None);
    }
}

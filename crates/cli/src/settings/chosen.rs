//! What was chosen, in the types that the program works with.

use std::{ffi::OsString, path::PathBuf};

use super::{
    kind::ParsedValue,
    resolve::{FoundValue, SettingOrigin},
};

/// A type that a setting can have. That each row's kind fits its type is shown by a test of the table.
pub(super) trait FromFound: Sized {
    fn from_found(found: &FoundValue) -> Self;
}

/// A value of which it matters where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct ChosenValue<T> {
    pub(crate) value: T,
    pub(crate) origin: SettingOrigin,
}

impl<T: Clone> ChosenValue<T> {
    /// The value, if somebody has chosen it.
    pub(crate) fn asked(&self) -> Option<T> {
        (self.origin != SettingOrigin::Default).then(|| self.value.clone())
    }
}

impl<T: FromFound> FromFound for ChosenValue<T> {
    fn from_found(found: &FoundValue) -> Self {
        Self { value: T::from_found(found), origin: found.origin.clone() }
    }
}

impl FromFound for bool {
    fn from_found(found: &FoundValue) -> Self {
        matches!(found.value, Some(ParsedValue::Switch(true)))
    }
}

impl FromFound for u64 {
    fn from_found(found: &FoundValue) -> Self {
        let Some(ParsedValue::Number(number)) = found.value else { unreachable!("the default is a number") };
        number
    }
}

impl FromFound for usize {
    fn from_found(found: &FoundValue) -> Self {
        usize::try_from(u64::from_found(found)).unwrap_or(usize::MAX)
    }
}

impl FromFound for Option<String> {
    fn from_found(found: &FoundValue) -> Self {
        match &found.value {
            Some(ParsedValue::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromFound for Option<OsString> {
    fn from_found(found: &FoundValue) -> Self {
        match &found.value {
            Some(ParsedValue::Path(path)) => Some(path.clone()),
            _ => None,
        }
    }
}

impl FromFound for Option<PathBuf> {
    fn from_found(found: &FoundValue) -> Self {
        Option::<OsString>::from_found(found).map(PathBuf::from)
    }
}

/// Makes a type of the words that a setting can be.
macro_rules! choice {
    ($( #[doc = $about:literal] )+ $name:ident { $( #[doc = $what:literal] $variant:ident = $word:literal ),+ $(,)? }) => {
        $( #[doc = $about] )+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $( #[doc = $what] $variant ),+ }

        impl $name {
            /// The words.
            pub(super) const NAMES: &[&str] = &[ $( $word ),+ ];
        }

        impl FromFound for $name {
            fn from_found(found: &FoundValue) -> Self {
                match &found.value {
                    $( Some(ParsedValue::Text(text)) if text == $word => Self::$variant, )+
                    _ => unreachable!("the default is one of the words"),
                }
            }
        }
    };
}

choice! {
    /// Who makes next edit suggestions.
    NesBy {
        /// Nudge's own engine.
        Nudge = "nudge",
        /// The agent: `nes/*` and `document/*` pass to it as they come.
        Agent = "agent",
    }
}

choice! {
    /// What happens to a turn when nobody is left to see it.
    OnClose {
        /// It goes on to its end.
        Finish = "finish",
        /// It is cancelled.
        Cancel = "cancel",
    }
}

choice! {
    /// Who holds the sessions.
    DaemonMode {
        /// A daemon, which is started if there is none.
        On = "on",
        /// The process itself.
        Off = "off",
    }
}

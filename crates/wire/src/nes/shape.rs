//! How the messages of this crate are declared: objects that keep what they do not know, open enums, and the
//! difference between `null` and nothing.
//!
//! Reading takes `null` for an optional member as if it were absent, and writing leaves absent members out. Where
//! `null` says more than that, the member is a [`Nullable`] and comes back as it was.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;

/// An optional member whose `null` is told apart from its absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nullable<T> {
    /// The member is not there.
    #[default]
    Absent,
    /// The member is there and is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Whether the member is not there.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value, if there is one.
    pub const fn as_option(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_option().serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The proposal wants members of this kind to count as absent when they are malformed.
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Self::Null,
            value => serde_json::from_value(value).map_or(Self::Absent, Self::Value),
        })
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<T>::json_schema(generator)
    }
}

/// Reads a member that counts as absent when it is malformed.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// Declares a JSON object: its required members, which `new` takes, and its other ones by how they are read.
///
/// `optional` members must be well-formed if present, `lenient` ones count as absent if they are not (the proposal
/// says which), `nullable` ones are lenient and keep their `null`. Every object gets `_meta` and keeps unknown
/// members. The name after `as` is that of its JSON Schema.
macro_rules! object {
    (
        $(#[$attr:meta])*
        pub struct $name:ident as $schema:tt {
            $($(#[$required_attr:meta])* $required:ident: $required_ty:ident $(<$required_arg:ty>)?,)*
        }
        $(optional { $($(#[$optional_attr:meta])* $optional:ident: $optional_ty:ty,)* })?
        $(lenient { $($(#[$lenient_attr:meta])* $lenient:ident: $lenient_ty:ty,)* })?
        $(nullable { $($(#[$nullable_attr:meta])* $nullable:ident: $nullable_ty:ty,)* })?
    ) => {
        $(#[$attr])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = $schema))]
        pub struct $name {
            $($(#[$required_attr])* pub $required: $required_ty $(<$required_arg>)?,)*
            $($(
                $(#[$optional_attr])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_ty>,
            )*)?
            $($(
                $(#[$lenient_attr])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                #[serde(deserialize_with = "crate::nes::shape::lenient")]
                pub $lenient: Option<$lenient_ty>,
            )*)?
            $($(
                $(#[$nullable_attr])*
                #[serde(default, skip_serializing_if = "crate::nes::shape::Nullable::is_absent")]
                pub $nullable: crate::nes::shape::Nullable<$nullable_ty>,
            )*)?
            /// Free for extensions.
            #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
            #[serde(deserialize_with = "crate::nes::shape::lenient")]
            pub meta: Option<serde_json::Map<String, serde_json::Value>>,
            /// Members this version of the type does not know.
            #[serde(flatten)]
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub extra: serde_json::Map<String, serde_json::Value>,
        }

        crate::nes::shape::object! { @new $name
            [$($required: $required_ty $(<$required_arg>)?,)*]
            [$($($optional,)*)? $($($lenient,)*)? $($($nullable,)*)?]
        }
    };
    (@new $name:ident [] [$($other:ident,)*]) => {};
    (@new $name:ident [$($required:ident: $ty:ident $(<$arg:ty>)?,)+] [$($other:ident,)*]) => {
        impl $name {
            /// With the required members only.
            pub fn new($($required: crate::nes::shape::object!(@param $ty $(<$arg>)?)),+) -> Self {
                Self {
                    $($required: $required.into(),)+
                    $($other: Default::default(),)*
                    meta: None,
                    extra: serde_json::Map::new(),
                }
            }
        }
    };
    // Numbers stay as they are, because `impl Into` would leave a literal's type open.
    (@param String) => { impl Into<String> };
    (@param $ty:ident $(<$arg:ty>)?) => { $ty $(<$arg>)? };
}

/// Declares a set of strings that may grow: values not listed are kept in `Other`.
macro_rules! open_enum {
    (
        $(#[doc = $doc:tt])+
        pub enum $name:ident as $schema:tt {
            $($(#[doc = $variant_doc:tt])+ $variant:ident = $value:tt,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
            /// A value this version of the type does not know.
            Other(String),
        }

        impl $name {
            /// The values this version of the type knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            /// The value on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Other(value) => value,
                }
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                match value.as_str() {
                    $($value => Self::$variant,)+
                    _ => Self::Other(value),
                }
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self::from(value.to_owned())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::schema::open_enum(
                    concat!($($doc),+),
                    &[$(($value, concat!($($variant_doc),+))),+],
                )
            }
        }
    };
}

/// Ties params to their method, which is also accepted with a leading `_`, and requests to their result.
macro_rules! methods {
    ($($ty:ty $(=> $response:ty)?, $method:literal;)+) => {
        $(crate::nes::shape::methods! { @one $ty $(=> $response)?, $method })+
    };
    (@one $ty:ty => $response:ty, $method:literal) => {
        impl crate::Request for $ty {
            const METHOD: &'static str = $method;
            const ALIASES: &'static [&'static str] = &[concat!("_", $method)];
            type Response = $response;
        }
    };
    (@one $ty:ty, $method:literal) => {
        impl crate::Notification for $ty {
            const METHOD: &'static str = $method;
            const ALIASES: &'static [&'static str] = &[concat!("_", $method)];
        }
    };
}

pub(crate) use {methods, object, open_enum};

//! The capabilities Nudge adds to `initialize`, read and written in place: everything else in the params or the
//! result stays as it came, byte for byte and in order.
//!
//! Some SDKs drop members their schema does not know and keep `_meta`. So each capability has two places, its own and
//! a mirror in the `_meta` of the capabilities: both are written, and the mirror is read where its own place has
//! nothing readable. A malformed capability counts as absent, since a peer that misspells one extension can still do
//! everything else.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    RawJson, Version,
    inject::InjectCapability,
    nes::{ClientNesCapabilities, NesCapabilities, PositionEncoding},
    raw::NotAnObject,
};

/// What a client says in the params of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInit {
    /// The version the params are written in.
    pub version: Version,
    /// The params.
    pub params: RawJson,
}

impl ClientInit {
    /// A view of the params of an `initialize` request.
    pub fn new(version: Version, params: RawJson) -> Self {
        Self { version, params }
    }

    /// The kinds of suggestion the client can show; `None` if it says nothing of NES.
    pub fn nes(&self) -> Option<ClientNesCapabilities> {
        self.nes_place().read(&self.params)
    }

    /// The position encodings the client knows, best first. Entries that are not strings are skipped.
    pub fn position_encodings(&self) -> Vec<PositionEncoding> {
        let entries: Vec<Value> = self.encodings_place().read(&self.params).unwrap_or_default();
        entries.iter().filter_map(Value::as_str).map(PositionEncoding::from).collect()
    }

    /// What the client names of `elicitation/create`; nothing is offered unless it is named.
    pub fn elicitation_modes(&self) -> ElicitationModes {
        let names = |mode| {
            let offered = self.params.get(&[self.capabilities(), "elicitation", mode]);
            offered.is_some_and(|offered| offered.as_str().starts_with('{'))
        };
        ElicitationModes { form: names("form"), url: names("url") }
    }

    /// Whether the client runs a program on a terminal for the user to sign in there.
    pub fn has_terminal_sign_in(&self) -> bool {
        let offered = self.params.get(&[self.capabilities(), "auth", "terminal"]);
        offered.is_some_and(|offered| offered.as_str() == "true" || offered.as_str().starts_with('{'))
    }

    /// Whether the client wants to be told, by `_nudge/pending`, what waits to be delivered in its sessions.
    pub fn hears_pending(&self) -> bool {
        let wanted = self.params.get(&[self.capabilities(), "_meta", "nudge", "pending"]);
        wanted.is_some_and(|wanted| wanted.as_str() == "true")
    }

    /// The same with these kinds of suggestion.
    pub fn with_nes(self, nes: &ClientNesCapabilities) -> Result<Self, NotAnObject> {
        let params = self.nes_place().write(&self.params, nes)?;
        Ok(Self { params, ..self })
    }

    /// The same with these position encodings, best first.
    pub fn with_position_encodings(self, encodings: &[PositionEncoding]) -> Result<Self, NotAnObject> {
        let params = self.encodings_place().write(&self.params, encodings)?;
        Ok(Self { params, ..self })
    }

    fn nes_place(&self) -> Place {
        Place { capabilities: self.capabilities(), own: &["nes"], mirror: "nes" }
    }

    fn encodings_place(&self) -> Place {
        Place { capabilities: self.capabilities(), own: &["positionEncodings"], mirror: "positionEncodings" }
    }

    fn capabilities(&self) -> &'static str {
        match self.version {
            Version::V1 => "clientCapabilities",
            Version::V2 => "capabilities",
        }
    }
}

/// What a client can show when an agent asks the user something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ElicitationModes {
    /// Forms.
    pub form: bool,
    /// Pages.
    pub url: bool,
}

impl ElicitationModes {
    /// Whether a message under this method with these params will be understood. Without a `mode` it is a form that is asked
    /// for, as in earlier versions of the protocol; a mode that is not known is not offered by anybody.
    pub fn has(self, method: &str, params: &RawJson) -> bool {
        let mode = params.get(&["mode"]).map(|mode| mode.to::<String>().ok());
        match (method, mode) {
            // The news that a page is done with.
            ("elicitation/complete", _) => self.url,
            (_, None) => self.form,
            (_, Some(mode)) => match mode.as_deref() {
                Some("form") => self.form,
                Some("url") => self.url,
                _ => false,
            },
        }
    }
}

/// What an agent says in the result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInit {
    /// The version the result is written in.
    pub version: Version,
    /// The result.
    pub result: RawJson,
}

impl AgentInit {
    /// A view of the result of an `initialize` request.
    pub fn new(version: Version, result: RawJson) -> Self {
        Self { version, result }
    }

    /// What the agent wants to be told to make suggestions; `None` if it makes none.
    pub fn nes(&self) -> Option<NesCapabilities> {
        self.nes_place().read(&self.result)
    }

    /// The position encoding the agent chose; [`PositionEncoding::Utf16`] holds if it chose none.
    pub fn position_encoding(&self) -> Option<PositionEncoding> {
        self.encoding_place().read(&self.result)
    }

    /// What the agent does with mid-turn input; `None` if it takes none, which is also what an empty `modes` says.
    pub fn inject(&self) -> Option<InjectCapability> {
        self.inject_place().read(&self.result).filter(|inject: &InjectCapability| !inject.modes.is_empty())
    }

    /// Whether the agent takes `_session/steering`.
    pub fn steering(&self) -> bool {
        self.result.get(STEERING).is_some_and(|supported| supported.as_str() == "true")
    }

    /// The same with this wanted for suggestions.
    pub fn with_nes(self, nes: &NesCapabilities) -> Result<Self, NotAnObject> {
        let result = self.nes_place().write(&self.result, nes)?;
        Ok(Self { result, ..self })
    }

    /// The same with this position encoding chosen.
    pub fn with_position_encoding(self, encoding: &PositionEncoding) -> Result<Self, NotAnObject> {
        let result = self.encoding_place().write(&self.result, encoding)?;
        Ok(Self { result, ..self })
    }

    /// The same with this done with mid-turn input.
    ///
    /// In v2 this makes `capabilities.session` where there is none, and its being there says that the agent has the
    /// session methods (`session/new` and so on). Only an agent that has them may take mid-turn input.
    pub fn with_inject(self, inject: &InjectCapability) -> Result<Self, NotAnObject> {
        let result = self.inject_place().write(&self.result, inject)?;
        Ok(Self { result, ..self })
    }

    /// The same with `_session/steering` offered or not.
    pub fn with_steering(self, supported: bool) -> Result<Self, NotAnObject> {
        let result = self.result.with(STEERING, &json_of(&supported))?;
        Ok(Self { result, ..self })
    }

    fn nes_place(&self) -> Place {
        Place { capabilities: self.capabilities(), own: &["nes"], mirror: "nes" }
    }

    fn encoding_place(&self) -> Place {
        Place { capabilities: self.capabilities(), own: &["positionEncoding"], mirror: "positionEncoding" }
    }

    fn inject_place(&self) -> Place {
        Place { capabilities: self.capabilities(), own: &["session", "inject"], mirror: "inject" }
    }

    fn capabilities(&self) -> &'static str {
        match self.version {
            Version::V1 => "agentCapabilities",
            Version::V2 => "capabilities",
        }
    }
}

const STEERING: &[&str] = &["_meta", "steering", "supported"];

/// Where a capability is, and where it is mirrored.
struct Place {
    /// The member of the params or the result that has the capabilities.
    capabilities: &'static str,
    /// The capability's own place in there.
    own: &'static [&'static str],
    /// Its name in the `_meta` in there.
    mirror: &'static str,
}

impl Place {
    fn read<T: DeserializeOwned>(&self, init: &RawJson) -> Option<T> {
        let at = |path: &[&str]| init.get(path)?.to().ok();
        at(&self.own_path()).or_else(|| at(&self.mirror_path()))
    }

    fn write<T: Serialize + ?Sized>(&self, init: &RawJson, value: &T) -> Result<RawJson, NotAnObject> {
        let value = json_of(value);
        init.with(&self.own_path(), &value)?.with(&self.mirror_path(), &value)
    }

    fn own_path(&self) -> Vec<&'static str> {
        [&[self.capabilities], self.own].concat()
    }

    fn mirror_path(&self) -> [&'static str; 3] {
        [self.capabilities, "_meta", self.mirror]
    }
}

fn json_of<T: Serialize + ?Sized>(value: &T) -> RawJson {
    RawJson::of(value).expect("capabilities are plain data with string keys")
}

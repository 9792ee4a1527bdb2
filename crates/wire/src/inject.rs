//! Mid-turn input: messages of the user that reach an agent while it works, and the older dialect of the same.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Error, ErrorCode, RawJson, Request,
    nes::shape::{lenient, methods, object, open_enum},
};

open_enum! {
    /// When a message is delivered.
    pub enum InjectMode as "InjectMode" {
        /// After the running turn, as a turn of its own.
        Queue = "queue",
        /// Into the running turn, at its next break-point.
        Steer = "steer",
    }
}

object! {
    /// Hands a message over while the agent may be working.
    pub struct InjectRequest as "InjectRequest" {
        /// The session.
        session_id: String,
        /// When to deliver it.
        mode: InjectMode,
        /// The message, as ACP's content blocks.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ContentBlock>", length(min = 1)))]
        content: Vec<RawJson>,
    }
}

impl InjectRequest {
    /// `_meta.idempotencyKey`: the same key in the same session is the same message.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.meta.as_ref()?.get("idempotencyKey")?.as_str()
    }
}

object! {
    /// The message is safely stored and will be delivered.
    pub struct InjectResponse as "InjectResponse" {
        /// Names the message from here on, also when it is delivered.
        message_id: String,
    }
}

object! {
    /// Takes a message back that has not been delivered.
    pub struct RevokeInjectRequest as "RevokeInjectRequest" {
        /// The session.
        session_id: String,
        /// The message.
        message_id: String,
    }
}

object! {
    /// The message will not be delivered.
    #[derive(Default)]
    pub struct RevokeInjectResponse as "RevokeInjectResponse" {}
}

object! {
    /// Changes a message that has not been delivered; it keeps its id, mode and place.
    pub struct ReplaceInjectRequest as "ReplaceInjectRequest" {
        /// The session.
        session_id: String,
        /// The message.
        message_id: String,
        /// What it says now.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ContentBlock>", length(min = 1)))]
        content: Vec<RawJson>,
    }
}

object! {
    /// The message will be delivered as changed.
    pub struct ReplaceInjectResponse as "ReplaceInjectResponse" {
        /// The message.
        message_id: String,
    }
}

object! {
    /// The older dialect: input for the running turn, or for a new one where nothing runs.
    pub struct SteeringRequest as "SteeringRequest" {
        /// The session.
        session_id: String,
        /// The message, as ACP's content blocks.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::ContentBlock>"))]
        prompt: Vec<RawJson>,
    }
}

impl SteeringRequest {
    /// Whether an idle session should refuse with [`SteeringOutcome::PromptRequired`] rather than start a turn.
    pub fn prompt_required_when_idle(&self) -> bool {
        let behavior =
            self.meta.as_ref().and_then(|meta| meta.get("steering")?.get("idleBehavior")?.as_str());
        behavior == Some("promptRequired")
    }
}

object! {
    /// What became of the input.
    pub struct SteeringResponse as "SteeringResponse" {
        /// In one word.
        outcome: SteeringOutcome,
    }
    optional {
        /// Why.
        reason: String,
    }
}

open_enum! {
    /// What became of input sent in the older dialect.
    pub enum SteeringOutcome as "SteeringOutcome" {
        /// It is in the running turn.
        Injected = "injected",
        /// Nothing runs; it has to be sent as a prompt.
        PromptRequired = "promptRequired",
        /// It started a turn.
        StartedNewTurn = "startedNewTurn",
        /// It was lost.
        Failed = "failed",
    }
}

methods! {
    InjectRequest => InjectResponse, "session/inject";
    RevokeInjectRequest => RevokeInjectResponse, "session/revoke_inject";
    ReplaceInjectRequest => ReplaceInjectResponse, "session/replace_inject";
}

impl Request for SteeringRequest {
    const METHOD: &'static str = "_session/steering";
    type Response = SteeringResponse;
}

/// What an agent that takes mid-turn input can do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "CapabilityOnWire", into = "CapabilityOnWire")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InjectCapability {
    /// The modes it takes; at least one.
    pub modes: Vec<InjectMode>,
    /// What a steer does to a model that is speaking; at least one where steer is offered.
    pub steer_in_stream: Vec<SteerInStream>,
    /// What can be done to a message before it is delivered, besides taking it back.
    pub pending: Option<PendingCapability>,
    /// Free for extensions.
    pub meta: Option<Map<String, Value>>,
    /// Members this version of the type does not know.
    pub extra: Map<String, Value>,
}

impl InjectCapability {
    /// These modes, no replacing.
    pub fn new(modes: Vec<InjectMode>, steer_in_stream: Vec<SteerInStream>) -> Self {
        Self { modes, steer_in_stream, pending: None, meta: None, extra: Map::new() }
    }

    /// The same with `session/replace_inject` offered.
    pub fn with_replace(mut self) -> Self {
        self.pending.get_or_insert_default().replace = Some(true);
        self
    }

    /// Whether `session/replace_inject` is offered.
    pub fn replaces(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.replace == Some(true))
    }
}

open_enum! {
    /// What a steer does to a model that is speaking.
    pub enum SteerInStream as "InjectSteerInStream" {
        /// Cuts it off.
        Interrupt = "interrupt",
        /// Waits for it to end.
        Finish = "finish",
    }
}

object! {
    /// What can be done to a message before it is delivered.
    #[derive(Default)]
    pub struct PendingCapability as "InjectPendingCapability" {}
    lenient {
        /// Whether it can be replaced.
        replace: bool,
    }
}

/// What an agent that takes mid-turn input can do with it.
// The proposal has `steer_in_stream`, a later draft `steerInStream`: both are written, either is read.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "InjectCapability"))]
struct CapabilityOnWire {
    /// The modes it takes.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    modes: Vec<InjectMode>,
    /// What a steer does to a model that is speaking.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    steer_in_stream: Option<Vec<SteerInStream>>,
    /// The same under its later name.
    #[serde(
        rename = "steerInStream",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    steer_in_stream_later: Option<Vec<SteerInStream>>,
    /// What can be done to a message before it is delivered, besides taking it back.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pending: Option<PendingCapability>,
    /// Free for extensions.
    #[serde(
        rename = "_meta",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    meta: Option<Map<String, Value>>,
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    extra: Map<String, Value>,
}

impl From<CapabilityOnWire> for InjectCapability {
    fn from(wire: CapabilityOnWire) -> Self {
        let steer_in_stream = wire.steer_in_stream.or(wire.steer_in_stream_later).unwrap_or_default();
        Self { modes: wire.modes, steer_in_stream, pending: wire.pending, meta: wire.meta, extra: wire.extra }
    }
}

impl From<InjectCapability> for CapabilityOnWire {
    fn from(capability: InjectCapability) -> Self {
        let InjectCapability { modes, steer_in_stream, pending, meta, extra } = capability;
        let steer_in_stream = (!steer_in_stream.is_empty()).then_some(steer_in_stream);
        Self { modes, steer_in_stream_later: steer_in_stream.clone(), steer_in_stream, pending, meta, extra }
    }
}

open_enum! {
    /// Why mid-turn input is refused, as `error.data.reason` says it.
    pub enum ErrorReason as "InjectErrorReason" {
        /// The message has been delivered.
        AlreadyDelivered = "already_delivered",
        /// There is no turn to steer.
        NoRunningTurn = "no_running_turn",
        /// Replacing was not offered.
        ReplaceNotSupported = "replace_not_supported",
        /// There is no such message, or it was taken back.
        UnknownMessageId = "unknown_message_id",
        /// The message says nothing.
        EmptyContent = "empty_content",
        /// The mode was not offered.
        ModeNotSupported = "mode_not_supported",
        /// A content block is of a type the prompt capabilities exclude.
        ContentNotSupported = "content_not_supported",
    }
}

impl ErrorReason {
    /// The error this is the reason of, naming the message where there is one.
    pub fn error(&self, message_id: Option<&str>) -> Error {
        let error = match self {
            Self::AlreadyDelivered | Self::NoRunningTurn | Self::ReplaceNotSupported | Self::Other(_) => {
                Error::inject_precondition(self.as_str())
            }
            Self::UnknownMessageId => Error::not_found(self.as_str()),
            Self::EmptyContent | Self::ModeNotSupported | Self::ContentNotSupported => {
                Error::new(ErrorCode::INVALID_PARAMS, "Invalid params").reason(self.as_str())
            }
        };
        match message_id {
            Some(message_id) => error.data(&json!({ "reason": self.as_str(), "messageId": message_id })),
            None => error,
        }
    }
}

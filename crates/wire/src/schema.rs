//! JSON Schemas of the messages Nudge adds to ACP, made from the types themselves.
//!
//! A type has one schema for both versions of the protocol; where the proposal is stricter in one of them, that is
//! done here: v1 knows only the enum values it lists, v2 wants addresses to be URIs and edits not to be empty.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Map, Value, json};

use crate::{
    Error, Notification, Request, Version, document, inject,
    nes::{self, ClientNesCapabilities, NesCapabilities, PositionEncoding},
};

/// Every schema as its path below `spec/` and its text.
pub fn files() -> Vec<(String, String)> {
    let files = [
        ("schema/nes.v1.json", nes_file(Version::V1)),
        ("schema/nes.v2.json", nes_file(Version::V2)),
        ("schema/inject.json", inject_file()),
    ];
    files.map(|(path, schema)| (path.to_owned(), format!("{schema:#}\n"))).into()
}

/// A set of strings that may grow.
pub(crate) fn open_enum(description: &str, values: &[(&str, &str)]) -> Schema {
    let known = values.iter().map(
        |(value, description)| json!({ "description": description.trim(), "type": "string", "const": value }),
    );
    let other = json!({ "title": OTHER, "description": "A value added later.", "type": "string" });
    let any_of: Vec<Value> = known.chain([other]).collect();
    json_schema!({ "description": description.trim(), "anyOf": any_of })
}

/// Objects told apart by their `kind`, of which there may be more. `id` is the one member they all have.
pub(crate) fn tagged_by_kind(description: &str, id: &str, kinds: &[(&str, Schema)]) -> Schema {
    let names: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
    let known = kinds.iter().map(|(kind, schema)| {
        json!({
            "type": "object",
            "properties": { "kind": { "type": "string", "const": kind } },
            "required": ["kind"],
            "allOf": [schema],
        })
    });
    let other = json!({
        "title": OTHER,
        "description": "A kind added later.",
        "type": "object",
        "properties": { "kind": { "type": "string", "not": { "enum": names } }, id: { "type": "string" } },
        "required": ["kind", id],
    });
    let any_of: Vec<Value> = known.chain([other]).collect();
    json_schema!({ "description": description, "anyOf": any_of })
}

/// A content block of ACP: text, an image, a resource and so on, as described there.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "stands for ACP's type in schemas and is never made")]
pub(crate) struct ContentBlock {
    /// What it is.
    r#type: String,
}

/// The title of the branch that makes an enum open.
const OTHER: &str = "Other";

/// Enums the proposal keeps closed in v2 too: both sides have to understand the one that was chosen.
const ALWAYS_CLOSED: [&str; 2] = ["PositionEncodingKind", "TextDocumentSyncKind"];

fn nes_file(version: Version) -> Value {
    let mut defs = Defs::new();
    defs.request::<nes::StartRequest>();
    match version {
        Version::V1 => {
            defs.request::<nes::v1::SuggestRequest>();
            defs.notification::<nes::v1::AcceptNotification>();
            defs.notification::<nes::v1::RejectNotification>();
        }
        Version::V2 => {
            defs.request::<nes::v2::SuggestRequest>();
            defs.notification::<nes::v2::AcceptNotification>();
            defs.notification::<nes::v2::RejectNotification>();
        }
    }
    defs.request::<nes::CloseRequest>();
    defs.notification::<document::DidOpen>();
    defs.notification::<document::DidChange>();
    defs.notification::<document::DidClose>();
    defs.notification::<document::DidSave>();
    defs.notification::<document::DidFocus>();
    nes_initialize(&mut defs, version);
    defs.add("NesError", &nes_error());

    let mut defs = defs.finish();
    for (name, def) in &mut defs {
        if version == Version::V1 || ALWAYS_CLOSED.contains(&name.as_str()) {
            close(def);
        }
        if version == Version::V2 {
            demand_uris(def);
        }
    }
    if version == Version::V2 {
        defs["NesEditSuggestion"]["properties"]["edits"]["minItems"] = json!(1);
    }
    file(&format!("Next edit suggestions for ACP v{}", version.number()), &defs)
}

/// Where the NES capabilities are in `initialize`.
fn nes_initialize(defs: &mut Defs, version: Version) {
    let (client, agent) = match version {
        Version::V1 => ("clientCapabilities", "agentCapabilities"),
        Version::V2 => ("capabilities", "capabilities"),
    };
    let offered = json!({
        "nes": defs.nullable::<ClientNesCapabilities>(),
        "positionEncodings": { "type": "array", "items": defs.reference::<PositionEncoding>() },
    });
    let wanted = json!({
        "nes": defs.nullable::<NesCapabilities>(),
        "positionEncoding": defs.nullable::<PositionEncoding>(),
    });
    defs.add(
        "InitializeRequest",
        &json!({
            "description": "What a client says of NES in the params of `initialize`; the rest is ACP's.",
            "type": "object",
            "properties": { client: mirrored(&offered, &offered) },
            "x-method": "initialize",
        }),
    );
    defs.add(
        "InitializeResponse",
        &json!({
            "description": "What an agent says of NES in the result of `initialize`; the rest is ACP's.",
            "type": "object",
            "properties": { agent: mirrored(&wanted, &wanted) },
            "x-method": "initialize",
        }),
    );
}

fn nes_error() -> Value {
    let cancelled = json!({
        "description": "The request was cancelled, or a newer one took its place.",
        "type": "object",
        "properties": { "code": { "const": Error::cancelled().code }, "message": { "type": "string" } },
        "required": ["code", "message"],
    });
    let reasons =
        nes::ErrorReason::KNOWN.iter().map(|reason| error_with(&reason.error(), &json!({}), &["reason"]));
    json!({
        "description": "Why an NES request failed.",
        "anyOf": reasons.chain([cancelled]).collect::<Vec<_>>(),
    })
}

fn inject_file() -> Value {
    let mut defs = Defs::new();
    defs.request::<inject::InjectRequest>();
    defs.request::<inject::RevokeInjectRequest>();
    defs.request::<inject::ReplaceInjectRequest>();
    defs.request::<inject::SteeringRequest>();
    let inject = json!({ "inject": defs.nullable::<inject::InjectCapability>() });
    let capabilities =
        mirrored(&json!({ "session": { "type": ["object", "null"], "properties": inject } }), &inject);
    let steering = json!({ "type": "object", "properties": { "supported": { "type": "boolean" } } });
    defs.add(
        "InitializeResponse",
        &json!({
            "description": "What an agent says of mid-turn input in the result of `initialize`, in v1 in its \
                            `agentCapabilities`, in v2 in its `capabilities`; the rest is ACP's.",
            "type": "object",
            "properties": {
                "agentCapabilities": capabilities,
                "capabilities": capabilities,
                "_meta": { "type": ["object", "null"], "properties": { "steering": steering } },
            },
            "x-method": "initialize",
        }),
    );
    defs.add("InjectError", &inject_error());
    let mut defs = defs.finish();
    demand_steer_in_stream(&mut defs["InjectCapability"]);
    file("Mid-turn input for ACP v1 and v2", &defs)
}

fn inject_error() -> Value {
    use inject::ErrorReason::{AlreadyDelivered, ReplaceNotSupported, UnknownMessageId};
    let message_id = json!({ "messageId": { "type": "string" } });
    let branch = |reason: &inject::ErrorReason| {
        let required: &[&str] = match reason {
            AlreadyDelivered | ReplaceNotSupported | UnknownMessageId => &["reason", "messageId"],
            _ => &["reason"],
        };
        error_with(&reason.error(None), &message_id, required)
    };
    json!({
        "description": "Why mid-turn input was refused.",
        "anyOf": inject::ErrorReason::KNOWN.iter().map(branch).collect::<Vec<_>>(),
    })
}

/// An error with this code and `data.reason`, and with these other members of `data`.
fn error_with(error: &Error, other_data: &Value, required_data: &[&str]) -> Value {
    let mut data = json!({ "reason": { "const": error.get_reason() } });
    merge(&mut data, other_data);
    json!({
        "type": "object",
        "properties": {
            "code": { "const": error.code },
            "message": { "type": "string" },
            "data": { "type": "object", "properties": data, "required": required_data },
        },
        "required": ["code", "message", "data"],
    })
}

/// Capabilities with these members of their own and these in their `_meta`.
fn mirrored(own: &Value, mirror: &Value) -> Value {
    let mut properties = own.clone();
    merge(&mut properties, &json!({ "_meta": { "type": ["object", "null"], "properties": mirror } }));
    json!({ "type": "object", "properties": properties })
}

fn merge(into: &mut Value, from: &Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from.clone());
    }
}

/// A steer needs a word on what it does to a model that is speaking, under either name.
fn demand_steer_in_stream(def: &mut Value) {
    def["if"] = json!({ "properties": { "modes": { "contains": { "const": "steer" } } } });
    let spelled = |name: &str| json!({ "properties": { name: { "type": "array" } }, "required": [name] });
    def["then"] = json!({ "anyOf": [spelled("steer_in_stream"), spelled("steerInStream")] });
}

/// Takes the open branch out of an enum.
fn close(def: &mut Value) {
    let Some(Value::Array(mut branches)) = def.get("anyOf").cloned() else { return };
    let all = branches.len();
    branches.retain(|branch| branch["title"] != OTHER);
    if let Value::Object(def) = def
        && branches.len() < all
    {
        def.shift_remove("anyOf");
        def.insert("oneOf".to_owned(), branches.into());
    }
}

fn demand_uris(def: &mut Value) {
    for name in ["uri", "workspaceUri"] {
        if let Some(property) = def.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
            property["format"] = json!("uri");
        }
    }
}

fn file(title: &str, defs: &Map<String, Value>) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": "Generated from the types of the crate nudge-wire by `cargo xtask tidy --fix`.",
        "$defs": defs,
    })
}

/// The definitions of one file as they are collected.
struct Defs {
    generator: SchemaGenerator,
    methods: Vec<(String, &'static str)>,
    handmade: Map<String, Value>,
}

impl Defs {
    fn new() -> Self {
        let generator = SchemaSettings::draft2020_12().into_generator();
        Self { generator, methods: Vec::new(), handmade: Map::new() }
    }

    fn request<T: Request<Response: JsonSchema> + JsonSchema>(&mut self) {
        self.message::<T>(T::METHOD);
        self.message::<T::Response>(T::METHOD);
    }

    fn notification<T: Notification + JsonSchema>(&mut self) {
        self.message::<T>(T::METHOD);
    }

    fn message<T: JsonSchema>(&mut self, method: &'static str) {
        self.reference::<T>();
        self.methods.push((T::schema_name().into_owned(), method));
    }

    fn reference<T: JsonSchema>(&mut self) -> Schema {
        self.generator.subschema_for::<T>()
    }

    fn nullable<T: JsonSchema>(&mut self) -> Schema {
        self.generator.subschema_for::<Option<T>>()
    }

    fn add(&mut self, name: &str, def: &Value) {
        self.handmade.insert(name.to_owned(), def.clone());
    }

    fn finish(mut self) -> Map<String, Value> {
        let mut defs = self.generator.take_definitions(true);
        for (name, method) in self.methods {
            defs[&name]["x-method"] = json!(method);
        }
        defs.extend(self.handmade);
        defs.sort_keys();
        defs
    }
}

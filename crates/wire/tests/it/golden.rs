//! The golden files of `spec/golden`, and which type and which definition each of them belongs to.

use std::{fs, path::PathBuf};

use nudge_wire::{
    Error, Notification, RawJson, Request, Version,
    caps::{AgentInit, ClientInit},
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    inject::{InjectRequest, ReplaceInjectRequest, RevokeInjectRequest, SteeringRequest},
    nes::{self, CloseRequest, StartRequest},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub(crate) const VERSIONS: [Version; 2] = [Version::V1, Version::V2];

const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec");

/// One golden file.
pub(crate) struct Golden {
    pub(crate) version: Version,
    /// The file's name without `.json`.
    pub(crate) name: String,
    /// The whole message.
    pub(crate) message: Value,
}

impl Golden {
    /// The part of the message that has a type of its own.
    pub(crate) fn payload(&self) -> &Value {
        ["params", "result", "error"]
            .iter()
            .find_map(|member| self.message.get(member))
            .unwrap_or_else(|| panic!("{}: no params, result or error", self.name))
    }
}

/// All golden files of one version.
pub(crate) fn goldens(version: Version) -> Vec<Golden> {
    let folder = PathBuf::from(format!("{SPEC}/golden/v{}", version.number()));
    let mut goldens: Vec<Golden> = fs::read_dir(&folder)
        .expect("spec/golden is in the repository")
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a readable file");
            let message = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            Golden { version, name, message }
        })
        .collect();
    goldens.sort_by(|a, b| a.name.cmp(&b.name));
    goldens
}

/// A file of `spec/schema`.
pub(crate) fn schema_text(file: &str) -> String {
    fs::read_to_string(format!("{SPEC}/schema/{file}")).expect("spec/schema is in the repository")
}

/// Decodes a payload into its type and encodes it again.
type Recode = Box<dyn Fn(&Value) -> serde_json::Result<Value>>;

/// What a family of golden files has in common.
pub(crate) struct Shape {
    /// How their names begin.
    pub(crate) name: String,
    /// Files of `spec/schema` and the definition in each that they fit.
    pub(crate) defs: Vec<(String, String)>,
    /// Their method and its other names; none for responses.
    pub(crate) methods: Vec<&'static str>,
    pub(crate) recode: Recode,
}

impl Shape {
    fn new<T: Serialize + DeserializeOwned>(name: String, file: &str, def: String) -> Self {
        let recode = |value: &Value| serde_json::to_value(serde_json::from_str::<T>(&value.to_string())?);
        Self { name, defs: vec![(file.to_owned(), def)], methods: Vec::new(), recode: Box::new(recode) }
    }

    /// Whether messages of this shape are part of NES, and so of the schemas it was proposed with.
    pub(crate) fn is_nes(&self) -> bool {
        self.defs.iter().any(|(file, _)| file.starts_with("nes"))
    }
}

/// The shape of the golden file of that name.
pub(crate) fn shape_of<'a>(name: &str, shapes: &'a [Shape]) -> &'a Shape {
    let fits = |shape: &&Shape| {
        name.strip_prefix(&shape.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    shapes.iter().find(fits).unwrap_or_else(|| panic!("{name}: of no known shape"))
}

/// Every shape of one version.
pub(crate) fn shapes(version: Version) -> Vec<Shape> {
    let mut shapes = Shapes { file: format!("nes.v{}.json", version.number()), all: Vec::new() };
    shapes.request::<StartRequest>("nes-start", "StartNes");
    match version {
        Version::V1 => {
            shapes.request::<nes::v1::SuggestRequest>("nes-suggest", "SuggestNes");
            shapes.notification::<nes::v1::AcceptNotification>("nes-accept", "AcceptNesNotification");
            shapes.notification::<nes::v1::RejectNotification>("nes-reject", "RejectNesNotification");
        }
        Version::V2 => {
            shapes.request::<nes::v2::SuggestRequest>("nes-suggest", "SuggestNes");
            shapes.notification::<nes::v2::AcceptNotification>("nes-accept", "AcceptNesNotification");
            shapes.notification::<nes::v2::RejectNotification>("nes-reject", "RejectNesNotification");
        }
    }
    shapes.request::<CloseRequest>("nes-close", "CloseNes");
    shapes.notification::<DidOpen>("document-didOpen", "DidOpenDocumentNotification");
    shapes.notification::<DidChange>("document-didChange", "DidChangeDocumentNotification");
    shapes.notification::<DidClose>("document-didClose", "DidCloseDocumentNotification");
    shapes.notification::<DidSave>("document-didSave", "DidSaveDocumentNotification");
    shapes.notification::<DidFocus>("document-didFocus", "DidFocusDocumentNotification");
    shapes.add::<Error>("nes.error", "NesError");
    shapes.initialize(version);

    "inject.json".clone_into(&mut shapes.file);
    shapes.request::<InjectRequest>("inject", "Inject");
    shapes.request::<RevokeInjectRequest>("revoke_inject", "RevokeInject");
    shapes.request::<ReplaceInjectRequest>("replace_inject", "ReplaceInject");
    shapes.request::<SteeringRequest>("steering", "Steering");
    shapes.add::<Error>("inject.error", "InjectError");
    shapes.all
}

struct Shapes {
    file: String,
    all: Vec<Shape>,
}

impl Shapes {
    fn add<T: Serialize + DeserializeOwned>(&mut self, name: &str, def: &str) -> &mut Shape {
        self.all.push(Shape::new::<T>(name.to_owned(), &self.file, def.to_owned()));
        self.all.last_mut().expect("just pushed")
    }

    fn request<T: Request>(&mut self, name: &str, def: &str) {
        let request = self.add::<T>(&format!("{name}.request"), &format!("{def}Request"));
        request.methods = [&[T::METHOD], T::ALIASES].concat();
        self.add::<T::Response>(&format!("{name}.response"), &format!("{def}Response"));
    }

    fn notification<T: Notification>(&mut self, name: &str, def: &str) {
        let notification = self.add::<T>(&format!("{name}.notification"), def);
        notification.methods = [&[T::METHOD], T::ALIASES].concat();
    }

    /// `initialize` has no type of ours; its capabilities go through the views instead.
    fn initialize(&mut self, version: Version) {
        let request = self.add::<Value>("initialize.request", "InitializeRequest");
        request.methods = vec!["initialize"];
        request.recode = Box::new(move |params| rewrite_client(version, params));
        let response = self.add::<Value>("initialize.response", "InitializeResponse");
        response.defs.push(("inject.json".to_owned(), "InitializeResponse".to_owned()));
        response.recode = Box::new(move |result| rewrite_agent(version, result));
    }
}

/// Reads every capability of a client and writes it back to where it was.
fn rewrite_client(version: Version, params: &Value) -> serde_json::Result<Value> {
    let init = ClientInit::new(version, RawJson::of(params)?);
    let nes = init.nes().expect("the golden file offers NES");
    let encodings = init.position_encodings();
    let init = init.with_nes(&nes).and_then(|init| init.with_position_encodings(&encodings));
    init.expect("capabilities are objects").params.to()
}

/// Reads every capability of an agent and writes it back to where it was.
fn rewrite_agent(version: Version, result: &Value) -> serde_json::Result<Value> {
    let init = AgentInit::new(version, RawJson::of(result)?);
    let nes = init.nes().expect("the golden file offers NES");
    let inject = init.inject().expect("the golden file offers mid-turn input");
    let encoding = init.position_encoding().expect("the golden file chooses an encoding");
    let steering = init.steering();
    let init = init
        .with_nes(&nes)
        .and_then(|init| init.with_inject(&inject))
        .and_then(|init| init.with_position_encoding(&encoding))
        .and_then(|init| init.with_steering(steering));
    init.expect("capabilities are objects").result.to()
}

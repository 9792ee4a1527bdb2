//! The NES module of the official TypeScript SDK: `js/nes.mjs` says what it makes of our golden frames, and what it
//! says itself.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use nudge_wire::{
    MessageBody, Notification, RawJson, Request, Version,
    caps::ClientInit,
    document::{DidChange, DidClose, DidFocus, DidOpen, DidSave},
    message::ParsedFrame,
    nes::v1::{
        AcceptNotification, CloseRequest, PositionEncoding, RejectNotification, StartRequest, SuggestRequest,
    },
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{programs::package, typescript::node};

/// What the module does not know of ours and drops.
const UNKNOWN_THERE: [(&str, &str); 2] = [
    ("initialize.response.json", "/agentCapabilities/session"),
    ("nes-start.response.json", "/configOptions"),
];

#[test]
fn it_takes_what_we_say() {
    let Some(report) = report() else { return };
    assert_eq!(entries(report, "rejected"), Vec::<&Value>::new());
    let heard = entries(report, "heard").into_iter().map(|it| (it, "params", &it["params"]));
    let accepted = entries(report, "accepted").into_iter().map(|it| (it, "result", &it["result"]));
    let mut names = BTreeSet::new();
    let mut lost = Vec::new();
    for (entry, part, got) in heard.chain(accepted) {
        let name = entry["name"].as_str().expect("every entry has a name").to_owned();
        missing(&golden(&name)[part], got, "", &mut |path| lost.push((name.clone(), path)));
        names.insert(name);
    }
    let expected = UNKNOWN_THERE.map(|(name, path)| (name.to_owned(), path.to_owned()));
    assert_eq!(lost, expected);
    assert_eq!(names, golden_names(|name| !name.contains(".error.")));
}

#[test]
fn its_callers_see_our_errors() {
    let Some(report) = report() else { return };
    let failed = entries(report, "failed");
    for entry in &failed {
        let name = entry["name"].as_str().expect("every entry has a name");
        assert_eq!(entry["error"], golden(name)["error"], "{name}");
    }
    assert_eq!(failed.len(), golden_names(|name| name.contains(".error.")).len());
}

#[test]
fn we_take_what_it_says() {
    let Some(report) = report() else { return };
    let mut methods = BTreeSet::new();
    for frame in entries(report, "sent") {
        let ParsedFrame::Single(Ok(message)) = ParsedFrame::from_frame(frame.to_string().into()) else {
            panic!("not a message: {frame}");
        };
        let (MessageBody::Request { method, params: Some(params), .. }
        | MessageBody::Notification { method, params: Some(params) }) = message.body
        else {
            panic!("not a call with params: {frame}");
        };
        take(&method, &params);
        methods.insert(method.to_string());
    }
    assert_eq!(methods.len(), 11, "{methods:?}");
}

/// Reads the params as the type of the method.
fn take(method: &str, params: &RawJson) {
    match method {
        "initialize" => initialize(params),
        StartRequest::METHOD => known::<StartRequest>(params),
        SuggestRequest::METHOD => known::<SuggestRequest>(params),
        CloseRequest::METHOD => known::<CloseRequest>(params),
        AcceptNotification::METHOD => known::<AcceptNotification>(params),
        RejectNotification::METHOD => known::<RejectNotification>(params),
        DidOpen::METHOD => known::<DidOpen>(params),
        DidChange::METHOD => known::<DidChange>(params),
        DidClose::METHOD => known::<DidClose>(params),
        DidSave::METHOD => known::<DidSave>(params),
        DidFocus::METHOD => known::<DidFocus>(params),
        _ => panic!("unknown method {method}"),
    }
}

fn initialize(params: &RawJson) {
    let init = ClientInit::new(Version::V1, params.clone());
    let nes = init.nes().expect("it has capabilities");
    assert!(nes.jump.is_some() && nes.rename.is_some() && nes.search_and_replace.is_some(), "{nes:?}");
    let encodings = [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];
    assert_eq!(init.position_encodings(), encodings);
}

/// Every member is known to `T`, and what `T` writes is what was read.
fn known<T: Serialize + DeserializeOwned + Debug>(params: &RawJson) {
    let typed: T = params.to().unwrap_or_else(|error| panic!("{error}: {params:?}"));
    let debug = format!("{typed:?}");
    assert!(!debug.contains("extra: {\"") && !debug.contains("Other("), "{debug}");
    let mut read: Value = params.to().expect("it was read before");
    // `null` is written as absence.
    read.as_object_mut().expect("params are an object").retain(|_, member| !member.is_null());
    assert_eq!(serde_json::to_value(&typed).expect("wire types can be written"), read);
}

/// What the program says, run once; `None` where it cannot be run.
fn report() -> Option<&'static [Value]> {
    static REPORT: OnceLock<Option<Vec<Value>>> = OnceLock::new();
    let run = || {
        let directory = golden_directory();
        Some(node("nes.mjs", &[directory.to_str().expect("the path is UTF-8")])?.ok().json())
    };
    REPORT.get_or_init(run).as_deref()
}

fn entries<'a>(report: &'a [Value], kind: &str) -> Vec<&'a Value> {
    report.iter().filter_map(|entry| entry.get(kind)).collect()
}

/// Tells every place in `ours` that is gone or different in `theirs`, which may have more.
fn missing(ours: &Value, theirs: &Value, path: &str, tell: &mut impl FnMut(String)) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in ours {
                missing(value, theirs.get(key).unwrap_or(&Value::Null), &format!("{path}/{key}"), tell);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                missing(ours, theirs, &format!("{path}/{index}"), tell);
            }
        }
        _ if ours == theirs => {}
        _ => tell(path.to_owned()),
    }
}

fn golden(name: &str) -> Value {
    let path = golden_directory().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("goldens are JSON")
}

/// The goldens of `initialize`, NES and documents.
fn golden_names(wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let entries = fs::read_dir(golden_directory()).expect("there are goldens").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = |name: &String| ["initialize", "nes", "document"].iter().any(|part| name.starts_with(part));
    names.filter(|name| ours(name) && wanted(name)).collect()
}

fn golden_directory() -> PathBuf {
    Path::new(package()).join("../../spec/golden/v1")
}

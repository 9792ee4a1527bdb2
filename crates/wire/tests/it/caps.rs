//! Writing a capability changes nothing else, and what was written is what is read.

use nudge_wire::{
    RawJson, Version,
    caps::{AgentInit, ClientInit, ElicitationModes},
    inject::{InjectCapability, InjectMode, SteerInStream},
    nes::{
        ClientNesCapabilities, ContextCapabilities, DidChangeCapability, DocumentEventCapabilities,
        EventCapabilities, LimitedCapability, NesCapabilities, PositionEncoding, SupportedCapability,
        SyncKind,
    },
};
use proptest::{option, prelude::*, sample::select};
use serde::{Deserialize, Deserializer, de::MapAccess, de::Visitor};
use serde_json::{json, value::RawValue};

use crate::golden::VERSIONS;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).expect("test JSON is valid")
}

/// One write, with the value that should be read afterwards.
#[derive(Debug, Clone)]
enum Write {
    ClientNes(Box<ClientNesCapabilities>),
    Encodings(Vec<PositionEncoding>),
    AgentNes(Box<NesCapabilities>),
    Encoding(PositionEncoding),
    Inject(Box<InjectCapability>),
    Steering(bool),
}

impl Write {
    /// Writes into `init` and checks that it is read back.
    fn apply(&self, version: Version, init: RawJson) -> RawJson {
        let client = ClientInit::new(version, init.clone());
        let agent = AgentInit::new(version, init);
        let fits = "every step on the way is an object, null or absent";
        match self {
            Self::ClientNes(nes) => {
                let written = client.with_nes(nes).expect(fits);
                assert_eq!(written.nes().as_ref(), Some(&**nes));
                written.params
            }
            Self::Encodings(encodings) => {
                let written = client.with_position_encodings(encodings).expect(fits);
                assert_eq!(&written.position_encodings(), encodings);
                written.params
            }
            Self::AgentNes(nes) => {
                let written = agent.with_nes(nes).expect(fits);
                assert_eq!(written.nes().as_ref(), Some(&**nes));
                written.result
            }
            Self::Encoding(encoding) => {
                let written = agent.with_position_encoding(encoding).expect(fits);
                assert_eq!(written.position_encoding().as_ref(), Some(encoding));
                written.result
            }
            Self::Inject(inject) => {
                let written = agent.with_inject(inject).expect(fits);
                assert_eq!(written.inject().as_ref(), Some(&**inject));
                written.result
            }
            Self::Steering(supported) => {
                let written = agent.with_steering(*supported).expect(fits);
                assert_eq!(written.steering(), *supported);
                written.result
            }
        }
    }

    /// The places it may change.
    fn places(&self, version: Version) -> Vec<Vec<&'static str>> {
        let (client, agent) = match version {
            Version::V1 => ("clientCapabilities", "agentCapabilities"),
            Version::V2 => ("capabilities", "capabilities"),
        };
        match self {
            Self::ClientNes(_) => vec![vec![client, "nes"], vec![client, "_meta", "nes"]],
            Self::Encodings(_) => {
                vec![vec![client, "positionEncodings"], vec![client, "_meta", "positionEncodings"]]
            }
            Self::AgentNes(_) => vec![vec![agent, "nes"], vec![agent, "_meta", "nes"]],
            Self::Encoding(_) => {
                vec![vec![agent, "positionEncoding"], vec![agent, "_meta", "positionEncoding"]]
            }
            Self::Inject(_) => vec![vec![agent, "session", "inject"], vec![agent, "_meta", "inject"]],
            Self::Steering(_) => vec![vec!["_meta", "steering", "supported"]],
        }
    }
}

fn supported() -> impl Strategy<Value = Option<SupportedCapability>> {
    any::<bool>().prop_map(|yes| yes.then(SupportedCapability::default))
}

fn limited() -> impl Strategy<Value = Option<LimitedCapability>> {
    option::of(
        option::of(any::<u32>())
            .prop_map(|max_count| LimitedCapability { max_count, ..LimitedCapability::default() }),
    )
}

fn encoding() -> impl Strategy<Value = PositionEncoding> {
    select(vec!["utf-8", "utf-16", "utf-32", "utf-7", "é\"\\"]).prop_map(PositionEncoding::from)
}

fn client_nes() -> impl Strategy<Value = ClientNesCapabilities> {
    (supported(), supported(), supported()).prop_map(|(jump, rename, search_and_replace)| {
        ClientNesCapabilities { jump, rename, search_and_replace, ..Default::default() }
    })
}

fn agent_nes() -> impl Strategy<Value = NesCapabilities> {
    let document = (supported(), any::<bool>()).prop_map(|(did_open, full)| DocumentEventCapabilities {
        did_open,
        did_change: Some(DidChangeCapability::new(if full { SyncKind::Full } else { SyncKind::Incremental })),
        ..Default::default()
    });
    let events =
        option::of(document).prop_map(|document| EventCapabilities { document, ..Default::default() });
    let context =
        (limited(), supported(), limited()).prop_map(|(recent_files, diagnostics, edit_history)| {
            ContextCapabilities { recent_files, diagnostics, edit_history, ..Default::default() }
        });
    (option::of(events), option::of(context)).prop_map(|(events, context)| NesCapabilities {
        events,
        context,
        ..Default::default()
    })
}

fn inject() -> impl Strategy<Value = InjectCapability> {
    (any::<bool>(), any::<bool>()).prop_map(|(steer, replace)| {
        let capability = if steer {
            InjectCapability::new(vec![InjectMode::Steer], vec![SteerInStream::Finish])
        } else {
            InjectCapability::new(vec![InjectMode::Queue], Vec::new())
        };
        if replace { capability.with_replace() } else { capability }
    })
}

fn write() -> impl Strategy<Value = Write> {
    prop_oneof![
        client_nes().prop_map(|nes| Write::ClientNes(Box::new(nes))),
        proptest::collection::vec(encoding(), 0..4).prop_map(Write::Encodings),
        agent_nes().prop_map(|nes| Write::AgentNes(Box::new(nes))),
        encoding().prop_map(Write::Encoding),
        inject().prop_map(|inject| Write::Inject(Box::new(inject))),
        any::<bool>().prop_map(Write::Steering),
    ]
}

/// JSON that a tree would not keep to the letter: spaces, numbers, escapes.
fn scalar() -> impl Strategy<Value = String> {
    let odd =
        ["null", "true", "1.50", "1e400", "-0", "18446744073709551616", r#""\u00e9\/""#, "[ 1,\t2 ]", "{ }"];
    select(odd.to_vec()).prop_map(str::to_owned)
}

/// An object of the named members, each there or not, and some others, in any order.
fn object(named: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let others = ["x", "y\\n", "\\u006ees_", "loadSession"].map(|name| (name, scalar().boxed()));
    let members: Vec<_> = named
        .into_iter()
        .chain(others)
        .map(|(name, value)| {
            option::of((value, select(vec!["", " ", "\n\t"]))).prop_map(move |member| {
                member.map(|(value, space)| format!("{space}\"{name}\"{space}:{space}{value}{space}"))
            })
        })
        .collect();
    let members =
        members.prop_map(|members| members.into_iter().flatten().collect::<Vec<_>>()).prop_shuffle();
    members.prop_map(|members| format!("{{{}}}", members.join(","))).boxed()
}

fn or_null(object: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop_oneof![4 => object, 1 => Just("null".to_owned())].boxed()
}

/// Params or result of `initialize`, with capabilities of their own or without.
fn init() -> BoxedStrategy<String> {
    let session = or_null(object(vec![("inject", scalar().boxed())]));
    let meta = or_null(object(vec![
        ("nes", scalar().boxed()),
        ("positionEncodings", scalar().boxed()),
        ("positionEncoding", scalar().boxed()),
        ("inject", scalar().boxed()),
    ]));
    let capabilities = or_null(object(vec![
        ("nes", scalar().boxed()),
        ("positionEncodings", scalar().boxed()),
        ("positionEncoding", scalar().boxed()),
        ("session", session),
        ("_meta", meta),
    ]));
    let steering = or_null(object(vec![("supported", scalar().boxed())]));
    object(vec![
        ("clientCapabilities", capabilities.clone()),
        ("agentCapabilities", capabilities.clone()),
        ("capabilities", capabilities),
        ("_meta", or_null(object(vec![("steering", steering)]))),
    ])
}

/// The members of an object as they are written.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Checks that `after` has every member of `before`, in order and to the letter, except at `places`, and besides them
/// only what leads to `places`.
fn check_kept(before: &str, after: &str, places: &[&[&str]]) {
    let members = |text: &str| match text {
        "null" => Vec::new(),
        text => serde_json::from_str::<Members<'_>>(text)
            .expect("an object")
            .0
            .into_iter()
            .map(|(name, value)| (name, value.to_owned()))
            .collect::<Vec<_>>(),
    };
    let (before, after) = (members(before), members(after));
    assert!(after.len() >= before.len());
    for (i, (name, new)) in after.iter().enumerate() {
        let rest: Vec<&[&str]> =
            places.iter().filter(|place| place[0] == name).map(|place| &place[1..]).collect();
        let old = before.get(i).map(|(old_name, old)| {
            assert_eq!(old_name, name);
            old.as_str()
        });
        if rest.is_empty() {
            assert_eq!(old, Some(new.as_str()), "{name}");
        } else if !rest.iter().any(|place| place.is_empty()) {
            check_kept(old.unwrap_or("{}"), new, &rest);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writes_are_read_back_and_change_nothing_else(
        text in init(),
        version in select(VERSIONS.to_vec()),
        writes in proptest::collection::vec(write(), 1..4),
    ) {
        let mut init = raw(&text);
        for write in writes {
            let after = write.apply(version, init.clone());
            let places = write.places(version);
            let places: Vec<&[&str]> = places.iter().map(Vec::as_slice).collect();
            check_kept(init.as_str(), after.as_str(), &places);
            prop_assert!(after.get(places[0]).is_some());
            prop_assert!(places.iter().all(|place| after.get(place) == after.get(places[0])));
            init = after;
        }
    }

    #[test]
    fn reading_never_fails(text in init(), version in select(VERSIONS.to_vec())) {
        read_all(version, &text);
    }
}

fn read_all(version: Version, text: &str) {
    let client = ClientInit::new(version, raw(text));
    let agent = AgentInit::new(version, raw(text));
    let _ = (client.nes(), client.position_encodings());
    let _ = (agent.nes(), agent.position_encoding(), agent.inject(), agent.steering());
}

#[test]
fn what_is_malformed_reads_as_absent() {
    for text in
        ["null", "[]", "7", "{}", r#"{"capabilities":[]}"#, r#"{"capabilities":{"nes":[],"_meta":3}}"#]
    {
        read_all(Version::V2, text);
        assert_eq!(AgentInit::new(Version::V2, raw(text)).nes(), None, "{text}");
    }
    let inject = |value: &str| {
        let text = format!(r#"{{"capabilities":{{"session":{{"inject":{value}}}}}}}"#);
        AgentInit::new(Version::V2, raw(&text)).inject()
    };
    assert_eq!(inject("true"), None);
    assert_eq!(inject("{}"), None);
    assert_eq!(inject(r#"{"modes":[]}"#), None);
    assert_eq!(
        inject(r#"{"modes":["steer"]}"#),
        Some(InjectCapability::new(vec![InjectMode::Steer], Vec::new()))
    );
    let steering = |text: &str| AgentInit::new(Version::V1, raw(text)).steering();
    assert!(steering(r#"{"_meta":{"steering":{"supported": true }}}"#));
    assert!(!steering(r#"{"_meta":{"steering":{"supported":"true"}}}"#));
    assert!(!steering("{}"));
}

#[test]
fn the_mirror_is_read_where_the_place_has_nothing_readable() {
    let mirror = r#""_meta":{"nes":{"jump":{}},"positionEncodings":["utf-32",5,"utf-9"]}"#;
    for own in ["", r#""nes":null,"positionEncodings":null,"#, r#""nes":1,"positionEncodings":{},"#] {
        let init =
            ClientInit::new(Version::V1, raw(&format!(r#"{{"clientCapabilities":{{{own}{mirror}}}}}"#)));
        assert_eq!(init.nes().map(|nes| json!(nes)), Some(json!({ "jump": {} })));
        let encodings = [PositionEncoding::Utf32, PositionEncoding::Other("utf-9".to_owned())];
        assert_eq!(init.position_encodings(), encodings);
    }
    let own =
        format!(r#"{{"clientCapabilities":{{"nes":{{"rename":{{}}}},"positionEncodings":[],{mirror}}}}}"#);
    let init = ClientInit::new(Version::V1, raw(&own));
    assert_eq!(init.nes().map(|nes| json!(nes)), Some(json!({ "rename": {} })));
    assert_eq!(init.position_encodings(), []);
}

#[test]
fn what_is_not_an_object_is_not_overwritten() {
    let init = AgentInit::new(Version::V1, raw(r#"{"agentCapabilities":{"session":true}}"#));
    assert!(init.with_inject(&InjectCapability::new(vec![InjectMode::Queue], Vec::new())).is_err());
}

#[test]
fn the_first_known_encoding_is_chosen() {
    let check = |offered: &[&str], expected: PositionEncoding| {
        let offered: Vec<_> = offered.iter().copied().map(PositionEncoding::from).collect();
        assert_eq!(PositionEncoding::choose(&offered), expected, "{offered:?}");
    };
    check(&[], PositionEncoding::Utf16);
    check(&["utf-7"], PositionEncoding::Utf16);
    check(&["utf-7", "utf-32", "utf-8"], PositionEncoding::Utf32);
    check(&["utf-8", "utf-16"], PositionEncoding::Utf8);
}

#[test]
fn a_client_offers_the_modes_that_it_names() {
    for (version, init, form, url) in [
        (Version::V1, r#"{"clientCapabilities":{"elicitation":{"form":{}}}}"#, true, false),
        (Version::V1, r#"{"clientCapabilities":{"elicitation":{"url":{},"form":null}}}"#, false, true),
        (Version::V2, r#"{"capabilities":{"elicitation":{"form":{},"url":{}}}}"#, true, true),
        (Version::V2, r#"{"capabilities":{"elicitation":{}}}"#, false, false),
        (Version::V2, r#"{"clientCapabilities":{"elicitation":{"form":{}}}}"#, false, false),
        (Version::V1, r#"{"clientCapabilities":{"elicitation":null}}"#, false, false),
        (Version::V1, r#"{"clientCapabilities":{"elicitation":true}}"#, false, false),
        (Version::V1, "{}", false, false),
    ] {
        let modes = ClientInit::new(version, raw(init)).elicitation_modes();
        assert_eq!(modes, ElicitationModes { form, url }, "{init}");
    }
}

#[test]
fn what_is_asked_is_among_the_modes_or_not() {
    let (form, url) =
        (ElicitationModes { form: true, url: false }, ElicitationModes { form: false, url: true });
    for (method, params, by_form, by_url) in [
        ("elicitation/create", r#"{"mode":"form"}"#, true, false),
        ("elicitation/create", r#"{"mode":"url"}"#, false, true),
        // Earlier versions of the protocol knew forms alone.
        ("elicitation/create", "{}", true, false),
        ("elicitation/create", r#"{"mode":"_other"}"#, false, false),
        ("elicitation/create", r#"{"mode":7}"#, false, false),
        ("elicitation/create", r#"{"mode":null}"#, false, false),
        ("elicitation/complete", r#"{"elicitationId":"e"}"#, false, true),
    ] {
        let params = raw(params);
        assert_eq!(
            (form.has(method, &params), url.has(method, &params)),
            (by_form, by_url),
            "{method} {params:?}"
        );
        assert!(!ElicitationModes::default().has(method, &params));
    }
}

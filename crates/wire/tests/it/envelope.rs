//! Properties of framing and of the envelope.

use bytes::BytesMut;
use nudge_wire::{
    Error, Id, MessageBody, RawJson,
    frame::{FramePiece, LineFramer},
    message::ParsedFrame,
    write,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Any JSON value of moderate size.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::Null),
    ]
}

fn params() -> impl Strategy<Value = Value> {
    value().prop_filter("params are an object or an array", |value| value.is_object() || value.is_array())
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("a value is JSON")
}

fn to_id(value: &Value) -> Id {
    Id::from_json(&raw(value)).expect("numbers, strings and null are ids")
}

fn parse(frame: Vec<u8>) -> Result<nudge_wire::Message, nudge_wire::message::InvalidMessage> {
    match ParsedFrame::from_bytes(frame.into()) {
        ParsedFrame::Single(single) => single,
        ParsedFrame::Batch(_) => panic!("a single message is no batch"),
    }
}

/// All pieces of `input`, fed in chunks of the given sizes, over and over.
fn pieces(input: &[u8], max: usize, sizes: &[usize]) -> Vec<FramePiece> {
    let mut framer = LineFramer::new(max);
    let mut buffer = BytesMut::new();
    let mut found = Vec::new();
    let mut rest = input;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (now, later) = rest.split_at((*size).min(rest.len()));
        buffer.extend_from_slice(now);
        rest = later;
        while let Some(piece) = framer.next(&mut buffer) {
            found.push(piece);
        }
        assert!(buffer.len() <= max, "no more is kept than a line may be long");
    }
    found.extend(framer.finish(&mut buffer));
    found
}

/// Lines of JSON-like text, broken text and white space.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        3 => (id(), params()).prop_map(|(id, params)| {
            json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": params}).to_string().into_bytes()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..60),
        1 => prop::sample::select(vec![&b""[..], b"\r", b" ", b"\xef\xbb\xbf{}"]).prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join(&b'\n'))
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_how_bytes_arrive(
        stream in stream(), max in 8usize..400, sizes in prop::collection::vec(1usize..90, 1..8)
    ) {
        let whole = pieces(&stream, max.max(stream.len()), &[stream.len().max(1)]);
        let cut = pieces(&stream, max.max(stream.len()), &sizes);
        prop_assert_eq!(&whole, &cut);
        // With a limit, what is within it is the same and what is over it is dropped.
        let limited = pieces(&stream, max, &sizes);
        let kept = |pieces: &[FramePiece]| pieces.iter().filter(|piece| matches!(piece, FramePiece::Line(_))).cloned().collect::<Vec<_>>();
        let short: Vec<_> = kept(&whole).into_iter().filter(|piece| kept(&limited).contains(piece)).collect();
        prop_assert_eq!(kept(&limited), short);
    }

    #[test]
    fn what_is_written_is_read_back(id in id(), method in "[ -~]{1,20}", params in params()) {
        let id = to_id(&id);
        let message = parse(write::request(&id, &method, &params).unwrap()).unwrap();
        let MessageBody::Request { id: read, method: name, params: read_params } = &message.body else { panic!("a request") };
        prop_assert_eq!(read, &id);
        prop_assert_eq!(read.to_string(), id.to_string());
        prop_assert_eq!(name.as_ref() as &str, method.as_str());
        prop_assert_eq!(read_params, &Some(raw(&params)));

        let message = parse(write::raw_call(None, &method, Some(&raw(&params)))).unwrap();
        let is_notification = matches!(&message.body, MessageBody::Notification { params: Some(read), .. } if *read == raw(&params));
        prop_assert!(is_notification);
    }

    #[test]
    fn responses_are_read_back(id in id(), result in value(), code in any::<i64>(), text in any::<String>()) {
        let id = to_id(&id);
        let message = parse(write::response(&id, &result).unwrap()).unwrap();
        let MessageBody::Response { id: read, outcome: Ok(read_result) } = &message.body else { panic!("a result") };
        prop_assert_eq!(read, &id);
        prop_assert_eq!(read_result, &raw(&result));

        let error = Error::new(nudge_wire::ErrorCode(code), text).data(&result);
        let message = parse(write::error(&id, &error)).unwrap();
        let MessageBody::Response { outcome: Err(read_error), .. } = &message.body else { panic!("an error") };
        prop_assert_eq!(read_error.to::<Error>().unwrap().code, error.code);
    }

    #[test]
    fn another_id_changes_the_id_only(old in id(), new in id(), params in params(), extra in value()) {
        let text = json!({"_x": extra, "jsonrpc": "2.0", "id": old, "params": params, "method": "m"}).to_string();
        let message = parse(text.clone().into_bytes()).unwrap();
        let again = parse(message.frame_with_id(&to_id(&new))).unwrap();
        let MessageBody::Request { id, .. } = &again.body else { panic!("still a request") };
        prop_assert_eq!(id, &to_id(&new));
        let back = again.frame_with_id(&to_id(&old));
        prop_assert_eq!(String::from_utf8(back).unwrap(), text);
    }

    #[test]
    fn anything_at_all_is_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match ParsedFrame::from_bytes(bytes.into()) {
            ParsedFrame::Single(Err(invalid)) => prop_assert!(invalid.error.message.len() < 200),
            ParsedFrame::Single(Ok(_)) | ParsedFrame::Batch(_) => {}
        }
    }
}

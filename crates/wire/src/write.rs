//! Frames as they are written: one line of JSON each, without the newline.

use serde::Serialize;

use crate::{Error, Id, RawJson};

/// A request frame.
pub fn request<T: Serialize + ?Sized>(
    id: &Id,
    method: &str,
    params: &T,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = begin(Some(id));
    push_method(&mut out, method);
    push_params(&mut out, params)?;
    Ok(out)
}

/// A notification frame.
pub fn notification<T: Serialize + ?Sized>(method: &str, params: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = begin(None);
    push_method(&mut out, method);
    push_params(&mut out, params)?;
    Ok(out)
}

/// A request or, without an id, a notification frame around params that are JSON text already.
pub fn raw_call(id: Option<&Id>, method: &str, params: Option<&RawJson>) -> Vec<u8> {
    let mut out = begin(id);
    out.reserve(params.map_or(0, |params| params.as_str().len()) + method.len() + 32);
    push_method(&mut out, method);
    if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        push_raw(&mut out, params);
    }
    out.push(b'}');
    out
}

/// A response frame.
pub fn response<T: Serialize + ?Sized>(id: &Id, result: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = begin(Some(id));
    out.extend_from_slice(b",\"result\":");
    push_json(&mut out, result)?;
    out.push(b'}');
    Ok(out)
}

/// A response frame around a result (`Ok`) or an error object (`Err`) that is JSON text already.
pub fn raw_response(id: &Id, outcome: Result<&RawJson, &RawJson>) -> Vec<u8> {
    let mut out = begin(Some(id));
    let (name, value): (&[u8], _) = match outcome {
        Ok(result) => (b",\"result\":", result),
        Err(error) => (b",\"error\":", error),
    };
    out.extend_from_slice(name);
    push_raw(&mut out, value);
    out.push(b'}');
    out
}

/// An error response frame.
pub fn error(id: &Id, error: &Error) -> Vec<u8> {
    let mut out = begin(Some(id));
    out.extend_from_slice(b",\"error\":");
    push_json(&mut out, error).expect("an error holds a number, a string and checked JSON");
    out.push(b'}');
    out
}

/// A `$/cancel_request` frame.
pub fn cancel_request(id: u64) -> Vec<u8> {
    let mut out = begin(None);
    out.extend_from_slice(b",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":");
    Id::from(id).write(&mut out);
    out.extend_from_slice(b"}}");
    out
}

/// The frame that answers a batch.
pub fn batch(responses: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![b'['];
    out.extend(responses.join(&b','));
    out.push(b']');
    out
}

fn begin(id: Option<&Id>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.extend_from_slice(b",\"id\":");
        id.write(&mut out);
    }
    out
}

fn push_method(out: &mut Vec<u8>, method: &str) {
    out.extend_from_slice(b",\"method\":");
    serde_json::to_writer(out, method).expect("writing a string into memory does not fail");
}

/// Appends params, or nothing where they are `null`, and closes the message.
fn push_params<T: Serialize + ?Sized>(out: &mut Vec<u8>, params: &T) -> Result<(), serde_json::Error> {
    let before = out.len();
    out.extend_from_slice(b",\"params\":");
    push_json(out, params)?;
    if out.ends_with(b":null") && out.len() == before + b",\"params\":null".len() {
        out.truncate(before);
    }
    out.push(b'}');
    Ok(())
}

/// Appends a value as JSON on one line.
fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), serde_json::Error> {
    let start = out.len();
    serde_json::to_writer(&mut *out, value)?;
    one_line(&mut out[start..]);
    Ok(())
}

/// Appends JSON text on one line.
fn push_raw(out: &mut Vec<u8>, json: &RawJson) {
    let start = out.len();
    out.extend_from_slice(json.as_bytes());
    one_line(&mut out[start..]);
}

/// Raw JSON may hold newlines, but only between tokens, where a space means the same.
fn one_line(json: &mut [u8]) {
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in json {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_json_with_newlines_stays_on_one_line() {
        #[derive(Serialize)]
        struct Holder {
            raw: RawJson,
        }
        let raw = RawJson::parse("\n{\n \"a\":\r\n 1\n}\n").unwrap();
        let id = Id::from(1);
        let holder = Holder { raw: raw.clone() };
        let frames = [
            request(&id, "m", &holder).unwrap(),
            notification("m", &holder).unwrap(),
            response(&id, &holder).unwrap(),
            error(&id, &Error::internal("e").data(&holder)),
            raw_call(None, "m", Some(&raw)),
            raw_response(&id, Ok(&raw)),
        ];
        for frame in frames {
            let text = String::from_utf8(frame).unwrap();
            assert!(!text.contains(['\n', '\r']), "{text}");
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
    }

    #[test]
    fn null_params_are_left_out() {
        assert_eq!(notification("m", &()).unwrap(), br#"{"jsonrpc":"2.0","method":"m"}"#);
    }
}

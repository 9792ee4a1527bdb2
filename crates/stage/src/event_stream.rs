//! Messages in Amazon's binary event stream.

/// Both lengths and their checksum come before the headers, a checksum of all behind the payload.
const AROUND: usize = 16;

/// A message with headers that are texts.
pub(crate) fn encode(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    const TEXT: u8 = 7;
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).expect("names of headers are short"));
        head.extend_from_slice(name.as_bytes());
        head.push(TEXT);
        let length = u16::try_from(value.len()).expect("values of headers are short");
        head.extend_from_slice(&length.to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("messages are short").to_be_bytes();
    let mut message = length(AROUND + head.len() + payload.len()).to_vec();
    message.extend_from_slice(&length(head.len()));
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    message.extend_from_slice(&head);
    message.extend_from_slice(payload);
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    message
}

//! MCP servers: v2 says of each how it is reached, v1 takes stdio for granted.

use crate::object::JsonObject;

/// A server for v2.
pub(crate) fn to_v2(text: &str) -> String {
    let Some(mut server) = JsonObject::read(text) else { return text.to_owned() };
    if server.get("type").is_none() {
        server.put("type", "stdio");
    }
    server.text()
}

/// A server for v1, with the lists it wants even if they are empty.
pub(crate) fn to_v1(text: &str) -> String {
    let Some(mut server) = JsonObject::read(text) else { return text.to_owned() };
    let lists: &[&'static str] = match server.string("type").as_deref() {
        Some("stdio") => {
            server.take("type");
            &["args", "env"]
        }
        Some("http" | "sse") => &["headers"],
        _ => &[],
    };
    for member in lists {
        if server.value(member).is_none() {
            server.set(member, "[]");
        }
    }
    server.text()
}

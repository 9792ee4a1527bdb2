//! Slash commands: v2 says of what type a command and its input are.

use crate::object::{JsonObject, quote};

/// A command for v1.
pub(crate) fn to_v1(text: &str) -> String {
    let Some(mut command) = JsonObject::read(text) else { return text.to_owned() };
    if command.is("type", "command") {
        command.take("type");
    }
    let Some(input) = command.value("input").map(str::to_owned) else { return command.text() };
    let Some(mut read) = JsonObject::read(&input) else { return command.text() };
    if read.is("type", "text") {
        read.take("type");
        command.set("input", read.text());
    } else if read.string("hint").is_none() {
        command.take("input");
        command.note("input", &input);
    }
    command.text()
}

/// A command for v2.
pub(crate) fn to_v2(text: &str) -> String {
    let Some(mut command) = JsonObject::read(text) else { return text.to_owned() };
    if command.get("type").is_none() {
        command.put("type", "command");
    }
    command.restore("input");
    command.edit("input", |input| {
        if input.get("type").is_none() {
            input.set("type", quote("text"));
        }
    });
    command.text()
}

//! How an answer of the responses dialect is said: a list of items, each added, filled and done.

use serde_json::{Value, json};

use crate::{
    conversation::{OfferedTool, list},
    dialect::{CREATED, DialectVoice, ReplyPiece, chat, event, fragments, input_text},
    reply::{FinishReason, ReplyEnding, ReplyFailure},
};

/// One answer.
pub(crate) struct ResponsesVoice {
    number: usize,
    model: String,
    /// What reasoning is encrypted to, for clients that want to send it back.
    encrypted: Option<&'static str>,
    /// The number of the next event.
    sequence: u64,
    /// The items that are done.
    output: Vec<Value>,
    /// The item that is being filled.
    open: Option<Item>,
}

/// An item that grows with every chunk.
#[derive(Debug)]
struct Item {
    kind: Kind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
}

impl Kind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Reasoning => "rs",
        }
    }

    fn item(self, id: &str, text: Option<&str>) -> Value {
        let status = if text.is_some() { "completed" } else { "in_progress" };
        let parts: Vec<Value> = text.map(|text| self.part(text)).into_iter().collect();
        match self {
            Self::Message => {
                json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": parts})
            }
            Self::Reasoning => {
                json!({"type": "reasoning", "id": id, "summary": parts, "encrypted_content": null})
            }
        }
    }

    fn part(self, text: &str) -> Value {
        match self {
            Self::Message => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
            Self::Reasoning => json!({"type": "summary_text", "text": text}),
        }
    }

    /// The names of the part's events, and of the text within it.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Message => ("response.content_part", "response.output_text", "content_index"),
            Self::Reasoning => {
                ("response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index")
            }
        }
    }
}

impl ResponsesVoice {
    pub(crate) fn new(number: usize, model: String, body: &Value) -> Self {
        let is_wanted = list(body, "include").iter().any(|name| name == "reasoning.encrypted_content");
        let encrypted = is_wanted.then_some("ZmFrZQ==");
        Self { number, model, encrypted, sequence: 0, output: Vec::new(), open: None }
    }

    fn event(&mut self, kind: &str, members: Value) -> String {
        let mut data = json!({"type": kind, "sequence_number": self.sequence});
        self.sequence += 1;
        if let (Value::Object(data), Value::Object(members)) = (&mut data, members) {
            data.extend(members);
        }
        event(Some(kind), &data)
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.number, self.output.len())
    }

    fn write(&mut self, kind: Kind, text: &str) -> String {
        let mut out = String::new();
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            out += &self.done();
            out += &self.add(kind);
        }
        let open = self.open.as_mut().expect("an item was just seen or added");
        open.text += text;
        let (index, id) = (self.output.len(), self.id(kind.prefix()));
        let (_, text_name, place) = kind.names();
        let delta = json!({"item_id": id, "output_index": index, place: 0, "delta": text});
        out + &self.event(&format!("{text_name}.delta"), delta)
    }

    fn add(&mut self, kind: Kind) -> String {
        let (index, id) = (self.output.len(), self.id(kind.prefix()));
        let (part_name, _, place) = kind.names();
        let item = json!({"output_index": index, "item": kind.item(&id, None)});
        let part = json!({"item_id": id, "output_index": index, place: 0, "part": kind.part("")});
        self.open = Some(Item { kind, text: String::new() });
        self.event("response.output_item.added", item) + &self.event(&format!("{part_name}.added"), part)
    }

    /// Ends the item that is being filled.
    fn done(&mut self) -> String {
        let Some(Item { kind, text }) = self.open.take() else { return String::new() };
        let (index, id) = (self.output.len(), self.id(kind.prefix()));
        let (part_name, text_name, place) = kind.names();
        let whole = json!({"item_id": id, "output_index": index, place: 0, "text": text});
        let part = json!({"item_id": id, "output_index": index, place: 0, "part": kind.part(&text)});
        let mut item = kind.item(&id, Some(&text));
        if kind == Kind::Reasoning {
            item["encrypted_content"] = json!(self.encrypted);
        }
        self.event(&format!("{text_name}.done"), whole)
            + &self.event(&format!("{part_name}.done"), part)
            + &self.finish_item(&item)
    }

    fn finish_item(&mut self, item: &Value) -> String {
        let index = self.output.len();
        self.output.push(item.clone());
        self.event("response.output_item.done", json!({"output_index": index, "item": item}))
    }

    fn call(&mut self, call_id: &str, tool: &OfferedTool, arguments: &Value) -> String {
        let (prefix, name) = if tool.is_freeform {
            ("ctc", "response.custom_tool_call_input")
        } else {
            ("fc", "response.function_call_arguments")
        };
        let (index, id) = (self.output.len(), self.id(prefix));
        let input = input_text(tool, arguments);
        let added = call_item(&id, call_id, tool, None);
        let mut out = self.event("response.output_item.added", json!({"output_index": index, "item": added}));
        for fragment in fragments(&input) {
            let delta = json!({"item_id": id, "output_index": index, "delta": fragment});
            out += &self.event(&format!("{name}.delta"), delta);
        }
        let member = input_member(tool);
        let whole = json!({"item_id": id, "output_index": index, "name": tool.name, member: input});
        out += &self.event(&format!("{name}.done"), whole);
        out + &self.finish_item(&call_item(&id, call_id, tool, Some(&input)))
    }

    /// The response as a whole, as far as it is.
    fn response(&self, status: &str, ending: Option<&ReplyEnding>, error: &Value) -> Value {
        let reason = ending.and_then(|ending| incomplete_reason(ending.finish));
        json!({
            "id": format!("resp_{}", self.number), "object": "response", "created_at": CREATED, "status": status,
            "error": error, "incomplete_details": reason.map(|reason| json!({"reason": reason})),
            "instructions": null, "max_output_tokens": null, "metadata": {}, "model": self.model,
            "output": self.output, "parallel_tool_calls": true, "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null}, "service_tier": "default", "store": false,
            "temperature": 1.0, "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [],
            "top_p": 1.0, "truncation": "disabled", "usage": ending.map(usage), "user": null,
        })
    }
}

impl DialectVoice for ResponsesVoice {
    fn open(&mut self) -> String {
        let response = json!({"response": self.response("in_progress", None, &Value::Null)});
        self.event("response.created", response.clone()) + &self.event("response.in_progress", response)
    }

    fn say(&mut self, piece: &ReplyPiece) -> String {
        match piece {
            ReplyPiece::Text(text) => self.write(Kind::Message, text),
            ReplyPiece::Thought(text) => self.write(Kind::Reasoning, text),
            ReplyPiece::Call { id, tool, arguments } => self.done() + &self.call(id, tool, arguments),
        }
    }

    fn close(&mut self, ending: &ReplyEnding) -> String {
        let done = self.done();
        let status = status(ending.finish);
        let response = json!({"response": self.response(status, Some(ending), &Value::Null)});
        done + &self.event(&format!("response.{status}"), response)
    }

    fn fail(&mut self, failure: &ReplyFailure) -> String {
        let error = &chat::error(failure)["error"];
        let error = json!({"code": error["code"], "message": error["message"]});
        let response = json!({"response": self.response("failed", None, &error)});
        self.event("response.failed", response)
    }

    fn whole(&mut self, pieces: &[ReplyPiece], ending: &ReplyEnding) -> Value {
        for piece in pieces {
            self.say(piece);
        }
        self.done();
        self.response(status(ending.finish), Some(ending), &Value::Null)
    }
}

/// A call, with the input once it is complete.
fn call_item(id: &str, call_id: &str, tool: &OfferedTool, input: Option<&str>) -> Value {
    let kind = if tool.is_freeform { "custom_tool_call" } else { "function_call" };
    let status = if input.is_some() { "completed" } else { "in_progress" };
    let mut item = json!({"type": kind, "id": id, "status": status, "call_id": call_id, "name": tool.name});
    item[input_member(tool)] = json!(input.unwrap_or_default());
    if let Some(namespace) = &tool.namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

fn input_member(tool: &OfferedTool) -> &'static str {
    if tool.is_freeform { "input" } else { "arguments" }
}

fn status(finish: FinishReason) -> &'static str {
    if incomplete_reason(finish).is_some() { "incomplete" } else { "completed" }
}

fn incomplete_reason(finish: FinishReason) -> Option<&'static str> {
    match finish {
        FinishReason::Done => None,
        FinishReason::Length => Some("max_output_tokens"),
        FinishReason::Refusal => Some("content_filter"),
    }
}

fn usage(ending: &ReplyEnding) -> Value {
    let ReplyEnding { input_tokens, output_tokens, .. } = ending;
    json!({
        "input_tokens": input_tokens, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + output_tokens,
    })
}

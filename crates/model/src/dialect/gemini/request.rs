//! A request to Gemini.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ModelRequest, ThinkingLevel, ToolSpec, UserPart,
    dialect::{
        CallNaming,
        history::{CallIds, HistoryCall, HistoryPart, HistoryResult, HistoryTurn, history},
    },
};

/// What is taken for the signature of a call that a Gemini of the third generation has not signed, because another model made it
/// or its signature was not taken. Google names it for that.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// A signature, and the part of an answer on which it goes back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "lowercase")]
pub(super) enum SignedPart {
    /// The call that follows.
    Call { signature: String },
    /// The beginning of the text that follows.
    Text { text: String, signature: String },
    /// A thought, which is not kept elsewhere.
    Thought { text: String, signature: String },
}

/// The body of a request to `model`. `signer` is whose signatures are sent.
pub(super) fn body(request: &ModelRequest, model: &str, signer: &str) -> Value {
    let generation = generation(model);
    let needs_signature = generation.is_some_and(|generation| generation >= (3, 0));
    let turns = history(request, signer, CallIds::Any);
    let contents: Vec<Value> = turns.iter().map(|turn| content(turn, needs_signature)).collect();
    let mut body = json!({ "contents": contents });
    if !request.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": request.system}]});
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body["tools"] = json!([{ "functionDeclarations": declarations }]);
        if request.options.must_call {
            body["toolConfig"] = json!({"functionCallingConfig": {"mode": "ANY"}});
        }
    }
    if let Some(thinking) = thinking(model, generation, request.options.thinking) {
        body["generationConfig"] = json!({ "thinkingConfig": thinking });
    }
    body
}

/// Takes the ids of calls out, which Vertex AI does not know; it goes by their order.
pub(super) fn without_ids(body: &mut Value) {
    let contents = body["contents"].as_array_mut().into_iter().flatten();
    for part in contents.filter_map(|content| content["parts"].as_array_mut()).flatten() {
        for named in ["functionCall", "functionResponse"] {
            if let Some(call) = part.get_mut(named).and_then(Value::as_object_mut) {
                call.remove("id");
            }
        }
    }
}

fn declaration(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, input } = tool;
    json!({"name": name, "description": description, "parametersJsonSchema": input})
}

fn content(turn: &HistoryTurn<'_>, needs_signature: bool) -> Value {
    match turn {
        HistoryTurn::User(parts) => {
            json!({"role": "user", "parts": parts.iter().map(said).collect::<Vec<_>>()})
        }
        HistoryTurn::Agent(parts) => json!({"role": "model", "parts": answered(parts, needs_signature)}),
        HistoryTurn::Results(results) => {
            json!({"role": "user", "parts": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

fn said(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => json!({ "text": text }),
        UserPart::Image(media) | UserPart::Audio(media) => {
            json!({"inlineData": {"mimeType": media.mime_type, "data": media.data}})
        }
    }
}

fn answered(parts: &[HistoryPart<'_>], needs_signature: bool) -> Vec<Value> {
    let mut written: Vec<Value> = Vec::new();
    // What of the next text is written already, with its signature, and the signature of the next call.
    let (mut begun, mut call_signature) = (String::new(), None);
    let mut has_calls = false;
    for part in parts {
        match part {
            HistoryPart::Reasoning(content) => match content.to() {
                Ok(SignedPart::Call { signature }) => call_signature = Some(signature),
                Ok(SignedPart::Text { text, signature }) => {
                    written.push(json!({"text": text, "thoughtSignature": signature}));
                    begun = text;
                }
                Ok(SignedPart::Thought { text, signature }) => {
                    written.push(json!({"text": text, "thought": true, "thoughtSignature": signature}));
                }
                Err(_) => {}
            },
            HistoryPart::Text(text) => {
                let rest = text.strip_prefix(begun.as_str()).unwrap_or(text);
                if !rest.is_empty() {
                    written.push(json!({ "text": rest }));
                }
                begun.clear();
            }
            HistoryPart::Call(call) => {
                let is_first = !std::mem::replace(&mut has_calls, true);
                let none = (needs_signature && is_first).then(|| NO_SIGNATURE.to_owned());
                written.push(called(call, call_signature.take().or(none)));
            }
        }
    }
    written
}

fn called(call: &HistoryCall<'_>, signature: Option<String>) -> Value {
    let mut part = json!({"functionCall": {"name": call.name, "args": call.input}});
    if !CallNaming::is_given(&call.id) {
        part["functionCall"]["id"] = json!(call.id);
    }
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

fn result(result: &HistoryResult<'_>) -> Value {
    let HistoryResult { id, name, output, failed } = result;
    let response = if *failed { json!({ "error": output }) } else { json!({ "output": output }) };
    let mut part = json!({"functionResponse": {"name": name, "response": response}});
    if !CallNaming::is_given(id) {
        part["functionResponse"]["id"] = json!(id);
    }
    part
}

/// `(2, 5)` of `gemini-2.5-flash`.
fn generation(model: &str) -> Option<(u32, u32)> {
    let (_, rest) = model.split_once("gemini-")?;
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// How the model is to think: by a level from the third generation on, before by a number of tokens, and before that not at all.
fn thinking(model: &str, generation: Option<(u32, u32)>, wanted: Option<ThinkingLevel>) -> Option<Value> {
    match generation {
        Some(generation) if generation < (2, 5) => return None,
        None if wanted.is_none() || !model.contains("gemini") => return None,
        _ => {}
    }
    let mut config = json!({"includeThoughts": wanted != Some(ThinkingLevel::Off)});
    let Some(wanted) = wanted else { return Some(config) };
    if generation.is_some_and(|generation| generation >= (3, 0)) {
        config["thinkingLevel"] = json!(level(model, wanted));
    } else {
        config["thinkingBudget"] = json!(budget(model, wanted));
    }
    Some(config)
}

fn level(model: &str, wanted: ThinkingLevel) -> &'static str {
    match wanted {
        // The large ones cannot do without, and the first of them has nothing in between.
        ThinkingLevel::Off if model.contains("-pro") => "low",
        ThinkingLevel::Medium if model.contains("gemini-3-pro") => "high",
        ThinkingLevel::Off => "minimal",
        ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High => "high",
    }
}

fn budget(model: &str, wanted: ThinkingLevel) -> u32 {
    match wanted {
        ThinkingLevel::Off if model.contains("-pro") => 128,
        ThinkingLevel::Off => 0,
        ThinkingLevel::Low => 1024,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => 24_576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::stream_checks::{agent, call, long_request, reasoning, text, tool, user};

    const SIGNER: &str = "gemini/gemini-3-flash";

    fn check(request: &ModelRequest, model: &str, expected: &Value) {
        let written = body(request, model, SIGNER);
        assert_eq!(&written, expected, "{written:#}");
    }

    #[test]
    fn a_long_request() {
        let expected = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
                {"role": "model", "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "read", "args": {"path": "a"}, "id": "c1"},
                     "thoughtSignature": NO_SIGNATURE},
                    {"functionCall": {"name": "read", "args": {}, "id": "c1_2"}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "read", "response": {"output": "one"}, "id": "c1"}},
                    {"functionResponse": {"name": "read", "response": {"error": "two"}, "id": "c1_2"}},
                ]},
                {"role": "user", "parts": [{"text": "now this"}, {"text": "and that"}]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [
                {"name": "read", "description": "Reads.", "parametersJsonSchema": {"type": "object"}},
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "generationConfig": {"thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}},
        });
        check(&long_request(), "gemini-3-flash", &expected);
    }

    #[test]
    fn signatures_go_back_on_their_parts() {
        let signed = |part: SignedPart| reasoning(SIGNER, &serde_json::to_value(part).unwrap());
        let signature = || "s".to_owned();
        let parts = vec![
            signed(SignedPart::Thought { text: "hm".into(), signature: signature() }),
            signed(SignedPart::Text { text: "A".into(), signature: signature() }),
            text("A, B"),
            signed(SignedPart::Text { text: String::new(), signature: signature() }),
            signed(SignedPart::Call { signature: signature() }),
            call(&CallNaming::seeded(1).name(), "read", "{}"),
            call("", "read", "{}"),
        ];
        let messages = vec![user("x"), agent(parts), tool("", "done", false)];
        let mut request = ModelRequest { messages, ..ModelRequest::default() };
        let model_parts =
            |request: &ModelRequest| body(request, "gemini-3", SIGNER)["contents"][1]["parts"].clone();
        let expected = json!([
            {"text": "hm", "thought": true, "thoughtSignature": "s"},
            {"text": "A", "thoughtSignature": "s"},
            {"text": ", B"},
            {"text": "", "thoughtSignature": "s"},
            {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "s"},
            {"functionCall": {"name": "read", "args": {}, "id": "unknown"}},
        ]);
        assert_eq!(model_parts(&request), expected);
        // Vertex AI takes no ids.
        let mut without = body(&request, "gemini-3", SIGNER);
        without_ids(&mut without);
        let mut expected = expected;
        expected[5]["functionCall"].as_object_mut().unwrap().remove("id");
        assert_eq!(without["contents"][1]["parts"], expected);
        assert!(!without["contents"].to_string().contains("\"id\""), "{without}");
        request.options.without_reasoning = true;
        let expected = json!([
            {"text": "A, B"},
            {"functionCall": {"name": "read", "args": {}}, "thoughtSignature": NO_SIGNATURE},
            {"functionCall": {"name": "read", "args": {}, "id": "unknown"}},
        ]);
        assert_eq!(model_parts(&request), expected);
    }

    #[test]
    fn thinking_depends_on_the_generation() {
        use ThinkingLevel::{High, Low, Medium, Off};
        let cases = [
            ("gemini-3-pro-preview", Some(Off), json!({"includeThoughts": false, "thinkingLevel": "low"})),
            ("gemini-3-pro-preview", Some(Medium), json!({"includeThoughts": true, "thinkingLevel": "high"})),
            ("gemini-3.1-pro", Some(Medium), json!({"includeThoughts": true, "thinkingLevel": "medium"})),
            ("gemini-3-flash", Some(Off), json!({"includeThoughts": false, "thinkingLevel": "minimal"})),
            ("gemini-3-flash", None, json!({"includeThoughts": true})),
            ("gemini-2.5-pro", Some(Off), json!({"includeThoughts": false, "thinkingBudget": 128})),
            ("gemini-2.5-flash", Some(Off), json!({"includeThoughts": false, "thinkingBudget": 0})),
            ("gemini-2.5-flash", Some(High), json!({"includeThoughts": true, "thinkingBudget": 24576})),
            ("gemini-flash-latest", Some(Low), json!({"includeThoughts": true, "thinkingBudget": 1024})),
            ("gemini-flash-latest", None, Value::Null),
            ("gemini-2.0-flash", Some(High), Value::Null),
            ("gemma-3", Some(High), Value::Null),
        ];
        for (model, wanted, expected) in cases {
            let written = thinking(model, generation(model), wanted).unwrap_or_default();
            assert_eq!(written, expected, "{model} {wanted:?}");
        }
    }
}

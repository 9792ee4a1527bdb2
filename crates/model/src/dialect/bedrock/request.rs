//! A request to Bedrock.

use serde_json::{Map, Value, json};

use crate::{
    AnswerOptions, MediaData, ModelRequest, ThinkingLevel, ToolSpec, UserPart,
    dialect::{
        anthropic::{has_gap, thinking},
        history::{CallIds, HistoryPart, HistoryResult, HistoryTurn, history},
    },
    known_model,
};

/// The body of a request to `model`. `signer` is whose reasoning is sent back.
pub(super) fn body(model: &str, signer: &str, request: &ModelRequest) -> Value {
    let turns = history(request, signer, CallIds::Plain);
    let is_claude = model.contains("claude");
    // What was asked before costs less if it is marked, at models that know the mark.
    let is_cached = is_claude && known_model(model).thinks;
    let plan = plan(model, &request.options, &turns);
    let mut body = json!({ "messages": messages(&turns, is_cached) });
    if !request.system.is_empty() {
        body["system"] = json!([{ "text": request.system }]);
        add_mark(&mut body["system"], is_cached);
    }
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    if tools.is_empty() {
        tools = called_tools(&turns);
    }
    if !tools.is_empty() {
        body["toolConfig"] = json!({ "tools": tools });
        if plan.is_forced && !request.tools.is_empty() {
            body["toolConfig"]["toolChoice"] = json!({"any": {}});
        }
    }
    if let Some(most) = plan.max_tokens {
        body["inferenceConfig"] = json!({ "maxTokens": most });
    }
    if let Some(fields) = plan.fields {
        body["additionalModelRequestFields"] = fields;
    }
    body
}

/// What is told to the model behind it in its own words.
struct BedrockPlan {
    fields: Option<Value>,
    max_tokens: Option<u32>,
    /// Whether a call is demanded.
    is_forced: bool,
}

fn plan(model: &str, options: &AnswerOptions, turns: &[HistoryTurn<'_>]) -> BedrockPlan {
    if model.contains("claude") {
        let plan = thinking::plan(model, options, has_gap(turns));
        let thinking = plan.thinking.map(|thinking| ("thinking".to_owned(), json!(thinking)));
        let effort = plan.effort.map(|effort| ("output_config".to_owned(), json!({ "effort": effort })));
        let fields: Map<String, Value> = thinking.into_iter().chain(effort).collect();
        let fields = (!fields.is_empty()).then(|| Value::Object(fields));
        return BedrockPlan { fields, max_tokens: Some(plan.max_tokens), is_forced: plan.is_forced };
    }
    let effort = options.thinking.filter(|_| model.contains("gpt-oss")).map(|level| match level {
        ThinkingLevel::Off => ThinkingLevel::Low.name(),
        level => level.name(),
    });
    let fields = effort.map(|effort| json!({ "reasoning_effort": effort }));
    BedrockPlan { fields, max_tokens: None, is_forced: options.must_call }
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, input } = tool;
    let mut spec = json!({"name": name, "inputSchema": {"json": input}});
    if !description.is_empty() {
        spec["description"] = json!(description);
    }
    json!({ "toolSpec": spec })
}

/// The tools that were called: without any, calls in what was said before are refused.
fn called_tools(turns: &[HistoryTurn<'_>]) -> Vec<Value> {
    let parts =
        turns.iter().filter_map(|turn| if let HistoryTurn::Agent(parts) = turn { Some(parts) } else { None });
    let names = parts.flatten().filter_map(|part| match part {
        HistoryPart::Call(call) => Some(call.name.as_ref()),
        _ => None,
    });
    let names: std::collections::BTreeSet<&str> = names.collect();
    let spec = |name| json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}});
    names.into_iter().map(spec).collect()
}

/// Users and the model have to take turns, so what follows results is in the same message.
fn messages(turns: &[HistoryTurn<'_>], is_cached: bool) -> Vec<Value> {
    let mut written: Vec<(&str, Vec<Value>)> = Vec::new();
    for turn in turns {
        let (role, blocks): (_, Vec<Value>) = match turn {
            HistoryTurn::User(parts) => ("user", parts.iter().map(said).collect()),
            HistoryTurn::Agent(parts) => ("assistant", parts.iter().map(answered).collect()),
            HistoryTurn::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match written.last_mut() {
            Some((before, content)) if *before == role => content.extend(blocks),
            _ => written.push((role, blocks)),
        }
    }
    let message = |(role, content): (&str, Vec<Value>)| json!({"role": role, "content": content});
    let mut written: Vec<Value> = written.into_iter().map(message).collect();
    if let Some(last) = written.last_mut() {
        add_mark(&mut last["content"], is_cached);
    }
    written
}

/// Marks the end of what may be kept for the next request.
fn add_mark(blocks: &mut Value, is_cached: bool) {
    if let Some(blocks) = blocks.as_array_mut().filter(|_| is_cached) {
        blocks.push(json!({"cachePoint": {"type": "default"}}));
    }
}

fn said(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => json!({ "text": text }),
        UserPart::Image(media) => image(media),
        UserPart::Audio(_) => json!({"text": "[audio]"}),
    }
}

fn image(media: &MediaData) -> Value {
    let format = match media.mime_type.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpeg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => return json!({"text": "[image]"}),
    };
    json!({"image": {"format": format, "source": {"bytes": media.data}}})
}

fn answered(part: &HistoryPart<'_>) -> Value {
    match part {
        HistoryPart::Text(text) => json!({ "text": text }),
        HistoryPart::Reasoning(content) => json!({ "reasoningContent": content }),
        HistoryPart::Call(call) => {
            json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.input}})
        }
    }
}

fn result(result: &HistoryResult<'_>) -> Value {
    let HistoryResult { id, output, failed, .. } = result;
    // A text that says nothing is refused.
    let text = match (output.trim().is_empty(), failed) {
        (true, true) => "It failed.",
        (true, false) => "(nothing)",
        (false, _) => output,
    };
    let mut result = json!({"toolUseId": id, "content": [{ "text": text }]});
    if *failed {
        result["status"] = json!("error");
    }
    json!({ "toolResult": result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::stream_checks::{agent, call, long_request, reasoning, text, tool as done, user};

    fn check(model: &str, request: &ModelRequest, expected: &Value) {
        let written = body(model, &format!("bedrock/{model}"), request);
        assert_eq!(&written, expected, "{written:#}");
    }

    fn long(mark: &[Value]) -> Value {
        let mut last = vec![
            json!({"toolResult": {"toolUseId": "c1", "content": [{"text": "one"}]}}),
            json!({"toolResult": {"toolUseId": "c1_2", "content": [{"text": "two"}], "status": "error"}}),
            json!({"text": "now this"}),
            json!({"text": "and that"}),
        ];
        last.extend_from_slice(mark);
        let mut system = vec![json!({"text": "Be brief."})];
        system.extend_from_slice(mark);
        let spec =
            json!({"name": "read", "inputSchema": {"json": {"type": "object"}}, "description": "Reads."});
        json!({
            "messages": [
                {"role": "user", "content": [
                    {"text": "look"}, {"image": {"format": "png", "source": {"bytes": "aGk="}}},
                ]},
                {"role": "assistant", "content": [
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "c1", "name": "read", "input": {"path": "a"}}},
                    {"toolUse": {"toolUseId": "c1_2", "name": "read", "input": {}}},
                ]},
                {"role": "user", "content": last},
            ],
            "system": system,
            "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"any": {}}},
        })
    }

    #[test]
    fn a_long_request() {
        check("amazon.nova-pro-v1:0", &long_request(), &long(&[]));
        let mut expected = long(&[json!({"cachePoint": {"type": "default"}})]);
        expected["inferenceConfig"] = json!({"maxTokens": 32_000});
        check("us.anthropic.claude-haiku-4-5-v1:0", &long_request(), &expected);
    }

    #[test]
    fn models_are_told_to_think_in_their_own_words() {
        let mut request = ModelRequest { messages: vec![user("x")], ..ModelRequest::default() };
        request.options.thinking = Some(ThinkingLevel::Low);
        let fields = |model: &str, request: &ModelRequest| {
            body(model, &format!("bedrock/{model}"), request)["additionalModelRequestFields"].to_string()
        };
        let budget = r#"{"thinking":{"type":"enabled","budget_tokens":4096}}"#;
        let model = "anthropic.claude-opus-4-5";
        assert_eq!(fields(model, &request), budget);
        let adaptive =
            r#"{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}}"#;
        assert_eq!(fields("anthropic.claude-opus-4-6", &request), adaptive);
        assert_eq!(fields("openai.gpt-oss-120b-1:0", &request), r#"{"reasoning_effort":"low"}"#);
        assert_eq!(fields("amazon.nova-pro-v1:0", &request), "null");
        // An answer that called tools without thinking is ended without.
        request.messages.push(agent(vec![call("c", "read", "{}")]));
        request.messages.push(done("c", "", true));
        assert_eq!(fields(model, &request), "null");
    }

    #[test]
    fn reasoning_goes_back_and_called_tools_are_named() {
        let content = json!({"reasoningText": {"text": "hm", "signature": "s"}});
        let answer = vec![reasoning("bedrock/m", &content), text("so"), call("a b", "read", "{}")];
        let messages = vec![user("x"), agent(answer), done("a b", " ", true)];
        let request = ModelRequest { messages, ..ModelRequest::default() };
        let expected = json!({
            "messages": [
                {"role": "user", "content": [{"text": "x"}]},
                {"role": "assistant", "content": [
                    {"reasoningContent": content},
                    {"text": "so"},
                    {"toolUse": {"toolUseId": "a_b", "name": "read", "input": {}}},
                ]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": "a_b", "content": [{"text": "It failed."}], "status": "error"}},
                ]},
            ],
            "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}]},
        });
        check("m", &request, &expected);
    }

    #[test]
    fn a_result_is_never_empty() {
        let messages = vec![user("x"), agent(vec![call("c", "read", "{}")]), done("c", "", false)];
        let request = ModelRequest { messages, ..ModelRequest::default() };
        let result = &body("m", "bedrock/m", &request)["messages"][2]["content"][0]["toolResult"];
        assert_eq!(result, &json!({"toolUseId": "c", "content": [{"text": "(nothing)"}]}));
    }
}

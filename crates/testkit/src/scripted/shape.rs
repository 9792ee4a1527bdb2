//! Messages as each version writes them.

use serde_json::{Value, json};

use super::{options::Options, session::Session};

/// What commands a terminal, makes rows, and turns the order of letters around.
pub(super) const RUDE: &str =
    "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}5mrude\u{202e}\u{200b}\u{2028}\r\nsecond row\u{7f}\u{8}\t.";
/// Stands for [`ODD`] in a frame.
pub(super) const ODD_MARK: &str = "@odd";
/// JSON that only survives if nobody reads and writes it again.
const ODD: &str = r#"{"big":12345678901234567890123,"exact":1.10,"e":1E5,"not":null,"é":"\u00e9\/"}"#;

/// The text of a frame.
pub(super) fn text(frame: &Value) -> String {
    frame.to_string().replace(&format!("\"{ODD_MARK}\""), ODD)
}

/// The frame of an update.
pub(super) fn update(session: &str, update: &Value) -> String {
    text(
        &json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": update } }),
    )
}

/// The frame of an answer.
pub(super) fn answer(id: &str, outcome: Result<Value, Value>) -> String {
    let (member, value) = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{}}}"#, text(&value))
}

/// The answer to `initialize`.
pub(super) fn initialize(options: &Options) -> Value {
    let mut answer = if options.is_v2() { initialize_v2(options) } else { initialize_v1(options) };
    if options.has("rude") {
        let info = if options.is_v2() { "info" } else { "agentInfo" };
        answer[info] = json!({ "name": format!("name {RUDE}"), "version": format!("version {RUDE}") });
    }
    if options.has("providers") {
        answer[if options.is_v2() { "capabilities" } else { "agentCapabilities" }]["providers"] = json!({});
    }
    if options.signed_in.is_some() {
        let method = if options.is_v2() {
            json!({ "type": "terminal", "methodId": "terminal", "name": "Terminal", "args": ["--log-in"],
                "env": [{ "name": "SCRIPTED_WORD", "value": "please" }] })
        } else {
            json!({ "type": "terminal", "id": "terminal", "name": "Terminal", "args": ["--log-in"],
                "env": { "SCRIPTED_WORD": "please" } })
        };
        if let Some(methods) = answer["authMethods"].as_array_mut() {
            methods.push(method);
        }
    }
    if options.has("steering") || options.has("steering-fails") {
        answer["_meta"]["steering"] = json!({ "supported": true });
    }
    answer
}

fn initialize_v1(options: &Options) -> Value {
    let mut session = json!({});
    for name in ["resume", "list", "close", "delete", "fork"] {
        if options.has(name) {
            session[name] = json!({});
        }
    }
    let mut capabilities = json!({
        "promptCapabilities": { "image": true, "embeddedContext": true },
        "mcpCapabilities": { "http": true, "sse": false },
        "sessionCapabilities": session,
        "future": ODD_MARK,
        "_meta": { "own": ODD_MARK },
    });
    if options.has("load") {
        capabilities["loadSession"] = json!(true);
    }
    if options.has("inject") {
        capabilities["session"] = json!({ "inject": inject() });
    }
    if options.has("nes") {
        capabilities["nes"] = nes();
        capabilities["positionEncoding"] = json!("utf-32");
    }
    json!({
        "protocolVersion": 1,
        "agentInfo": { "name": if options.has("gemini") { "gemini-cli" } else { "scripted" }, "title": "Scripted", "version": "1.0" },
        "agentCapabilities": capabilities,
        "authMethods": [{ "id": "key", "name": "Key", "description": "by key" }],
        "_meta": { "own": ODD_MARK },
    })
}

fn initialize_v2(options: &Options) -> Value {
    let mut session = json!({ "prompt": { "image": {}, "embeddedContext": {} }, "mcp": { "stdio": {} } });
    for name in ["delete", "fork"] {
        if options.has(name) {
            session[name] = json!({});
        }
    }
    if options.has("prompt-steering") {
        session["steering"] = json!({});
    }
    if options.has("inject") {
        session["inject"] = inject();
    }
    let mut capabilities = json!({ "session": session, "future": ODD_MARK, "_meta": { "own": ODD_MARK } });
    if options.has("nes") {
        capabilities["nes"] = nes();
        capabilities["positionEncoding"] = json!("utf-32");
    }
    json!({
        "protocolVersion": 2,
        "info": { "name": "scripted", "title": "Scripted", "version": "1.0" },
        "capabilities": capabilities,
        "authMethods": [{ "type": "agent", "methodId": "key", "name": "Key", "description": "by key" }],
        "_meta": { "own": ODD_MARK },
    })
}

fn inject() -> Value {
    json!({ "modes": ["steer"], "steer_in_stream": ["finish"] })
}

/// What it says of its own suggestions.
fn nes() -> Value {
    json!({ "events": { "document": { "didOpen": {}, "didFocus": {} } }, "_meta": { "own": ODD_MARK } })
}

/// The one suggestion that it ever makes: to go where the user is.
pub(super) fn suggested(is_v2: bool, params: &Value) -> Value {
    let id = if is_v2 { "suggestionId" } else { "id" };
    let jump = json!({ id: "own-1", "kind": "jump", "uri": params["uri"], "position": params["position"], "_meta": { "own": ODD_MARK } });
    json!({ "suggestions": [jump], "_meta": { "own": ODD_MARK } })
}

/// The answer to a request that opens a session, without its id.
pub(super) fn opened(is_v2: bool, session: &Session) -> Value {
    let mut answer = json!({ "configOptions": options(is_v2, session), "_meta": { "own": ODD_MARK } });
    if !is_v2 {
        let modes = [json!({ "id": "ask", "name": "Ask" }), json!({ "id": "code", "name": "Code" })];
        answer["modes"] = json!({ "currentModeId": session.mode, "availableModes": modes });
    }
    answer
}

/// Its config options; version 2 has the mode among them.
pub(super) fn options(is_v2: bool, session: &Session) -> Value {
    let id = if is_v2 { "configId" } else { "id" };
    let choice = |value: &str, name: &str| json!({ "value": value, "name": name });
    let pace = json!({ id: "pace", "name": "Pace", "type": "select", "currentValue": "slow",
        "options": [choice("slow", "Slow"), choice("fast", "Fast")] });
    let mode = json!({ id: "mode", "name": "Mode", "category": "mode", "type": "select",
        "currentValue": session.mode, "options": [choice("ask", "Ask"), choice("code", "Code")] });
    if is_v2 { json!([mode, pace]) } else { json!([pace]) }
}

/// What is told of the mode when it changes.
pub(super) fn mode(is_v2: bool, session: &Session) -> Value {
    if is_v2 {
        json!({ "sessionUpdate": "config_option_update", "configOptions": options(true, session) })
    } else {
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": session.mode })
    }
}

pub(super) fn commands(is_v2: bool) -> Value {
    let mut command = json!({ "name": "sing", "description": "Sings" });
    if is_v2 {
        command["type"] = json!("command");
    }
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": [command] })
}

/// A piece of a message; version 1 does not say which one.
pub(super) fn chunk(is_v2: bool, is_user: bool, id: &str, text: &str) -> Value {
    let kind = if is_user { "user_message_chunk" } else { "agent_message_chunk" };
    let mut update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    if is_v2 {
        update["messageId"] = json!(id);
    }
    update
}

/// A message of the user, whole where that is possible.
pub(super) fn user_message(is_v2: bool, id: &str, texts: &[String]) -> Vec<Value> {
    if is_v2 {
        let blocks: Vec<_> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
        return vec![json!({ "sessionUpdate": "user_message", "messageId": id, "content": blocks })];
    }
    let halves = texts.iter().flat_map(|text| {
        let middle =
            (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        [&text[..middle], &text[middle..]]
    });
    halves.filter(|half| !half.is_empty()).map(|half| chunk(false, true, id, half)).collect()
}

pub(super) fn state(state: &str, stop_reason: Option<&str>) -> Value {
    let mut update = json!({ "sessionUpdate": "state_update", "state": state });
    if let Some(reason) = stop_reason {
        update["stopReason"] = json!(reason);
    }
    update
}

/// A tool call that begins or goes on.
pub(super) fn tool(is_v2: bool, id: &str, status: &str) -> Value {
    let is_first = status == "pending";
    let kind = if is_first && !is_v2 { "tool_call" } else { "tool_call_update" };
    let mut update = json!({ "sessionUpdate": kind, "toolCallId": id, "status": status });
    if is_first {
        update["title"] = json!(format!("Tool {id}"));
        update["kind"] = json!("execute");
        update["rawInput"] = json!(ODD_MARK);
    }
    update
}

/// The status of a tool call that was ended before its end.
pub(super) fn stopped(is_v2: bool) -> &'static str {
    if is_v2 { "cancelled" } else { "failed" }
}

/// The params of a permission request; the tool call has these members more.
pub(super) fn permission(is_v2: bool, session: &str, id: &str, more: &str) -> Value {
    let title = format!("Tool {id}");
    let mut call = json!({ "toolCallId": id, "title": title, "kind": "execute", "status": "pending" });
    if !more.is_empty() {
        let more: Value = serde_json::from_str(more).expect("a script says what it means");
        for (name, value) in more.as_object().into_iter().flatten() {
            call[name] = value.clone();
        }
    }
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": "No", "kind": "reject_once", "_meta": { "own": ODD_MARK } },
    ]);
    if is_v2 {
        let subject = json!({ "type": "tool_call", "toolCall": call });
        json!({ "sessionId": session, "title": title, "subject": subject, "options": options })
    } else {
        json!({ "sessionId": session, "toolCall": call, "options": options })
    }
}

/// The params of any request to a client, about a session that nobody has or about none.
pub(super) fn stray(is_global: bool) -> Value {
    let mut params = json!({ "path": "/stray", "content": "x", "command": "true", "terminalId": "t",
        "toolCall": { "toolCallId": "t" }, "options": [], "mode": "form", "message": "m" });
    if !is_global {
        params["sessionId"] = json!("nobody");
    }
    params
}

/// What a page is known by that a client is asked to show.
pub(super) const PAGE: &str = "page-1";

/// The params of a request for a form to be filled in, or in another mode for something else.
pub(super) fn elicitation(session: &str, mode: &str) -> Value {
    match mode {
        "" => form(session),
        "url" => {
            json!({ "sessionId": session, "mode": "url", "elicitationId": PAGE, "url": "http://127.0.0.1:1/page",
            "message": "Look there" })
        }
        mode => json!({ "sessionId": session, "mode": mode, "message": "Do it" }),
    }
}

fn form(session: &str) -> Value {
    let properties = json!({
        "name": { "type": "string", "description": "Yours" },
        "count": { "type": "integer" },
        "bird": { "type": "string", "enum": ["wren", "rook"] },
    });
    let schema = json!({ "type": "object", "properties": properties, "required": ["name"] });
    json!({ "sessionId": session, "mode": "form", "message": "Who are you?", "requestedSchema": schema })
}

pub(super) fn plan(is_v2: bool) -> Value {
    let entries = json!([
        { "content": "Count", "priority": "high", "status": "completed" },
        { "content": "Log", "priority": "low", "status": "pending", "_meta": { "own": ODD_MARK } },
    ]);
    if is_v2 {
        let plan = json!({ "type": "items", "planId": "plan-1", "entries": entries });
        json!({ "sessionUpdate": "plan_update", "plan": plan })
    } else {
        json!({ "sessionUpdate": "plan", "entries": entries })
    }
}

/// An update of an unknown kind, in a frame that is written unlike any other.
pub(super) fn odd(session: &str) -> String {
    format!(
        r#"{{ "params" : {{ "_meta": {ODD}, "update": {{"unknown":[1, 2.50],"sessionUpdate":"_weather","sky":{ODD}}},  "sessionId": {} }}, "method": "session/update", "jsonrpc": "2.0" }}"#,
        json!(session)
    )
}

/// An error with data.
pub(super) fn failure(message: &str) -> Value {
    json!({ "code": -32099, "message": message, "data": { "why": ODD_MARK } })
}

pub(super) fn error(code: i64, message: &str, reason: &str) -> Value {
    json!({ "code": code, "message": message, "data": { "reason": reason } })
}

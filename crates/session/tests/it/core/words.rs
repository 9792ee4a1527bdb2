//! The inputs of a script, read.

use nudge_backend::{
    AgentQuestion, BackendEvent, OptionChange, PromptParams, REQUEST_PERMISSION, SteerMethod, TurnEnd,
};
use nudge_bridge::IndexedUpdate;
use nudge_mailbox::{ClientId, DeliveryMode};
use nudge_session::{
    AskId, AttachOptions, AttachRequest, Attendee, ClientAnswer, ClientOffers, EndWish, InputContent,
    SessionInput, SessionRequest, SessionStart,
};
use nudge_wire::{Error, Message, RawJson, Version, caps::ElicitationModes, message::ParsedFrame};
use serde_json::json;

use super::script::{CLIENTS, Play, json};

/// How the agent is steered, and the rest of what is given.
pub(super) fn steer_method<'a>(given: &'a [&'a str]) -> (SteerMethod, Vec<&'a str>) {
    let named = given.iter().find_map(|word| method(word));
    (
        named.unwrap_or(SteerMethod::Wait),
        given.iter().copied().filter(|word| method(word).is_none()).collect(),
    )
}

fn method(word: &str) -> Option<SteerMethod> {
    match word {
        "take" => Some(SteerMethod::Take),
        "interrupt" => Some(SteerMethod::Interrupt),
        "wait" => Some(SteerMethod::Wait),
        _ => None,
    }
}

/// Changes what a session begins with; `false` if the word is about something else.
pub(super) fn set_up(start: &mut SessionStart, word: &str) -> bool {
    match word {
        "unnamed" => start.title = None,
        "titles" => start.agent.wants_title = true,
        "own-tools" => start.agent.has_own_tools = true,
        "told-of-forms" => start.agent.elicitation = ElicitationModes { form: true, url: true },
        "ends-with-clients" => start.outlives_clients = false,
        _ => return false,
    }
    true
}

/// One input.
pub(super) fn input(play: &mut Play, line: &str) -> SessionInput {
    let words: Vec<_> = line.split_whitespace().collect();
    if let Some(client) = CLIENTS.iter().position(|name| words.first() == Some(name)) {
        return of_client(play, ClientId(client as u64), &words[1..]);
    }
    if let Some(event) = event(play, &words) {
        return SessionInput::Agent(event);
    }
    match words[..] {
        ["cancel"] => SessionInput::Cancel,
        ["cancel-request", name] => {
            let at = play.requests.iter().rposition(|known| known == name).expect("it was made");
            SessionInput::CancelRequest(nudge_session::RequestId(at as u64))
        }
        ["dies"] => SessionInput::AgentEnded,
        ["method", name] => SessionInput::SteerMethod(method(name).expect("a way to steer")),
        ["close"] => SessionInput::End(EndWish::Close(ClientId(1), play.new_request("close"))),
        ["delete"] => SessionInput::End(EndWish::Delete(play.new_request("delete"))),
        ["leave-if-unused"] => SessionInput::End(EndWish::LeaveIfUnused(play.new_request("leave"))),
        ["stop"] => SessionInput::End(EndWish::Process { is_patient: false }),
        ["stop", "patiently"] => SessionInput::End(EndWish::Process { is_patient: true }),
        _ => panic!("no such input: {line}"),
    }
}

/// What a client does.
fn of_client(play: &mut Play, client: ClientId, words: &[&str]) -> SessionInput {
    let answer =
        |play: &Play, name: &str, answer| SessionInput::Answered { ask: ask(play, name), client, answer };
    match *words {
        ["joins", ref how @ ..] => SessionInput::Attach(attach(play, client, how)),
        ["leaves"] => SessionInput::Detach(client),
        ["closes"] => SessionInput::End(EndWish::Close(client, play.new_request("close"))),
        ["fills", name, action] => {
            answer(play, name, ClientAnswer::Answer(json(&json!({ "action": action }))))
        }
        ["answers", name, option] => answer(play, name, ClientAnswer::Answer(chosen(option))),
        ["decides", name, outcome] => answer(play, name, ClientAnswer::Answer(decided(client, outcome))),
        ["refuses", name] => answer(play, name, ClientAnswer::Refused(Error::method_not_found("it"))),
        ["silent", name] => answer(play, name, ClientAnswer::Gone),
        [verb, name, ref options @ ..] => {
            let what = request(play, verb, name, options);
            let label = if matches!(verb, "revokes" | "replaces") {
                format!("{verb}-{name}")
            } else {
                name.to_owned()
            };
            SessionInput::Request { client, request: play.new_request(&label), what }
        }
        _ => panic!("no such input: {words:?}"),
    }
}

fn request(play: &Play, verb: &str, name: &str, options: &[&str]) -> SessionRequest {
    let option = |name: &str| options.iter().find_map(|option| option.strip_prefix(name));
    let long_key = || option("key-bytes=").map(|size| "k".repeat(size.parse().expect("a number")));
    let key = option("key=").map(str::to_owned).or_else(long_key);
    let content = match option("bytes=") {
        Some(size) => content_of(name, size.parse().expect("a number")),
        None => content(name),
    };
    match verb {
        "prompts" => {
            let params = PromptParams { version: Version::V1, raw: json(&json!({ "prompt": name })) };
            let params = options.contains(&"params").then_some(params);
            SessionRequest::Prompt { body: InputContent { content, params }, key }
        }
        "queues" => SessionRequest::Inject { mode: DeliveryMode::Queue, content, key },
        "steers" => SessionRequest::Inject { mode: DeliveryMode::Steer, content, key },
        "steering" => {
            SessionRequest::Steering { content, prompt_required: options.contains(&"prompt-required") }
        }
        "revokes" => SessionRequest::Revoke { id: play.message_id(name) },
        "replaces" => {
            SessionRequest::Replace { id: play.message_id(name), content: self::content(options[0]) }
        }
        "sets" => SessionRequest::SetOption {
            option: OptionChange { config_id: name.to_owned(), value: json(&json!(true)) },
            config: json(&json!({ name: true })),
            answer: json(&json!({})),
        },
        "bad" => SessionRequest::Refused(Error::invalid_params("no").reason(name)),
        _ => panic!("no such request: {verb}"),
    }
}

fn attach(play: &mut Play, client: ClientId, how: &[&str]) -> AttachRequest {
    let has = |word: &str| how.contains(&word);
    let from =
        how.iter().find_map(|word| word.strip_prefix("from=")).map(|from| from.parse().expect("a number"));
    let offers = ClientOffers {
        read: client == ClientId(3),
        write: client == ClientId(3),
        terminal: client == ClientId(3),
        elicitation: ElicitationModes { form: client == ClientId(4), url: client == ClientId(5) },
    };
    AttachRequest {
        request: play.new_request(&format!("join-{}", super::script::client_name(client))),
        attendee: Attendee { id: client, version: version_of(client), offers },
        from: from.unwrap_or(0),
        options: AttachOptions { wants_history: has("load"), keeps_hold: has("looks"), is_new: has("new") },
    }
}

fn version_of(client: ClientId) -> Version {
    match super::script::client_name(client) {
        "ann" | "cat" => Version::V1,
        _ => Version::V2,
    }
}

/// What the agent does.
fn event(play: &mut Play, words: &[&str]) -> Option<BackendEvent> {
    Some(match *words {
        ["begins"] => BackendEvent::TurnStarted,
        ["stream"] => BackendEvent::StreamStarted,
        ["stream-end"] => BackendEvent::StreamFinished,
        ["tool", id] => BackendEvent::ToolStarted(id.into()),
        ["tool-end", id] => BackendEvent::ToolFinished(id.into()),
        ["pause"] => BackendEvent::Paused,
        ["unpause"] => BackendEvent::Resumed,
        ["break"] => BackendEvent::BreakPoint,
        ["says", text] => BackendEvent::Update(update("agent_message_chunk", text)),
        ["says", text, of] => {
            let id = of.strip_prefix("of=").expect("a message");
            let raw = update("agent_message_chunk", text).raw.with(&["messageId"], &json(&json!(id)));
            BackendEvent::Update(IndexedUpdate::read(&raw.expect("it is an object"))?)
        }
        ["calls", id] => BackendEvent::Update(tool_call(id, "in_progress")),
        ["called", id] => BackendEvent::Update(tool_call(id, "completed")),
        ["titles", title] => {
            let info = json!({ "sessionUpdate": "session_info_update", "title": title });
            BackendEvent::Update(IndexedUpdate::read(&json(&info))?)
        }
        ["notifies", name] => BackendEvent::Notification(notification(name, None)),
        ["completes", page] => {
            let params = json!({ "elicitationId": page });
            BackendEvent::Notification(notification("elicitation/complete", Some(&params)))
        }
        ["configures", name] => BackendEvent::Config(json(&json!({ name: true }))),
        ["ends"] => BackendEvent::TurnEnded(TurnEnd::stopped("end_turn")),
        ["ends", reason] => BackendEvent::TurnEnded(TurnEnd::stopped(reason)),
        ["fails", "auth"] => BackendEvent::TurnEnded(TurnEnd::Failed(Error::auth_required())),
        ["fails"] => BackendEvent::TurnEnded(TurnEnd::Failed(Error::internal("failed"))),
        ["asks", name] => BackendEvent::Question(question(play, name, REQUEST_PERMISSION)),
        ["asks", name, "v1"] => {
            let question = question(play, name, REQUEST_PERMISSION);
            BackendEvent::Question(AgentQuestion { version: Version::V1, ..question })
        }
        ["asks", name, size, unit @ ("KiB" | "MiB")] => {
            BackendEvent::Question(long_question(play, name, REQUEST_PERMISSION, bytes(size, unit)))
        }
        ["asks", name, method, size, unit] => {
            BackendEvent::Question(long_question(play, name, method, bytes(size, unit)))
        }
        ["asks", name, method, mode] => {
            let question = question(play, name, method);
            let mode = json(&json!(mode.strip_prefix("mode=").expect("how the user is asked")));
            let params = question.params.with(&["mode"], &mode).expect("it is an object");
            let params = params.with(&["elicitationId"], &json(&json!(name))).expect("it is an object");
            BackendEvent::Question(AgentQuestion { params, ..question })
        }
        ["asks", name, method] => BackendEvent::Question(question(play, name, method)),
        ["unasks", name] => {
            let at = play.questions.iter().position(|known| known == name).expect("it was asked");
            BackendEvent::QuestionWithdrawn(nudge_backend::QuestionId(at as u64))
        }
        ["lost"] => BackendEvent::Lost(Error::internal("gone")),
        ["back", id] => BackendEvent::Back { id: id.into(), is_recap: false, was_lost: true },
        ["back", id, "recap"] => BackendEvent::Back { id: id.into(), is_recap: true, was_lost: true },
        ["moved", id] => BackendEvent::Back { id: id.into(), is_recap: false, was_lost: false },
        _ => return None,
    })
}

fn question(play: &mut Play, name: &str, method: &str) -> AgentQuestion {
    let tool_call = json!({ "toolCallId": name });
    let params = json!({ "name": name, "toolCall": tool_call, "subject": { "toolCall": tool_call } });
    let id = play.new_question(name);
    AgentQuestion { id, version: Version::V2, method: method.into(), params: json(&params) }
}

/// A question whose params are of this many bytes.
fn long_question(play: &mut Play, name: &str, method: &str, bytes: usize) -> AgentQuestion {
    let question = question(play, name, method);
    let padded = |pad: &str| question.params.with(&["pad"], &json(&json!(pad))).expect("it is an object");
    let params = padded(&"x".repeat(bytes - padded("").as_str().len()));
    AgentQuestion { params, ..question }
}

/// By what clients were asked this, or could have been.
fn ask(play: &Play, name: &str) -> AskId {
    let open = play.driver.core.open_asks().into_iter().find(|ask| super::tell::name_in(&ask.params) == name);
    let known = || play.asks.get(name).copied();
    open.map(|open| open.ask).or_else(known).expect("clients were asked this")
}

fn chosen(option: &str) -> RawJson {
    json(&json!({ "outcome": { "outcome": "selected", "optionId": option } }))
}

/// An outcome that version 1 has no word for; in that, it is kept beside the one that does no harm.
fn decided(client: ClientId, outcome: &str) -> RawJson {
    let decided = json!({ "outcome": outcome });
    json(&match version_of(client) {
        Version::V1 => {
            json!({ "outcome": { "outcome": "cancelled" }, "_meta": { "nudge": { "outcome": decided } } })
        }
        Version::V2 => json!({ "outcome": decided }),
    })
}

fn content(text: &str) -> RawJson {
    json(&json!([{ "type": "text", "text": text }]))
}

/// Content of this many bytes that says no more than the name.
fn content_of(name: &str, bytes: usize) -> RawJson {
    let padded = |pad: &str| json(&json!([{ "type": "text", "text": name, "pad": pad }]));
    padded(&"x".repeat(bytes - padded("").as_str().len()))
}

/// How many bytes `1 KiB` or `1 MiB` is.
pub(super) fn bytes(size: &str, unit: &str) -> usize {
    let size: usize = size.parse().expect("a number");
    match unit {
        "KiB" => size << 10,
        "MiB" => size << 20,
        _ => panic!("no such unit: {unit}"),
    }
}

fn update(kind: &str, text: &str) -> IndexedUpdate {
    let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    IndexedUpdate::read(&json(&update)).expect("it has a kind")
}

fn tool_call(id: &str, status: &str) -> IndexedUpdate {
    let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    IndexedUpdate::read(&json(&update)).expect("it has a kind")
}

fn notification(name: &str, params: Option<&serde_json::Value>) -> Message {
    let mut message = json!({ "jsonrpc": "2.0", "method": name });
    if let Some(params) = params {
        message["params"] = params.clone();
    }
    let text = message.to_string();
    match ParsedFrame::from_frame(text.into()) {
        ParsedFrame::Single(Ok(message)) => message,
        other => panic!("expected a notification, got {other:?}"),
    }
}

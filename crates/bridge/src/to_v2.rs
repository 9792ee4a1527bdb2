//! A session whose frames are v1, for one v2 client.

use nudge_wire::RawJson;

use crate::{
    ClientSessionSetup, UpdateKind, call_members, command,
    config::{self, V1Options},
    content::block_to_v2,
    message::chunk_to_v2,
    object::JsonObject,
    permission, plan,
    recent::RecentValues,
    request::MethodCall,
    turn,
};

/// How many titles of tool calls are remembered, for permission requests that do not repeat them.
const TITLES: usize = 64;

/// What one v2 client has seen of a session whose frames are v1, and so how it is to be told what comes next.
///
/// Everything the client sees of the session goes through this value, in order: results of `session/new` and its like
/// first, then updates and permission requests as they come, with those that say where turns begin and end.
#[derive(Debug, Clone, Default)]
pub struct ToV2 {
    prefix: String,
    cwd: Option<String>,
    minted: u64,
    /// The message that chunks without an id belong to: its kind and id.
    run: Option<(String, String)>,
    options: V1Options,
    titles: RecentValues<String, TITLES>,
}

impl ToV2 {
    /// For a client that has seen nothing yet. Ids that v1 lacks are made of `prefix` and a number.
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), ..Self::default() }
    }

    /// The same with the directory that relative paths are in.
    pub fn with_cwd(mut self, cwd: &str) -> Self {
        self.cwd = Some(cwd.to_owned());
        self
    }

    /// As [`update`](Self::update), for an update that belongs to the message `id` if it does not say itself to which.
    pub fn update_of(&mut self, update: &RawJson, kind: &str, id: &str) -> Vec<RawJson> {
        self.run = Some((kind.to_owned(), id.to_owned()));
        self.update(update)
    }

    /// The `update` of a v1 `session/update`, as none, one or several for v2.
    pub fn update(&mut self, update: &RawJson) -> Vec<RawJson> {
        let pass = || vec![update.clone()];
        let read = JsonObject::read(update.as_str())
            .and_then(|object| Some((object.string("sessionUpdate")?, object)));
        let Some((kind, mut object)) = read else { return pass() };
        let known = UpdateKind::of(&kind);
        if known == UpdateKind::AgentThoughtChunk
            && let Some(notice) = turn::uncarried_notice(&object)
        {
            return vec![notice];
        }
        if let Some(message) = kind.strip_suffix("_chunk").filter(|_| known.is_message_chunk()) {
            return vec![self.chunk(update, &kind, message, object)];
        }
        self.run = None;
        match known {
            UpdateKind::ToolCall | UpdateKind::ToolCallUpdate => vec![self.call(object)],
            UpdateKind::Plan => vec![plan::to_v2(object, &format!("{}plan", self.prefix))],
            UpdateKind::PlanUpdate => vec![plan::update_to_v2(object)],
            UpdateKind::AvailableCommandsUpdate => {
                object.edit_each("availableCommands", command::to_v2);
                vec![object.raw()]
            }
            UpdateKind::CurrentModeUpdate => self.mode_update(&object).into_iter().collect(),
            UpdateKind::ConfigOptionUpdate => {
                self.options.take(object.get("configOptions"));
                if let Some(options) = self.options.to_v2() {
                    object.set("configOptions", options);
                }
                vec![object.raw()]
            }
            UpdateKind::SessionInfoUpdate => vec![turn::uncarried(&object).unwrap_or_else(|| update.clone())],
            _ => pass(),
        }
    }

    /// The params of a v1 `session/request_permission` for v2.
    pub fn permission(&mut self, params: &RawJson) -> RawJson {
        self.run = None;
        permission::to_v2(params, self.cwd.as_deref(), |id| self.titles.get(id).cloned())
    }

    /// The answer of the v2 client to `session/request_permission` for the v1 agent.
    pub fn permission_answer(result: &RawJson) -> RawJson {
        permission::answer_to_v1(result)
    }

    /// The result of a v1 `session/new`, `session/load`, `session/resume` or `session/fork` for v2.
    pub fn setup(&mut self, result: &RawJson) -> ClientSessionSetup {
        let object = JsonObject::read(result.as_str());
        let Some(mut object) = object else {
            return ClientSessionSetup { result: result.clone(), updates: Vec::new() };
        };
        let modes = object.take("modes");
        self.options.begin(object.get("configOptions"), modes.as_deref());
        object.take("configOptions");
        if let Some(options) = self.options.to_v2() {
            object.set("configOptions", options);
        }
        ClientSessionSetup { result: object.raw(), updates: Vec::new() }
    }

    /// The client's `session/set_config_option` for v1: `session/set_mode` if the option stands for the modes.
    pub fn set_config_option(&self, params: &RawJson) -> MethodCall {
        let id = JsonObject::read(params.as_str()).and_then(|object| object.string("configId"));
        let (method, params) = match id {
            Some(id) if self.options.is_mode(&id) => ("session/set_mode", config::set_mode_of(params)),
            _ => ("session/set_config_option", config::set_option_to_v1(params)),
        };
        MethodCall { method: method.to_owned(), params }
    }

    /// What v1 answered to `call`, as the result of the client's `session/set_config_option`.
    pub fn config_result(&mut self, call: &MethodCall, result: &RawJson) -> RawJson {
        let mut object = JsonObject::read(result.as_str()).unwrap_or_default();
        if call.method == "session/set_mode" {
            if let Some(mode) = config::chosen_mode(&call.params) {
                self.options.set_current(&mode);
            }
        } else {
            self.options.take(object.get("configOptions"));
        }
        object.set("configOptions", self.options.to_v2().unwrap_or_else(|| "[]".to_owned()));
        object.raw()
    }

    fn chunk(&mut self, update: &RawJson, kind: &str, message: &str, mut object: JsonObject<'_>) -> RawJson {
        if object.value("messageId").is_some() {
            self.run = None;
            if object.get("_meta").is_none()
                && object.get("content").is_none_or(|block| block_to_v2(block) == block)
            {
                return update.clone();
            }
        } else {
            object.put("messageId", &self.run_id(kind));
        }
        if let Some(block) = object.get("content").map(|block| block_to_v2(block).into_owned()) {
            object.set("content", block);
        }
        chunk_to_v2(object, message)
    }

    /// The id of the message that a chunk without one belongs to.
    fn run_id(&mut self, kind: &str) -> String {
        if let Some((_, id)) = self.run.as_ref().filter(|(known, _)| known == kind) {
            return id.clone();
        }
        self.minted += 1;
        let id = format!("{}{}", self.prefix, self.minted);
        self.run = Some((kind.to_owned(), id.clone()));
        id
    }

    fn call(&mut self, mut object: JsonObject<'_>) -> RawJson {
        if let (Some(id), Some(title)) = (object.string("toolCallId"), object.string("title")) {
            self.titles.insert(&id, title);
        }
        object.put("sessionUpdate", "tool_call_update");
        call_members::to_v2(&mut object, self.cwd.as_deref());
        object.raw()
    }

    fn mode_update(&mut self, object: &JsonObject<'_>) -> Option<RawJson> {
        let mode = object.string("currentModeId")?;
        self.options.set_current(&mode).then(|| config::update(self.options.to_v2()))
    }
}

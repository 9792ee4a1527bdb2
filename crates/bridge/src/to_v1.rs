//! A session whose frames are v2, for one v1 client.

use nudge_wire::RawJson;

use crate::{
    ClientSessionSetup, UpdateKind, call::KnownToolCalls, command, config::V2Options, message::ShownMessages,
    object::JsonObject, permission, plan, terminal::SessionTerminals, turn,
};

/// What a v1 client says it takes beyond the plain protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own on the wire")]
pub struct V1Client {
    /// `plan_update` and `plan_removed`.
    pub plans: bool,
    /// `notice`.
    pub notices: bool,
    /// `compaction_update` and `compaction_summary_chunk`.
    pub compaction: bool,
    /// `subagent_update`, `session_message` and its chunks.
    pub subagents: bool,
    /// Config options that are on or off.
    pub boolean_options: bool,
}

impl V1Client {
    /// What the params of its `initialize` say.
    pub fn of(params: &RawJson) -> Self {
        let has = |path: &[&str]| {
            let path = [&["clientCapabilities"], path].concat();
            params.get(&path).is_some_and(|marker| marker.as_str().starts_with('{'))
        };
        Self {
            plans: has(&["plan"]),
            notices: has(&["session", "notices"]),
            compaction: has(&["session", "compaction"]),
            subagents: has(&["subagents"]),
            boolean_options: has(&["session", "configOptions", "boolean"]),
        }
    }
}

/// What one v1 client has seen of a session whose frames are v2, and so how it is to be told what comes next.
///
/// Everything the client sees of the session goes through this value, in order: results of `session/new` and its like
/// first, then updates and permission requests as they come.
#[derive(Debug, Clone, Default)]
pub struct ToV1 {
    client: V1Client,
    messages: ShownMessages,
    calls: KnownToolCalls,
    terminals: SessionTerminals,
    plan: plan::ShownPlan,
    options: V2Options,
    minted: u64,
}

impl ToV1 {
    /// For a client that has seen nothing yet.
    pub fn new(client: V1Client) -> Self {
        Self { client, ..Self::default() }
    }

    /// The client runs this terminal itself: references to it pass, updates of it are dropped.
    pub fn own_terminal(&mut self, id: &str) {
        self.terminals.own(id);
    }

    /// The `update` of a v2 `session/update`, as none, one or several for v1.
    ///
    /// What v1 can only be sent whole, the content of a tool call and the output of a terminal, is held back once it is
    /// long, until about as much has come as it has or the tool call or the turn ends: see [`flush`](Self::flush).
    pub fn update(&mut self, update: &RawJson) -> Vec<RawJson> {
        let updates = self.converted(update);
        let mut all = self.calls.last_words();
        if all.is_empty() {
            return updates;
        }
        all.extend(updates);
        all
    }

    /// Updates with all that was held back. To be asked for before a permission request, before the answer that ends a
    /// turn or a replay, and a short while after something was held back.
    pub fn flush(&mut self) -> Vec<RawJson> {
        self.calls.flush(&self.terminals)
    }

    /// About how many bytes [`flush`](Self::flush) gives; `None` if nothing is held back.
    pub fn unsent(&self) -> Option<usize> {
        self.calls.unsent(&self.terminals)
    }

    fn converted(&mut self, update: &RawJson) -> Vec<RawJson> {
        let pass = || vec![update.clone()];
        let Some(object) = JsonObject::read(update.as_str()) else { return pass() };
        let Some(kind) = object.string("sessionUpdate") else { return pass() };
        let kind = UpdateKind::of(&kind);
        match &kind {
            chunk if chunk.is_message_chunk() => vec![self.messages.chunk(update, object)],
            UpdateKind::UserMessage | UpdateKind::AgentMessage | UpdateKind::AgentThought => {
                self.messages.whole(&format!("{}_chunk", kind.name()), object)
            }
            UpdateKind::ToolCallUpdate => self.calls.update(update, object, &self.terminals),
            UpdateKind::ToolCallContentChunk => {
                self.calls.chunk(update, object, &self.terminals).into_iter().collect()
            }
            UpdateKind::TerminalUpdate | UpdateKind::TerminalOutputChunk => {
                self.terminal_changed(&object, kind == UpdateKind::TerminalUpdate, update.as_str().len())
            }
            UpdateKind::PlanUpdate => vec![self.plan_update(update, object)],
            UpdateKind::PlanRemoved if !self.client.plans => self.plan.removed(object).into_iter().collect(),
            UpdateKind::AvailableCommandsUpdate => vec![commands(object)],
            UpdateKind::ConfigOptionUpdate => self.config_update(object),
            UpdateKind::StateUpdate => {
                let mut updates = if object.is("state", "running") { Vec::new() } else { self.flush() };
                updates.extend(turn::state_to_v1(update, &object));
                updates
            }
            UpdateKind::Notice if !self.client.notices => {
                self.minted += 1;
                vec![turn::notice_to_v1(update, &object, &format!("nudge-notice-{}", self.minted))]
            }
            _ if self.must_carry(&kind) => vec![turn::carried(update, JsonObject::default())],
            _ => pass(),
        }
    }

    /// The params of a v2 `session/request_permission` for v1.
    pub fn permission(&mut self, params: &RawJson) -> RawJson {
        self.minted += 1;
        let minted = format!("nudge-permission-{}", self.minted);
        permission::to_v1(params, &mut self.calls, &self.terminals, &minted)
    }

    /// The answer of the v1 client to `session/request_permission` for the v2 agent.
    pub fn permission_answer(result: &RawJson) -> RawJson {
        permission::answer_to_v2(result)
    }

    /// The result of a v2 `session/new`, `session/resume` or `session/fork` for v1, and what v1 is told by updates.
    pub fn setup(&mut self, result: &RawJson) -> ClientSessionSetup {
        let as_is = || ClientSessionSetup { result: result.clone(), updates: Vec::new() };
        let Some(mut object) = JsonObject::read(result.as_str()) else { return as_is() };
        if let Some(options) = object.get("configOptions").and_then(|options| self.take_options(options)) {
            object.set("configOptions", options);
            if let Some(modes) = self.options.modes() {
                object.set("modes", modes);
            }
        }
        let commands = object.take("availableCommands").map(|list| {
            let update = JsonObject::default().with_str("sessionUpdate", "available_commands_update");
            commands(update.with("availableCommands", list))
        });
        ClientSessionSetup { result: object.raw(), updates: commands.into_iter().collect() }
    }

    /// The params of the client's `session/set_mode` as those of a v2 `session/set_config_option`; `None` if the
    /// session has no modes.
    pub fn set_mode(&self, params: &RawJson) -> Option<RawJson> {
        self.options.set_mode(params)
    }

    /// The params of the client's `session/set_config_option` for v2.
    pub fn set_config_option(&self, params: &RawJson) -> RawJson {
        self.options.set_option(params)
    }

    /// The result of a v2 `session/set_config_option` for v1; it also answers `session/set_mode`.
    pub fn config_result(&mut self, result: &RawJson) -> RawJson {
        let Some(mut object) = JsonObject::read(result.as_str()) else { return result.clone() };
        if let Some(options) = object.get("configOptions").and_then(|options| self.take_options(options)) {
            object.set("configOptions", options);
        }
        object.raw()
    }

    fn take_options(&mut self, options: &str) -> Option<String> {
        self.options.take(options, self.client.boolean_options)
    }

    fn terminal_changed(&mut self, object: &JsonObject<'_>, is_update: bool, length: usize) -> Vec<RawJson> {
        let forgotten = self.terminals.forgets_for(object);
        let mut updates =
            forgotten.map(|id| self.calls.terminal_forgotten(&id, &self.terminals)).unwrap_or_default();
        let ends = is_update && self.terminals.ends(object);
        let changed = if is_update { self.terminals.update(object) } else { self.terminals.chunk(object) };
        if let Some(id) = changed {
            updates.extend(self.calls.terminal_changed(&id, length, ends, &self.terminals));
        }
        updates
    }

    fn plan_update(&mut self, update: &RawJson, object: JsonObject<'_>) -> RawJson {
        if self.client.plans {
            return plan::update_to_v1(object);
        }
        self.plan.update(object).unwrap_or_else(|| turn::carried(update, JsonObject::default()))
    }

    fn config_update(&mut self, mut object: JsonObject<'_>) -> Vec<RawJson> {
        if let Some(options) = object.get("configOptions").and_then(|options| self.take_options(options)) {
            object.set("configOptions", options);
        }
        std::iter::once(object.raw()).chain(self.options.mode_change()).collect()
    }

    /// Whether the client takes updates of this kind only if it says so, and does not.
    fn must_carry(&self, kind: &UpdateKind) -> bool {
        (kind.is_carried_without_compaction() && !self.client.compaction)
            || (kind.is_carried_without_subagents() && !self.client.subagents)
    }
}

fn commands(mut object: JsonObject<'_>) -> RawJson {
    object.edit_each("availableCommands", command::to_v1);
    object.raw()
}

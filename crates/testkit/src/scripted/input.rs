//! What the user says: prompts, steers, and the word to stop.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    agent::{Agent, Outcome, State},
    play::Player,
    script::{self, Command},
    session::{Turn, keep},
    shape,
};

impl Agent {
    /// `session/prompt`: a turn, or with `--prompt-steering` part of the one that runs.
    pub(super) fn prompt(self: &Arc<Self>, request: &str, params: &Value) -> Result<(), Value> {
        let (name, texts) = (name(params), texts(&params["prompt"]));
        let mut state = self.state();
        let is_busy = state.session(name)?.turn.is_some();
        if is_busy && !self.options.has("prompt-steering") {
            return Err(shape::error(-32600, "A turn runs already", "scripted_busy"));
        }
        let id = self.hear(&mut state, name, &texts)?;
        let mut frames = Vec::new();
        if self.is_v2() {
            frames.push(shape::answer(request, Ok(json!({ "messageId": id }))));
        }
        if self.is_v2() || self.options.has("echo") {
            frames.extend(self.echo(name, &id, &texts));
        }
        if is_busy {
            self.send_with(&state, &frames);
            return steer(&mut state, name, script(&texts));
        }
        state.session(name)?.turn = Some(Turn::default());
        if self.is_v2() {
            frames.push(shape::update(name, &shape::state("running", None)));
        }
        self.send_with(&state, &frames);
        drop(state);
        let player = Player::new(self, name, request);
        std::thread::spawn(move || player.play(script(&texts)));
        Ok(())
    }

    /// `_session/steering`.
    pub(super) fn steering(&self, params: &Value) -> Outcome {
        let (name, texts) = (name(params), texts(&params["prompt"]));
        let mut state = self.state();
        if self.options.has("steering-fails") {
            return Ok(json!({ "outcome": "failed", "reason": "scripted" }));
        }
        if state.session(name)?.turn.is_none() {
            // It never starts a turn by itself.
            return Ok(json!({ "outcome": "promptRequired", "reason": "noRunningTurn" }));
        }
        self.hear(&mut state, name, &texts)?;
        steer(&mut state, name, script(&texts))?;
        Ok(json!({ "outcome": "injected" }))
    }

    /// `session/inject`, of mode `steer`: delivered at once.
    pub(super) fn inject(&self, request: &str, params: &Value) -> Result<(), Value> {
        let (name, texts) = (name(params), texts(&params["content"]));
        if params["mode"] != "steer" {
            return Err(shape::error(-32602, "Invalid params", "mode_not_supported"));
        }
        let mut state = self.state();
        if state.session(name)?.turn.is_none() {
            return Err(shape::error(-32010, "Inject precondition failed", "no_running_turn"));
        }
        let id = self.hear(&mut state, name, &texts)?;
        let mut frames = vec![shape::answer(request, Ok(json!({ "messageId": id })))];
        frames.extend(self.echo(name, &id, &texts));
        self.send_with(&state, &frames);
        steer(&mut state, name, script(&texts))
    }

    /// What a client that was asked for it has said into the turn.
    pub(super) fn drained(&self, name: &str, content: &Value) {
        let texts = texts(content);
        let mut state = self.state();
        let heard = self.hear(&mut state, name, &texts);
        heard.and_then(|_| steer(&mut state, name, script(&texts))).expect("the session has a turn");
    }

    pub(super) fn cancel(&self, params: &Value) {
        if let Ok(session) = self.state().session(name(params))
            && let Some(turn) = &mut session.turn
        {
            turn.is_cancelled = true;
        }
        self.wake();
    }

    /// Notes what the user says; gives it an id.
    fn hear(&self, state: &mut State, name: &str, texts: &[String]) -> Result<String, Value> {
        let id = format!("u-{}-{}", self.name, state.next());
        let session = state.session(name)?;
        session.hear(&id, texts);
        keep(self.options.memory.as_deref(), name, Some(session));
        Ok(id)
    }

    fn echo(&self, name: &str, id: &str, texts: &[String]) -> Vec<String> {
        let updates = shape::user_message(self.is_v2(), id, texts);
        updates.iter().map(|update| shape::update(name, update)).collect()
    }
}

fn steer(state: &mut State, name: &str, script: Vec<Command>) -> Result<(), Value> {
    if let Some(turn) = &mut state.session(name)?.turn {
        turn.steers.extend(script);
    }
    Ok(())
}

fn name(params: &Value) -> &str {
    params["sessionId"].as_str().unwrap_or_default()
}

/// The text of each block.
fn texts(blocks: &Value) -> Vec<String> {
    let blocks = blocks.as_array().map_or(&[][..], Vec::as_slice);
    let text = |block: &Value| match (block["text"].as_str(), block["type"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, kind) => format!("[{}]", kind.unwrap_or("nothing")),
    };
    blocks.iter().map(text).collect()
}

/// What is played of it: text with line breaks is context.
fn script(texts: &[String]) -> Vec<Command> {
    texts.iter().filter(|text| !text.contains('\n')).flat_map(|text| script::parse(text)).collect()
}

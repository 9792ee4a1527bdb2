//! How a fault is brought about: a session and a turn are begun, and at the right moment it strikes.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use nudge_stage::{ModelReply, SeenRequest};
use serde_json::json;

use super::{
    guard::own_program,
    play::{FaultPlay, MEANWHILE, SOON, UserAct, wait},
    sign::usual_texts,
    steer::{self, SentSteer},
    table::{FRAIL_TOOL, FaultStrike, FaultyAnswer, HALF},
};
use crate::{
    chat::Turn,
    client::PATIENCE,
    place::Route,
    script::{self, Moment},
    tee::seconds_now,
};

/// How long an agent may take to start the servers of its tools.
const SERVERS_START: Duration = Duration::from_secs(5);

/// Why a fault could not be brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotStruck {
    #[error("its process ended before the fault")]
    Ended,
    #[error("the tool of the MCP server was not offered to the model")]
    NoTool,
    #[error("the model was not asked")]
    NotAsked,
}

/// A turn that the fault has struck.
pub(super) struct StruckTurn {
    pub(super) turn: Turn,
    /// Where the record of the client was.
    pub(super) from: usize,
    pub(super) at: f64,
    pub(super) began: Instant,
    pub(super) steer: Option<SentSteer>,
    /// What the agent says in any turn.
    pub(super) usual: Vec<String>,
}

impl FaultPlay<'_> {
    /// Begins a session and a turn that the fault strikes.
    pub(super) fn strike(&mut self, act: UserAct) -> Result<StruckTurn> {
        self.arm(act);
        self.begin(act)?;
        // Where the model says a word before the fault, all that comes before that was there already.
        let is_told = act == UserAct::Watch && !self.fault.begins;
        let usual = if is_told { self.usual_turn()? } else { Vec::new() };
        if matches!(self.fault.strike, FaultStrike::Vanish) {
            self.scene.provider.vanish()?;
        }
        let prompt = act.text("fault");
        let turn = self.scene.chat()?.prompt(&prompt)?;
        self.until_ready(act, turn)?;
        let is_steered = act == UserAct::Steer;
        let is_before = !matches!(self.fault.strike, FaultStrike::Vanish);
        let mut sent = None;
        if is_steered && is_before {
            let chat = self.scene.chat()?;
            let steer = steer::send(chat, &act.text("said"))?;
            if matches!(self.fault.strike, FaultStrike::AgentDies) {
                // Only what was accepted can be lost with the process.
                wait(chat, SOON, |client| client.response_now(steer.id).is_some());
            }
            sent = Some(steer);
        }
        let from = self.scene.chat()?.client.record.len();
        let (at, began) = (seconds_now(), Instant::now());
        match self.fault.strike {
            FaultStrike::Reply(_) => self.scene.provider.gate(act.word()).open(),
            FaultStrike::AgentDies => self.kill_agent()?,
            FaultStrike::Stall(_) | FaultStrike::Vanish | FaultStrike::ToolServerDies => {}
        }
        if is_steered && !is_before {
            let chat = self.scene.chat()?;
            wait(chat, MEANWHILE, |_| false);
            sent = Some(steer::send(chat, &act.text("said"))?);
        }
        Ok(StruckTurn { turn, from, at, began, steer: sent, usual })
    }

    /// A turn in which nothing is wrong; gives what the agent says beside the model.
    fn usual_turn(&mut self) -> Result<Vec<String>> {
        const PROMPT: &str = "peers-usual";
        let rule = self.scene.provider.on_any().at_any_moment();
        let rule = rule.when(|seen| script::moment(seen, PROMPT) == Some(Moment::Said));
        rule.reply(ModelReply::text("as usual"));
        let chat = self.scene.chat()?;
        let turn = chat.prompt(PROMPT)?;
        chat.end_of(turn, PATIENCE)?;
        Ok(usual_texts(chat.updates(turn.since)))
    }

    /// Kills the agent. Its client knows when the connection has ended; behind Nudge it has not.
    fn kill_agent(&mut self) -> Result<()> {
        self.scene.place.kill_agent()?;
        if self.scene.route == Route::Direct {
            wait(self.scene.chat()?, PATIENCE, |_| false);
        }
        Ok(())
    }

    /// Waits until the fault can strike: the model is asked, its first word is heard, the tool is called.
    fn until_ready(&mut self, act: UserAct, turn: Turn) -> Result<()> {
        let gate = self.scene.provider.gate(act.word());
        let told = self.told(act);
        let strike = self.fault.strike;
        let is_ready = move || match strike {
            FaultStrike::Vanish => true,
            FaultStrike::ToolServerDies => told.exists(),
            _ => gate.arrivals() > 0,
        };
        let chat = self.scene.chat()?;
        wait(chat, PATIENCE, |client| is_ready() || client.response_now(turn.id).is_some());
        if !is_ready() {
            return Err(match (strike, chat.client.is_gone) {
                (_, true) => NotStruck::Ended,
                (FaultStrike::ToolServerDies, _) => NotStruck::NoTool,
                _ => NotStruck::NotAsked,
            }
            .into());
        }
        if self.fault.begins {
            let (since, session) = (turn.since, chat.session.clone());
            // Some tell nothing until there is more.
            wait(chat, SOON, |client| {
                let mut later = client.notifications[since..].iter().map(|(_, params)| params);
                later.any(|params| {
                    params["sessionId"] == session.as_str() && params.to_string().contains(HALF.trim())
                })
            });
        }
        Ok(())
    }

    /// Tells the model's server what to do in this act.
    fn arm(&self, act: UserAct) {
        let provider = &self.scene.provider;
        let next = act.text("next");
        let is_next = move |seen: &SeenRequest| script::moment(seen, &next) == Some(Moment::Said);
        provider.on_any().at_any_moment().when(is_next).reply(ModelReply::text("still here"));
        self.illness.is_on.store(true, Ordering::Relaxed);
        let (fault, said, lasts) = (act.text("fault"), act.text("said"), self.fault.lasts);
        let illness = Arc::clone(&self.illness);
        let is_struck = move |seen: &SeenRequest| {
            let moments = [script::moment(seen, &fault), script::moment(seen, &said).filter(|_| lasts)];
            let is_new = moments.contains(&Some(Moment::Said));
            let is_about_it = is_new || lasts && moments.contains(&Some(Moment::Result));
            is_about_it && illness.is_on.load(Ordering::Relaxed)
        };
        let rule = provider.on_any().at_any_moment().when(is_struck);
        let rule = if lasts { rule } else { rule.times(1) };
        let rule = if self.scene.recipe.shell.is_some() { rule.with_tools() } else { rule };
        let answer = self.answer(act);
        let illness = Arc::clone(&self.illness);
        rule.reply_with(move |seen| {
            illness.struck.lock().push(seen.body.clone());
            answer(seen)
        });
    }

    fn answer(&self, act: UserAct) -> impl Fn(&SeenRequest) -> ModelReply + Send + use<> {
        let strike = self.fault.strike;
        let shell = self.scene.recipe.shell.as_ref().map(|tool| tool.tool.clone()).unwrap_or_default();
        move |seen| {
            // Of several names the one that is there.
            let name = shell.split('|').find(|name| seen.has_tool(name));
            let name = name.or_else(|| shell.split('|').next()).unwrap_or_default();
            let answer = FaultyAnswer { dialect: seen.dialect, gate: act.word(), shell: name };
            match strike {
                FaultStrike::Reply(reply) | FaultStrike::Stall(reply) => reply(&answer),
                FaultStrike::AgentDies => ModelReply::stall(HALF, act.word()),
                FaultStrike::ToolServerDies => ModelReply::call(&format!(".*{FRAIL_TOOL}"), json!({})),
                FaultStrike::Vanish => ModelReply::text("All right."),
            }
        }
    }

    fn begin(&mut self, act: UserAct) -> Result<()> {
        let (work, told) = (self.scene.place.work(), self.told(act));
        let is_frail = matches!(self.fault.strike, FaultStrike::ToolServerDies);
        let servers = if is_frail {
            json!([{ "name": "frail", "command": own_program()?, "args": ["frail-server", told], "env": [] }])
        } else {
            json!([])
        };
        let chat = self.scene.connected()?;
        let result = chat.client.call("session/new", &json!({ "cwd": work, "mcpServers": servers }))?;
        result["sessionId"].as_str().context("a session has an id")?.clone_into(&mut chat.session);
        if is_frail {
            wait(chat, SERVERS_START, |_| false);
        }
        Ok(())
    }

    /// The file by which the server of the tool tells that it was called.
    fn told(&self, act: UserAct) -> PathBuf {
        self.scene.place.root().join(format!("called-{}", act.word()))
    }
}

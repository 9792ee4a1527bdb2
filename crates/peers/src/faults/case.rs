//! One agent and one fault: it is watched, steered and cancelled, each in a session of its own.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::{
    crew::CrewMember,
    guard::{RunGuard, end_all_in},
    outcome::{CancelFate, TriedCase, rounded},
    play::{FaultPlay, MEANWHILE, SOON, UserAct, wait},
    sign::SignSearch,
    steer::{self, STEER_PATIENCE, SteerFate},
    table::{AgentFault, FaultStrike},
};
use crate::{
    chat::{Chat, Turn, Version},
    install::Cache,
    run::Scene,
};

/// How long is waited for the end of a turn once the user has seen something.
const AFTER_SIGN: Duration = Duration::from_secs(10);
/// How long is waited for the end of a turn that was cancelled.
const AFTER_CANCEL: Duration = Duration::from_secs(10);
/// How long the next turn may take.
const NEXT: Duration = Duration::from_secs(30);
/// How often what the model was asked is looked through.
const GLANCE: Duration = Duration::from_millis(200);

/// Takes an agent through a fault. An error means that the fault could not be brought about.
pub(crate) fn play(
    member: &CrewMember,
    cache: &Cache,
    guard: &RunGuard,
    fault: &'static AgentFault,
    records: &Path,
) -> Result<TriedCase> {
    let scene = Scene::new(&member.recipe, cache, Version::V1, member.route.clone())?;
    let folder = scene.place.root().to_owned();
    guard.watch(&folder)?;
    let mut play = FaultPlay { scene, fault, illness: Arc::default() };
    let outcome = play.all();
    play.scene.kill();
    let _ = play.scene.keep(records);
    // What an agent has started may not have ended with it.
    end_all_in(&folder);
    outcome
}

impl FaultPlay<'_> {
    fn all(&mut self) -> Result<TriedCase> {
        let mut tried = TriedCase { cap: self.fault.cap.as_secs(), ..TriedCase::default() };
        self.watch(&mut tried)?;
        self.steer(&mut tried)?;
        let is_over_at_once = tried.end.is_some_and(|end| end <= MEANWHILE.as_secs_f64());
        if !is_over_at_once && !matches!(self.fault.strike, FaultStrike::AgentDies) {
            self.cancel(&mut tried)?;
        }
        Ok(tried)
    }

    /// Nothing is done about the fault.
    fn watch(&mut self, tried: &mut TriedCase) -> Result<()> {
        let struck = self.strike(UserAct::Watch)?;
        let (cap, turn, from, at) = (self.fault.cap, struck.turn, struck.from, struck.at);
        let chat = self.scene.chat()?;
        let session = chat.session.clone();
        let search = SignSearch { session: &session, prompt: turn.id, struck: at, usual: &struck.usual };
        let sign = |chat: &Chat| search.first_sign(&chat.client.record[from..]);
        // The record is looked through only so often.
        while struck.began.elapsed() < cap && !chat.client.is_gone && sign(chat).is_none() {
            wait(chat, Duration::from_millis(50), |_| false);
        }
        let gone = chat.client.is_gone.then(|| struck.began.elapsed().as_secs_f64());
        tried.sign = sign(chat).or(gone).map(rounded);
        let left = cap.saturating_sub(struck.began.elapsed()).min(AFTER_SIGN);
        if self.until_over(turn, left)? {
            tried.end = Some(rounded(struck.began.elapsed().as_secs_f64()));
        } else {
            tried.cancel = Some(self.cancel_now(turn)?);
        }
        self.next(UserAct::Watch, tried)
    }

    /// A message is sent as the fault strikes. The server is well again a moment later.
    fn steer(&mut self, tried: &mut TriedCase) -> Result<()> {
        let act = UserAct::Steer;
        let struck = self.strike(act)?;
        let sent = struck.steer.context("a message was sent")?;
        let text = act.text("said");
        let (mut is_well, mut over_since) = (false, None);
        let fate = loop {
            if !is_well && struck.began.elapsed() > MEANWHILE {
                self.heal()?;
                is_well = true;
            }
            let has_reached = self.has_reached(&text);
            let chat = self.scene.chat()?;
            let answer = sent.answer(chat).map(steer::fate_of);
            if has_reached {
                break Some(SteerFate::Reached(rounded(struck.began.elapsed().as_secs_f64())));
            }
            let is_over = chat.has_ended(struck.turn) && answer.is_some();
            let since = is_over.then(|| *over_since.get_or_insert_with(Instant::now));
            let is_refused = matches!(answer, Some(SteerFate::Refused(_)));
            let is_in_vain = since.is_some_and(|since| since.elapsed() > SOON);
            if is_refused || is_in_vain || chat.client.is_gone || struck.began.elapsed() > STEER_PATIENCE {
                break None;
            }
            wait(chat, GLANCE, |_| false);
        };
        let patience = if fate.is_some() { AFTER_SIGN } else { Duration::ZERO };
        if !self.until_over(struck.turn, patience)? {
            self.cancel_now(struck.turn)?;
        }
        let chat = self.scene.chat()?;
        let (is_gone, deaths) = (chat.client.is_gone, tried.dead.len());
        let mut otherwise = sent.without_model(chat, is_gone);
        self.next(act, tried)?;
        if !is_gone && tried.dead.len() == deaths {
            // What waits behind a turn may be answered only now.
            otherwise = sent.without_model(self.scene.chat()?, false);
        }
        let later = || self.has_reached(&text).then_some(SteerFate::ReachedLater);
        tried.steer = Some(fate.or_else(later).unwrap_or(otherwise));
        Ok(())
    }

    /// The turn is cancelled while the fault lasts.
    fn cancel(&mut self, tried: &mut TriedCase) -> Result<()> {
        let struck = self.strike(UserAct::Cancel)?;
        if !self.until_over(struck.turn, MEANWHILE)? {
            let fate = self.cancel_now(struck.turn)?;
            tried.cancel = Some(tried.cancel.map_or(fate, |before| before.worse(fate)));
        }
        self.next(UserAct::Cancel, tried)
    }

    fn cancel_now(&mut self, turn: Turn) -> Result<CancelFate> {
        self.scene.chat()?.cancel()?;
        let began = Instant::now();
        let is_over = self.until_over(turn, AFTER_CANCEL)?;
        let took = rounded(began.elapsed().as_secs_f64());
        Ok(if is_over { CancelFate::Over(took) } else { CancelFate::Never })
    }

    /// The next prompt in the same session, with the server well again.
    fn next(&mut self, act: UserAct, tried: &mut TriedCase) -> Result<()> {
        self.heal()?;
        if let Err(error) = self.try_next(act) {
            eprintln!("    the next prompt after `{}` failed: {error:#}", act.word());
            tried.dead.push(act.word().to_owned());
            // What it has left behind is no concern of the next act.
            self.scene.kill();
        }
        Ok(())
    }

    fn try_next(&mut self, act: UserAct) -> Result<()> {
        if self.scene.chat()?.client.is_gone {
            self.take_up()?;
        }
        let chat = self.scene.chat()?;
        let turn = chat.prompt(&act.text("next"))?;
        let reason = chat.end_of(turn, NEXT)?;
        let text = chat.agent_text(turn.since);
        if reason != "end_turn" || !text.contains("still here") {
            bail!("it ended as {reason}, with {} letters", text.len());
        }
        Ok(())
    }

    /// Starts the agent again and takes up its session, as an editor would.
    fn take_up(&mut self) -> Result<()> {
        if !matches!(self.fault.strike, FaultStrike::AgentDies) {
            bail!("its process ended");
        }
        let (session, work) = (self.scene.chat()?.session.clone(), self.scene.place.work());
        self.scene.kill();
        let chat = self.scene.connected()?;
        let capabilities = chat.capabilities();
        let method = if capabilities["loadSession"] == true {
            "session/load"
        } else if capabilities["sessionCapabilities"]["resume"].is_object() {
            "session/resume"
        } else {
            bail!("it cannot load a session");
        };
        let params = json!({ "sessionId": session, "cwd": work, "mcpServers": [] });
        chat.client.call(method, &params)?;
        chat.session = session;
        Ok(())
    }
}

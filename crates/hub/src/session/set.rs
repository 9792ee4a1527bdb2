//! A client sets a mode or an option.

use std::sync::Arc;

use nudge_bridge::Call;
use nudge_mailbox::ClientId;
use nudge_peer::Responder;
use nudge_store::SessionChange;
use nudge_wire::{Error, RawJson};

use crate::{
    backend::SessionAgent,
    client::{Client, Out},
    params::{SetOption, read},
    session::{
        Command,
        actor::Actor,
        outbox::{Effect, Step},
        unknown,
    },
    shape,
};

/// What an adapted agent answered to a request that sets something.
#[derive(Debug)]
pub(crate) struct SetDone {
    client: Arc<Client>,
    is_mode: bool,
    call: Call,
    outcome: Result<RawJson, Error>,
    responder: Responder,
}

impl SetDone {
    /// How long what it says is.
    pub(crate) fn size(&self) -> usize {
        let answer = self.outcome.as_ref().map_or(0, |answer| answer.as_str().len());
        answer + self.call.params.as_str().len()
    }
}

impl Actor {
    /// Sets a mode or an option.
    pub(crate) fn set(&mut self, client: &Arc<Client>, is_mode: bool, params: RawJson, responder: Responder) {
        if matches!(self.backend, SessionAgent::BuiltIn(_)) {
            let mut step = Step::default();
            let outcome = self.set_built_in(client.id, is_mode, params, &mut step);
            step.answer(client, responder, outcome);
            return self.finish(step);
        }
        let version = self.backend.version();
        let call = self.view(client.id).and_then(|view| view.set_call(version, is_mode, &params));
        let Some(call) = call else {
            let error = Error::invalid_params("Invalid params: expected a `modeId`");
            return client.push(Out::Answer(responder, Err(error)));
        };
        let SessionAgent::Adapted(agent) = &self.backend else { return };
        let asked = agent.request(&call.method, &call.params);
        let (handle, client) = (self.handle(), Arc::clone(client));
        tokio::spawn(async move {
            let outcome = asked.await;
            let done = SetDone { client, is_mode, call, outcome, responder };
            // Without a session nobody can set anything, and dropping the request answers it.
            let _ = handle.send(Command::SetDone(Box::new(done))).await;
        });
    }

    /// Answers as the client reads it, and notes what is set now.
    pub(crate) fn set_done(&mut self, done: SetDone) {
        let SetDone { client, is_mode, call, outcome, responder } = done;
        let version = self.backend.version();
        let outcome = outcome.map(|answer| {
            if let SessionAgent::Adapted(agent) = &mut self.backend {
                agent.set(&call.method, &call.params, &answer);
            }
            match self.view(client.id) {
                Some(view) => view.set_answer(version, is_mode, &call, answer),
                None => answer,
            }
        });
        client.push(Out::Answer(responder, outcome));
    }

    /// Has an option written down, to be set and answered once it cannot be lost.
    fn set_built_in(
        &mut self,
        client: ClientId,
        is_mode: bool,
        params: RawJson,
        step: &mut Step,
    ) -> Result<RawJson, Error> {
        let SessionAgent::BuiltIn(agent) = &mut self.backend else { return Err(unknown()) };
        let view = self.views.iter_mut().find(|view| view.client.id == client).ok_or_else(unknown)?;
        let params = view.set_params(is_mode, params);
        let params = params.ok_or_else(|| Error::invalid_params("Invalid params: expected a `modeId`"))?;
        let set: SetOption = read("session/set_config_option", Some(&params))?;
        let checked = agent.will_set(&set.config_id, &set.value);
        let (options, saved) =
            checked.map_err(|error| Error::invalid_params(format!("Invalid params: {error}")))?;
        let result = view.set_result(shape::config_options(&options));
        step.update_row(SessionChange {
            config: Some(saved.as_str().to_owned()),
            ..SessionChange::default()
        });
        step.is_durable = true;
        step.effects.push(Effect::SetOption(set));
        Ok(if is_mode { shape::empty() } else { result })
    }

    /// Sets an option that is written down.
    pub(crate) fn set_option(&mut self, set: &SetOption) {
        if let SessionAgent::BuiltIn(agent) = &mut self.backend {
            // It was tried before, on the same options.
            if let Err(error) = agent.set_option(&set.config_id, &set.value) {
                tracing::warn!(%error, "an option could not be set");
            }
            self.set_in_stream();
            self.interrupt_now();
        }
    }
}

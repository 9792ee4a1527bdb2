//! A client sets a mode or an option.

use std::sync::Arc;

use nudge_bridge::Call;
use nudge_mailbox::ClientId;
use nudge_peer::Responder;
use nudge_session::{OptionChange, SessionInput, SessionRequest, unknown_session};
use nudge_wire::{Error, RawJson};

use crate::{
    backend::SessionAgent,
    client::{Client, Out},
    params::{SetOption, read},
    session::{Command, driver::SessionDriver},
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

impl SessionDriver {
    /// Sets a mode or an option.
    pub(crate) fn set(&mut self, client: &Arc<Client>, is_mode: bool, params: RawJson, responder: Responder) {
        if matches!(self.agent, SessionAgent::BuiltIn(_)) {
            let what = self.set_built_in(client.id, is_mode, params).unwrap_or_else(SessionRequest::Refused);
            return self.ask_core(client, responder, what, false);
        }
        let version = self.agent.version();
        let Some(view) = self.view(client.id) else {
            return client.push(Out::Answer(responder, Err(unknown_session())));
        };
        let Some(call) = view.set_call(version, is_mode, &params) else {
            return client.push(Out::Answer(responder, Err(no_mode())));
        };
        let SessionAgent::Adapted(agent) = &self.agent else { return };
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
        let version = self.agent.version();
        let outcome = outcome.map(|answer| {
            if let SessionAgent::Adapted(agent) = &mut self.agent {
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
    ) -> Result<SessionRequest, Error> {
        let SessionAgent::BuiltIn(agent) = &mut self.agent else { return Err(unknown_session()) };
        let view = self.views.iter_mut().find(|view| view.client.id == client).ok_or_else(unknown_session)?;
        let params = view.set_params(is_mode, params).ok_or_else(no_mode)?;
        let set: SetOption = read("session/set_config_option", Some(&params))?;
        let checked = agent.will_set(&set.config_id, &set.value);
        let (options, config) =
            checked.map_err(|error| Error::invalid_params(format!("Invalid params: {error}")))?;
        let result = view.set_result(shape::config_options(&options));
        let answer = if is_mode { shape::empty() } else { result };
        let option = OptionChange { config_id: set.config_id, value: set.value };
        Ok(SessionRequest::SetOption { option, config, answer })
    }

    /// Sets an option that is written down.
    pub(crate) fn set_option(&mut self, set: &OptionChange) {
        if let SessionAgent::BuiltIn(agent) = &mut self.agent {
            // It was tried before, on the same options.
            if let Err(error) = agent.set_option(&set.config_id, &set.value) {
                tracing::warn!(%error, "an option could not be set");
            }
            self.feed(SessionInput::SteerMethod(self.agent.steer_method()));
        }
    }
}

fn no_mode() -> Error {
    Error::invalid_params("Invalid params: expected a `modeId`")
}

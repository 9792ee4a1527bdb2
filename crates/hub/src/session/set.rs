//! A client sets a mode or an option.

use std::sync::Arc;

use nudge_backend::OptionPlan;
use nudge_bridge::MethodCall;
use nudge_peer::RequestResponder;
use nudge_session::{SessionRequest, unknown_session};
use nudge_wire::{Error, Id, RawJson};

use crate::{
    client::{ClientMessage, ConnectedClient},
    session::{SessionCommand, driver::SessionDriver},
};

/// What an agent answered to a request that sets something.
#[derive(Debug)]
pub(crate) struct SetDone {
    client: Arc<ConnectedClient>,
    is_mode: bool,
    call: MethodCall,
    outcome: Result<RawJson, Error>,
    responder: RequestResponder,
}

impl SetDone {
    /// How long what it says is.
    pub(crate) fn size(&self) -> usize {
        let answer = self.outcome.as_ref().map_or(0, |answer| answer.as_str().len());
        answer + self.call.params.as_str().len()
    }
}

impl SessionDriver {
    /// Sets a mode or an option: once that is written down, or as the agent decides.
    pub(crate) fn set(
        &mut self,
        client: &Arc<ConnectedClient>,
        is_mode: bool,
        params: &RawJson,
        responder: RequestResponder,
    ) {
        let (call, plan) = match self.plan(client, is_mode, params, responder.id()) {
            Ok(planned) => planned,
            Err(error) => {
                return self.ask_core(client, responder, SessionRequest::Refused(error), false);
            }
        };
        match plan {
            OptionPlan::Keep { option, config, answer } => {
                let answer = self.answer_for(client, is_mode, &call, answer);
                let what = SessionRequest::SetOption { option, config, answer };
                self.ask_core(client, responder, what, false);
            }
            OptionPlan::Ask(asked) => {
                let (handle, client) = (self.handle(), Arc::clone(client));
                tokio::spawn(async move {
                    let outcome = asked.await;
                    let done = SetDone { client, is_mode, call, outcome, responder };
                    // Without a session nobody can set anything, and dropping the request answers it.
                    let _ = handle.send(SessionCommand::SetDone(Box::new(done))).await;
                });
            }
        }
    }

    fn plan(
        &mut self,
        client: &ConnectedClient,
        is_mode: bool,
        params: &RawJson,
        id: &Id,
    ) -> Result<(MethodCall, OptionPlan), Error> {
        let version = self.agent.version();
        let view = self.view(client.id).ok_or_else(unknown_session)?;
        let call = view.set_call(version, is_mode, params);
        let call = call.ok_or_else(|| Error::invalid_params("Invalid params: expected a `modeId`"))?;
        let plan = self.agent.plan_option(&call, client.origin(id))?;
        Ok((call, plan))
    }

    /// Answers as the client reads it, and notes what is set now.
    pub(crate) fn set_done(&mut self, done: SetDone) {
        let SetDone { client, is_mode, call, outcome, responder } = done;
        let outcome = outcome.map(|answer| {
            self.agent.option_answered(&call, &answer);
            self.answer_for(&client, is_mode, &call, answer)
        });
        client.push(ClientMessage::Answer(responder, outcome));
    }

    fn answer_for(
        &mut self,
        client: &ConnectedClient,
        is_mode: bool,
        call: &MethodCall,
        answer: RawJson,
    ) -> RawJson {
        let version = self.agent.version();
        match self.view(client.id) {
            Some(view) => view.set_answer(version, is_mode, call, answer),
            None => answer,
        }
    }
}

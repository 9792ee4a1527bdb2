//! The session's end of a scripted agent.

use std::sync::Arc;

use nudge_backend::{
    AgentQuestion, Backend, BackendEvent, BackendFuture, BackendParting, OptionChange, OptionPlan,
    PassThrough, QuestionAnswer, QuestionId, SteerMethod, UserMessage,
};
use nudge_bridge::{IndexedUpdate, MethodCall};
use nudge_peer::PassedMessage;
use nudge_wire::{
    ClientContext, Environment, Error, RawJson, RequestOrigin, Version, caps::ElicitationModes,
};
use serde_json::json;
use tokio::sync::mpsc;

use super::{Shared, Traits, raw};
use crate::connected::text;

/// The session's end of it.
pub(super) struct ScriptedBackend {
    pub(super) reports: mpsc::UnboundedReceiver<BackendEvent>,
    pub(super) told: mpsc::UnboundedSender<String>,
    pub(super) shared: Arc<Shared>,
}

impl ScriptedBackend {
    fn note(&self, what: impl Into<String>) {
        // The test may have enough of it.
        let _ = self.told.send(what.into());
    }

    fn traits(&self) -> Traits {
        self.shared.traits.lock().clone()
    }

    fn notes_environment(&self, environment: Option<Environment>) {
        self.shared.environments.lock().push(environment);
    }
}

impl Backend for ScriptedBackend {
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>> {
        Box::pin(self.reports.recv())
    }

    fn try_next(&mut self) -> Option<BackendEvent> {
        self.reports.try_recv().ok()
    }

    fn prompt(&mut self, messages: Vec<UserMessage>, client: ClientContext) {
        self.notes_environment(client.environment);
        self.note(words("prompt", &messages));
    }

    fn steer(&mut self, messages: Vec<UserMessage>) {
        self.note(words("steer", &messages));
    }

    fn go_on(&mut self, messages: Vec<UserMessage>) {
        self.note(words("go on", &messages));
    }

    fn interrupt(&mut self) {
        self.note("interrupt");
    }

    fn cancel(&mut self) {
        self.note("cancel");
    }

    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer) {
        let told = match answer {
            Ok(answer) => answer.as_str().to_owned(),
            Err(error) => format!("error: {}", error.message),
        };
        self.note(format!("answer {}: {told}", question.0));
    }

    fn serve(&mut self, question: AgentQuestion, environment: Option<Environment>) {
        self.notes_environment(environment);
        self.note(format!("serve {}: {}", question.id.0, question.method));
    }

    fn plan_option(&mut self, call: &MethodCall, _: Option<RequestOrigin>) -> Result<OptionPlan, Error> {
        let member = |name: &str| call.params.get(&[name]);
        let named = member("configId").or_else(|| member("modeId"));
        let config_id = named.ok_or_else(|| Error::invalid_params("which option?"))?;
        let config_id: String = config_id.to().map_err(|_| Error::invalid_params("which option?"))?;
        if config_id == "none" {
            return Err(Error::invalid_params("there is no such option"));
        }
        self.note(format!("plan {config_id}"));
        if !self.traits().keeps_options {
            let (answer, answered) = tokio::sync::oneshot::channel();
            self.shared.asked.lock().push(answer);
            let gone = |_| Err(Error::internal("the agent is gone"));
            return Ok(OptionPlan::Ask(Box::pin(async move { answered.await.unwrap_or_else(gone) })));
        }
        let value = member("value").unwrap_or_else(|| raw(&json!(true)));
        let config = raw(&json!({ "set": config_id }));
        let answer = raw(&json!({ "configOptions": [] }));
        Ok(OptionPlan::Keep { option: OptionChange { config_id, value }, config, answer })
    }

    fn set_option(&mut self, option: &OptionChange) {
        self.note(format!("set {} to {}", option.config_id, option.value.as_str()));
    }

    fn forget_options(&mut self) {
        self.note("forget options");
    }

    fn option_answered(&mut self, call: &MethodCall, answer: &RawJson) {
        self.note(format!("{} answered: {}", call.method, answer.as_str()));
    }

    fn steer_method(&self) -> SteerMethod {
        self.traits().steer_method
    }

    fn version(&self) -> Version {
        self.traits().version
    }

    fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson {
        let mut opened = json!({ "_meta": meta });
        if let Some(id) = id {
            opened["sessionId"] = json!(id);
        }
        raw(&opened)
    }

    fn standing(&self) -> Vec<IndexedUpdate> {
        Vec::new()
    }

    fn takes(&self, content: &str) -> bool {
        content == "text"
    }

    fn wants_title(&self) -> bool {
        self.traits().wants_title
    }

    fn has_own_tools(&self) -> bool {
        self.traits().has_own_tools
    }

    fn elicitation_modes(&self) -> ElicitationModes {
        self.traits().elicitation
    }

    fn end(&mut self, parting: BackendParting) -> BackendFuture<'_, ()> {
        Box::pin(async move {
            self.note(format!("end: {parting:?}"));
            if self.traits().ends_slowly {
                self.shared.may_end.notified().await;
            }
        })
    }
}

impl PassThrough<PassedMessage> for ScriptedBackend {
    fn pass(&mut self, message: PassedMessage) -> Result<(), PassedMessage> {
        if !self.traits().is_open {
            return Err(message);
        }
        self.note(format!("pass {}", message.message.method()));
        self.shared.passed.lock().push(message);
        Ok(())
    }
}

fn words(what: &str, messages: &[UserMessage]) -> String {
    let said_in = |message: &UserMessage| text(&message.content.to().expect("it is content"));
    let said: Vec<String> = messages.iter().map(said_in).collect();
    if said.is_empty() { what.to_owned() } else { format!("{what}: {}", said.join(" | ")) }
}

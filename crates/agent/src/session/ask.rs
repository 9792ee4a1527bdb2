//! What others are asked: the editor, the user, and whoever holds the user's pending messages.

use nudge_backend::{
    BackendEvent, CREATE_ELICITATION, QuestionAnswer, REQUEST_PERMISSION, UserMessage, nobody_answers,
};
use nudge_wire::{RawJson, Version};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{AgentSession, Halt};
use crate::{
    config::{AgentMode, AlwaysAnswer},
    update,
};

/// Something that needs permission.
pub(crate) struct GuardedDeed {
    /// Whether the mode in which files are changed without a question covers it.
    pub(crate) is_edit: bool,
    /// What a standing permission would be for; `None` if there cannot be one.
    pub(crate) standing: Option<StandingPermission>,
    /// Another key under which the user may have refused it for good.
    pub(crate) refused_by: Option<String>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) subject: Value,
}

/// What "always" means for a deed.
pub(crate) struct StandingPermission {
    /// The key it is kept under.
    pub(crate) key: String,
    /// How it is named to the user.
    pub(crate) what: String,
}

/// What came of asking.
pub(crate) enum PermissionVerdict {
    Allowed,
    Refused(String),
}

impl AgentSession {
    /// Asks the editor and waits for its answer.
    pub(super) async fn ask_client(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<QuestionAnswer, Halt> {
        let answer = self.tell_client(method, params).await?;
        Ok(answer.await.unwrap_or_else(|_| Err(nobody_answers(method))))
    }

    /// Asks the editor; the answer may be left to itself.
    pub(super) async fn tell_client(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<oneshot::Receiver<QuestionAnswer>, Halt> {
        self.ask_of_session(Version::V1, method, params).await
    }

    /// Asks the user by a form; whoever shows forms is asked.
    pub(super) async fn ask_form(&mut self, params: Value) -> Result<QuestionAnswer, Halt> {
        let answer = self.ask_of_session(Version::V2, CREATE_ELICITATION, params).await?;
        Ok(answer.await.unwrap_or_else(|_| Err(nobody_answers(CREATE_ELICITATION))))
    }

    async fn ask_of_session(
        &self,
        version: Version,
        method: &'static str,
        mut params: Value,
    ) -> Result<oneshot::Receiver<QuestionAnswer>, Halt> {
        params["sessionId"] = json!(self.id);
        self.outlet.ask(version, method, update::raw(&params)).await
    }

    /// Waits for what the user has said meanwhile.
    pub(super) async fn break_point(&mut self) -> Result<Vec<UserMessage>, Halt> {
        let coming = self.open.steers.insert(self.outlet.asked.break_point());
        self.outlet.send(BackendEvent::BreakPoint).await?;
        let steers = coming.await.unwrap_or_default();
        self.open.steers = None;
        // An interrupt sent before the answer was meant for the stream before the break-point.
        self.control.forget_interrupt();
        Ok(steers)
    }

    /// Whether the deed may be done, as the mode, standing permissions and the user say.
    pub(super) async fn permit(&mut self, deed: GuardedDeed) -> Result<PermissionVerdict, Halt> {
        if let Some(verdict) = self.decided(&deed) {
            return Ok(verdict);
        }
        let request = update::raw(&json!({
            "title": deed.title,
            "description": deed.description,
            "subject": deed.subject,
            "options": options(deed.standing.as_ref()),
        }));
        let coming = self.outlet.ask(Version::V2, REQUEST_PERMISSION, request).await?;
        let answer = coming.await.ok().and_then(Result::ok).ok_or(Halt::Cancelled)?;
        let choice = Choice::read(&answer)?;
        if let (Choice::Always(always), Some(standing)) = (&choice, &deed.standing) {
            let saved = {
                let mut config = self.outlet.config();
                config.remember(&standing.key, *always);
                config.save()
            };
            self.outlet.send(BackendEvent::Config(saved)).await?;
        }
        Ok(match choice {
            Choice::Once(AlwaysAnswer::Allow) | Choice::Always(AlwaysAnswer::Allow) => {
                PermissionVerdict::Allowed
            }
            Choice::Once(AlwaysAnswer::Reject) | Choice::Always(AlwaysAnswer::Reject) => {
                PermissionVerdict::Refused("The user did not permit this.".to_owned())
            }
        })
    }

    /// The verdict where nobody has to be asked.
    fn decided(&self, deed: &GuardedDeed) -> Option<PermissionVerdict> {
        let config = self.outlet.config();
        let said = |key: &String| config.always(key);
        let standing = deed.standing.as_ref().and_then(|standing| said(&standing.key));
        let refused = deed.refused_by.as_ref().and_then(said).filter(|said| *said == AlwaysAnswer::Reject);
        match (config.mode(), refused.or(standing)) {
            (AgentMode::ReadOnly, _) => Some(PermissionVerdict::Refused(
                "The session is in read-only mode: files are not changed and commands are not run."
                    .to_owned(),
            )),
            (_, Some(AlwaysAnswer::Reject)) => {
                Some(PermissionVerdict::Refused("The user has said never to permit this.".to_owned()))
            }
            (_, Some(AlwaysAnswer::Allow)) => Some(PermissionVerdict::Allowed),
            (AgentMode::Edit, None) => deed.is_edit.then_some(PermissionVerdict::Allowed),
            (AgentMode::Ask, None) => None,
        }
    }
}

fn options(standing: Option<&StandingPermission>) -> Vec<Value> {
    let option = |id: &str, name: String| json!({ "optionId": id, "name": name, "kind": id });
    let mut options = vec![option("allow_once", "Allow".to_owned())];
    if let Some(StandingPermission { what, .. }) = standing {
        options.push(option("allow_always", format!("Always allow {what}")));
    }
    options.push(option("reject_once", "Reject".to_owned()));
    if let Some(StandingPermission { what, .. }) = standing {
        options.push(option("reject_always", format!("Never allow {what}")));
    }
    options
}

enum Choice {
    Once(AlwaysAnswer),
    Always(AlwaysAnswer),
}

impl Choice {
    /// What is not understood is no permission; the outcome `cancelled` ends the turn.
    fn read(answer: &RawJson) -> Result<Self, Halt> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Outcome {
            outcome: String,
            option_id: String,
        }
        let outcome =
            answer.get(&["outcome"]).and_then(|outcome| outcome.to::<Outcome>().ok()).unwrap_or_default();
        match (outcome.outcome.as_str(), outcome.option_id.as_str()) {
            ("cancelled", _) => Err(Halt::Cancelled),
            ("selected", "allow_once") => Ok(Self::Once(AlwaysAnswer::Allow)),
            ("selected", "allow_always") => Ok(Self::Always(AlwaysAnswer::Allow)),
            ("selected", "reject_always") => Ok(Self::Always(AlwaysAnswer::Reject)),
            _ => Ok(Self::Once(AlwaysAnswer::Reject)),
        }
    }
}

//! Which request gets which reply.

use std::{fmt, sync::Arc};

use crate::{provider::ProviderShared, reply::ModelReply, seen::SeenRequest};

/// A rule in the making: conditions, and at last the reply. Of the rules that fit a request the first one given is taken.
///
/// Unless told otherwise it is for requests whose last message is the user's, not a tool's result: a reply that calls a
/// tool would call it for ever.
#[must_use = "a rule takes effect with `reply`"]
pub struct ReplyRule {
    shared: Arc<ProviderShared>,
    condition: Condition,
}

struct Condition {
    text: Option<String>,
    is_anywhere: bool,
    moment: Moment,
    tools: Option<bool>,
    uses: Option<usize>,
    tests: Vec<Test>,
}

type Test = Box<dyn Fn(&SeenRequest) -> bool + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Input,
    Result,
    Any,
}

impl ReplyRule {
    pub(crate) fn new(shared: Arc<ProviderShared>, text: Option<String>) -> Self {
        let moment = Moment::Input;
        let condition =
            Condition { text, is_anywhere: false, moment, tools: None, uses: None, tests: Vec::new() };
        Self { shared, condition }
    }

    /// Looks for the text in all messages, the system prompt's included, and not only in the last of the user.
    pub fn anywhere(mut self) -> Self {
        self.condition.is_anywhere = true;
        self
    }

    /// Only if the last message is the result of a tool.
    pub fn after_tool_result(mut self) -> Self {
        self.condition.moment = Moment::Result;
        self
    }

    /// Whether the last message is the user's or a tool's result.
    pub fn at_any_moment(mut self) -> Self {
        self.condition.moment = Moment::Any;
        self
    }

    /// Only if the request has tools; most side requests (titles, summaries) have none.
    pub fn with_tools(mut self) -> Self {
        self.condition.tools = Some(true);
        self
    }

    /// Only if the request has no tools.
    pub fn without_tools(mut self) -> Self {
        self.condition.tools = Some(false);
        self
    }

    /// Only if `test` says so. It must not use the provider itself.
    pub fn when(mut self, test: impl Fn(&SeenRequest) -> bool + Send + 'static) -> Self {
        self.condition.tests.push(Box::new(test));
        self
    }

    /// For this many requests only.
    pub fn times(mut self, uses: usize) -> Self {
        self.condition.uses = Some(uses);
        self
    }

    /// Adds the rule, with this reply.
    pub fn reply(self, reply: ModelReply) {
        self.reply_with(move |_| reply.clone());
    }

    /// Adds the rule, with a reply that depends on the request.
    pub fn reply_with(self, reply: impl Fn(&SeenRequest) -> ModelReply + Send + 'static) {
        self.shared.add(ScriptedReply { condition: self.condition, reply: Box::new(reply) });
    }
}

impl Condition {
    fn fits(&self, seen: &SeenRequest) -> bool {
        let moment = match self.moment {
            Moment::Input => !seen.is_after_tool_result(),
            Moment::Result => seen.is_after_tool_result(),
            Moment::Any => true,
        };
        moment
            && self.uses != Some(0)
            && self.tools.is_none_or(|tools| tools != seen.tools().is_empty())
            && self.text.as_ref().is_none_or(|text| self.is_said(text, seen))
            && self.tests.iter().all(|test| test(seen))
    }

    fn is_said(&self, text: &str, seen: &SeenRequest) -> bool {
        if self.is_anywhere {
            seen.messages().iter().any(|message| message.text.contains(text))
        } else {
            seen.last_user().contains(text)
        }
    }
}

impl fmt::Debug for ReplyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyRule").field("text", &self.condition.text).finish_non_exhaustive()
    }
}

/// A rule with its reply.
pub(crate) struct ScriptedReply {
    condition: Condition,
    reply: Box<dyn Fn(&SeenRequest) -> ModelReply + Send>,
}

impl ScriptedReply {
    /// The reply, if the rule is for this request.
    pub(crate) fn offer(&self, seen: &SeenRequest) -> Option<ModelReply> {
        self.condition.fits(seen).then(|| (self.reply)(seen))
    }

    pub(crate) fn use_up(&mut self) {
        self.condition.uses = self.condition.uses.map(|uses| uses.saturating_sub(1));
    }

    /// What the rule looks for, to say which one answered.
    pub(crate) fn name(&self) -> String {
        self.condition.text.clone().unwrap_or_else(|| "any".to_owned())
    }
}

//! A request as the provider got it.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use serde_json::Value;

use crate::{
    conversation::{ConversationMessage, MessageRole, OfferedTool},
    dialect,
};

/// Whose way of talking to a model it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderDialect {
    /// `OpenAI` chat completions, and all who are compatible with it.
    Chat,
    /// `OpenAI` responses.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Ollama's own chat.
    Ollama,
    /// Converse of Amazon Bedrock.
    Bedrock,
}

/// What is known of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenHeader {
    /// Its value.
    Value(String),
    /// It was there; its value may be a secret and is not kept.
    Present,
}

/// How far the answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// It is under way.
    Answering,
    /// All of it is out, errors included.
    Answered,
    /// The provider broke the connection, as it was told to.
    Cut,
    /// The client went away before the answer was complete.
    HungUp,
}

/// A request for an answer of the model.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// Its place among all requests, from 0.
    pub index: usize,
    /// Its dialect.
    pub dialect: ProviderDialect,
    /// The path, without the query.
    pub path: String,
    /// Whether the answer is to be a stream.
    pub is_stream: bool,
    /// The headers, by their names in lower case.
    pub headers: BTreeMap<String, SeenHeader>,
    /// The body; null if it was not JSON.
    pub body: Value,
    /// The text of the rule that answers it (`any` if it has none); nothing if no rule did.
    pub rule: Option<String>,
    /// How far the answer has come.
    pub outcome: ExchangeOutcome,
    pub(crate) is_event_stream: bool,
    messages: Vec<ConversationMessage>,
    tools: Vec<OfferedTool>,
}

impl SeenRequest {
    pub(crate) fn new(route: RequestRoute, path: &str, headers: &HeaderMap, body: Value) -> Self {
        let RequestRoute { dialect, is_stream, is_event_stream } = route;
        Self {
            index: 0,
            dialect,
            path: path.to_owned(),
            is_stream: is_stream
                .unwrap_or_else(|| body["stream"].as_bool().unwrap_or(dialect == ProviderDialect::Ollama)),
            headers: headers.iter().map(|(name, value)| kept(name.as_str(), value.as_bytes())).collect(),
            rule: None,
            outcome: ExchangeOutcome::Answering,
            is_event_stream,
            messages: dialect::messages(dialect, &body),
            tools: dialect::tools(dialect, &body),
            body,
        }
    }

    /// The conversation, the system prompt included.
    pub fn messages(&self) -> &[ConversationMessage] {
        &self.messages
    }

    /// What the user said last, without the notes that agents put beside it; empty if nothing.
    pub fn last_user(&self) -> String {
        let users = self.messages.iter().rev().filter(|message| message.role == MessageRole::User);
        users.map(ConversationMessage::visible).find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// The tools the model may call.
    pub fn tools(&self) -> &[OfferedTool] {
        &self.tools
    }

    /// Whether there is a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Whether the last message is the result of a tool; notes of the agent do not count as messages.
    pub fn is_after_tool_result(&self) -> bool {
        let mut said = self.messages.iter().rev().filter(|message| match message.role {
            MessageRole::System => false,
            MessageRole::User => !message.visible().is_empty(),
            MessageRole::Assistant | MessageRole::Tool => true,
        });
        said.next().is_some_and(|message| message.role == MessageRole::Tool)
    }

    /// The results of tools that this request has and the model has not answered yet, in order.
    pub fn last_results(&self) -> Vec<&str> {
        let last = self.messages.iter().rposition(|message| message.role == MessageRole::Assistant);
        let new = &self.messages[last.map_or(0, |last| last + 1)..];
        new.iter().flat_map(|message| &message.results).map(|result| result.text.as_str()).collect()
    }

    /// The text of all system prompts and instructions.
    pub fn system(&self) -> String {
        let system = self.messages.iter().filter(|message| message.role == MessageRole::System);
        system.map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Whether it came with this header (name in lower case).
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// The model that is asked for; at Bedrock as it is in the path, escaped.
    pub fn model(&self) -> &str {
        let mut steps = self.path.rsplit('/');
        let step = if self.dialect == ProviderDialect::Bedrock { steps.nth(1) } else { steps.next() };
        let in_path = || step.and_then(|step| step.split(':').next());
        self.body["model"].as_str().or_else(in_path).unwrap_or_default()
    }

    /// The media type of an answer that is a stream.
    pub(crate) fn stream_type(&self) -> &'static str {
        match self.dialect {
            ProviderDialect::Ollama => "application/x-ndjson",
            ProviderDialect::Bedrock => "application/vnd.amazon.eventstream",
            _ if self.is_event_stream => "text/event-stream",
            _ => "application/json",
        }
    }

    /// The schema that the answer has to follow, if it is to be JSON.
    pub(crate) fn wanted_schema(&self) -> Option<&Value> {
        dialect::wanted_schema(self.dialect, &self.body)
    }

    /// One line, for people.
    pub fn summary(&self) -> String {
        let Self { index, dialect, path, outcome, .. } = self;
        let said: String = self.last_user().chars().take(60).collect();
        let tools = self.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(",");
        let rule = self.rule.as_deref().unwrap_or("none");
        let after = if self.is_after_tool_result() { ", after a tool result" } else { "" };
        let messages = self.messages.len();
        format!(
            "#{index} {dialect:?} {path} stream={} messages={messages} last user {said:?}{after}; tools [{tools}]; \
             rule {rule:?}; {outcome:?}",
            self.is_stream
        )
    }
}

/// What the path says about a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestRoute {
    pub(crate) dialect: ProviderDialect,
    /// Nothing where the body says it.
    pub(crate) is_stream: Option<bool>,
    /// Whether a stream is one of server-sent events; if not, it is one JSON array.
    pub(crate) is_event_stream: bool,
}

impl RequestRoute {
    /// Where a POST to this path goes; nothing if no model is asked.
    pub(crate) fn of(path: &str, query: &str) -> Option<Self> {
        let plain = |dialect| Some(Self { dialect, is_stream: None, is_event_stream: true });
        if path.ends_with("/chat/completions") {
            return plain(ProviderDialect::Chat);
        }
        if path.ends_with("/responses") {
            return plain(ProviderDialect::Responses);
        }
        if path.ends_with("/messages") {
            return plain(ProviderDialect::Anthropic);
        }
        if path.ends_with("/api/chat") {
            return plain(ProviderDialect::Ollama);
        }
        if path.ends_with("/converse") || path.ends_with("/converse-stream") {
            let is_stream = Some(path.ends_with("-stream"));
            return Some(Self { dialect: ProviderDialect::Bedrock, is_stream, is_event_stream: false });
        }
        let is_stream = Some(path.ends_with(":streamGenerateContent"));
        let is_event_stream = query.split('&').any(|pair| pair == "alt=sse");
        let is_gemini = path.ends_with(":generateContent") || is_stream == Some(true);
        is_gemini.then_some(Self { dialect: ProviderDialect::Gemini, is_stream, is_event_stream })
    }
}

fn kept(name: &str, value: &[u8]) -> (String, SeenHeader) {
    const SECRETS: &[&str] = &["auth", "cookie", "key", "secret", "token"];
    let header = if SECRETS.iter().any(|secret| name.contains(secret)) {
        SeenHeader::Present
    } else {
        SeenHeader::Value(String::from_utf8_lossy(value).into_owned())
    };
    (name.to_owned(), header)
}

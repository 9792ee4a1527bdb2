//! The tool `ask`: a question that the user answers by a form.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    ToolOutcome,
    spec::{ToolInput, brief, flag_field, text_field},
};
use crate::session::{Halt, ToolRun};

/// How many answers can be offered, and how long a question may be, in bytes.
const MOST_CHOICES: usize = 50;
const LONGEST_QUESTION: usize = 4000;

/// The field of the form.
const ANSWER: &str = "answer";

/// The input.
#[derive(Debug, Deserialize)]
pub(crate) struct AskInput {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
    /// Whether more than one of them may be chosen.
    #[serde(default)]
    several: bool,
}

#[derive(Deserialize)]
struct FormReply {
    action: String,
    #[serde(default)]
    content: Map<String, Value>,
}

impl ToolInput for AskInput {
    const NAME: &'static str = "ask";
    const DESCRIPTION: &'static str = "Asks the user a question that you cannot answer yourself and without whose answer you would have \
                                       to guess. Not for permission: that is asked by itself. Never for a password, a key or another \
                                       secret.";
    const KIND: &'static str = "other";
    const REQUIRED: &'static [&'static str] = &["question"];

    fn properties() -> Value {
        json!({
            "question": text_field("The question, with all that is needed to answer it"),
            "choices": { "type": "array", "items": { "type": "string" },
                "description": "The answers to choose from; without them the user writes one" },
            "several": flag_field("Whether more than one may be chosen"),
        })
    }

    fn title(&self) -> String {
        format!("Ask: {}", brief(&self.question))
    }

    async fn run(self, run: &mut ToolRun<'_>) -> Result<ToolOutcome, Halt> {
        if let Err(why) = self.check() {
            return Ok(ToolOutcome::failed(why));
        }
        run.begin().await?;
        let answer = run.ask_form(&self.question, &self.schema()).await?;
        let Ok(answer) = answer else {
            // What is asked in words is answered by the next message.
            return Ok(ToolOutcome::failed(
                "The user's editor shows no forms. Ask in words, as the last of what you say, and end your turn.",
            ));
        };
        Ok(match answer.to::<FormReply>() {
            Ok(reply) => self.outcome(&reply),
            Err(_) => ToolOutcome::failed("The editor's answer could not be understood."),
        })
    }
}

impl AskInput {
    fn check(&self) -> Result<(), &'static str> {
        let is_repeated = |at: usize| self.choices[..at].contains(&self.choices[at]);
        if self.question.trim().is_empty() {
            return Err("The question is empty.");
        }
        if self.question.len() > LONGEST_QUESTION {
            return Err(
                "The question is too long. Say what it is about first, and then ask in a few sentences.",
            );
        }
        if self.choices.len() > MOST_CHOICES {
            return Err("There are too many choices.");
        }
        if self.choices.iter().any(|choice| choice.trim().is_empty())
            || (0..self.choices.len()).any(is_repeated)
        {
            return Err("A choice is empty or there twice.");
        }
        if self.choices.is_empty() && SECRET.is_match(&self.question) {
            return Err(
                "Secrets are not asked for here: what is written into a form is part of the conversation. Say which setting or \
                 variable is missing, and let the user set it.",
            );
        }
        Ok(())
    }

    fn schema(&self) -> Value {
        let field = match (self.choices.is_empty(), self.several) {
            (true, _) => json!({ "type": "string", "title": "Answer", "minLength": 1 }),
            (false, false) => json!({ "type": "string", "title": "Answer", "enum": self.choices }),
            (false, true) => {
                let items = json!({ "type": "string", "enum": self.choices });
                json!({ "type": "array", "title": "Answers", "items": items, "minItems": 1 })
            }
        };
        json!({ "type": "object", "properties": { ANSWER: field }, "required": [ANSWER] })
    }

    fn outcome(&self, reply: &FormReply) -> ToolOutcome {
        match reply.action.as_str() {
            "accept" => match reply.content.get(ANSWER).and_then(|answer| self.said(answer)) {
                Some(said) => ToolOutcome::done(format!("The user has answered: {said}")),
                None => ToolOutcome::failed("The editor's answer is none to this question."),
            },
            "decline" => ToolOutcome::failed("The user does not want to answer this."),
            "cancel" => ToolOutcome::failed("The user has closed the question without an answer."),
            // Not to be taken for a yes or a no.
            _ => ToolOutcome::failed("The editor's answer could not be understood."),
        }
    }

    /// What was answered, if it is one of the answers that there are.
    fn said(&self, answer: &Value) -> Option<String> {
        let is_known =
            |said: &str| self.choices.is_empty() || self.choices.iter().any(|choice| choice == said);
        let texts: Vec<&str> = match answer {
            Value::String(text) => vec![text],
            Value::Array(texts) if self.several => texts.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        (!texts.is_empty() && texts.iter().all(|text| is_known(text))).then(|| texts.join("; "))
    }
}

/// Words that a question for a secret has.
static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(pass(word|phrase|code)s?|api[ _-]?keys?|secret[ _-]?keys?|private[ _-]?keys?|access[ _-]?(token|key)s?|auth[ _-]?tokens?|bearer[ _-]?tokens?|credentials?|one[ -]?time[ -]?codes?|2fa codes?|pin code)\b")
        .expect("the pattern is right")
});

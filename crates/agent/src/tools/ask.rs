//! The tool `ask`: a question that the user answers by a form.

use std::sync::LazyLock;

use nudge_backend::{ElicitationAnswer, is_unanswerable};
use nudge_wire::ErrorCode;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ToolOutcome, or_default,
    spec::{ToolInput, brief, flag_field, text_field},
};
use crate::session::{Halt, ToolRun};

/// How many answers can be offered, and how long a question may be, in bytes.
const MOST_CHOICES: usize = 20;
const LONGEST_CHOICE: usize = 200;
const LONGEST_QUESTION: usize = 800;
/// How long an answer may be, in letters.
const LONGEST_ANSWER: usize = 16_000;

/// The field of the form.
const ANSWER: &str = "answer";

/// The input.
#[derive(Debug, Deserialize)]
pub(crate) struct AskInput {
    question: String,
    #[serde(default, deserialize_with = "or_default")]
    choices: Vec<String>,
    /// Whether more than one of them may be chosen.
    #[serde(default, deserialize_with = "or_default")]
    several: bool,
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
        Ok(match answer.map(|answer| ElicitationAnswer::read(&answer)) {
            Ok(Ok(answer)) => self.outcome(&answer),
            // What is asked in words is answered by the next message.
            Err(error) if is_unanswerable(&error) || error.code == ErrorCode::METHOD_NOT_FOUND => {
                ToolOutcome::failed(
                    "The user's editor shows no forms. Ask in words, as the last of what you say, and end your turn.",
                )
            }
            Err(_) | Ok(Err(_)) => ToolOutcome::failed("The editor has not answered the question properly."),
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
        if self.choices.iter().any(|choice| choice.len() > LONGEST_CHOICE) {
            return Err("A choice is too long: a few words are enough.");
        }
        if self.choices.iter().any(|choice| choice.trim().is_empty())
            || (0..self.choices.len()).any(is_repeated)
        {
            return Err("A choice is empty or there twice.");
        }
        if self.choices.is_empty() && asks_for_secret(&self.question) {
            return Err(
                "Secrets are not asked for here: what is written into a form is part of the conversation. Say which setting or \
                 variable is missing, and let the user set it.",
            );
        }
        Ok(())
    }

    fn schema(&self) -> Value {
        let field = match (self.choices.is_empty(), self.several) {
            (true, _) => {
                json!({ "type": "string", "title": "Answer", "minLength": 1, "maxLength": LONGEST_ANSWER })
            }
            (false, false) => json!({ "type": "string", "title": "Answer", "enum": self.choices }),
            (false, true) => {
                let items = json!({ "type": "string", "enum": self.choices });
                json!({ "type": "array", "title": "Answers", "items": items, "minItems": 1 })
            }
        };
        json!({ "type": "object", "properties": { ANSWER: field }, "required": [ANSWER] })
    }

    fn outcome(&self, answer: &ElicitationAnswer) -> ToolOutcome {
        match answer {
            ElicitationAnswer::Accepted(content) => {
                match content.get(ANSWER).and_then(|answer| self.said(answer)) {
                    Some(said) => ToolOutcome::done(format!("The user has answered: {said}")),
                    None => ToolOutcome::failed("The editor's answer is none to this question."),
                }
            }
            ElicitationAnswer::Declined => ToolOutcome::failed("The user does not want to answer this."),
            ElicitationAnswer::Cancelled => {
                ToolOutcome::failed("The user has closed the question without an answer.")
            }
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
        let is_short = texts.iter().all(|text| text.chars().count() <= LONGEST_ANSWER);
        (!texts.is_empty() && is_short && texts.iter().all(|text| is_known(text))).then(|| texts.join("; "))
    }
}

/// Whether a question asks for a secret, as far as its words tell: it names one, and has a word of asking for its value.
fn asks_for_secret(question: &str) -> bool {
    SECRET.is_match(question) && ASKING.is_match(question)
}

/// Words for secrets, also within names of variables.
static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"pass(word|phrase|code|wd)s?|(api|secret|private|access|ssh|signing|openai|anthropic)[ _-]?keys?|[a-z0-9]+_key|(client|signing|webhook)?[ _-]?secrets?|tokens?|credentials?|otp|pin|(verification|security|recovery|one[ -]?time|2fa)[ _-]?codes?|connection strings?",
    )
});

/// Words of asking for the thing itself, not for something about it.
static ASKING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"your|enter|paste|provide|give|send|tell|type|value|what is|what's|what are|please")
});

/// A pattern of whole words.
fn pattern(words: &str) -> Regex {
    Regex::new(&format!("(?i)(?:^|[^a-z0-9])(?:{words})(?:$|[^a-z0-9])")).expect("the pattern is right")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_secrets_are_known() {
        for question in [
            "What is the API key for the server?",
            "What is the value of OPENAI_API_KEY?",
            "Please enter DB_PASSWORD",
            "What is your GitHub token?",
            "Paste the client secret",
            "Which is your SSH key?",
            "Enter the verification code",
            "Type your PIN",
            "What is the connection string of the database?",
        ] {
            assert!(asks_for_secret(question), "{question}");
        }
        for question in [
            "How long must a password be at least?",
            "Which credentials provider shall the AWS client use?",
            "Shall tokens be kept in Redis or in the database?",
            "What shall the function be called?",
            "Which keyboard layout is meant?",
        ] {
            assert!(!asks_for_secret(question), "{question}");
        }
    }
}

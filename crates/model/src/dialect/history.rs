//! What was said before, as every API takes it: users and answers take turns, and every call has an id of its own and its result
//! right behind it.

use std::{borrow::Cow, collections::HashSet};

use nudge_wire::RawJson;

use crate::{AnswerPart, ChatMessage, ModelRequest, ToolCall, UserPart, user_parts};

/// The longest id and the longest name of a tool that all APIs take.
const MOST_LETTERS: usize = 64;

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HistoryTurn<'r> {
    /// What the user said, until the model or a tool had its turn. Not empty.
    User(Vec<UserPart>),
    /// What the model said. Not empty, and reasoning is not its end.
    Agent(Vec<HistoryPart<'r>>),
    /// What came of all calls of the answer before it, in the order of the calls.
    Results(Vec<HistoryResult<'r>>),
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HistoryPart<'r> {
    Text(&'r str),
    /// Reasoning that the model which is asked has signed itself.
    Reasoning(&'r RawJson),
    Call(HistoryCall<'r>),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryCall<'r> {
    /// No other call of the conversation has it.
    pub(crate) id: String,
    pub(crate) name: Cow<'r, str>,
    /// An object.
    pub(crate) input: RawJson,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HistoryResult<'r> {
    /// The id of the call as it is sent.
    pub(crate) id: String,
    /// The name of the tool.
    pub(crate) name: Cow<'r, str>,
    pub(crate) output: &'r str,
    pub(crate) failed: bool,
}

/// Which ids of calls an API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// Any, so that those of the API's own come back as they were.
    Any,
    /// Up to 64 letters, digits, `_` and `-`.
    Plain,
}

/// The turns of a conversation for `model`, which is `dialect/model` as in [`crate::SignedReasoning`].
pub(crate) fn history<'r>(request: &'r ModelRequest, model: &str, ids: CallIds) -> Vec<HistoryTurn<'r>> {
    let mut writer =
        HistoryWriter { request, model, ids, used: HashSet::new(), calls: Vec::new(), turns: Vec::new() };
    request.messages.iter().for_each(|message| writer.add(message));
    writer.end_calls();
    if let Some(HistoryTurn::Agent(_)) = writer.turns.last() {
        // What the user said last was taken back. Some models take no conversation that they have ended themselves.
        writer.turns.push(HistoryTurn::User(vec![UserPart::Text("Go on.".to_owned())]));
    }
    writer.turns
}

/// The text of a turn of the user that is nothing but text; what was said apart stays apart.
pub(crate) fn only_text(parts: &[UserPart]) -> Option<String> {
    let text = |part: &UserPart| if let UserPart::Text(text) = part { Some(text.clone()) } else { None };
    let texts: Option<Vec<String>> = parts.iter().map(text).collect();
    texts.map(|texts| texts.join("\n\n"))
}

struct HistoryWriter<'r, 'm> {
    request: &'r ModelRequest,
    model: &'m str,
    ids: CallIds,
    used: HashSet<String>,
    /// The calls of the last answer.
    calls: Vec<OpenCall<'r>>,
    turns: Vec<HistoryTurn<'r>>,
}

/// A call whose result comes next.
struct OpenCall<'r> {
    /// The model's own name for it.
    id: &'r str,
    sent: HistoryCall<'r>,
    result: Option<(&'r str, bool)>,
}

impl<'r> HistoryWriter<'r, '_> {
    fn add(&mut self, message: &'r ChatMessage) {
        match message {
            ChatMessage::User { text, content, .. } => {
                self.end_calls();
                self.user(text, content);
            }
            ChatMessage::Agent { parts } => {
                self.end_calls();
                self.agent(parts);
            }
            ChatMessage::Tool { id, output, failed } => {
                let is_it = |call: &&mut OpenCall<'r>| call.id == id && call.result.is_none();
                // A result without a call would make every later request fail.
                if let Some(call) = self.calls.iter_mut().find(is_it) {
                    call.result = Some((output, *failed));
                }
            }
        }
    }

    fn user(&mut self, text: &str, content: &RawJson) {
        let mut parts = user_parts(content);
        for part in &mut parts {
            self.in_words(part);
        }
        parts.retain(|part| !matches!(part, UserPart::Text(text) if text.trim().is_empty()));
        if parts.is_empty() && !text.trim().is_empty() {
            parts.push(UserPart::Text(text.to_owned()));
        }
        match self.turns.last_mut() {
            Some(HistoryTurn::User(before)) => before.extend(parts),
            _ if parts.is_empty() => {}
            _ => self.turns.push(HistoryTurn::User(parts)),
        }
    }

    /// Puts a word in the place of what the model does not take. It may have been said while another model was asked.
    fn in_words(&self, part: &mut UserPart) {
        let untaken = self.request.options.untaken;
        match part {
            UserPart::Image(_) if untaken.images => *part = UserPart::Text("[image]".to_owned()),
            UserPart::Audio(_) if untaken.audio => *part = UserPart::Text("[audio]".to_owned()),
            _ => {}
        }
    }

    fn agent(&mut self, parts: &'r [AnswerPart]) {
        let mut sent: Vec<HistoryPart<'r>> = parts.iter().filter_map(|part| self.part(part)).collect();
        // Reasoning that leads to nothing is refused.
        while let Some(HistoryPart::Reasoning(_)) = sent.last() {
            sent.pop();
        }
        match self.turns.last_mut() {
            Some(HistoryTurn::Agent(before)) => before.extend(sent),
            _ if sent.is_empty() => {}
            _ => self.turns.push(HistoryTurn::Agent(sent)),
        }
    }

    fn part(&mut self, part: &'r AnswerPart) -> Option<HistoryPart<'r>> {
        match part {
            AnswerPart::Text(text) => (!text.trim().is_empty()).then_some(HistoryPart::Text(text)),
            AnswerPart::Reasoning(reasoning) => {
                let is_own = reasoning.model == self.model && !self.request.options.without_reasoning;
                is_own.then_some(HistoryPart::Reasoning(&reasoning.content))
            }
            AnswerPart::Call(call) => {
                let sent = self.call(call);
                self.calls.push(OpenCall { id: &call.id, sent: sent.clone(), result: None });
                Some(HistoryPart::Call(sent))
            }
        }
    }

    fn call(&mut self, call: &'r ToolCall) -> HistoryCall<'r> {
        let is_known = self.request.tools.iter().any(|tool| tool.name == call.name);
        // A model may call what is not even a name; it is told so, and the next request has to be taken all the same.
        let name = if is_known { Cow::Borrowed(call.name.as_str()) } else { plain(&call.name) };
        let is_object = call.input.as_str().trim_start().starts_with('{');
        let input = if is_object { call.input.clone() } else { RawJson::object(&[]) };
        HistoryCall { id: self.free_id(&call.id), name, input }
    }

    /// The id itself, or one like it that is not taken.
    fn free_id(&mut self, id: &str) -> String {
        let id = match self.ids {
            CallIds::Any if !id.is_empty() => Cow::Borrowed(id),
            CallIds::Any | CallIds::Plain => plain(id),
        };
        let mut free = id.clone().into_owned();
        for number in 2.. {
            if self.used.insert(free.clone()) {
                break;
            }
            let number = format!("_{number}");
            let kept = id.floor_char_boundary(MOST_LETTERS - number.len());
            free = format!("{}{number}", &id[..kept]);
        }
        free
    }

    /// The results of the last answer's calls, if it has calls.
    fn end_calls(&mut self) {
        if self.calls.is_empty() {
            return;
        }
        let results = self.calls.drain(..).map(|call| {
            let (output, failed) = call.result.unwrap_or(("It was not done.", true));
            HistoryResult { id: call.sent.id, name: call.sent.name, output, failed }
        });
        self.turns.push(HistoryTurn::Results(results.collect()));
    }
}

/// The same with `_` for everything that is no letter, digit, `_` or `-`, and not too long.
fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if text.is_empty() {
        return Cow::Borrowed("unknown");
    }
    if text.len() <= MOST_LETTERS && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().take(MOST_LETTERS);
    Cow::Owned(letters.map(|letter| if is_plain(letter) { letter } else { '_' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnswerOptions, SignedReasoning, UntakenMedia};

    fn user(text: &str) -> ChatMessage {
        let content = RawJson::of(&serde_json::json!([{"type": "text", "text": text}])).unwrap();
        ChatMessage::User { text: text.to_owned(), content, steer: false }
    }

    fn say(text: &str) -> AnswerPart {
        AnswerPart::Text(text.to_owned())
    }

    fn call(id: &str, name: &str, input: &str) -> AnswerPart {
        let input = RawJson::parse(input.to_owned()).unwrap();
        AnswerPart::Call(ToolCall { id: id.to_owned(), name: name.to_owned(), input })
    }

    fn think(model: &str) -> AnswerPart {
        let content = RawJson::parse("1").unwrap();
        AnswerPart::Reasoning(SignedReasoning { model: model.to_owned(), content })
    }

    fn agent(parts: Vec<AnswerPart>) -> ChatMessage {
        ChatMessage::Agent { parts }
    }

    fn result(id: &str, output: &str) -> ChatMessage {
        ChatMessage::Tool { id: id.to_owned(), output: output.to_owned(), failed: false }
    }

    fn told(turn: &HistoryTurn<'_>) -> String {
        match turn {
            HistoryTurn::User(parts) => format!("user {:?}", only_text(parts).unwrap()),
            HistoryTurn::Agent(parts) => {
                let part = |part: &HistoryPart<'_>| match part {
                    HistoryPart::Text(text) => format!("{text:?}"),
                    HistoryPart::Reasoning(content) => format!("<{content:?}>"),
                    HistoryPart::Call(call) => format!("{}={}{:?}", call.id, call.name, call.input),
                };
                format!("agent {}", parts.iter().map(part).collect::<Vec<_>>().join(" "))
            }
            HistoryTurn::Results(results) => {
                let result = |result: &HistoryResult<'_>| {
                    let failed = if result.failed { "!" } else { "" };
                    format!("{}={} {:?}{failed}", result.id, result.name, result.output)
                };
                format!("results {}", results.iter().map(result).collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn check(messages: Vec<ChatMessage>, ids: CallIds, expected: &[&str]) {
        let request = ModelRequest { messages, ..ModelRequest::default() };
        let turns = history(&request, "a/m", ids);
        assert_eq!(turns.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn users_and_answers_take_turns() {
        let messages = vec![
            user("a"),
            agent(vec![]),
            user("b"),
            agent(vec![say(" \n")]),
            user(""),
            agent(vec![say("c")]),
            user(" "),
            agent(vec![say("d"), think("a/m")]),
            user("e"),
        ];
        check(messages, CallIds::Any, &[r#"user "a\n\nb""#, r#"agent "c" "d""#, r#"user "e""#]);
    }

    #[test]
    fn calls_have_ids_of_their_own_and_results_behind_them() {
        let messages = vec![
            agent(vec![call("x", "t", "{}"), say("s"), call("x", "t", "3"), call("", "t t", "{\"a\":1}")]),
            result("x", "first"),
            result("", "third"),
            result("x", "second"),
            result("x", "nobody's"),
            agent(vec![call("x", "t", "{}"), call("y:ä", "", "[]")]),
            user("u"),
        ];
        let first = r#"agent x=t{} "s" x_2=t{} unknown=t_t{"a":1}"#;
        let results = r#"results x=t "first" x_2=t "second" unknown=t_t "third""#;
        let not_done = r#""It was not done."!"#;
        let any = [
            first,
            results,
            "agent x_3=t{} y:ä=unknown{}",
            &format!("results x_3=t {not_done} y:ä=unknown {not_done}"),
            r#"user "u""#,
        ];
        check(messages.clone(), CallIds::Any, &any);
        let plain = any.map(|turn| turn.replace("y:ä", "y__"));
        check(messages, CallIds::Plain, &plain.each_ref().map(String::as_str));
    }

    #[test]
    fn long_ids_stay_apart() {
        let long = "ä".repeat(100);
        for ids in [CallIds::Any, CallIds::Plain] {
            let messages = vec![agent(vec![call(&long, "t", "{}"), call(&long, "t", "{}")])];
            let request = ModelRequest { messages, ..ModelRequest::default() };
            let turns = history(&request, "a/m", ids);
            let HistoryTurn::Results(results) = &turns[1] else { panic!("{turns:?}") };
            assert_ne!(results[0].id, results[1].id);
        }
    }

    #[test]
    fn what_the_model_does_not_take_is_told_in_words() {
        let content = serde_json::json!([{ "type": "text", "text": "look" },
            { "type": "image", "mimeType": "image/png", "data": "aGk=" },
            { "type": "audio", "mimeType": "audio/wav", "data": "aGk=" },
            { "type": "text", "text": "and hear" }]);
        let content = RawJson::of(&content).unwrap();
        let said = ChatMessage::User { text: "look".to_owned(), content, steer: false };
        let check = |images, audio, expected: &[&str]| {
            let options =
                AnswerOptions { untaken: UntakenMedia { images, audio }, ..AnswerOptions::default() };
            let request = ModelRequest { messages: vec![said.clone()], options, ..ModelRequest::default() };
            let turns = history(&request, "a/m", CallIds::Any);
            let HistoryTurn::User(parts) = &turns[0] else { panic!("{turns:?}") };
            let told = parts.iter().map(|part| match part {
                UserPart::Text(text) => text.as_str(),
                UserPart::Image(_) => "an image",
                UserPart::Audio(_) => "a sound",
            });
            assert_eq!(told.collect::<Vec<_>>(), expected);
        };
        check(false, false, &["look", "an image", "a sound", "and hear"]);
        check(true, false, &["look", "[image]", "a sound", "and hear"]);
        check(false, true, &["look", "an image", "[audio]", "and hear"]);
        check(true, true, &["look", "[image]", "[audio]", "and hear"]);
    }

    #[test]
    fn reasoning_goes_back_to_who_signed_it() {
        let messages = vec![agent(vec![think("b/m"), think("a/m"), say("x"), think("a/m"), think("b/m")])];
        // What the user said last was taken back, and it is not for the model to have the last word.
        check(messages.clone(), CallIds::Any, &[r#"agent <1> "x""#, r#"user "Go on.""#]);
        let options = AnswerOptions { without_reasoning: true, ..AnswerOptions::default() };
        let request = ModelRequest { messages, options, ..ModelRequest::default() };
        assert_eq!(told(&history(&request, "a/m", CallIds::Any)[0]), r#"agent "x""#);
    }
}

//! What a request to the model is about.

use nudge_stage::{ConversationMessage, MessageRole, SeenRequest};

/// All prompts of the steps begin with this, so that they are told from what agents put around them.
const MARK: &str = "peers-";

/// Where in a turn the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The user has just said something.
    Said,
    /// The tools that were called have just ended.
    Result,
}

/// The moment of a request in which `text` is the last that was said by the user of the conversation; nothing if the
/// request is about something else: agents ask for titles and summaries with all the conversation before it.
pub(crate) fn moment(seen: &SeenRequest, text: &str) -> Option<Moment> {
    let messages = seen.messages();
    let is_said =
        |message: &ConversationMessage| message.role == MessageRole::User && message.text.contains(MARK);
    let said = messages.iter().rposition(is_said)?;
    if !is_for(&messages[said].text, text) {
        return None;
    }
    let last =
        messages.iter().rposition(|message| message.role == MessageRole::Assistant || is_result(message));
    match last {
        None => Some(Moment::Said),
        Some(last) if last < said => Some(Moment::Said),
        // Some dialects have the results and what the user says beside them in one message.
        Some(last) if is_result(&messages[last]) => Some(Moment::Result),
        Some(_) => None,
    }
}

/// Whether the last of our prompts in a message is `text`.
fn is_for(message: &str, text: &str) -> bool {
    let last = message.rfind(MARK).map_or("", |at| &message[at..]);
    let word = last.split(|c: char| c != '-' && !c.is_alphanumeric()).next().unwrap_or_default();
    word == text
}

fn is_result(message: &ConversationMessage) -> bool {
    !message.results.is_empty()
}

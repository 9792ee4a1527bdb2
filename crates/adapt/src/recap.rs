//! What an agent is told of a session that it does not remember.

use nudge_backend::UserMessage;

use crate::echo;

const BEFORE: &str = "This session was interrupted and your memory of it is lost. What was said and done so far follows, \
    oldest first. Go on from there; do not repeat what is done.\n\n<conversation>\n";
const AFTER: &str = "</conversation>\n\nThe user now says:\n";

/// What goes in front of these messages. They may stand at the end of the conversation already, and are not told twice.
pub(crate) fn recap_prompt(conversation: &str, messages: &[UserMessage]) -> String {
    let mut said = conversation;
    for message in messages.iter().rev() {
        let last = format!("User: {}\n", echo::text(&message.content));
        said = said.strip_suffix(&*last).unwrap_or(said);
    }
    format!("{BEFORE}{said}{AFTER}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_wire::RawJson;
    use serde_json::json;

    fn message(text: &str) -> UserMessage {
        let content = RawJson::of(&json!([{ "type": "text", "text": text }])).unwrap();
        UserMessage { id: "m".into(), content, params: None }
    }

    #[test]
    fn what_is_said_now_is_not_told_as_well() {
        let conversation = "User: hello\nYou: hi\nUser: one\nUser: two\n";
        let recap = recap_prompt(conversation, &[message("one"), message("two")]);
        assert!(recap.contains("<conversation>\nUser: hello\nYou: hi\n</conversation>"), "{recap}");
        let recap = recap_prompt(conversation, &[message("three")]);
        assert!(recap.contains("User: two\n</conversation>"), "{recap}");
    }
}

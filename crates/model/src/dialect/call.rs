//! A tool call that comes in fragments.

use nudge_wire::RawJson;

use crate::ToolCall;

/// A tool call whose arguments come in fragments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StreamedCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// As far as they have come.
    pub(crate) arguments: String,
}

impl StreamedCall {
    /// The call, now that all of it is here.
    pub(crate) fn whole(self) -> ToolCall {
        ToolCall { id: self.id, name: self.name, input: tool_input(&self.arguments) }
    }

    /// Whether the arguments can be read. They cannot if the answer became too long in the middle of them.
    pub(crate) fn is_readable(&self) -> bool {
        let arguments = self.arguments.trim();
        arguments.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
    }
}

/// The input that these arguments are. What is no JSON is taken as text, which the tool then refuses: the model can mend it.
pub(crate) fn tool_input(arguments: &str) -> RawJson {
    if arguments.trim().is_empty() {
        return RawJson::object(&[]);
    }
    RawJson::parse(arguments.to_owned()).unwrap_or_else(|_| RawJson::of(arguments).expect("a text is JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_is_text() {
        for (arguments, input, is_readable) in [
            ("", "{}", true),
            (" \n", "{}", true),
            (r#" {"a": 1.50} "#, r#"{"a": 1.50}"#, true),
            ("[1]", "[1]", true),
            (r#"{"a": "#, r#""{\"a\": ""#, false),
            ("ls -l", r#""ls -l""#, false),
        ] {
            let call = StreamedCall { arguments: arguments.to_owned(), ..StreamedCall::default() };
            assert_eq!(
                (call.is_readable(), call.whole().input.as_str()),
                (is_readable, input),
                "{arguments}"
            );
        }
    }
}

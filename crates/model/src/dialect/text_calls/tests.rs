//! Calls in text, however it is cut, and text that is none.

use super::*;
use crate::StopReason;

/// What is made of a text that comes in pieces of this length: text as it is, calls in square brackets.
fn told(text: &str, length: usize) -> String {
    let tools = vec!["read".to_owned(), "read_all".to_owned()];
    let mut finder = TextCallFinder {
        tools,
        naming: CallNaming::seeded(1),
        held: String::new(),
        is_line_start: true,
        stage: HeldText::Open,
    };
    let mut pieces = Vec::new();
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(length) {
        finder.take(AnswerPiece::Text(piece.iter().collect()), &mut pieces);
    }
    finder.take(AnswerPiece::Stop(StopReason::EndTurn), &mut pieces);
    let tell = |piece: &AnswerPiece| match piece {
        AnswerPiece::Text(text) => text.clone(),
        AnswerPiece::ToolCall(call) => format!("[{} {}]", call.name, call.input.as_str()),
        _ => String::new(),
    };
    pieces.iter().map(tell).collect()
}

#[test]
fn calls_are_found_in_text_however_it_is_cut() {
    let read = r#"{"name": "read", "arguments": {"path": "a"}}"#;
    let fenced = format!("```json\n{read}\n```");
    let tagged = format!("<tool_call>\n{read}\n</tool_call>");
    let found = r#"[read {"path": "a"}]"#;
    for (text, expected) in [
        (read.to_owned(), found.to_owned()),
        (fenced.clone(), found.to_owned()),
        (format!("{fenced}\n"), found.to_owned()),
        (format!("I look.\n\n{fenced}"), format!("I look.\n\n{found}")),
        (format!("{tagged}\n{tagged}"), format!("{found}{found}")),
        (format!("{read}\n{read}"), format!("{found}{found}")),
        ("{\n  \"name\": \"read_all\",\n \"parameters\": {}\n}".to_owned(), "[read_all {}]".to_owned()),
        (r#"{"name": "read"}"#.to_owned(), "[read {}]".to_owned()),
        (r#"{"name": "read", "arguments": "{\"a\": 1}"}"#.to_owned(), r#"[read {"a": 1}]"#.to_owned()),
    ] {
        for length in [1, 2, 3, 7, 1000] {
            assert_eq!(told(&text, length), expected, "in pieces of {length}");
        }
    }
}

#[test]
fn what_is_no_call_stays_as_it_is() {
    for text in [
        "",
        "\n\n",
        "``` \nfn main() {}\n```\n",
        "```json\n{\"name\": \"Ada\"}\n```\n",
        "{\"name\": \"write\", \"arguments\": {}}",
        "{\"name\": \"read\", \"arguments\": {\"path\": ",
        "{\"name\": \"read\", \"arguments\": {}} is how it is written.",
        "Say {\"name\": \"read\", \"arguments\": {}}",
        "<tool_call>\n{\"na",
        "  \tindented\n{\n}\n",
    ] {
        for length in [1, 2, 3, 7, 1000] {
            assert_eq!(told(text, length), text, "in pieces of {length}");
        }
    }
}

#[test]
fn what_cannot_be_a_call_is_not_held_back() {
    let mut finder =
        TextCallReader::new(Box::new(Silent), vec!["read".to_owned()], CallNaming::seeded(1)).finder;
    for text in ["Hello", " there", ".\n", "```rust\n", "{ \"x\"", "fn"] {
        let mut pieces = Vec::new();
        finder.take(AnswerPiece::Text(text.to_owned()), &mut pieces);
        assert_eq!(pieces, [AnswerPiece::Text(text.to_owned())]);
    }
}

struct Silent;

impl AnswerReader for Silent {
    fn read(&mut self, _: &[u8], _: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<AnswerPiece>) -> Result<(), StreamFault> {
        Ok(())
    }
}

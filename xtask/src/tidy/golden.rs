//! Every golden file is one JSON-RPC message.

use nudge_wire::message::ParsedFrame;

use super::{Problem, Tree, tree::is};

const FOLDER: &str = "spec/golden/";
/// Examples of the bridge between the versions, several to a file.
const MAPPING: &str = "spec/golden/mapping/";

pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let messages = tree.below(FOLDER).filter(|(path, _)| !path.starts_with(MAPPING));
    messages.filter_map(|(path, text)| check_one(path, text)).collect()
}

fn check_one(path: &str, text: &str) -> Option<Problem> {
    if !is(path, "json") {
        return Some(Problem::new(path, "not a .json file", "golden messages are; move it elsewhere"));
    }
    match ParsedFrame::from_frame(text.into()) {
        ParsedFrame::Single(Ok(_)) => None,
        ParsedFrame::Single(Err(invalid)) => {
            Some(Problem::new(path, invalid.error.message, "make it one whole JSON-RPC message"))
        }
        ParsedFrame::Batch(_) => {
            Some(Problem::new(path, "this is a batch", "put each message into its own file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<Problem> {
        check(&Tree::from([(path, text)]))
    }

    #[test]
    fn one_message_a_file() {
        let path = "spec/golden/v1/a.notification.json";
        assert_eq!(problems(path, "{\n\"jsonrpc\": \"2.0\", \"method\": \"m\"\n}\n"), []);
        for bad in ["", "{", "{}", "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]", "{\"method\":\"m\"}"] {
            assert_eq!(problems(path, bad).len(), 1, "{bad}");
        }
        assert_eq!(problems("spec/golden/v1/notes.txt", "").len(), 1);
        assert_eq!(problems("spec/other.json", ""), []);
        assert_eq!(problems("spec/golden/mapping/a.json", "[]"), []);
    }
}

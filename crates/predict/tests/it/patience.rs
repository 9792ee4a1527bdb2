//! What is said of documents that could not be parsed in time.

use std::sync::Arc;

use nudge_predict::SuggestionKind;
use nudge_syntax::ParsePatience;

use crate::moment::Moment;

/// Lets every parse go on, or none.
struct Parses(bool);

impl ParsePatience for Parses {
    fn begin(&self) -> Box<dyn Fn() -> bool + '_> {
        Box::new(|| self.0)
    }
}

/// What is opened by one change and closed by another is not opened by itself, though nothing was parsed.
#[test]
fn what_was_not_parsed_is_left_sound() {
    let mut text = (0..2000)
        .map(|line| format!("if (a{line})\n    go({line});\nrest();\n"))
        .collect::<Vec<_>>()
        .concat();
    text.insert_str(0, "start();\n");
    for parses in [false, true] {
        let mut moment =
            Moment::new("a.js", &text).edit("go(1);\n", 0, "go(1);\n}\n").edit("if (a1)", 0, "if (a1) {");
        for line in 2..6 {
            moment.cursor = moment.source.content().find(&format!("if (a{line})")).expect("it is there");
            let whole = moment.source.clone();
            moment.source = whole.within(Arc::new(Parses(parses)));
            for found in moment.ask_for(nudge_predict::consider).suggestions {
                let SuggestionKind::Edit { edits, .. } = found.kind else { continue };
                let after = edits.apply(moment.source.text()).to_string();
                assert_eq!(after.matches('{').count(), after.matches('}').count(), "{edits:?}");
            }
            moment.source = whole;
        }
    }
}

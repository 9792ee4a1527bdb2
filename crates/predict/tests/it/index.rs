//! What the index of a workspace makes the engine say.

use std::{collections::BTreeMap, sync::Arc};

use nudge_predict::SuggestionKind;
use nudge_syntax::{FileFacts, Language, WorkspaceIndex};
use proptest::prelude::*;

use crate::complete::Moment;

fn facts(text: &str) -> Arc<FileFacts> {
    Arc::new(FileFacts::of(Language::Rust, text))
}

fn names(index: &WorkspaceIndex, name: &str) -> Vec<String> {
    index.files_with(name).map(ToString::to_string).collect()
}

/// What an index says of names, and of how a line goes on.
fn answers(index: &WorkspaceIndex) -> Vec<String> {
    let mut found: Vec<String> =
        ["alpha", "beta", "gamma", "delta"].iter().flat_map(|name| names(index, name)).collect();
    for typed in ["alpha(", "beta = ", "gam", "alpha(beta, "] {
        for suggestion in Moment::new("fn f() {\n    ", typed, "\n}\n", index.clone()).completions() {
            let SuggestionKind::Edit { edits, .. } = &suggestion.kind else { continue };
            found.push(format!("{typed}{} {:.3}", edits.as_slice()[0].text, suggestion.confidence));
        }
    }
    found
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("    alpha(beta, gamma);\n"),
        Just("    alpha(beta);\n"),
        Just("    beta = gamma + 1;\n"),
        Just("    gamma.delta(alpha)?;\n"),
        Just("}\n\nfn f() {\n"),
    ];
    prop::collection::vec(line, 0..5).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_there_before_does_not_matter(steps in prop::collection::vec((0..12_u8, prop::option::weighted(0.8, file())), 0..60)) {
        let mut index = WorkspaceIndex::default();
        let mut left: BTreeMap<u8, String> = BTreeMap::new();
        for (file, text) in steps {
            let uri = format!("file:///w/{file}.rs");
            if let Some(text) = text {
                index.insert(uri.into(), facts(&text));
                left.insert(file, text);
            } else {
                index.remove(&uri);
                left.remove(&file);
            }
        }
        let mut fresh = WorkspaceIndex::default();
        for (file, text) in &left {
            fresh.insert(format!("file:///w/{file}.rs").into(), facts(text));
        }
        prop_assert_eq!(index.len(), fresh.len());
        prop_assert_eq!(answers(&index), answers(&fresh));
    }
}

//! Schemas refuse what is wrong: every golden file with one member left out, or with one scalar of another type, is
//! invalid, except for those listed in [`SURVIVORS`], which are valid and say why.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    conform::{ours, proposed, theirs},
    golden::{Golden, VERSIONS, goldens, shape_of, shapes},
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    /// A member is left out.
    Drop,
    /// A scalar becomes one of another type.
    Retype,
}

use Change::{Drop, Retype};

/// Mutants that stay valid. Exact in both directions: a mutant is valid if and only if it is listed.
struct Survivor {
    /// How the schema's name begins.
    schema: &'static str,
    /// How the golden file's name begins.
    golden: &'static str,
    changes: &'static [Change],
    /// `*` is any one step, `**` any number of them.
    paths: &'static [&'static str],
    #[allow(dead_code, reason = "for the reader")]
    why: &'static str,
}

const BOTH: &[Change] = &[Drop, Retype];

const SURVIVORS: &[Survivor] = &[
    // What the proposal has as optional.
    Survivor {
        schema: "",
        golden: "nes-start.request",
        changes: &[Drop],
        paths: &["workspaceUri", "workspaceFolders", "repository"],
        why: "a client may know nothing of its workspace",
    },
    Survivor {
        schema: "",
        golden: "nes-suggest.request",
        changes: &[Drop],
        paths: &[
            "selection",
            "context",
            "context/*",
            "context/openFiles/*/visibleRange",
            "context/openFiles/*/lastFocusedMs",
        ],
        why: "context is what the agent asked for, as far as the client has it",
    },
    Survivor {
        schema: "",
        golden: "nes-suggest.response",
        changes: &[Drop],
        paths: &["suggestions/*/cursorPosition", "suggestions/*/isRegex", "suggestions/*/_meta"],
        why: "an edit may leave the cursor alone; a search is plain unless said otherwise",
    },
    Survivor {
        schema: "",
        golden: "nes-reject.notification",
        changes: &[Drop],
        paths: &["reason"],
        why: "a client may not know why",
    },
    Survivor {
        schema: "",
        golden: "document-didChange.notification.incremental",
        changes: &[Drop],
        paths: &["contentChanges/*/range"],
        why: "without a range it is the whole text",
    },
    Survivor {
        schema: "",
        golden: "steering.response",
        changes: &[Drop],
        paths: &["reason"],
        why: "a reason is given where there is one",
    },
    // What is free.
    Survivor {
        schema: "",
        golden: "nes-suggest.response",
        changes: BOTH,
        paths: &["suggestions/*/_meta/*/**"],
        why: "`_meta` is free",
    },
    Survivor {
        schema: "",
        golden: "nes-suggest.response.other",
        changes: BOTH,
        paths: &["suggestions/*/uri", "suggestions/*/template", "suggestions/*/template/**"],
        why: "what a kind added later needs is its own affair",
    },
    Survivor {
        schema: "inject",
        golden: "inject.request",
        changes: BOTH,
        paths: &["_meta", "_meta/**", "content/*/text", "content/*/uri", "content/*/name"],
        why: "`_meta` is free, and content blocks are ACP's",
    },
    Survivor {
        schema: "inject",
        golden: "replace_inject.request",
        changes: BOTH,
        paths: &["content/*/text"],
        why: "content blocks are ACP's",
    },
    Survivor {
        schema: "inject",
        golden: "steering.request",
        changes: BOTH,
        paths: &["_meta", "_meta/**", "prompt/*/text"],
        why: "`_meta` is free, and content blocks are ACP's",
    },
    // Settings.
    Survivor {
        schema: "",
        golden: "nes-start.response",
        changes: BOTH,
        paths: &["configOptions", "configOptions/**"],
        why: "a session may have no settings; their shape is ACP's, and the proposed schema does not have them here",
    },
    // Errors.
    Survivor {
        schema: "proposed",
        golden: "nes.error",
        changes: BOTH,
        paths: &["data", "data/reason"],
        why: "ACP leaves `data` free",
    },
    // Capabilities: what is not offered is left out.
    Survivor {
        schema: "",
        golden: "initialize.request",
        changes: &[Drop],
        paths: &["*/nes", "*/nes/*", "*/positionEncodings", "*/_meta/*", "*/_meta/nes/*"],
        why: "every capability is optional",
    },
    Survivor {
        schema: "",
        golden: "initialize.response",
        changes: &[Drop],
        paths: &[
            "*/nes",
            "*/nes/*",
            "*/nes/events/document",
            "*/nes/events/document/*",
            "*/nes/context/*",
            "*/nes/context/*/maxCount",
            "*/positionEncoding",
            "*/_meta/*",
            "*/_meta/nes/*",
            "*/_meta/nes/events/document",
            "*/_meta/nes/events/document/*",
            "*/_meta/nes/context/*",
            "*/_meta/nes/context/*/maxCount",
            "*/session/inject",
            "*/session/inject/pending",
            "*/session/inject/pending/replace",
            "*/_meta/inject/pending",
            "*/_meta/inject/pending/replace",
            "_meta/steering",
            "_meta/steering/supported",
        ],
        why: "every capability is optional",
    },
    Survivor {
        schema: "inject",
        golden: "initialize.response",
        changes: &[Drop],
        paths: &["*/session/inject/steer_in_stream", "*/session/inject/steerInStream"],
        why: "one of the two spellings is enough",
    },
    Survivor {
        schema: "inject",
        golden: "initialize.response",
        changes: &[Drop],
        paths: &["*/_meta/inject/steer_in_stream", "*/_meta/inject/steerInStream"],
        why: "one of the two spellings is enough, in the mirror too",
    },
];

/// What each schema has to say about `initialize`; the rest is ACP's, or another schema's.
const IN_INITIALIZE: &[(&str, &[&str])] = &[
    ("proposed", &["*/nes/**", "*/positionEncoding/**", "*/positionEncodings/**"]),
    ("nes", &["*/nes/**", "*/positionEncoding/**", "*/positionEncodings/**"]),
    ("nes", &["*/_meta/nes/**", "*/_meta/positionEncoding/**", "*/_meta/positionEncodings/**"]),
    ("inject", &["*/session/inject/**", "*/_meta/inject/**", "_meta/steering/**"]),
];

#[test]
fn mutants_of_goldens_are_invalid() {
    // Without the proposed schemas nothing can survive them.
    let have_proposed = VERSIONS.into_iter().all(|version| proposed(version).is_some());
    let mut used: Vec<bool> =
        SURVIVORS.iter().map(|survivor| survivor.schema == "proposed" && !have_proposed).collect();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for version in VERSIONS {
        let shapes = shapes(version);
        let proposed = proposed(version);
        for golden in goldens(version) {
            let shape = shape_of(&golden.name, &shapes);
            let theirs = proposed.as_ref().and_then(|proposed| theirs(shape, proposed));
            for (schema, validator) in ours(shape).into_iter().chain(theirs) {
                for mutant in mutants(&golden).iter().filter(|mutant| mutant.concerns(&schema, &golden)) {
                    tried += 1;
                    judge(&schema, &validator, &golden, mutant, &mut used, &mut wrong);
                }
            }
        }
    }
    eprintln!("{tried} mutants");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    let stale = SURVIVORS.iter().zip(used).filter(|(_, used)| !used).map(|(survivor, _)| survivor.golden);
    assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "survivors that no mutant is");
}

fn judge(
    schema: &str,
    validator: &Validator,
    golden: &Golden,
    mutant: &Mutant,
    used: &mut [bool],
    wrong: &mut Vec<String>,
) {
    let listed = SURVIVORS.iter().position(|survivor| survivor.is(schema, &golden.name, mutant));
    if let Some(survivor) = listed {
        used[survivor] = true;
    }
    if validator.is_valid(&mutant.payload) != listed.is_some() {
        let verdict = if listed.is_some() { "invalid though listed" } else { "valid" };
        let Mutant { change, path, .. } = mutant;
        wrong.push(format!(
            "{:?} {} {change:?} {} is {verdict} in {schema}",
            golden.version,
            golden.name,
            path.join("/")
        ));
    }
}

impl Survivor {
    fn is(&self, schema: &str, golden: &str, mutant: &Mutant) -> bool {
        schema.starts_with(self.schema)
            && golden.starts_with(self.golden)
            && self.changes.contains(&mutant.change)
            && mutant.is_at(self.paths)
    }
}

fn fits(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        (["**", rest @ ..], path) => (0..=path.len()).any(|skip| fits(rest, &path[skip..])),
        (["*", pattern @ ..], [_, path @ ..]) => fits(pattern, path),
        ([step, pattern @ ..], [here, path @ ..]) => step == here && fits(pattern, path),
        (pattern, path) => pattern.is_empty() && path.is_empty(),
    }
}

/// A golden payload with one thing wrong.
struct Mutant {
    change: Change,
    path: Vec<String>,
    payload: Value,
}

impl Mutant {
    /// Whether the schema has to say anything about what was changed.
    fn concerns(&self, schema: &str, golden: &Golden) -> bool {
        let of_schema = |(name, paths): &(&str, &[&str])| schema.starts_with(name) && self.is_at(paths);
        !golden.name.starts_with("initialize") || IN_INITIALIZE.iter().any(of_schema)
    }

    fn is_at(&self, patterns: &[&str]) -> bool {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        patterns.iter().any(|pattern| fits(&pattern.split('/').collect::<Vec<_>>(), &path))
    }
}

fn mutants(golden: &Golden) -> Vec<Mutant> {
    let mut places = Vec::new();
    collect_places(golden.payload(), &mut Vec::new(), &mut places);
    places.into_iter().map(|(change, path)| mutate(golden.payload(), change, path)).collect()
}

fn collect_places(value: &Value, path: &mut Vec<String>, places: &mut Vec<(Change, Vec<String>)>) {
    let mut descend = |step: String, child: &Value, droppable: bool| {
        path.push(step);
        if droppable {
            places.push((Drop, path.clone()));
        }
        collect_places(child, path, places);
        path.pop();
    };
    match value {
        Value::Object(members) => {
            for (name, child) in members {
                descend(name.clone(), child, true);
            }
        }
        Value::Array(items) => {
            for (i, child) in items.iter().enumerate() {
                descend(i.to_string(), child, false);
            }
        }
        _ => places.push((Retype, path.clone())),
    }
}

fn mutate(payload: &Value, change: Change, path: Vec<String>) -> Mutant {
    let mut payload = payload.clone();
    match change {
        Drop => {
            let (name, parent) = path.split_last().expect("a member is in something");
            let parent = payload.pointer_mut(&pointer(parent)).expect("a path of this payload");
            parent.as_object_mut().expect("members are of objects").remove(name);
        }
        Retype => {
            let scalar = payload.pointer_mut(&pointer(&path)).expect("a path of this payload");
            *scalar = if scalar.is_string() { json!(17) } else { json!("seventeen") };
        }
    }
    Mutant { change, path, payload }
}

fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|step| ["/", step]).collect()
}

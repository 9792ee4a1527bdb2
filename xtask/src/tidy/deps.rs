//! Who may use whom.

use cargo_metadata::{DependencyKind, Metadata};

use super::Problem;

/// What one crate may use of ours.
enum May {
    /// These and no others.
    Use(&'static [&'static str]),
    /// Everything but these.
    UseAllBut(&'static [&'static str]),
}

/// Every room, in the order in which they build on each other. A permission that nobody uses is a problem too: it would let
/// an edge come back unseen.
///
/// Counted are normal and build dependencies. `testkit` is a dev-dependency or none, whoever uses it; it uses nothing
/// of ours, so that what it says about a room does not depend on that room.
const ROOMS: &[(&str, May)] = &[
    ("wire", May::Use(&[])),
    ("bridge", May::Use(&["wire"])),
    ("backend", May::Use(&["wire", "bridge"])),
    ("text", May::Use(&[])),
    ("syntax", May::Use(&["text"])),
    ("predict", May::Use(&["text", "syntax"])),
    ("mailbox", May::Use(&[])),
    ("session", May::Use(&["wire", "bridge", "backend", "mailbox"])),
    ("process", May::Use(&[])),
    ("workspace", May::Use(&["wire", "process"])),
    ("peer", May::Use(&["wire", "process"])),
    ("store", May::Use(&[])),
    ("vault", May::Use(&["wire"])),
    ("model", May::Use(&["wire"])),
    ("nes", May::Use(&["wire", "text", "syntax", "predict"])),
    ("agent", May::Use(&["wire", "bridge", "backend", "text", "model", "process", "workspace"])),
    ("adapt", May::Use(&["wire", "bridge", "backend", "peer", "process", "workspace"])),
    ("hub", May::Use(&["wire", "bridge", "backend", "mailbox", "session", "peer", "store"])),
    ("gateway", May::Use(&["wire", "bridge", "backend", "peer", "model", "nes", "hub", "adapt"])),
    ("lsp", May::Use(&["wire", "peer", "text"])),
    ("chat", May::Use(&["wire", "peer"])),
    ("replay", May::Use(&["wire", "text", "syntax", "predict", "peer", "nes", "gateway"])),
    ("cli", May::UseAllBut(&["interop", "bench", "peers", "editors", "xtask"])),
    ("stage", May::Use(&[])),
    ("testkit", May::Use(&[])),
    ("xtask", May::Use(&["wire"])),
    ("interop", May::UseAllBut(&[])),
    ("bench", May::UseAllBut(&[])),
    ("peers", May::Use(&["stage"])),
    ("editors", May::Use(&[])),
];

/// Rooms without IO, clock and randomness.
pub(super) const PURE: &[&str] =
    &["wire", "bridge", "backend", "text", "syntax", "predict", "mailbox", "session"];

/// Where the table is.
const TABLE: &str = "xtask/src/tidy/deps.rs";

/// The official SDK is what Nudge is compared with, not what it is made of.
const SDK: &str = "agent-client-protocol";
const SDK_USERS: &[&str] = &["interop", "bench"];

/// A crate of the workspace and what its manifest says it uses.
#[derive(Debug, Clone)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Its folder below the root.
    pub(crate) folder: String,
    pub(crate) uses: Vec<(String, DependencyKind)>,
}

/// The crates of the workspace.
pub(crate) fn crates(metadata: &Metadata) -> Vec<Crate> {
    let root = &metadata.workspace_root;
    let describe = |package: &cargo_metadata::Package| Crate {
        name: package.name.to_string(),
        folder: package
            .manifest_path
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok())
            .map(|folder| folder.as_str().replace('\\', "/"))
            .unwrap_or_default(),
        uses: package.dependencies.iter().map(|used| (used.name.clone(), used.kind)).collect(),
    };
    metadata.workspace_packages().into_iter().map(describe).collect()
}

pub(crate) fn check(crates: &[Crate]) -> Vec<Problem> {
    crates.iter().flat_map(check_one).chain(check_table(ROOMS, crates)).collect()
}

/// What is in the table and nowhere else: rooms that are not there, and permissions that are not used.
fn check_table(rooms: &[(&'static str, May)], crates: &[Crate]) -> Vec<Problem> {
    let stale = |what: String| Problem::new(TABLE, what, "take it out of `ROOMS`");
    let mut problems = Vec::new();
    for (name, may) in rooms {
        let Some(user) = crates.iter().find(|one| room_name(&one.name) == *name) else {
            problems.push(stale(format!("there is no room `{name}`")));
            continue;
        };
        let May::Use(permitted) = may else { continue };
        let unused = permitted.iter().filter(|other| !is_built_on(user, other));
        problems.extend(unused.map(|other| stale(format!("`{name}` may use `{other}`, and does not"))));
    }
    problems
}

/// Whether a crate uses a room outside its tests.
fn is_built_on(user: &Crate, other: &str) -> bool {
    user.uses.iter().any(|(name, kind)| *kind != DependencyKind::Development && room_name(name) == other)
}

fn check_one(user: &Crate) -> Vec<Problem> {
    let place = format!("{}/Cargo.toml", user.folder);
    let Some(room) = room(&user.name) else {
        let what = format!("the crate `{}` is not in the table of who may use whom", user.name);
        return vec![Problem::new(
            place,
            what,
            "add it to `ROOMS` in xtask/src/tidy/deps.rs and to ARCHITECTURE.md",
        )];
    };
    let complaints = user.uses.iter().filter_map(|(name, kind)| complaint(room, name, *kind));
    complaints.map(|(what, remedy)| Problem::new(&place, what, remedy)).collect()
}

/// What is wrong with this dependency, and what to do.
fn complaint(user: &str, dependency: &str, kind: DependencyKind) -> Option<(String, String)> {
    if dependency == SDK && !SDK_USERS.contains(&user) {
        let remedy = format!("move what needs it to one of: {}", SDK_USERS.join(", "));
        return Some((format!("`{user}` uses the official SDK"), remedy));
    }
    if kind == DependencyKind::Development {
        return None;
    }
    if PURE.contains(&user) && dependency.starts_with("tokio") {
        let remedy = "let the caller do the waiting: take input and time as arguments, return the output";
        return Some((format!("`{user}` is a pure room and uses `{dependency}`"), remedy.to_owned()));
    }
    let other = room(dependency)?;
    if other == "testkit" {
        return Some((
            format!("`{user}` uses `testkit` outside its tests"),
            "make it a dev-dependency".to_owned(),
        ));
    }
    let (_, may) = ROOMS.iter().find(|(name, _)| *name == user)?;
    let allowed = match may {
        May::Use(these) => these.contains(&other),
        May::UseAllBut(these) => !these.contains(&other),
    };
    let remedy = "turn the dependency around, or change `ROOMS` in xtask/src/tidy/deps.rs and say why";
    (!allowed).then(|| (format!("`{user}` may not use `{other}`"), remedy.to_owned()))
}

/// The room a package is, by the package's name; `None` if it is none of ours.
fn room(package: &str) -> Option<&'static str> {
    let is_ours = package.starts_with("nudge") || package == "xtask";
    ROOMS.iter().map(|(room, _)| *room).find(|room| is_ours && *room == room_name(package))
}

/// What the room of a package is called.
fn room_name(package: &str) -> &str {
    if package == "nudge" { "cli" } else { package.strip_prefix("nudge-").unwrap_or(package) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyKind::{Build, Development, Normal};

    fn user(name: &str, uses: &[(&str, DependencyKind)]) -> Crate {
        Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            uses: uses.iter().map(|(used, kind)| ((*used).to_owned(), *kind)).collect(),
        }
    }

    fn problems(name: &str, dependency: &str, kind: DependencyKind) -> Vec<String> {
        check_one(&user(name, &[(dependency, kind)])).iter().map(ToString::to_string).collect()
    }

    fn good(user: &str, dependency: &str, kind: DependencyKind) {
        assert_eq!(problems(user, dependency, kind), Vec::<String>::new());
    }

    fn bad(user: &str, dependency: &str, kind: DependencyKind, says: &str) {
        let problems = problems(user, dependency, kind);
        assert!(matches!(&problems[..], [one] if one.contains(says)), "{user} {dependency}: {problems:?}");
    }

    #[test]
    fn a_new_edge_is_a_problem() {
        good("nudge-peer", "nudge-wire", Normal);
        good("nudge", "nudge-hub", Normal);
        good("nudge-interop", "nudge-peer", Normal);
        bad("nudge-wire", "nudge-peer", Normal, "`wire` may not use `peer`");
        bad("nudge-store", "nudge-hub", Build, "`store` may not use `hub`");
        bad("nudge-agent", "nudge-mailbox", Normal, "`agent` may not use `mailbox`");
        bad("nudge", "nudge-bench", Normal, "`cli` may not use `bench`");
    }

    #[test]
    fn testkit_is_for_tests() {
        good("nudge-wire", "nudge-testkit", Development);
        good("nudge-peers", "nudge-stage", Normal);
        bad("nudge-peers", "nudge-testkit", Normal, "make it a dev-dependency");
        bad("nudge-peers", "nudge-hub", Normal, "`peers` may not use `hub`");
        bad("nudge-peer", "nudge-testkit", Normal, "make it a dev-dependency");
        bad("nudge-bench", "nudge-testkit", Build, "make it a dev-dependency");
        bad("nudge-testkit", "nudge-wire", Normal, "`testkit` may not use `wire`");
    }

    #[test]
    fn pure_rooms_have_no_runtime() {
        good("nudge-peer", "tokio", Normal);
        good("nudge-wire", "tokio", Development);
        bad("nudge-wire", "tokio", Normal, "pure room");
        bad("nudge-text", "tokio-util", Normal, "pure room");
    }

    #[test]
    fn the_sdk_is_only_compared_with() {
        good("nudge-bench", "agent-client-protocol", Normal);
        good("nudge-wire", "agent-client-protocol-schema", Normal);
        bad("nudge-peer", "agent-client-protocol", Development, "official SDK");
    }

    #[test]
    fn an_unknown_crate_is_a_problem() {
        good("xtask", "wire", Normal);
        bad("nudge-utils", "serde", Normal, "not in the table");
    }

    #[test]
    fn a_permission_that_is_not_used_is_a_problem() {
        let crates = [
            user("nudge-wire", &[]),
            user("nudge-peer", &[("nudge-wire", Normal), ("nudge-text", Development)]),
            user("nudge", &[("nudge-peer", Build)]),
        ];
        let says = |rooms: &[(&'static str, May)]| -> Vec<String> {
            check_table(rooms, &crates).into_iter().map(|problem| problem.what).collect()
        };
        let used = [("peer", May::Use(&["wire"])), ("cli", May::Use(&["peer"]))];
        assert_eq!(says(&used), [""; 0]);
        assert_eq!(
            says(&[("cli", May::UseAllBut(&["wire"]))]),
            [""; 0],
            "what is not permitted cannot be stale"
        );
        assert_eq!(says(&[("peer", May::Use(&["wire", "text"]))]), ["`peer` may use `text`, and does not"]);
        assert_eq!(says(&[("chain", May::Use(&[]))]), ["there is no room `chain`"]);
    }

    #[test]
    fn every_edge_in_the_table_goes_to_a_room() {
        for (room, may) in ROOMS {
            let (May::Use(named) | May::UseAllBut(named)) = may;
            for used in *named {
                assert!(ROOMS.iter().any(|(name, _)| name == used), "{room} uses {used}");
            }
        }
    }
}

//! Commits with known outcomes.

use std::{fs, path::Path, process::Command};

use nudge_replay::{EagernessLevel, ReplayError, ReplayOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{options, report};

/// A work tree that commits are made in.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().expect("a temporary folder"));
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, args: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(self.path())
            .env("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .status()
            .expect("git can be started");
        assert!(status.success(), "git {args:?}");
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.path().join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message=change"]);
    }

    fn options(&self) -> ReplayOptions {
        options(self.path().to_owned())
    }
}

const SHOP: &str =
    "def price(total):\n    return total + 1\n\ndef tax(total):\n    x = 1\n    return total * x\n";
const MAIN: &str = "from shop import tax\n\ntotal = 3\nprint(tax(2))\n";
const COLOURS: &str = "red = 1\n\nkeep red\n\nred = 2\n";

/// A name that is changed everywhere, and one that is not.
fn two_commits() -> Repository {
    let repository = Repository::new();
    repository.commit(&[
        ("shop.py", SHOP),
        ("main.py", MAIN),
        ("colours.txt", COLOURS),
        ("other.py", "x = 1\n"),
    ]);
    let renamed = SHOP.replace("total", "amount");
    repository.commit(&[("shop.py", &renamed), ("main.py", &MAIN.replace("total", "amount"))]);
    repository.commit(&[("colours.txt", "blue = 1\n\nkeep red\n\ncrimson = 2\n")]);
    // Not taken: one hunk, a lock file, nothing that was there before, a merge.
    repository.commit(&[("other.py", "x = 2\n")]);
    repository.commit(&[("Cargo.lock", "a\n\nb\n")]);
    repository.commit(&[("Cargo.lock", "b\n\na\n")]);
    repository.git(&["checkout", "--quiet", "-b", "side"]);
    repository.commit(&[("new.py", "y = 1\n")]);
    repository.git(&["checkout", "--quiet", "main"]);
    repository.git(&["merge", "--quiet", "--no-ff", "--no-edit", "side"]);
    repository
}

#[test]
fn a_known_history_has_its_known_score() {
    let repository = two_commits();
    let report = report(&repository.options());
    let run = &report["runs"][0];
    let total = |name: &str| &run["total"][name];
    assert_eq!(*total("commits"), 2);
    // main.py has one; shop.py has three, of which the first takes two suggestions; colours.txt has two.
    assert_eq!(*total("hunks"), 6);
    // In colours.txt it is asked after the first hunk and again where the second is to be done.
    assert_eq!(*total("asks"), 6);
    assert_eq!([total("shown"), total("exact"), total("partial"), total("wrong")], [6, 3, 1, 2]);
    assert_eq!([total("precision"), total("recall")], [&json!(0.5), &json!(0.375)]);
}

#[test]
fn every_question_is_dumped() {
    let repository = two_commits();
    let file = repository.path().join("asks.jsonl");
    report(&ReplayOptions { dump: Some(file.clone()), ..repository.options() });
    let dump = fs::read_to_string(file).expect("a dump");
    let asks: Vec<Value> = dump.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(asks.len(), 6);
    let came: Vec<&Value> = asks.iter().filter(|ask| ask["mode"] == "came").collect();
    let [came] = came[..] else { panic!("{came:?}") };
    assert_eq!([&came["file"], &came["at"]], ["colours.txt", "│red = 2"]);
    let wrong = asks.iter().find(|ask| ask["outcome"] == "wrong").expect("a wrong one");
    assert_eq!(wrong["mode"], "hunk");
    assert_eq!(wrong["file"], "colours.txt");
    assert_eq!(
        wrong["last"],
        json!({ "file": "colours.txt", "line": 1, "before": "red = 1\n", "after": "blue = 1\n" })
    );
    assert_eq!(wrong["next"]["after"], "crimson = 2\n");
    assert_eq!(wrong["suggestion"]["predictor"], "repeat");
    let diff = wrong["suggestion"]["diff"].as_str().expect("a diff");
    assert!(diff.contains("-keep red\n+keep blue\n"), "{diff}");
}

#[test]
fn the_same_seed_gives_the_same_numbers_on_any_number_of_threads() {
    let repository = two_commits();
    for round in 0..20 {
        let before = format!("a = {round}\nb = {round}\n\nc = {round}\n");
        let after = format!("a = x{round}\nb = {round}\n\nc = x{round}\n");
        repository.commit(&[("numbers.py", &before)]);
        repository.commit(&[("numbers.py", &after)]);
    }
    let run = |jobs| {
        let dump = repository.path().join("dump.jsonl");
        let report = report(&ReplayOptions {
            limit: 15,
            jobs,
            typed: true,
            quiet: true,
            eagerness: EagernessLevel::ALL.to_vec(),
            dump: Some(dump.clone()),
            ..repository.options()
        });
        (report, fs::read_to_string(dump).expect("a dump"))
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one, two);
    let runs = one.0["runs"].as_array().expect("runs");
    assert_eq!(runs.iter().map(|run| &run["eagerness"]).collect::<Vec<_>>(), ["low", "medium", "high"]);
    for run in runs {
        assert_eq!(run["total"]["commits"], 15);
        assert!(run["total"]["typed"]["keys"].as_u64() > Some(0));
        assert_eq!(run["quiet"]["finishedAsks"], 15 * 6);
    }
}

#[test]
fn typing_asks_after_every_key_and_counts_what_is_saved() {
    let repository = two_commits();
    let report = report(&ReplayOptions { typed: true, ..repository.options() });
    let typed = &report["runs"][0]["total"]["typed"];
    let number = |name: &str| typed[name].as_u64().expect("a number");
    assert!(number("pressed") < number("keys"), "{typed}");
    assert!(number("right") >= 2, "{typed}");
    assert_eq!(number("shown"), number("right") + number("wrong"));
}

#[test]
fn what_is_not_a_repository_is_named() {
    let folder = TempDir::new().expect("a temporary folder");
    let error = nudge_replay::run(&options(folder.path().to_owned())).expect_err("there is nothing to read");
    assert!(matches!(error, ReplayError::Git { .. }));
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
}

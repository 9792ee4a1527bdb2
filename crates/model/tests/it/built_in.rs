//! The rehearsal that Nudge brings with it.

use nudge_model::{LanguageModel, script::ScriptedModel};

use crate::stage::Stage;

#[tokio::test(start_paused = true)]
async fn it_looks_around_and_says_what_it_is() {
    let mut stage = Stage::of(ScriptedModel::built_in());
    stage.prompt("Fix the bug\nin line 3");
    let first = stage.answer().await;
    assert!(
        first.starts_with("I am not connected to a language model, so I cannot work on “Fix the bug”."),
        "{first}"
    );
    assert!(first.contains("[call_1 list {}]"), "{first}");
    stage.result("Cargo.toml\nREADME.md\nsrc/");
    let second = stage.answer().await;
    assert!(second.contains(r#"[call_2 read {"limit":40,"path":"README.md"}]"#), "{second}");
    stage.result("# Nudge\n\nA nudge.");
    let third = stage.answer().await;
    assert!(third.starts_with("It begins with “Nudge”."), "{third}");
    assert!(third.contains("[call_3 search "), "{third}");
    stage.result("src/a.rs:3: // FIXME\nsrc/b.rs:1: x");
    let last = stage.answer().await;
    assert!(last.starts_with("The first such place is src/a.rs:3."), "{last}");
    assert!(last.contains("`nudge login` connects a model"), "{last}");
    assert!(last.contains("EndTurn"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn without_a_readme_it_reads_a_source_file_or_none() {
    let mut stage = Stage::of(ScriptedModel::built_in());
    stage.prompt("hello");
    stage.answer().await;
    stage.result("src/");
    let deeper = stage.answer().await;
    assert!(deeper.contains(r#"list {"depth":3}"#), "{deeper}");
    stage.result("src/\nsrc/main.py");
    let reads = stage.answer().await;
    assert!(reads.contains(r#"read {"limit":40,"path":"src/main.py"}"#), "{reads}");

    let mut stage = Stage::of(ScriptedModel::built_in());
    stage.prompt("hello");
    stage.answer().await;
    stage.result("The folder is empty.");
    stage.answer().await;
    stage.result("The folder is empty.");
    let searches = stage.answer().await;
    assert!(searches.contains("search"), "{searches}");
    stage.result("Nothing was found.");
    let last = stage.answer().await;
    assert!(last.contains("No such place was found."), "{last}");
}

#[tokio::test(start_paused = true)]
async fn it_can_be_steered_anywhere() {
    for (steer, says, ends) in [
        ("stop please", "All right, I leave it at that.", true),
        ("search for parse_line", r#"search {"pattern":"parse_line"}"#, false),
        ("use tabs", "I heard you: “use tabs”.", false),
    ] {
        let mut stage = Stage::of(ScriptedModel::built_in());
        stage.prompt("hello");
        stage.play(4).await;
        stage.steer(steer);
        let answer = stage.answer().await;
        assert!(answer.contains(says), "{answer}");
        assert_eq!(answer.contains("[call"), !ends, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn its_commands_do_what_they_say() {
    let names: Vec<String> =
        ScriptedModel::built_in().commands().into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["search", "read", "run"]);
    for (said, calls) in [
        ("/search a b", r#"[call_1 search {"pattern":"a b"}]"#),
        ("/read src/x.rs", r#"[call_1 read {"limit":60,"path":"src/x.rs"}]"#),
        ("/run make -k", r#"[call_1 run {"command":"make -k"}]"#),
    ] {
        let mut stage = Stage::of(ScriptedModel::built_in());
        stage.prompt(said);
        let answer = stage.answer().await;
        assert!(answer.starts_with(calls), "{answer}");
        stage.result("found it");
        let answer = stage.answer().await;
        assert!(answer.contains("found it") && answer.contains("EndTurn"), "{answer}");
    }
}

//! Rehearsals and what is played of them.

use nudge_model::script::ScriptedModel;

use crate::stage::Stage;

/// What is played when each of `said` is said in turn: `>` prompts, `!` steers, `=` is a tool's result, and an answer
/// follows each prompt and steer.
async fn check(rehearsal: &str, said: &[&str], expected: &[&str]) {
    let mut stage = Stage::new(rehearsal);
    let mut heard = Vec::new();
    for said in said {
        let (kind, text) = said.split_at(1);
        match kind {
            ">" => stage.prompt(text),
            "!" => stage.steer(text),
            _ => stage.result(text),
        }
        heard.push(stage.answer().await);
    }
    assert_eq!(heard, expected);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_chosen_by_what_the_user_said() {
    let rehearsal = r#"
        [[turn]]
        literal = "hello"
        [[turn.step]]
        play = [{ text = "Hello." }]

        [[turn]]
        regex = '^stream (?<n>\d+)$'
        token_ms = 10
        [[turn.step]]
        play = [{ text = "w{i} ", repeat = "{n}" }]

        [[turn]]
        [[turn.step]]
        play = [{ thought = "hm" }, { text = "You said: {user}; {unknown} {{user}" }]
    "#;
    check(rehearsal, &[">hello"], &["Hello. EndTurn 0"]).await;
    check(rehearsal, &[">stream 3"], &["w1 w2 w3  EndTurn 30"]).await;
    check(rehearsal, &[">stream x"], &["(hm)You said: stream x; {unknown} {user} EndTurn 0"]).await;
    check(rehearsal, &[">hello", ">stream 1"], &["Hello. EndTurn 0", "w1  EndTurn 10"]).await;
}

#[tokio::test(start_paused = true)]
async fn steps_follow_each_other_with_the_results_of_tools() {
    let rehearsal = r#"
        [[turn]]
        regex = '^run (?<command>.+)'
        [[turn.step]]
        play = [{ call = "run", input = { command = "{command}", n = 1, deep = [{ x = "{user}" }] } }]
        [[turn.step]]
        find = { in = "{result}", regex = 'code (?<code>\d+)', else = "odd" }
        play = [{ text = "It ended with {code}." }]
        next = "end"
        [[turn.step]]
        label = "odd"
        play = [{ text = "Odd: {result1}" }, { stop = "refusal" }, { text = "never" }]
    "#;
    let call = r#"[call_1 run {"command":"make","deep":[{"x":"run make"}],"n":1}] EndTurn 0"#;
    check(rehearsal, &[">run make", "=exit code 7"], &[call, "It ended with 7. EndTurn 0"]).await;
    check(rehearsal, &[">run make", "=what"], &[call, "Odd: what Refusal 0"]).await;
    // Past the end nothing is left to say.
    check(rehearsal, &[">run make", "=code 1", "!more"], &[call, "It ended with 1. EndTurn 0", " EndTurn 0"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_step_is_played_as_often_as_it_says() {
    let rehearsal = r#"
        [[turn]]
        regex = '(?<n>\d+)'
        [[turn.step]]
        label = "loop"
        times = "{n}"
        play = [{ call = "list", input = { path = "{round}" } }]
        [[turn.step]]
        play = [{ text = "done" }]
    "#;
    let expected = [
        r#"[call_1 list {"path":"1"}] EndTurn 0"#,
        r#"[call_2 list {"path":"2"}] EndTurn 0"#,
        "done EndTurn 0",
    ];
    check(rehearsal, &[">2", "=a", "=b"], &expected).await;
}

#[tokio::test(start_paused = true)]
async fn steers_have_rules() {
    let rehearsal = r#"
        [[turn]]
        [[turn.step]]
        play = [{ call = "list" }]
        [[turn.step]]
        play = [{ text = "second" }]
        [[turn.step]]
        label = "third"
        play = [{ text = "third" }]
        [[turn.steer]]
        literal = "skip"
        next = "third"

        [[steer]]
        regex = 'about (?<what>\w+)'
        play = [{ text = "({steer}: {what}) " }]
        [[steer]]
        literal = "stop"
        play = [{ text = "Bye." }]
        next = "end"
    "#;
    let call = "[call_1 list {}] EndTurn 0";
    check(rehearsal, &[">go", "!skip"], &[call, "third EndTurn 0"]).await;
    check(rehearsal, &[">go", "!about ants"], &[call, "(about ants: ants) second EndTurn 0"]).await;
    check(rehearsal, &[">go", "!stop", "!skip"], &[call, "Bye. EndTurn 0", "third EndTurn 0"]).await;
    check(rehearsal, &[">go", "!without a rule"], &[call, "second EndTurn 0"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_cut_off_counts_as_played() {
    let rehearsal = r#"
        [[turn]]
        token_ms = 5
        [[turn.step]]
        play = [{ text = "a b c d" }]
        [[turn.step]]
        play = [{ text = "after" }]
        [[turn.steer]]
        play = [{ text = "I turn to {steer}. " }]
    "#;
    let mut stage = Stage::new(rehearsal);
    stage.prompt("go");
    assert_eq!(stage.play(2).await, "a b  10");
    stage.steer("x");
    stage.steer("y");
    assert_eq!(stage.answer().await, "I turn to x\ny. after EndTurn 30");
}

#[tokio::test(start_paused = true)]
async fn providers_pause_fail_and_count() {
    let rehearsal = r#"
        [[turn]]
        literal = "pause"
        [[turn.step]]
        play = [{ text = "a" }, { pause_ms = 5000 }, { text = "b" }, { usage = { used = 5, size = 10 } }]
        [[turn]]
        literal = "fail"
        [[turn.step]]
        play = [{ text = "a" }, { wait_ms = 20 }, { error = "overloaded" }, { text = "never" }]
        [[turn]]
        [[turn.step]]
        play = [{ plan = [{ content = "{user}" }, { content = "b", status = "completed" }] }, { stop = "max_tokens" }]
    "#;
    check(rehearsal, &[">pause"], &["a{Paused}{Resumed}b{Usage { used: 5, size: 10 }} EndTurn 5000"]).await;
    let failed = "a error: the model cannot be reached: overloaded; try again in a moment 20";
    check(rehearsal, &[">fail"], &[failed]).await;
    check(rehearsal, &[">x"], &["<pending x, completed b> MaxTokens 0"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_without_a_fitting_turn_says_so() {
    let rehearsal = "[[turn]]\nliteral = 'a'\n[[turn.step]]\nplay = []";
    let failed = " error: the rehearsal cannot be played: no [[turn]] matches what the user said; REHEARSAL.md describes \
                  the format 0";
    check(rehearsal, &[">b"], &[failed]).await;
}

#[test]
fn the_example_of_the_description_is_a_rehearsal() {
    let description = include_str!("../../REHEARSAL.md");
    let example = description.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    ScriptedModel::parse(example.expect("there is an example")).unwrap();
}

#[test]
fn the_example_of_a_steer_is_a_rehearsal() {
    ScriptedModel::parse(include_str!("../../../../examples/steer.toml")).unwrap();
}

#[test]
fn mistakes_are_found_when_the_file_is_read() {
    let check = |rehearsal: &str, says: &str| {
        let error = ScriptedModel::parse(rehearsal).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    check("", "expected at least one [[turn]]");
    check("[[turn]]\nstep = []", "turn 1: expected at least one [[turn.step]]");
    check("[[turn]]\nregex = '('\n[[turn.step]]", "unclosed group");
    check("[[turn]]\n[[turn.step]]\nplay = [{ text = 'a', call = 'b' }]", "found 2");
    check("[[turn]]\n[[turn.step]]\nplay = [{ token_ms = 1 }]", "found 0");
    check("[[turn]]\n[[turn.step]]\nplay = [{ txt = 'a' }]", "unknown field `txt`");
    check("[[turn]]\n[[turn.step]]\nnext = 'nowhere'", "turn 1: no step is labelled `nowhere`");
    check("[[turn]]\n[[turn.step]]\nlabel = 'end'", "the label `end` is taken");
    check("[[steer]]\nplay = [{}]\n[[turn]]\n[[turn.step]]", "found 0");
}

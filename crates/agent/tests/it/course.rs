//! The course of a turn.

use nudge_agent::BuiltInAgent;
use nudge_backend::Backend as _;
use nudge_wire::acp::v2::AvailableCommand;

use crate::driver::Driver;

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "look"
    [[turn.step]]
    play = [
      { thought = "hm " },
      { text = "I read. " },
      { plan = [{ content = "read" }, { content = "tell" }] },
      { usage = { used = 10, size = 100 } },
      { call = "read", input = { path = "a.txt" } },
      { call = "list" },
    ]
    [[turn.step]]
    play = [{ text = "It says {result1}" }]

    [[turn]]
    literal = "fail"
    [[turn.step]]
    play = [{ text = "I " }, { call = "list" }, { error = "overloaded" }]

    [[turn]]
    literal = "refuse"
    [[turn.step]]
    play = [{ stop = "refusal" }]

    [[turn]]
    literal = "long"
    [[turn.step]]
    play = [{ stop = "max_tokens" }]

    [[turn]]
    literal = "forever"
    [[turn.step]]
    label = "again"
    play = [{ call = "no such tool" }]
    next = "again"

    [[turn]]
    [[turn.step]]
    play = [{ text = "You said {user}." }]
"#;

#[tokio::test(start_paused = true)]
async fn tools_run_between_the_answers_of_the_model() {
    let mut driver = Driver::new(REHEARSAL);
    driver.write("a.txt", "hello");
    let expected = [
        "StreamStarted",
        "thought: hm ",
        "text: I read. ",
        "plan read, tell",
        "usage 10/100",
        "call Read a.txt pending",
        "call List . pending",
        "StreamFinished",
        "tool started",
        "call in_progress",
        "call completed “hello”",
        "tool finished",
        "tool started",
        "call in_progress",
        "call completed “a.txt”",
        "tool finished",
        "break-point []",
        "StreamStarted",
        "text: It says hello",
        "StreamFinished",
        "break-point []",
        "idle end_turn",
    ];
    assert_eq!(driver.turn("look").await, expected);
    // The next turn knows what was said.
    assert_eq!(driver.turn("x").await[1], "text: You said x.");
    assert_eq!(driver.asked().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_message_has_one_id_and_the_next_another() {
    let mut driver = Driver::new(REHEARSAL);
    for _ in 0..2 {
        driver.turn("one two three").await;
    }
    let ids: Vec<&str> = driver.updates.iter().map(|update| update["messageId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 10);
    assert!(ids[..5].iter().all(|id| *id == ids[0]) && ids[5..].iter().all(|id| *id == ids[5]), "{ids:?}");
    assert_ne!(ids[0], ids[5]);
    let mut other = Driver::new(REHEARSAL);
    other.turn("one").await;
    assert_ne!(other.updates[0]["messageId"], ids[0], "another process mints other ids");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_announced_with_all_that_is_known() {
    let mut driver = Driver::new(REHEARSAL);
    driver.turn("look").await;
    let call = driver.updates.iter().find(|update| update["name"] == "read").unwrap();
    assert_eq!(call["kind"], "read");
    assert_eq!(call["locations"][0]["path"], *driver.path("a.txt").to_string_lossy());
    assert_eq!(call["rawInput"]["path"], "a.txt");
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_for_many_reasons() {
    let mut driver = Driver::new(REHEARSAL);
    let end = |log: Vec<String>| log.last().unwrap().clone();
    assert_eq!(end(driver.turn("refuse").await), "idle refusal");
    assert_eq!(end(driver.turn("long").await), "idle max_tokens");
    let log = driver.turn("forever").await;
    assert_eq!(log.iter().filter(|line| *line == "StreamStarted").count(), 200);
    assert_eq!(end(log), "idle max_turn_requests");
    assert_eq!(end(driver.turn("x").await), "idle end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_ends_the_turn_and_what_was_open() {
    let mut driver = Driver::new(REHEARSAL);
    let expected = [
        "StreamStarted",
        "text: I ",
        "call List . pending",
        "StreamFinished",
        "call cancelled",
        "idle _error: the model cannot be reached: overloaded; try again in a moment",
    ];
    assert_eq!(driver.turn("fail").await, expected);
    assert_eq!(driver.turn("x").await.last().unwrap(), "idle end_turn");
}

#[tokio::test(start_paused = true)]
async fn what_the_model_makes_up_is_a_failed_call() {
    for (call, says) in [
        (r#"{ call = "rm" }"#, "There is no such tool."),
        (r#"{ call = "read" }"#, "The input does not fit the tool: missing field `path`."),
        (r#"{ call = "read", raw_input = '[1]' }"#, "The input does not fit the tool"),
        (r#"{ call = "read", raw_input = '{"path":7}' }"#, "expected a string"),
        (r#"{ call = "read", raw_input = '{"path":"a\u0000b"}' }"#, "NUL"),
        (r#"{ call = "read", input = { path = "a", line = -1 } }"#, "The input does not fit the tool"),
        (r#"{ call = "search", input = { pattern = "(", regex = true } }"#, "not a regular expression"),
        (r#"{ call = "search", input = { pattern = "" } }"#, "The pattern is empty."),
    ] {
        let rehearsal = format!("[[turn]]\n[[turn.step]]\nplay = [{call}]\n[[turn.step]]\nplay = []");
        let mut driver = Driver::new(&rehearsal);
        let log = driver.turn("x").await;
        let (status, text) = driver.outcome();
        assert_eq!(status, "failed", "{call}");
        assert!(text.contains(says), "{call}: {text}");
        assert_eq!(log.last().unwrap(), "idle end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn the_rehearsal_that_nudge_brings_runs_on_real_files() {
    let mut driver = Driver::new(include_str!("../../../model/src/script/built_in.toml"));
    driver.write("README.md", "# A house\n");
    driver.write("src/a.rs", "fn a() {}\n// FIXME: b\n");
    let log = driver.turn("hello").await;
    assert!(log.iter().any(|line| line.starts_with("text: It begins with “A house”.")), "{log:?}");
    assert!(log.iter().any(|line| line.starts_with("text: The first such place is src/a.rs:2.")), "{log:?}");
    assert!(driver.outcomes().iter().all(|(status, _)| status == "completed"));
}

#[tokio::test]
async fn options_and_commands_are_in_the_protocols_shape() {
    let driver = Driver::new(REHEARSAL);
    let options: Vec<nudge_wire::acp::v2::SessionConfigOption> = driver.agent.options().to().unwrap();
    let ids: Vec<String> = options.iter().map(|option| option.config_id.to_string()).collect();
    assert_eq!(ids, ["mode", "steer_in_stream", "run_timeout"]);
    assert!(commands(&driver.agent).is_empty());
    let script = nudge_model::script::ScriptedModel::built_in();
    let setup =
        nudge_agent::AgentSetup { cwd: driver.dir.path().to_owned(), ..nudge_agent::AgentSetup::default() };
    let agent = BuiltInAgent::start(
        std::sync::Arc::new(nudge_model::FixedModel::new(std::sync::Arc::new(script))),
        setup,
    );
    let commands = commands(&agent);
    assert_eq!(commands.len(), 3);
    assert!(commands.iter().all(|command| matches!(command, AvailableCommand::Command(_))));
}

/// The slash commands that a client is told of.
fn commands(agent: &BuiltInAgent) -> Vec<AvailableCommand> {
    let [told] = <[_; 1]>::try_from(agent.standing()).expect("one update");
    told.raw.get(&["availableCommands"]).expect("it has them").to().expect("they are commands")
}

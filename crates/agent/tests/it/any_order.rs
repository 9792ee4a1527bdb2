//! Whatever is asked in whatever order: every prompt has one idle, and what began has ended before it.

use nudge_agent::BuiltInAgent;
use nudge_backend::{Backend, BackendEvent as Event, nobody_answers};
use proptest::prelude::*;

use crate::driver::{Driver, message, selected};

const REHEARSAL: &str = r#"
    [[turn]]
    regex = '(?<n>\d)'
    token_ms = 10
    [[turn.step]]
    times = "{n}"
    play = [
      { text = "a b " },
      { text = "x ", repeat = 30, token_ms = 0 },
      { pause_ms = 30 },
      { call = "list" },
      { call = "write", input = { path = "a", content = "{round}" } },
      { text = "c" },
    ]
    [[turn.step]]
    play = [{ text = "d e f" }]
    [[steer]]
    play = [{ text = "Yes. " }, { call = "read", input = { path = "a" } }]
"#;

/// What is done before the next event is taken.
#[derive(Debug, Clone)]
enum Deed {
    Prompt(u8),
    Cancel,
    Interrupt,
    Option(bool),
    /// Whether break-points give a steer, permissions are given, or answers are dropped.
    Answer(u8),
    /// Takes so many events.
    Take(u8),
    /// Lets time pass.
    Wait(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        2 => (0..4u8).prop_map(Deed::Prompt),
        2 => Just(Deed::Cancel),
        2 => Just(Deed::Interrupt),
        1 => any::<bool>().prop_map(Deed::Option),
        3 => (0..4u8).prop_map(Deed::Answer),
        6 => (1..12u8).prop_map(Deed::Take),
        2 => (0..50u8).prop_map(Deed::Wait),
    ]
}

/// What has begun and not ended.
#[derive(Debug, Default, PartialEq)]
struct Open {
    streams: i32,
    tools: i32,
    pauses: i32,
    calls: Vec<String>,
}

#[derive(Default)]
struct Watch {
    open: Open,
    idles: usize,
    how: u8,
}

impl Watch {
    fn take(&mut self, event: Event, agent: &mut BuiltInAgent) {
        match event {
            Event::StreamStarted => self.open.streams += 1,
            Event::StreamFinished => self.open.streams -= 1,
            Event::ToolStarted(_) => self.open.tools += 1,
            Event::ToolFinished(_) => self.open.tools -= 1,
            Event::Paused => self.open.pauses += 1,
            Event::Resumed => self.open.pauses -= 1,
            Event::Update(update) => self.update(&update.raw.to().unwrap()),
            Event::BreakPoint if self.how == 1 => {
                self.how = 0;
                agent.go_on(vec![message("this")]);
            }
            Event::BreakPoint => agent.go_on(Vec::new()),
            Event::Question(asked) if asked.is_permission() => match self.how {
                0 | 1 => agent.answer(asked.id, Ok(selected("allow_once"))),
                2 => agent.answer(asked.id, Ok(selected("reject_once"))),
                _ => agent.answer(asked.id, Ok(nudge_backend::cancelled_permission())),
            },
            Event::Question(asked) => agent.answer(asked.id, Err(nobody_answers(&asked.method))),
            Event::TurnEnded(_) => {
                self.idles += 1;
                assert_eq!(self.open, Open::default(), "everything has ended");
            }
            _ => {}
        }
        let nested = self.open.streams.abs() > 1 || self.open.tools.abs() > 1 || self.open.pauses.abs() > 1;
        assert!(!nested, "one thing at a time: {:?}", self.open);
    }

    fn update(&mut self, update: &serde_json::Value) {
        let (Some(id), Some(status)) = (update["toolCallId"].as_str(), update["status"].as_str()) else {
            return;
        };
        match status {
            "pending" => self.open.calls.push(id.to_owned()),
            "in_progress" => {}
            _ => {
                assert!(self.open.calls.iter().any(|open| open == id), "a call ends once");
                self.open.calls.retain(|open| open != id);
            }
        }
    }
}

async fn play(deeds: Vec<Deed>) {
    let mut driver = Driver::new(REHEARSAL);
    let mut watch = Watch::default();
    let mut prompts = 0;
    for deed in deeds {
        match deed {
            Deed::Prompt(n) => {
                prompts += 1;
                driver.prompt(&n.to_string());
            }
            Deed::Cancel => driver.agent.cancel(),
            Deed::Interrupt => driver.agent.interrupt(),
            Deed::Option(edit) => driver.set("mode", if edit { "edit" } else { "ask" }),
            Deed::Answer(how) => watch.how = how,
            Deed::Take(count) => {
                for _ in 0..count {
                    tokio::task::yield_now().await;
                    match driver.agent.try_next() {
                        Some(event) => watch.take(event, &mut driver.agent),
                        None => break,
                    }
                }
            }
            Deed::Wait(time) => tokio::time::sleep(std::time::Duration::from_millis(time.into())).await,
        }
    }
    while watch.idles < prompts {
        let event = driver.next().await.expect("the agent goes on");
        watch.take(event, &mut driver.agent);
    }
    // No idle follows the last one.
    driver.agent.cancel();
    driver.agent.interrupt();
    let quiet = tokio::time::timeout(std::time::Duration::from_hours(1), async {
        loop {
            let event = driver.agent.next().await.expect("the agent goes on");
            watch.take(event, &mut driver.agent);
        }
    });
    assert!(quiet.await.is_err());
    assert_eq!(watch.idles, prompts);
}

/// The agent stands still wherever nobody takes its events; there it is cancelled.
#[tokio::test(start_paused = true)]
async fn a_cancel_at_any_event_leaves_nothing_open() {
    for ahead in 0..70 {
        let mut driver = Driver::new(
            r#"
            [[turn]]
            regex = '(?<n>\d+)'
            [[turn.step]]
            play = [{ text = "x ", repeat = "{n}" }, { call = "list" }, { pause_ms = 5 }, { call = "list" }]
            "#,
        );
        driver.prompt(&ahead.to_string());
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        driver.agent.cancel();
        let mut watch = Watch::default();
        while watch.idles == 0 {
            let event = driver.next().await.expect("the agent goes on");
            watch.take(event, &mut driver.agent);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_prompt_has_one_idle(deeds in prop::collection::vec(deed(), 0..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(play(deeds));
    }
}

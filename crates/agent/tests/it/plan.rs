//! The plan as the model tells it.

use serde_json::{Value, json};

use crate::driver::Driver;

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "go"
    [[turn.step]]
    play = [{ call = "plan", input = { entries = [
      { content = "look", status = "completed", priority = "high" },
      { content = "change", status = "in_progress" },
      { content = "test" },
    ] } }]
    [[turn.step]]
    play = [{ text = "so" }]

    [[turn]]
    literal = "wrong"
    [[turn.step]]
    play = [{ call = "plan", input = { entries = [{ content = "look", status = "perhaps" }] } }]
"#;

#[tokio::test(start_paused = true)]
async fn a_plan_is_told_whole() {
    let mut driver = Driver::new(REHEARSAL);
    let log = driver.turn("go").await;
    assert!(log.contains(&"call Plan: 1 of 3 done pending".to_owned()), "{log:#?}");
    let told: Vec<&Value> =
        driver.updates.iter().filter(|update| update["sessionUpdate"] == "plan_update").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["plan"]["entries"],
        json!([
            { "content": "look", "priority": "high", "status": "completed" },
            { "content": "change", "priority": "medium", "status": "in_progress" },
            { "content": "test", "priority": "medium", "status": "pending" },
        ])
    );
    assert_eq!(driver.outcome(), ("completed".to_owned(), "The user sees the plan.".to_owned()));
    driver.turn("wrong").await;
    assert_eq!(driver.outcome().0, "failed");
}

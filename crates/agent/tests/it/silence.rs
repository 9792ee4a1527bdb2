//! What the user is told while the model says nothing.

use crate::driver::Driver;

const REHEARSAL: &str = r#"
    [[turn]]
    literal = "before"
    [[turn.step]]
    play = [{ wait_ms = 21000 }, { text = "Late." }]

    [[turn]]
    literal = "within"
    [[turn.step]]
    play = [{ text = "Half" }, { wait_ms = 30000 }, { text = "whole." }, { wait_ms = 90000 }]

    [[turn]]
    literal = "slow"
    [[turn.step]]
    play = [{ text = "a" }, { wait_ms = 15000 }, { text = "b" }, { wait_ms = 15000 }, { text = "c" }]
"#;

/// The titles of the notices of a turn.
async fn told(driver: &mut Driver, text: &str) -> Vec<String> {
    let before = driver.updates.len();
    driver.turn(text).await;
    let updates = driver.updates[before..].iter();
    let notices = updates.filter(|update| update["sessionUpdate"] == "notice");
    notices.map(|notice| notice["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_silent_for_long_is_told_once() {
    let mut driver = Driver::of_provider(REHEARSAL);
    for (text, count) in [("before", 1), ("within", 1), ("slow", 0)] {
        let told = told(&mut driver, text).await;
        assert_eq!(told, vec!["The model has been silent for 20 s"; count], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_may_take_its_time() {
    let mut driver = Driver::new(REHEARSAL);
    assert!(told(&mut driver, "before").await.is_empty());
}

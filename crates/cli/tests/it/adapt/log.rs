//! What the agent has written down.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

use super::raw;

/// A line of the log.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) pid: u32,
    /// `<` for what was heard, `>` for what was said, `*` for what was noted.
    pub(super) direction: char,
    pub(super) text: String,
}

/// The log as it is now.
#[derive(Debug)]
pub(super) struct Log(pub(super) Vec<Line>);

impl Log {
    pub(super) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Self(whole.lines().filter_map(line).collect())
    }

    /// The processes that were started.
    pub(super) fn pids(&self) -> BTreeSet<u32> {
        self.0.iter().map(|line| line.pid).collect()
    }

    /// The process that was started last.
    pub(super) fn newest(&self) -> u32 {
        self.noted("started").last().expect("the agent was started").pid
    }

    /// Where the agent noted this about itself.
    pub(super) fn noted(&self, what: &str) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(move |line| line.direction == '*' && line.text == what)
    }

    /// The frames that were heard under this method, as they came.
    pub(super) fn heard(&self, method: &str) -> Vec<String> {
        self.with(method, '<')
    }

    /// The frames that were said under this method, as they went.
    pub(super) fn said(&self, method: &str) -> Vec<String> {
        self.with(method, '>')
    }

    fn with(&self, method: &str, direction: char) -> Vec<String> {
        let is_it = |line: &&Line| line.direction == direction && value(&line.text)["method"] == method;
        self.0.iter().filter(is_it).map(|line| line.text.clone()).collect()
    }

    /// The text of the answer to the last request under this method: its `result` or `error`.
    pub(super) fn answer(&self, method: &str, member: &str) -> String {
        let asked =
            self.0.iter().rfind(|line| line.direction == '<' && value(&line.text)["method"] == method);
        let asked = asked.unwrap_or_else(|| panic!("the agent was never asked {method}"));
        let id = &value(&asked.text)["id"];
        let is_answer =
            |line: &&Line| line.pid == asked.pid && line.direction == '>' && value(&line.text)["id"] == *id;
        let answer = self.0.iter().rfind(is_answer).unwrap_or_else(|| panic!("{method} was not answered"));
        raw::member(&answer.text, member).unwrap_or_else(|| panic!("no {member} in {}", answer.text))
    }

    /// The place of the first frame that fits.
    pub(super) fn place(&self, direction: char, fits: impl Fn(&Value) -> bool) -> Option<usize> {
        self.0.iter().position(|line| line.direction == direction && fits(&value(&line.text)))
    }
}

fn line(line: &str) -> Option<Line> {
    let (pid, rest) = line.split_once(' ')?;
    let direction = rest.chars().next()?;
    Some(Line { pid: pid.parse().ok()?, direction, text: rest.get(2..)?.to_owned() })
}

fn value(frame: &str) -> Value {
    serde_json::from_str(frame).unwrap_or_default()
}

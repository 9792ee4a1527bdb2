//! Where in the rehearsal a conversation is.

use super::{
    format::{END, Rehearsal, STAY, ScriptAct, ScriptSteer, ScriptTurn, named},
    template::TemplateValues,
};
use crate::ChatMessage;

/// How many steps may be passed over in search of one that can be played.
const MOST_JUMPS: usize = 1000;

/// What is to be played now.
#[derive(Debug)]
pub(super) struct ScriptScene {
    pub(super) acts: Vec<ScriptAct>,
    pub(super) values: TemplateValues,
    /// Milliseconds before each word, where the act does not say.
    pub(super) token_ms: u64,
    /// How many tools were called before.
    pub(super) calls: usize,
}

/// What comes next after these messages.
pub(super) fn next(rehearsal: &Rehearsal, messages: &[ChatMessage]) -> Result<ScriptScene, String> {
    let (prompt, since) = prompt(messages).ok_or("expected a message of the user")?;
    let chosen = rehearsal.turn.iter().find_map(|turn| Some((turn, turn.matches(&prompt)?)));
    let (turn, parts) = chosen.ok_or("no [[turn]] matches what the user said")?;
    let mut values = TemplateValues::default();
    values.extend(parts);
    values.set("user", prompt);
    let mut place = Place { rehearsal, turn, step: Some(0), round: 1, values, results: 0, steer: None };
    for message in since {
        match message {
            ChatMessage::User { text, .. } => place.steered(text),
            ChatMessage::Agent { .. } => drop(place.answer()),
            ChatMessage::Tool { output, .. } => place.result(output),
        }
    }
    let acts = place.answer();
    let token_ms = turn.token_ms.unwrap_or(rehearsal.token_ms);
    let calls = messages.iter().flat_map(ChatMessage::calls).count();
    Ok(ScriptScene { acts, values: place.values, token_ms, calls })
}

/// What the user said to begin the turn, and what followed.
fn prompt(messages: &[ChatMessage]) -> Option<(String, &[ChatMessage])> {
    let begins = |message: &ChatMessage| matches!(message, ChatMessage::User { steer: false, .. });
    let last = messages.iter().rposition(begins)?;
    let first = messages[..last].iter().rposition(|message| !begins(message)).map_or(0, |before| before + 1);
    let texts = messages[first..=last].iter().filter_map(|message| match message {
        ChatMessage::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    Some((texts.collect::<Vec<_>>().join("\n"), &messages[last + 1..]))
}

struct Place<'a> {
    rehearsal: &'a Rehearsal,
    turn: &'a ScriptTurn,
    /// The step that comes next; none at the end.
    step: Option<usize>,
    /// Which time that will be.
    round: u64,
    values: TemplateValues,
    results: usize,
    /// What the user said since the last answer.
    steer: Option<String>,
}

impl<'a> Place<'a> {
    fn steered(&mut self, text: &str) {
        let steer = self.steer.get_or_insert_default();
        if !steer.is_empty() {
            steer.push('\n');
        }
        steer.push_str(text);
    }

    fn result(&mut self, output: &str) {
        self.results += 1;
        self.values.set(format!("result{}", self.results), output);
        self.values.set("result", output);
    }

    /// The acts of the next answer; goes on to what follows it.
    fn answer(&mut self) -> Vec<ScriptAct> {
        let mut acts = Vec::new();
        if let Some(text) = self.steer.take()
            && let Some((rule, parts)) = self.rule(&text)
        {
            self.values.extend(parts);
            self.values.set("steer", text);
            acts.extend(rule.play.iter().cloned());
            self.go(rule.next.as_deref().unwrap_or(STAY));
        }
        self.pass_over();
        if let Some(at) = self.step {
            let step = &self.turn.step[at];
            self.values.set("round", self.round.to_string());
            acts.extend(step.play.iter().cloned());
            let times = step.times.as_ref().map_or(1, |times| self.values.number(times));
            if self.round < times {
                self.round += 1;
            } else {
                self.follow(at, step.next.as_deref());
            }
        }
        acts
    }

    fn rule(&self, text: &str) -> Option<(&'a ScriptSteer, Vec<(String, String)>)> {
        let mut rules = self.turn.steer.iter().chain(&self.rehearsal.steer);
        rules.find_map(|rule| Some((rule, rule.matches(text)?)))
    }

    /// Leaves steps behind whose condition does not hold.
    fn pass_over(&mut self) {
        for _ in 0..MOST_JUMPS {
            let Some(at) = self.step else { return };
            let Some(find) = &self.turn.step[at].find else { return };
            if let Some(parts) = named(&find.regex, &self.values.fill(&find.r#in)) {
                self.values.extend(parts);
                return;
            }
            self.follow(at, find.r#else.as_deref());
        }
        self.step = None;
    }

    fn follow(&mut self, at: usize, label: Option<&str>) {
        match label {
            Some(label) => self.go(label),
            None => self.enter((at + 1 < self.turn.step.len()).then_some(at + 1)),
        }
    }

    fn go(&mut self, label: &str) {
        match label {
            STAY => {}
            END => self.enter(None),
            label => self.enter(self.turn.labelled(label)),
        }
    }

    fn enter(&mut self, step: Option<usize>) {
        self.step = step;
        self.round = 1;
    }
}

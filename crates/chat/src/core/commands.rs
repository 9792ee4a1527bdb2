//! The commands that begin with a slash.

use super::{ChatAct, ChatCore, SessionWish, pending::SayMode};
use crate::{
    completion::CompletionItem,
    conversation::ConversationForm,
    styled::{BOLD, DIM},
    terminal_text,
};

/// Every command: its name, what follows it, and what it does.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("help", "", "keys and commands"),
    ("steer", "TEXT", "say it into the turn that runs"),
    ("queue", "TEXT", "say it as a turn of its own, afterwards"),
    ("stop", "", "end the turn that runs; what waits follows"),
    ("pending", "", "what waits, with its numbers"),
    ("edit", "NUMBER TEXT", "change a message that waits"),
    ("drop", "NUMBER", "take a message back that waits"),
    ("now", "NUMBER", "have a message that waits go into the turn that runs"),
    ("output", "", "all that is kept of the last tool call"),
    ("model", "NAME", "choose a model, or list them"),
    ("mode", "NAME", "choose a mode, or list them"),
    ("set", "NAME VALUE", "any setting of the session"),
    ("new", "", "another session"),
    ("resume", "ID", "another session of this folder; without an id, choose one"),
    ("session", "", "the id of this session, for other terminals"),
    ("login", "NUMBER", "sign in to the agent"),
    ("logout", "", "sign out of the agent"),
    ("quit", "", "leave; the session stays"),
];

const KEYS: &str = "\
Enter            say it; while a turn runs it waits for its own
Alt-Enter Ctrl-S say it into the turn that runs
Ctrl-J           a new line
Esc              stop the turn; close what is open
↑                what waits: Enter edits, Ctrl-S steers with it, Del takes it back
@ /              files and commands; Tab completes
Shift-Tab        the next mode
Ctrl-O           all that is kept of the last tool call
Ctrl-L Ctrl-Z    draw anew; go into the background
Ctrl-C twice     leave; the session stays, and a turn that runs goes on";

impl ChatCore {
    /// What completes a slash.
    pub(super) fn all_commands(&self) -> Vec<CompletionItem> {
        let own = COMMANDS.iter().map(|(name, what, about)| {
            let what = if what.is_empty() { String::new() } else { format!("‹{what}› ") };
            CompletionItem { text: format!("/{name}"), about: format!("{what}{about}") }
        });
        let own: Vec<_> = own.collect();
        let others =
            self.commands.iter().filter(|command| own.iter().all(|known| known.text != command.text));
        own.iter().chain(others).cloned().collect()
    }

    /// Does what a command says; false if it is none of this program's.
    pub(super) fn command(&mut self, line: &str) -> bool {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match name {
            "help" => self.help(),
            "steer" | "queue" if rest.is_empty() => self.hint(format!("/{name} what?")),
            "steer" => self.say(SayMode::Steer, rest),
            "queue" => self.say(SayMode::Queue, rest),
            "stop" => self.stop_turn(),
            "pending" => self.list_pending(),
            "edit" | "drop" | "now" => self.pending_command(name, rest),
            "output" => self.show_all(),
            "model" => self.set_option("model", rest),
            "mode" => self.set_option("mode", rest),
            "set" => {
                let (option, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                self.set_option(option, value.trim());
            }
            "new" => self.change_session(SessionWish::New),
            "resume" => self.resume_command(rest),
            "session" => self.tell_session(),
            "login" => self.login(rest),
            "logout" => self.ask(super::AskPurpose::Logout, "auth/logout", serde_json::json!({})),
            "quit" | "exit" => self.acts.push(ChatAct::Leave),
            _ => return false,
        }
        true
    }

    fn help(&mut self) {
        let command =
            |(name, what, about): &(&str, &str, &str)| format!("{:<20} {about}", format!("/{name} {what}"));
        let commands = COMMANDS.iter().map(command).collect::<Vec<_>>().join("\n");
        if self.form == ConversationForm::Drawn {
            self.note(BOLD, "Keys");
            self.note(DIM, KEYS);
        }
        self.note(BOLD, "Commands");
        self.note(DIM, &commands);
    }

    fn list_pending(&mut self) {
        let lines = self.pending.waiting().iter().enumerate().map(|(at, message)| {
            let how = if message.is_steer { "steer" } else { "queue" };
            format!("{}. {how}  {}", at + 1, message.line())
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        self.note(DIM, if text.is_empty() { "nothing waits" } else { &text });
    }

    fn pending_command(&mut self, name: &str, rest: &str) {
        let (number, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Some(message) = number.parse().ok().and_then(|number| self.waiting_message(Some(number))) else {
            return self
                .hint(format!("/{name} wants the number of a message that waits; /pending shows them"));
        };
        match name {
            "drop" => self.take_back(&message),
            "now" => self.steer_with(&message),
            _ if text.trim().is_empty() => self.edit(&message),
            _ => self.replace(&message.id, text.trim().to_owned()),
        }
    }

    fn resume_command(&mut self, rest: &str) {
        if rest.is_empty() {
            return self.list();
        }
        let numbered = rest.parse().ok().and_then(|number| self.picker.as_ref()?.numbered(number));
        self.picker = None;
        self.change_session(SessionWish::Resume(numbered.unwrap_or_else(|| rest.to_owned())));
    }

    fn tell_session(&mut self) {
        let text = match &self.session {
            Some(session) => {
                let id = terminal_text::one_line(session);
                format!(
                    "{id}\nFrom another terminal: nudge chat --resume {id}, nudge watch {id}, nudge steer {id} TEXT"
                )
            }
            None => "there is no session yet".to_owned(),
        };
        self.note(DIM, &text);
    }
}

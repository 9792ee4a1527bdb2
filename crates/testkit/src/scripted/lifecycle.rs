//! Sessions are opened, listed, set and left.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    agent::{Agent, Outcome},
    session::{Session, keep, recalled},
    shape,
};

/// How long a late replay pauses.
const PAUSE: Duration = Duration::from_millis(20);

impl Agent {
    /// Answers a request about sessions; `None` if that is done already.
    pub(super) fn lifecycle(&self, method: &str, id: &str, params: &Value) -> Option<Outcome> {
        let name = params["sessionId"].as_str().unwrap_or_default();
        match method {
            "session/new" if params["_meta"]["fail"] == true => {
                Some(Err(shape::failure("No session for you")))
            }
            "session/new" if matches!(self.options.signed_in, Some((_, false))) => {
                Some(Err(shape::error(-32000, "Authentication required", "scripted_signed_out")))
            }
            "session/new" => {
                self.open(id, Session::new(params["cwd"].as_str().unwrap_or_default()));
                None
            }
            "session/fork" => match self.known(name) {
                Ok(from) => {
                    self.open(id, from);
                    None
                }
                Err(error) => Some(Err(error)),
            },
            "session/load" | "session/resume" => {
                let wants_replay = method == "session/load" || params["replayFrom"]["type"] == "start";
                self.open_again(id, name, wants_replay).err().map(Err)
            }
            "session/list" => Some(Ok(self.list())),
            "session/close" | "session/delete" => {
                self.part(name, method == "session/delete");
                Some(Ok(json!({})))
            }
            "session/set_mode" => {
                let set = self.set_mode(name, params["modeId"].as_str());
                Some(set.map(|_| json!({ "_meta": { "own": shape::ODD_MARK } })))
            }
            _ => {
                let option = params["configId"].as_str();
                let mode = params["value"].as_str().filter(|_| option == Some("mode"));
                let set = self.set_mode(name, mode);
                Some(set.map(|session| json!({ "configOptions": shape::options(self.is_v2(), &session) })))
            }
        }
    }

    /// Opens a session under a new id.
    fn open(&self, request: &str, session: Session) {
        let session = Session { is_open: true, turn: None, ..session };
        let mut state = self.state();
        let id = match self.options.ids.as_deref() {
            Some("counter") => format!("s-{}", state.next()),
            Some(fixed) => fixed.to_owned(),
            None if self.options.has("rude") => format!("s-{}{}", state.next(), shape::RUDE),
            None => format!("s-{}-{}", self.name, state.next()),
        };
        let mut answer = shape::opened(self.is_v2(), &session);
        answer["sessionId"] = json!(id);
        keep(self.options.memory.as_deref(), &id, Some(&session));
        state.sessions.insert(id.clone(), session);
        let commands = shape::update(&id, &shape::commands(self.is_v2()));
        self.send_with(&state, &[shape::answer(request, Ok(answer)), commands]);
    }

    fn open_again(&self, request: &str, id: &str, wants_replay: bool) -> Result<(), Value> {
        let session = Session { is_open: true, ..self.known(id)? };
        self.state().sessions.insert(id.to_owned(), session.clone());
        let mut replay = if wants_replay { self.replay(id, &session) } else { Vec::new() };
        let answer = shape::answer(request, Ok(shape::opened(self.is_v2(), &session)));
        if self.options.has("late-replay") {
            // The first of it right behind the answer, the rest when one might think that it is over.
            replay.insert(0, answer);
            let rest = replay.split_off(replay.len().min(2));
            self.send(&replay);
            std::thread::sleep(PAUSE);
            self.send(&rest);
        } else {
            replay.push(answer);
            self.send(&replay);
        }
        self.update(id, &shape::commands(self.is_v2()));
        Ok(())
    }

    /// What was said, as updates.
    fn replay(&self, id: &str, session: &Session) -> Vec<String> {
        let said = session.history.iter();
        said.map(|spoken| {
            shape::update(id, &shape::chunk(self.is_v2(), spoken.is_user, &spoken.id, &spoken.text))
        })
        .collect()
    }

    /// A session of this process, or one that is remembered.
    fn known(&self, id: &str) -> Result<Session, Value> {
        let here = self.state().sessions.get(id).cloned();
        let known = here.or_else(|| recalled(self.options.memory.as_deref()).remove(id));
        known.ok_or_else(|| shape::error(-32002, "Resource not found", "scripted_unknown_session"))
    }

    fn list(&self) -> Value {
        let mut sessions = recalled(self.options.memory.as_deref());
        sessions.extend(self.state().sessions.clone());
        let info = |(id, session): (&String, &Session)| json!({ "sessionId": id, "cwd": session.cwd, "title": "scripted" });
        json!({ "sessions": sessions.iter().map(info).collect::<Vec<_>>(), "_meta": { "own": shape::ODD_MARK } })
    }

    fn part(&self, id: &str, is_deleted: bool) {
        let mut state = self.state();
        if let Some(session) = state.sessions.remove(id)
            && !is_deleted
        {
            // It can be opened again.
            state.sessions.insert(id.to_owned(), Session { is_open: false, turn: None, ..session });
        }
        drop(state);
        if is_deleted {
            keep(self.options.memory.as_deref(), id, None);
        }
        self.wake();
    }

    fn set_mode(&self, id: &str, mode: Option<&str>) -> Result<Session, Value> {
        let mut state = self.state();
        let session = state.session(id)?;
        if let Some(mode) = mode {
            mode.clone_into(&mut session.mode);
        }
        Ok(session.clone())
    }
}

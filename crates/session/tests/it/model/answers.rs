//! What clients are answered, held against what is on disk.

use nudge_mailbox::MessageId;
use nudge_session::RequestId;
use nudge_wire::{Error, ErrorCode, RawJson, Version, slice};

use super::{
    Play,
    audit::Wrong,
    clients::{How, What, version},
    said,
    world::{FULL, World},
};

impl World {
    pub(super) fn answered(&mut self, play: &Play, request: RequestId, outcome: Result<RawJson, Error>) {
        let Some((what, client)) = self.requests.close(request) else {
            return self.note(Some(Wrong::AnsweredTwice));
        };
        match (what, outcome) {
            (What::Send(place, _), Ok(answer)) => self.accepted(play, place, &answer),
            (What::Send(place, _), Err(error)) => self.refused(place, &error),
            (What::Revoke(place), Ok(_)) => {
                let is_revoked = self.is_in(place, &self.disk.inputs.revoked);
                self.check(is_revoked, Wrong::TooEarly);
                self.told[usize::from(place)].is_revoked = true;
            }
            (What::Replace(place, version), Ok(_)) => self.replaced(place, version),
            (What::Revoke(place) | What::Replace(place, _), Err(error)) => self.too_late(place, &error),
            (What::Attach, _) => {
                if let Some(client) = client {
                    self.clients[client].joins = None;
                }
            }
            (What::Close | What::Delete | What::Leave, _) => self.is_ending = false,
        }
    }

    fn is_in(&self, place: u8, ids: &[MessageId]) -> bool {
        self.told[usize::from(place)].id.as_ref().is_some_and(|id| ids.contains(id))
    }

    fn is_pending(&self, place: u8) -> bool {
        let pending: Vec<_> = self.disk.inputs.pending.iter().map(|message| message.id.clone()).collect();
        self.is_in(place, &pending)
    }

    /// Whether a client learns of the end of a turn by an answer.
    pub(super) fn is_prompting(&self, client: usize) -> bool {
        version(client) == Version::V1 && self.requests.awaited().any(|what| matches!(what, What::Send(..)))
    }

    /// A message is taken in, or was delivered, or its turn is over.
    fn accepted(&mut self, play: &Play, place: u8, answer: &RawJson) {
        let part = play.parts[usize::from(place)];
        let told = &self.told[usize::from(place)];
        let named =
            answer.get(&["messageId"]).and_then(|id| Some(slice::unquoted(id.as_str())?.into_owned()));
        let is_other = named.is_some_and(|named| told.id.as_ref().is_some_and(|id| **id != *named));
        self.check(!is_other, Wrong::FalseAnswer);
        let is_delivered = self.is_in(place, &self.disk.inputs.delivered);
        let is_revoked = self.is_in(place, &self.disk.inputs.revoked);
        let is_in_turn = self.agent.heard.is_some_and(|turn| turn.prompt == Some(place));
        let is_written = match (part.how, version(part.client)) {
            (How::Prompt, Version::V1) => (is_delivered && !is_in_turn) || is_revoked,
            (How::Prompt, Version::V2) => is_delivered,
            _ => is_delivered || is_revoked || self.is_pending(place),
        };
        self.check(is_written, Wrong::TooEarly);
        let told = &mut self.told[usize::from(place)];
        told.is_accepted |= !part.is_prompt();
        // A prompt that was dropped is answered so.
        told.is_revoked |= part.is_prompt() && is_revoked;
    }

    /// A message is not taken in: its sender may write it again.
    fn refused(&mut self, place: u8, error: &Error) {
        let is_dropped = error.code == ErrorCode::REQUEST_CANCELLED;
        let is_revoked = self.is_in(place, &self.disk.inputs.revoked);
        self.check(is_revoked || !is_dropped, Wrong::TooEarly);
        let told = &mut self.told[usize::from(place)];
        told.idle_tries += u8::from(error.get_reason().as_deref() == Some("no_running_turn"));
        told.is_revoked |= is_dropped;
        let reason = error.get_reason();
        let is_not_taken_in = matches!(reason.as_deref(), Some("no_running_turn" | "session_closing"));
        if is_not_taken_in || error.message == FULL {
            (told.sent, told.is_refused) = (told.sent.saturating_sub(1), true);
        }
    }

    fn replaced(&mut self, place: u8, version: u8) {
        let waiting = self.disk.inputs.pending.iter();
        let mut contents = waiting.filter_map(|message| said::read(message.content.content.as_str()));
        let on_disk = contents.find(|(of, _)| *of == place).map(|(_, version)| version);
        let told = &mut self.told[usize::from(place)];
        let is_written = on_disk.or(told.delivered).is_none_or(|on_disk| on_disk >= version);
        told.replaced = version;
        self.check(is_written, Wrong::TooEarly);
    }

    fn too_late(&mut self, place: u8, error: &Error) {
        let is_delivered = self.is_in(place, &self.disk.inputs.delivered);
        let is_revoked = self.is_in(place, &self.disk.inputs.revoked);
        let is_true = match error.get_reason().as_deref() {
            Some("already_delivered") => is_delivered,
            Some("unknown_message_id") => is_revoked,
            _ => true,
        };
        self.check(is_true, Wrong::FalseRefusal);
    }
}

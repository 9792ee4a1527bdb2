//! What must never be seen.

use nudge_backend::SteerMethod;
use nudge_mailbox::{DeliveryMode, InputDialect, MailboxMessage};
use nudge_session::{DeliveredMessages, SteerOpening};

use crate::delivery::turned_mailbox::{Event, TurnedMailbox};

use super::{
    Play,
    world::{Action, Content, Told, Turn, World},
};

/// What is wrong with a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wrong {
    /// An accepted message is neither in the transcript, nor pending, nor revoked.
    Lost,
    Twice,
    AfterRevoke,
    OldContent,
    OtherId,
    Order,
    TurnInTurn,
    /// A turn is started by something else than one queued message or all left-over steers.
    TurnOfOthers,
    /// A steer is delivered where it must wait.
    NoOpening,
    /// Something waits for nothing.
    HeldBack,
    FalseRefusal,
}

/// Looks at a delivery that the mailbox wants, before the world knows of it.
pub(super) fn judge(world: &World, delivery: &DeliveredMessages<Content>) -> Option<Wrong> {
    let steers_left = world.mailbox.pending().any(|message| message.mode == DeliveryMode::Steer);
    if world.is_held {
        return Some(Wrong::NoOpening);
    }
    match (delivery, &world.turn) {
        (DeliveredMessages::Turn(_), Some(_)) => Some(Wrong::TurnInTurn),
        (DeliveredMessages::Turn(messages), None) => {
            let is_queued = messages.len() == 1 && messages[0].mode == DeliveryMode::Queue;
            let is_steers = !messages.is_empty() && are_steers(messages);
            let is_right = (is_queued || is_steers) && !steers_left;
            (!is_right).then_some(Wrong::TurnOfOthers)
        }
        (DeliveredMessages::Steer(..), None) => Some(Wrong::NoOpening),
        (DeliveredMessages::Steer(opening, messages), Some(turn)) => {
            let is_stream = turn.is_streaming && world.steer_method == SteerMethod::Take;
            let is_place = match opening {
                SteerOpening::MidStream => is_stream,
                SteerOpening::BreakPoint => turn.is_at_break,
            };
            let is_right = is_place && !must_wait(turn) && are_steers(messages) && !steers_left;
            (!is_right).then_some(Wrong::NoOpening)
        }
    }
}

/// Looks at a world that an action has led to.
pub(super) fn look(play: &Play, world: &World, action: Action) -> Option<Wrong> {
    let is_held_back = world.is_settled() && is_held_back(world);
    // Nothing else touches what is durable or what clients were told.
    let is_news = matches!(action, Action::Commit | Action::Show) || action.is_request();
    is_held_back.then_some(Wrong::HeldBack).or_else(|| is_news.then(|| look_ahead(play, world))?)
}

/// Looks at what would become of a world if the process died now and the session were resumed.
fn look_ahead(play: &Play, world: &World) -> Option<Wrong> {
    let drained = drained(world);
    for (part, (place, told)) in play.parts.iter().zip((0..).zip(&world.told)) {
        let mine: Vec<_> =
            drained.iter().filter(|(who, _)| *who == place).map(|(_, version)| *version).collect();
        // A prompt of version 2 is promised nothing before it is delivered.
        let is_kept = told.id.is_some() && part.dialect != InputDialect::PromptV2;
        if let Some(wrong) = fate(told, is_kept, &mine) {
            return Some(wrong);
        }
    }
    is_out_of_order(play, world, &drained).then_some(Wrong::Order)
}

/// Compares what a client was told of a message with the versions of it that arrive.
fn fate(told: &Told, is_kept: bool, versions: &[u8]) -> Option<Wrong> {
    match versions {
        [_, _, ..] => Some(Wrong::Twice),
        [_] if told.is_revoked => Some(Wrong::AfterRevoke),
        [version] if *version < told.replaced || *version > told.asked_to_replace => Some(Wrong::OldContent),
        [] if is_kept && !told.asked_to_revoke && !told.may_be_dropped => Some(Wrong::Lost),
        _ => None,
    }
}

/// The transcript that a restart now, and a backend that only finishes turns, lead to.
fn drained(world: &World) -> Vec<Content> {
    let mut mailbox = TurnedMailbox::restore(world.steer_method, world.saved.clone());
    let mut transcript = world.transcript.clone();
    mailbox.resume();
    while let Some(DeliveredMessages::Turn(messages)) = mailbox.poll() {
        transcript.extend(messages.into_iter().map(|message| message.content));
        mailbox.handle(Event::Idle);
    }
    transcript
}

/// Whether two messages of one mode arrive in another order than that in which they were accepted.
///
/// This is more than is asked for: it looks across clients too.
fn is_out_of_order(play: &Play, world: &World, transcript: &[Content]) -> bool {
    let rank = |place: u8| world.accepted.iter().position(|accepted| *accepted == place);
    // The mode of a prompt of version 2 depends on when it came.
    let mode = |place: u8| {
        let part = play.parts[usize::from(place)];
        (part.dialect != InputDialect::PromptV2).then_some(part.mode)
    };
    let mut pairs = transcript
        .iter()
        .enumerate()
        .flat_map(|(at, (first, _))| transcript[at + 1..].iter().map(|(second, _)| (*first, *second)));
    pairs.any(|(first, second)| {
        mode(first).is_some() && mode(first) == mode(second) && rank(first) > rank(second)
    })
}

/// Whether something waits that could be delivered.
fn is_held_back(world: &World) -> bool {
    let mut waiting = world.mailbox.pending();
    match &world.turn {
        _ if world.is_held => false,
        None => waiting.next().is_some(),
        Some(turn) => {
            let is_stream = turn.is_streaming && world.steer_method == SteerMethod::Take;
            let is_open = (is_stream || turn.is_at_break) && !must_wait(turn);
            is_open && waiting.any(|message| message.mode == DeliveryMode::Steer)
        }
    }
}

fn must_wait(turn: &Turn) -> bool {
    turn.is_in_tool || turn.is_asking || turn.is_paused || turn.is_cancelled
}

fn are_steers(messages: &[MailboxMessage<Content>]) -> bool {
    messages.iter().all(|message| message.mode == DeliveryMode::Steer)
}

//! What must never be seen.

use nudge_backend::SteerMethod;
use nudge_mailbox::{DeliveryMode, MailboxChange, MailboxMessage, MessageId};
use nudge_session::{InputChange, InputContent, SessionCommit, StoreOperation};

use super::{
    Play,
    agent::{AgentTurn, Phase},
    clients::Told,
    said,
    world::World,
};

/// What is wrong with a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wrong {
    /// An accepted message is neither in the transcript, nor pending, nor revoked.
    Lost,
    Twice,
    AfterRevoke,
    OldContent,
    /// The agent is given something else than what is in the transcript.
    OtherContent,
    Order,
    /// A number or an id is used again.
    SameNumber,
    /// A message is delivered without its entry, or an entry appears without a delivery.
    EntryApart,
    /// Something is shown, answered or done before it is on disk.
    TooEarly,
    FalseAnswer,
    /// A message waits whose sender was told that it was not taken in.
    Refused,
    FalseRefusal,
    AnsweredTwice,
    Unanswered,
    TurnInTurn,
    /// A turn is started by something else than one queued message or all left-over steers.
    TurnOfOthers,
    /// Something is delivered where it must wait.
    NoOpening,
    /// Something is delivered after the session was closed.
    AfterEnd,
    /// The agent is told to go on where it does not wait.
    GoOnTwice,
    /// The agent waits to be told to go on.
    Forgotten,
    /// The agent was not given what was delivered.
    NotGiven,
    Interrupted,
    /// Something waits for nothing.
    HeldBack,
    /// Clients are shown entries in another order than they are written, or others.
    OtherEntry,
    /// A client is shown an entry that it has, or misses one.
    SeenTwice,
    Missed,
    /// A message is shown to its sender who shows it itself, or not shown to one who does not.
    Echo,
    /// A client is told of other pending messages than there are.
    OtherPending,
    /// A client is asked what is not open, or not asked what is.
    Asked,
}

/// Looks at what a commit delivers, before the world knows of it.
pub(super) fn judge(play: &Play, world: &World, commit: &SessionCommit) -> Option<Wrong> {
    let ids = delivered(commit);
    if ids.is_empty() {
        return None;
    }
    if world.is_held {
        return Some(Wrong::NoOpening);
    }
    if world.is_ending {
        return Some(Wrong::AfterEnd);
    }
    let steers_left = world.steers_after(Some(commit));
    let modes: Vec<_> = ids.iter().filter_map(|id| world.mode_of(id, commit)).collect();
    let are_steers = !modes.is_empty() && modes.iter().all(|mode| *mode == DeliveryMode::Steer);
    match &world.agent.heard {
        None => {
            let is_right = (modes == [DeliveryMode::Queue] || are_steers) && !steers_left;
            (!is_right).then_some(Wrong::TurnOfOthers)
        }
        Some(turn) => {
            let is_right = is_open(play, world, turn) && are_steers && !steers_left;
            (!is_right).then_some(Wrong::NoOpening)
        }
    }
}

/// The messages that a commit delivers.
pub(super) fn delivered(commit: &SessionCommit) -> Vec<MessageId> {
    let ids = commit.operations.iter().filter_map(|operation| match operation {
        StoreOperation::Input(InputChange { change: MailboxChange::Delivered { ids }, .. }) => {
            Some(ids.clone())
        }
        _ => None,
    });
    ids.flatten().collect()
}

/// Whether steers may go into a turn now.
fn is_open(play: &Play, world: &World, turn: &AgentTurn) -> bool {
    let is_place = match turn.phase {
        Phase::AtBreak => true,
        Phase::Streaming => play.method == SteerMethod::Take,
        Phase::Starting | Phase::Busy => false,
    };
    is_place && !must_wait(world, turn)
}

pub(super) fn must_wait(world: &World, turn: &AgentTurn) -> bool {
    turn.has_tool || turn.is_paused || turn.is_unwanted || world.is_asking()
}

/// Looks at a world that an action has led to.
pub(super) fn look(play: &Play, world: &World) -> Option<Wrong> {
    let fates = (0..).zip(&world.told).find_map(|(place, told)| fate(play, world, place, told));
    fates.or_else(|| look_at_asks(world)).or_else(|| look_at_rest(play, world))
}

/// Compares what a client was told of a message with what is on disk.
fn fate(play: &Play, world: &World, place: u8, told: &Told) -> Option<Wrong> {
    let id = told.id.as_ref()?;
    let inputs = &world.disk.inputs;
    let is_in = |ids: &[MessageId]| ids.contains(id);
    let waiting = inputs.pending.iter().find(|message| message.id == *id);
    let version = waiting.and_then(version_of).or(told.delivered);
    match version {
        _ if waiting.is_some() && is_in(&inputs.delivered) => Some(Wrong::Twice),
        _ if told.is_revoked && !is_in(&inputs.revoked) => Some(Wrong::AfterRevoke),
        Some(version) if version < told.replaced || version > told.asked_to_replace => {
            Some(Wrong::OldContent)
        }
        None if waiting.is_none() && !is_in(&inputs.delivered) => {
            let may_be_gone = told.asked_to_revoke || play.parts[usize::from(place)].is_prompt();
            let is_lost = told.is_accepted && !(may_be_gone && is_in(&inputs.revoked));
            is_lost.then_some(Wrong::Lost)
        }
        _ => None,
    }
}

fn version_of(message: &MailboxMessage<InputContent>) -> Option<u8> {
    said::read(message.content.content.as_str()).map(|(_, version)| version)
}

/// Nobody is asked what is not open.
fn look_at_asks(world: &World) -> Option<Wrong> {
    if !world.is_settled() {
        return None;
    }
    let is_wrong = world.clients.iter().any(|client| {
        let must_be_asked = world.is_asking() && client.is_attached && !client.has_answered;
        client.asked.len() != usize::from(must_be_asked)
    });
    is_wrong.then_some(Wrong::Asked)
}

/// Whether something was forgotten, once all that was decided is done.
fn look_at_rest(play: &Play, world: &World) -> Option<Wrong> {
    if !world.is_settled() {
        return None;
    }
    if !world.log.is_empty() {
        return Some(Wrong::Missed);
    }
    if world.told.iter().any(|told| told.delivered.is_some() && !told.is_given) {
        return Some(Wrong::NotGiven);
    }
    if world.agent.waits > 0 {
        return Some(Wrong::Forgotten);
    }
    let is_used = world.clients.iter().any(|client| client.is_attached) && !world.is_ending;
    if is_used && is_held_back(play, world) {
        return Some(Wrong::HeldBack);
    }
    let is_idle = world.agent.heard.is_none();
    (is_idle && !world.requests.are_answered()).then_some(Wrong::Unanswered)
}

/// Whether something waits that could be delivered, or a stream runs that could be cut off for it.
fn is_held_back(play: &Play, world: &World) -> bool {
    let mut waiting = world.disk.inputs.pending.iter();
    let Some(turn) = &world.agent.heard else { return waiting.next().is_some() };
    let can_cut = play.method == SteerMethod::Interrupt && turn.phase == Phase::Streaming;
    let is_cut = can_cut && !turn.is_interrupted && !must_wait(world, turn);
    (is_open(play, world, turn) || is_cut) && waiting.any(|message| message.mode == DeliveryMode::Steer)
}

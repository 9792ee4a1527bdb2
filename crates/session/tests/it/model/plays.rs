//! The plays: few messages each, and one matter that is looked into.

use nudge_backend::SteerMethod;

use super::{
    Play,
    actions::{End, Reply},
    agent::Did,
    clients::{How, Part},
    explore,
    world::Budget,
};

const NOTHING: Budget = Budget {
    crashes: 0,
    failures: 0,
    cancels: 0,
    asks: 0,
    says: 0,
    starts: 0,
    deaths: 0,
    joins: 0,
    detaches: 0,
    ends: 0,
};

pub(super) const PLAY: Play = Play {
    parts: &[],
    attached: 2,
    method: SteerMethod::Interrupt,
    does: &[Did::Stream, Did::StreamEnd, Did::Tool, Did::ToolEnd, Did::Break],
    lag: 0,
    budget: NOTHING,
    under_way: 2,
    revokes: false,
    replaces: 0,
    cancels_requests: false,
    reads: false,
    idle_tries: 0,
    replies: &[Reply::Allow],
    ends: &[],
    fails_for_good: false,
};

const fn part(client: usize, how: How) -> Part {
    Part { client, how, is_keyed: false }
}

const fn keyed(part: Part) -> Part {
    Part { is_keyed: true, ..part }
}

pub(super) const PROMPT_V1: Part = part(0, How::Prompt);
pub(super) const KEYED_PROMPT_V1: Part = keyed(PROMPT_V1);
pub(super) const PROMPT_V2: Part = part(1, How::Prompt);
pub(super) const QUEUED: Part = part(0, How::Queue);
const KEYED_QUEUED: Part = keyed(QUEUED);
const STEER: Part = part(0, How::Steer);
const THEIR_STEER: Part = part(1, How::Steer);
const STEERING: Part = part(0, How::Steering);

/// All that an agent does in a turn.
const WORK: &[Did] = &[
    Did::Stream,
    Did::StreamEnd,
    Did::Tool,
    Did::ToolEnd,
    Did::Pause,
    Did::Resume,
    Did::Break,
    Did::Ask,
    Did::Withdraw,
    Did::Say,
    Did::Die,
];
/// All that ends the use of a session.
const ENDS: &[End] = &[
    End::Close,
    End::Delete,
    End::LeaveIfUnused,
    End::Process,
    End::PatientProcess,
    End::Tick,
    End::AgentEnded,
];

#[test]
fn steers_into_a_stream_that_is_cut_off() {
    let parts = &[PROMPT_V1, THEIR_STEER, STEERING];
    let budget = Budget { crashes: 1, cancels: 1, ..NOTHING };
    explore("cut off", Play { parts, budget, does: WORK, revokes: true, ..PLAY });
}

#[test]
fn steers_that_are_taken_in_mid_stream() {
    let parts = &[QUEUED, STEER, THEIR_STEER];
    let budget = Budget { cancels: 1, deaths: 1, asks: 1, ..NOTHING };
    let method = SteerMethod::Take;
    explore("taken", Play { parts, budget, does: WORK, method, under_way: 3, ..PLAY });
}

#[test]
fn steers_that_wait_for_a_break_point() {
    let parts = &[PROMPT_V2, STEERING, THEIR_STEER];
    let does = &[Did::Stream, Did::Tool, Did::ToolEnd, Did::Break, Did::Ask];
    let budget = Budget { crashes: 1, asks: 1, ..NOTHING };
    explore("wait", Play { parts, budget, does, method: SteerMethod::Wait, idle_tries: 1, ..PLAY });
}

#[test]
fn a_full_disk() {
    let parts = &[QUEUED, KEYED_PROMPT_V1];
    let does = &[Did::Stream, Did::Break, Did::Say];
    let budget = Budget { failures: 1, cancels: 1, says: 2, ..NOTHING };
    explore("full disk", Play { parts, budget, does, under_way: 3, fails_for_good: true, ..PLAY });
}

#[test]
fn a_full_disk_under_steers() {
    let parts = &[PROMPT_V2, THEIR_STEER];
    let does = &[Did::Stream, Did::Break, Did::Ask, Did::Say];
    let budget = Budget { failures: 1, asks: 1, crashes: 1, ..NOTHING };
    explore("full disk, steers", Play { parts, budget, does, replaces: 1, ..PLAY });
}

#[test]
fn a_client_that_joins_and_one_that_leaves() {
    let parts = &[PROMPT_V1, PROMPT_V2];
    let does = &[Did::Say, Did::Ask, Did::Break];
    let budget = Budget { joins: 2, detaches: 1, says: 1, asks: 1, ..NOTHING };
    explore("join and leave", Play { parts, budget, does, attached: 1, reads: true, ..PLAY });
}

#[test]
fn permissions() {
    let parts = &[PROMPT_V1, THEIR_STEER];
    let does = &[Did::Ask, Did::Withdraw, Did::Break, Did::Die, Did::Stream];
    let replies = &[Reply::Allow, Reply::Refuse, Reply::Gone];
    let budget = Budget { asks: 1, cancels: 1, detaches: 1, joins: 1, deaths: 1, ..NOTHING };
    explore("permissions", Play { parts, budget, does, replies, ..PLAY });
}

#[test]
fn prompts_beside_a_steer() {
    let parts = &[KEYED_PROMPT_V1, PROMPT_V2, THEIR_STEER];
    let does = &[Did::Stream, Did::Break];
    let budget = Budget { crashes: 1, cancels: 1, ..NOTHING };
    explore("prompts", Play { parts, budget, does, cancels_requests: true, ..PLAY });
}

#[test]
fn a_replaced_message() {
    let parts = &[STEER, PROMPT_V2, KEYED_QUEUED];
    let does = &[Did::Stream, Did::Break];
    let budget = Budget { crashes: 1, ..NOTHING };
    explore("replaced", Play { parts, budget, does, replaces: 1, revokes: true, ..PLAY });
}

#[test]
fn the_end_of_a_session() {
    let parts = &[PROMPT_V1, QUEUED];
    let does = &[Did::Break, Did::Ask];
    let budget = Budget { ends: 1, detaches: 1, asks: 1, ..NOTHING };
    explore("ends", Play { parts, budget, does, ends: ENDS, ..PLAY });
}

#[test]
fn an_end_that_cannot_be_written() {
    let parts = &[QUEUED, PROMPT_V1];
    let ends = &[End::Close, End::Delete, End::PatientProcess];
    let budget = Budget { ends: 1, failures: 2, ..NOTHING };
    explore("ends, full disk", Play { parts, budget, does: &[], ends, ..PLAY });
}

#[test]
fn a_session_that_hears_late_of_its_agent() {
    let parts = &[PROMPT_V2, THEIR_STEER];
    let does = &[Did::Stream, Did::StreamEnd, Did::Break, Did::Ask, Did::Say, Did::Die];
    let budget = Budget { cancels: 1, asks: 1, says: 1, deaths: 1, ..NOTHING };
    explore("late", Play { parts, budget, does, lag: 2, ..PLAY });
}

#[test]
fn an_agent_that_begins_turns_by_itself() {
    let parts = &[PROMPT_V1, QUEUED, THEIR_STEER];
    let does = &[Did::Start, Did::Stream, Did::Break, Did::Ask];
    let budget = Budget { starts: 1, cancels: 1, asks: 1, ..NOTHING };
    explore("own turns", Play { parts, budget, does, ..PLAY });
}

#[test]
#[ignore = "takes minutes"]
fn all_that_an_agent_does() {
    let parts = &[PROMPT_V1, THEIR_STEER, STEERING];
    let budget = Budget { crashes: 1, cancels: 1, asks: 1, says: 1, deaths: 1, ..NOTHING };
    explore("all of an agent", Play { parts, budget, does: WORK, ..PLAY });
}

#[test]
#[ignore = "takes minutes"]
fn a_full_disk_under_all_kinds_of_input() {
    let parts = &[KEYED_PROMPT_V1, QUEUED, THEIR_STEER];
    let does = &[Did::Stream, Did::Break, Did::Ask];
    let budget = Budget { failures: 1, cancels: 1, asks: 1, ..NOTHING };
    explore("full disk, all kinds", Play { parts, budget, does, fails_for_good: true, ..PLAY });
}

#[test]
#[ignore = "takes minutes"]
fn two_crashes_under_all_kinds_of_input() {
    let parts = &[KEYED_PROMPT_V1, KEYED_QUEUED, THEIR_STEER];
    let does = &[Did::Break];
    let budget = Budget { crashes: 2, ..NOTHING };
    explore("two crashes, all kinds", Play { parts, budget, does, revokes: true, replaces: 1, ..PLAY });
}

#[test]
fn two_crashes() {
    let parts = &[KEYED_PROMPT_V1, THEIR_STEER];
    let does = &[Did::Stream, Did::Break];
    let budget = Budget { crashes: 2, cancels: 1, ..NOTHING };
    explore("two crashes", Play { parts, budget, does, revokes: true, replaces: 1, ..PLAY });
}

#[test]
#[ignore = "takes minutes"]
fn clients_that_come_and_go_while_a_session_ends() {
    let parts = &[PROMPT_V1, STEERING];
    let does = &[Did::Ask, Did::Break];
    let budget = Budget { joins: 2, detaches: 1, asks: 1, ends: 1, ..NOTHING };
    let play = Play { parts, budget, does, attached: 1, reads: true, ends: ENDS, ..PLAY };
    explore("come and go", play);
}

//! Every order of events: clients, a driver, a backend and crashes, explored to the last state.

mod audit;
mod world;

use std::fmt::Write as _;

use nudge_backend::SteerMethod;
use nudge_mailbox::{DeliveryMode, InputDialect};
use stateright::{Checker, Model, Property};

use world::{Action, Did, Part, World};

/// The messages of one exploration, and what their senders may do.
struct Play {
    parts: [Part; 3],
    steer_method: SteerMethod,
    /// How often the first message may be replaced.
    replaces: u8,
    /// What the backend does besides starting and ending turns; what is begun can also end.
    does: &'static [Did],
    /// How many answers the driver may owe and still take inputs, which then share a commit.
    batch: usize,
}

impl Model for Play {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.steer_method)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.take(self, action);
        next.wrong = next.wrong.or_else(|| audit::look(self, &next, action));
        next.forget();
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing goes wrong", |_, world: &World| world.wrong.is_none()),
            Property::sometimes("all is delivered", |_, world: &World| world.transcript.len() == 3),
        ]
    }
}

/// Explores all states; prints how many there were.
#[track_caller]
fn explore(name: &str, play: Play) {
    let checker = play.checker().threads(2).spawn_bfs().join();
    let mut found = String::new();
    for (property, path) in checker.discoveries() {
        if property == "nothing goes wrong" {
            let wrong = path.last_state().wrong;
            writeln!(found, "{wrong:?} after {:?}", path.into_actions()).expect("a string takes everything");
        }
    }
    assert!(found.is_empty(), "{name}:\n{found}");
    assert!(checker.is_done(), "{name}: not all states were seen");
    assert!(checker.discovery("all is delivered").is_some(), "{name}: the messages never arrive");
    println!("{name}: {} states, {} deep", checker.unique_state_count(), checker.max_depth());
}

const fn part(client: u64, mode: DeliveryMode, dialect: InputDialect) -> Part {
    Part { client, mode, dialect, is_keyed: false }
}

const fn keyed(part: Part) -> Part {
    Part { is_keyed: true, ..part }
}

const PLAY: Play = Play {
    parts: [QUEUED; 3],
    steer_method: SteerMethod::Take,
    replaces: 0,
    does: &[Did::Stream, Did::Tool, Did::Ask, Did::Break],
    batch: 0,
};
const QUEUED: Part = part(1, DeliveryMode::Queue, InputDialect::Inject);
const STEER: Part = part(1, DeliveryMode::Steer, InputDialect::Inject);
const THEIR_QUEUED: Part = part(2, DeliveryMode::Queue, InputDialect::Inject);
const THEIR_STEER: Part = part(2, DeliveryMode::Steer, InputDialect::Steering);
const PROMPT_V1: Part = part(2, DeliveryMode::Queue, InputDialect::PromptV1);
const PROMPT_V2: Part = part(2, DeliveryMode::Steer, InputDialect::PromptV2);

#[test]
fn a_queued_message_and_steers_of_two_clients() {
    explore("queue, steer, steer", Play { parts: [QUEUED, STEER, THEIR_STEER], ..PLAY });
}

#[test]
fn a_queue_of_two_clients_and_a_retry() {
    let parts = [keyed(QUEUED), QUEUED, THEIR_QUEUED];
    explore("queue twice, queue, queue", Play { parts, does: &[Did::Tool, Did::Break], ..PLAY });
}

#[test]
fn prompts_beside_a_steer() {
    explore("steer, prompts", Play { parts: [STEER, PROMPT_V1, PROMPT_V2], ..PLAY });
}

#[test]
fn a_replaced_steer() {
    let parts = [STEER, THEIR_STEER, THEIR_QUEUED];
    let play = Play { parts, steer_method: SteerMethod::Wait, replaces: 1, ..PLAY };
    explore("steer replaced, steer, queue", Play { does: &[Did::Stream, Did::Break], ..play });
}

#[test]
#[ignore = "takes minutes"]
fn all_that_a_backend_does() {
    let parts = [STEER, QUEUED, THEIR_STEER];
    let does = &[Did::Stream, Did::Tool, Did::Ask, Did::Pause, Did::Break];
    explore("all of it", Play { parts, replaces: 1, does, ..PLAY });
}

#[test]
#[ignore = "takes minutes"]
fn inputs_that_share_a_commit() {
    let parts = [STEER, PROMPT_V1, THEIR_STEER];
    explore("two answers a commit", Play { parts, does: &[Did::Break], batch: 2, ..PLAY });
}

//! Every order of events: the core of a session with its disk, its agent and two clients, explored to the last state.

mod actions;
mod agent;
mod answers;
mod audit;
mod clients;
mod disk;
mod effects;
mod plays;
mod said;
mod traces;
mod world;

use std::fmt::Write as _;

use nudge_backend::SteerMethod;
use stateright::{Checker, Model, Property};

use actions::{Action, End, Reply};
use agent::Did;
use clients::Part;
use world::{Budget, World};

/// The messages of one exploration, and what may happen in it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a matter of its own")]
struct Play {
    parts: &'static [Part],
    budget: Budget,
    /// How many clients are there when it begins.
    attached: usize,
    method: SteerMethod,
    /// What the agent does besides ending turns.
    does: &'static [Did],
    /// How many things the session may not have heard of when the agent does the next; with none it hears of all at once.
    lag: usize,
    /// How many commits may be under way when something else happens.
    under_way: usize,
    /// Whether messages are revoked, each once.
    revokes: bool,
    /// How often the first message may be replaced.
    replaces: u8,
    /// Whether prompts are cancelled by `$/cancel_request`.
    cancels_requests: bool,
    /// Whether a client that joins may take its time between reading and joining, and the disk may be ahead of what is told.
    reads: bool,
    /// How often each steer is sent where there is nothing to steer.
    idle_tries: u8,
    replies: &'static [Reply],
    ends: &'static [End],
    /// Whether a failure of the disk may be for good.
    fails_for_good: bool,
}

impl Model for Play {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(self, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.take(self, action);
        next.wrong = next.wrong.or_else(|| audit::look(self, &next));
        next.forget(self);
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing goes wrong", |_, world: &World| world.wrong.is_none()),
            Property::sometimes("all is delivered", |play: &Self, world: &World| {
                world.disk.inputs.delivered.len() == play.parts.len()
            }),
        ]
    }
}

/// More than this would take too long.
const MOST: usize = 8_000_000;

/// Explores all states; prints how many there were.
#[track_caller]
fn explore(name: &str, play: Play) {
    let checker = play.checker().threads(2).target_state_count(MOST).spawn_bfs().join();
    let mut found = String::new();
    for (property, path) in checker.discoveries() {
        if property == "nothing goes wrong" {
            let wrong = path.last_state().wrong;
            writeln!(found, "{wrong:?} after {:?}", path.into_actions()).expect("a string takes everything");
        }
    }
    assert!(found.is_empty(), "{name}:\n{found}");
    let (count, depth) = (checker.unique_state_count(), checker.max_depth());
    assert!(checker.state_count() < MOST, "{name}: {count} states are too many, {depth} deep");
    assert!(checker.discovery("all is delivered").is_some(), "{name}: the messages never arrive");
    println!("{name}: {count} states, {depth} deep");
}

//! One connection from all sides: order, answers, cancellation, bounds, ends, transports.
#![allow(clippy::disallowed_methods, reason = "tests start processes and read clocks")]

mod answers;
mod bounds;
mod cancel;
mod child;
mod descriptors;
mod ends;
mod frames;
mod idle;
mod messages;
mod model;
mod order;
mod relay;
mod script;
mod state;
mod versions;

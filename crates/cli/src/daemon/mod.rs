//! The daemon: one process per data folder that holds the sessions, so that they outlive windows.

mod far_end;
mod greeting;
mod handover;
mod relay;
mod rooms;
mod server;
mod spawn;

pub(crate) use greeting::Greeting;
pub(crate) use relay::relay;
pub(crate) use server::{Daemon, run};
pub(crate) use spawn::{attach, connect, reach};

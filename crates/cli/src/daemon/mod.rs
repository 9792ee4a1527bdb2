//! The daemon: one process per data folder that holds the sessions, so that they outlive windows.

mod descriptors;
mod far_end;
mod greeters;
mod greeting;
mod handover;
mod listener;
mod private;
mod relay;
mod report;
mod server;
mod socket;
mod spawn;
mod state;
mod stop;
mod threads;

pub(crate) use greeting::{RelayGreeting, own_environment};
pub(crate) use private::{check_data_folder, make_private, open_private};
pub(crate) use relay::{WelcomedLink, relay};
pub(crate) use server::{DaemonArgs, run};
pub(crate) use spawn::{attach, connect, reach, try_once};
pub(crate) use stop::stop;

//! When what the user says is delivered: `InputDelivery` and `RunningTurn` alone, without a disk, a client or an answer.

mod calls;
mod model;
mod naive;
mod schedules;
mod script;
mod survival;
mod timing;
mod turned_mailbox;

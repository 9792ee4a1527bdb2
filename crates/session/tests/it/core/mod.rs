//! A session as a whole, in scripts: what is told to it, and what is written and done because of it.
//!
//! `ann` and `cat` are clients of version 1, `bob` and `dan` of version 2; `cat` offers files and terminals, `dan` forms. A
//! commit that something waits for is `save(…)`, any other `note(…)`; it lands by `disk` and fails by `disk full`.

mod script;
mod tell;
mod words;

mod attaching;
mod cancelling;
mod ending;
mod full_disk;
mod prompting;
mod questions;
mod recovering;
mod retrying;
mod revoking;
mod steering;
mod turns;
mod under_load;

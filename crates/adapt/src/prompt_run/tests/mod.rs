//! The prompt as a value, under a clock that is only a number.

mod bench;
mod random;
mod stages;
mod stops;

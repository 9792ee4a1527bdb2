//! What is measured of one program in one round.

use std::time::Duration;

use crate::hub::table::{count, micros, number, share};

/// What a figure is, and so which way it is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Micros,
    PerSecond,
    MegabytesPerSecond,
    Mebibytes,
    Count,
}

impl Unit {
    pub(crate) fn write(self, figure: f64) -> String {
        match self {
            Self::Micros if figure >= 10_000.0 => format!("{} ms", number(figure / 1000.0)),
            Self::Micros => format!("{} µs", number(figure)),
            Self::PerSecond => format!("{}/s", number(figure)),
            Self::MegabytesPerSecond => format!("{} MB/s", number(figure)),
            Self::Mebibytes => format!("{} MiB", number(figure)),
            Self::Count => format!("{figure:.3}"),
        }
    }

    /// How much better `newer` is; below 1 it is worse.
    pub(crate) fn ratio(self, older: f64, newer: f64) -> f64 {
        match self {
            Self::PerSecond | Self::MegabytesPerSecond => newer / older,
            Self::Micros | Self::Mebibytes | Self::Count => older / newer,
        }
    }
}

/// One figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
}

/// The figures of a round, in the order in which they are shown.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) list: Vec<Figure>,
}

impl Figures {
    pub(crate) fn add(&mut self, what: impl Into<String>, unit: Unit, value: f64) {
        self.list.push(Figure { what: what.into(), unit, value });
    }

    /// Times of one thing: the one in the middle, and one that this many of a hundred do not pass.
    pub(crate) fn times(&mut self, what: &str, times: &[Duration], tail: usize) {
        for of_hundred in [50, tail] {
            let time = micros(share(times, of_hundred));
            self.add(format!("{what}, p{of_hundred}"), Unit::Micros, time);
        }
    }

    /// CPU time of `count` things. Nothing where the system does not tell it.
    pub(crate) fn cpu(&mut self, what: &str, cpu: Duration, count: f64) {
        if !cpu.is_zero() {
            self.add(what, Unit::Micros, micros(cpu) / count);
        }
    }

    pub(crate) fn memory(&mut self, what: impl Into<String>, bytes: usize) {
        self.add(what, Unit::Mebibytes, count(bytes) / count(1 << 20));
    }
}

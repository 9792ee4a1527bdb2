//! Input that is accepted and on disk: how long one takes, and how many there are a second.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    Sizes,
    client::{Client, Home, content},
    disk::Bare,
    place::Place,
    syncs,
    table::{Table, count, median, number, share, time},
};
use crate::{
    against::{Figures, Unit},
    cpu,
};

/// Requests without an answer at any time.
const IN_FLIGHT: usize = 64;

const TEXT: &str = "Please keep the old name as an alias, and run the tests of the other crates as well.";

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    let mut bare = Bare::open(place.path())?;
    let mut client = Client::start(&place, Home::Daemon, 1)?;
    let each = sizes.injects + sizes.injects_in_flight;
    let mut queues = Queues::begin(&mut client, sizes.rounds * each)?;
    let (mut bare_times, mut times, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..sizes.rounds {
        bare_times.extend(bare.insert(sizes.injects, TEXT)?);
        times.extend(queues.one_at_a_time(&mut client, sizes.injects)?);
        let took = queues.in_flight(&mut client, sizes.injects_in_flight)?;
        rates.push(count(sizes.injects_in_flight) / took.as_secs_f64());
    }
    bare.close()?;
    client.abandon()?;
    let rate = |times: &[Duration]| count(times.len()) / times.iter().sum::<Duration>().as_secs_f64();
    table.at_most("inject accepted and on disk, p50", share(&times, 50), Duration::from_millis(2));
    table.note("the same, p99", time(share(&times, 99)));
    table.note("a bare SQLite commit on this disk, p50", time(share(&bare_times, 50)));
    table.note("a bare SQLite commit on this disk, p99", time(share(&bare_times, 99)));
    table.note("injects, one at a time", format!("{}/s", number(rate(&times))));
    table.note("bare SQLite commits, one at a time", format!("{}/s", number(rate(&bare_times))));
    table.note("injects, 64 in flight", format!("{}/s", number(median(&rates))));
    let gain = median(&rates) / rate(&bare_times);
    table.at_least("64 in flight against bare commits one at a time", gain, 5.0, "×");
    syncs::measure(sizes, table)
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut client = Client::start(place, Home::Daemon, 1)?;
    let daemon = client.holder()?;
    let mut queues = Queues::begin(&mut client, sizes.injects + sizes.injects_in_flight)?;
    let times = queues.one_at_a_time(&mut client, sizes.injects)?;
    let cpu = cpu::used_by(daemon);
    let took = queues.in_flight(&mut client, sizes.injects_in_flight)?;
    let cpu = cpu::used_by(daemon).saturating_sub(cpu);
    client.abandon()?;
    figures.times("inject accepted and on disk", &times, 90);
    let rate = count(sizes.injects_in_flight) / took.as_secs_f64();
    figures.add("injects, 64 in flight", Unit::PerSecond, rate);
    figures.cpu("CPU of the daemon for each, 64 in flight", cpu, count(sizes.injects_in_flight));
    syncs::round(&place.another()?, sizes, figures)
}

/// Sessions whose turn does not end, so that what is queued stays queued.
pub(crate) struct Queues {
    injects: Vec<Value>,
    used: usize,
}

/// What one session is given; past about a thousand it takes no more.
const WAITING: usize = 900;

impl Queues {
    /// Enough of them for `count` injects.
    pub(crate) fn begin(client: &mut Client, count: usize) -> Result<Self> {
        const FIRST: usize = 10;
        let mut queues = Self { injects: Vec::new(), used: 0 };
        for _ in 0..(count + FIRST).div_ceil(WAITING) {
            let session = client.new_session()?;
            client.send("session/prompt", &json!({"sessionId": session, "prompt": content("wait")}))?;
            queues.injects.push(json!({"sessionId": session, "mode": "queue", "content": content(TEXT)}));
        }
        queues.one_at_a_time(client, FIRST)?;
        Ok(queues)
    }

    /// The time of each.
    pub(crate) fn one_at_a_time(&mut self, client: &mut Client, count: usize) -> Result<Vec<Duration>> {
        let mut once = || {
            let inject = self.next();
            let began = Instant::now();
            client.call("session/inject", inject)?;
            Ok(began.elapsed())
        };
        (0..count).map(|_| once()).collect()
    }

    /// The time of all.
    pub(crate) fn in_flight(&mut self, client: &mut Client, count: usize) -> Result<Duration> {
        let began = Instant::now();
        let ahead = IN_FLIGHT.min(count);
        for _ in 0..ahead {
            client.send("session/inject", self.next())?;
        }
        for answered in 0..count {
            client.any_answer()?;
            if answered + ahead < count {
                client.send("session/inject", self.next())?;
            }
        }
        Ok(began.elapsed())
    }

    fn next(&mut self) -> &Value {
        self.used += 1;
        &self.injects[(self.used - 1) / WAITING]
    }
}

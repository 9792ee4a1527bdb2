//! A store with many sessions: how long a start takes, and a page of the list.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Home},
    place::Place,
    seed,
    table::{Table, share, time},
};

const START: Duration = Duration::from_millis(50);
const PAGE: Duration = Duration::from_millis(10);

/// Times from the start of the process to the answer to `initialize`, and to that to the first `session/list`.
type Starts = (Vec<Duration>, Vec<Duration>);

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    seed::sessions(&place.store(), sizes.sessions)?;
    let (mut alone, mut cold, mut warm) = (Starts::default(), Starts::default(), Starts::default());
    // Nothing is in the system's cache the first time; an editor is started more than once.
    start(&place, Home::Alone, &mut Starts::default())?;
    for _ in 0..sizes.starts {
        start(&place, Home::Alone, &mut alone)?;
        start(&place, Home::Daemon, &mut cold)?;
        start(&place, Home::Daemon, &mut warm)?;
        place.stop()?;
    }
    let stored = sizes.sessions;
    for (how, (initialized, listed)) in
        [("without a daemon", alone), ("which starts the daemon", cold), ("beside a running daemon", warm)]
    {
        let what = format!("{stored} sessions stored: start {how}, to initialize");
        table.at_most(what, share(&initialized, 50), START);
        table.at_most(format!("the same to the first list, {how}"), share(&listed, 50), START);
    }
    pages(&place, sizes, table)
}

fn start(place: &Place, home: Home, (initialized, listed): &mut Starts) -> Result<()> {
    let began = Instant::now();
    let mut client = Client::spawn(place, &[], home)?;
    client.initialize(1)?;
    initialized.push(began.elapsed());
    client.call("session/list", &json!({}))?;
    listed.push(began.elapsed());
    client.finish()
}

fn pages(place: &Place, sizes: &Sizes, table: &mut Table) -> Result<()> {
    let mut client = Client::start(place, Home::Daemon, 1)?;
    let (mut times, mut params, mut found) = (Vec::new(), json!({}), 0);
    for _ in 0..sizes.lists {
        let began = Instant::now();
        let page = client.call("session/list", &params)?;
        times.push(began.elapsed());
        found += page["sessions"].as_array().map_or(0, Vec::len);
        let next = page["nextCursor"].as_str();
        params = next.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    }
    ensure!(found == sizes.lists * 50, "{} pages had {found} sessions", sizes.lists);
    table.at_most("a page of session/list (50 sessions), p50", share(&times, 50), PAGE);
    table.at_most("a page of session/list (50 sessions), p99", share(&times, 99), PAGE);
    let mut times = Vec::new();
    for _ in 0..sizes.lists {
        let began = Instant::now();
        client.call("session/list", &json!({"search": "nothing like it"}))?;
        times.push(began.elapsed());
    }
    table.note("a search that finds nothing, p50", time(share(&times, 50)));
    client.finish()
}

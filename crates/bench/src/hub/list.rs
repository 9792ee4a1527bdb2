//! A store with many sessions: how long a start takes, and a page of the list.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Home},
    place::Place,
    seed,
    table::{Table, count, micros, share, time},
};
use crate::{
    against::{Figures, Unit},
    cpu,
};

const START: Duration = Duration::from_millis(50);
const PAGE: Duration = Duration::from_millis(10);

const HOW: [&str; 3] = ["without a daemon", "which starts the daemon", "beside a running daemon"];

/// Times from the start of the process to the answer to `initialize`, and to that to the first `session/list`.
type Starts = (Vec<Duration>, Vec<Duration>);

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    seed(&place, sizes)?;
    // Nothing is in the system's cache the first time; an editor is started more than once.
    start(&place, Home::Alone, &mut Starts::default())?;
    let stored = sizes.sessions;
    for (how, (initialized, listed)) in HOW.into_iter().zip(starts(&place, sizes)?) {
        let what = format!("{stored} sessions stored: start {how}, to initialize");
        table.at_most(what, share(&initialized, 50), START);
        table.at_most(format!("the same to the first list, {how}"), share(&listed, 50), START);
    }
    let Lists { pages, searches, .. } = lists(&place, sizes)?;
    table.at_most("a page of session/list (50 sessions), p50", share(&pages, 50), PAGE);
    table.at_most("a page of session/list (50 sessions), p99", share(&pages, 99), PAGE);
    table.note("a search that finds nothing, p50", time(share(&searches, 50)));
    Ok(())
}

pub(crate) fn seed(place: &Place, sizes: &Sizes) -> Result<()> {
    seed::sessions(&place.store(), sizes.sessions)
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    for (how, (initialized, listed)) in HOW.into_iter().zip(starts(place, sizes)?) {
        let [initialized, listed] = [initialized, listed].map(|times| micros(share(&times, 50)));
        figures.add(format!("start {how}, to initialize"), Unit::Micros, initialized);
        figures.add(format!("start {how}, to the first list"), Unit::Micros, listed);
    }
    let Lists { pages, searches, cpu } = lists(place, sizes)?;
    figures.times("a page of session/list", &pages, 90);
    figures.cpu("CPU of the daemon for each page", cpu, count(sizes.lists));
    figures.times("a search that finds nothing", &searches, 90);
    Ok(())
}

/// Starts of each kind, in the order of `HOW`.
fn starts(place: &Place, sizes: &Sizes) -> Result<[Starts; 3]> {
    let mut kinds: [Starts; 3] = Default::default();
    let [alone, cold, warm] = &mut kinds;
    for _ in 0..sizes.starts {
        start(place, Home::Alone, alone)?;
        start(place, Home::Daemon, cold)?;
        start(place, Home::Daemon, warm)?;
        place.stop()?;
    }
    Ok(kinds)
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

/// What lists took.
struct Lists {
    pages: Vec<Duration>,
    searches: Vec<Duration>,
    /// Of the daemon, for the pages.
    cpu: Duration,
}

fn lists(place: &Place, sizes: &Sizes) -> Result<Lists> {
    let mut client = Client::start(place, Home::Daemon, 1)?;
    let daemon = client.holder()?;
    let cpu = cpu::used_by(daemon);
    let (mut pages, mut params, mut found) = (Vec::new(), json!({}), 0);
    for _ in 0..sizes.lists {
        let began = Instant::now();
        let page = client.call("session/list", &params)?;
        pages.push(began.elapsed());
        found += page["sessions"].as_array().map_or(0, Vec::len);
        let next = page["nextCursor"].as_str();
        params = next.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
    }
    ensure!(found == sizes.lists * 50, "{} pages had {found} sessions", sizes.lists);
    let cpu = cpu::used_by(daemon).saturating_sub(cpu);
    let mut searches = Vec::new();
    for _ in 0..sizes.lists {
        let began = Instant::now();
        client.call("session/list", &json!({"search": "nothing like it"}))?;
        searches.push(began.elapsed());
    }
    client.finish()?;
    Ok(Lists { pages, searches, cpu })
}

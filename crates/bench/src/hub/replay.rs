//! A long history, replayed to a client of either version.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Sizes,
    client::{Before, Client, Home},
    place::{Place, peak_memory},
    seed,
    table::{Table, count, number, time},
};
use crate::{
    against::{Figures, Unit},
    cpu,
};

const LONG: &str = "sess_long";
const TOKENS: &str = "sess_tokens";

const WAYS: [(Home, u64); 4] = [(Home::Alone, 1), (Home::Alone, 2), (Home::Daemon, 1), (Home::Daemon, 2)];

/// One load of a session.
struct Load {
    wall: Duration,
    cpu: Duration,
    before: Before,
}

impl Load {
    fn rate(&self) -> f64 {
        count(self.before.bytes) / 1e6 / self.wall.as_secs_f64()
    }

    /// Bytes of a message.
    fn size(&self) -> f64 {
        count(self.before.bytes) / count(self.before.messages)
    }
}

/// The long session brought into use and once more, then the tokens.
struct Loads {
    first: Load,
    again: Load,
    tokens: Load,
    /// At the peak of the long session.
    memory: usize,
}

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    seed(&place, sizes)?;
    for (home, version) in WAYS {
        let loads = load_all(&place, home, version, sizes)?;
        note(&how(home, version), &loads, table);
        place.stop()?;
    }
    Ok(())
}

fn note(how: &str, Loads { first, again, tokens, memory }: &Loads, table: &mut Table) {
    let megabytes = count(again.before.bytes) / 1e6;
    let what = format!("{megabytes:.0} MB in messages of {:.0} B, {how}", again.size());
    table.at_least(format!("{what}, brought into use first"), first.rate(), 200.0, " MB/s");
    table.at_least(format!("{what}, in use already"), again.rate(), 200.0, " MB/s");
    let each = again.cpu.div_f64(count(again.before.messages));
    table.note(format!("CPU for each message of it, {how}"), time(each));
    table.note(format!("memory at its peak, {how}"), format!("{} MiB", memory / 1024 / 1024));
    let what = format!("tokens in messages of {:.0} B, {how}", tokens.size());
    table.note(what, format!("{} MB/s", number(tokens.rate())));
}

pub(crate) fn seed(place: &Place, sizes: &Sizes) -> Result<()> {
    seed::history(&place.store(), LONG, sizes.history, false)?;
    seed::history(&place.store(), TOKENS, sizes.tokens, true)
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    for (home, version) in WAYS {
        let Loads { first, again, tokens, memory } = load_all(place, home, version, sizes)?;
        let how = how(home, version);
        figures.add(format!("{how}, brought into use first"), Unit::MegabytesPerSecond, first.rate());
        figures.add(format!("{how}, in use already"), Unit::MegabytesPerSecond, again.rate());
        figures.add(format!("{how}, tokens"), Unit::MegabytesPerSecond, tokens.rate());
        figures.cpu(&format!("{how}, CPU for each message"), again.cpu, count(again.before.messages));
        figures.memory(format!("{how}, memory at its peak"), memory);
        place.stop()?;
    }
    Ok(())
}

fn how(home: Home, version: u64) -> String {
    format!(
        "{} ({})",
        if version == 1 { "session/load in version 1" } else { "session/resume in version 2" },
        if home == Home::Alone { "without a daemon" } else { "daemon and relay" },
    )
}

fn load_all(place: &Place, home: Home, version: u64, sizes: &Sizes) -> Result<Loads> {
    let mut client = Client::start(place, home, version)?;
    let holder = client.holder()?;
    ensure!((home == Home::Alone) == (holder == client.pid()), "the sessions are held elsewhere");
    let first = load(&mut client, holder, version, LONG)?;
    let again = load(&mut client, holder, version, LONG)?;
    let memory = peak_memory(holder)?;
    let tokens = load(&mut client, holder, version, TOKENS)?;
    // Version 2 is shown whole messages: what frames its chunks is gone.
    let least = if version == 1 { sizes.history } else { sizes.history / 10 * 9 };
    ensure!(first.before.bytes >= least, "only {} bytes were replayed", first.before.bytes);
    client.finish()?;
    Ok(Loads { first, again, tokens, memory })
}

fn load(client: &mut Client, holder: u32, version: u64, session: &str) -> Result<Load> {
    let method = if version == 1 { "session/load" } else { "session/resume" };
    let mut params = json!({"sessionId": session, "cwd": "/", "mcpServers": []});
    if version == 2 {
        params["replayFrom"] = json!({"type": "start"});
    }
    let cpu = cpu::used_by(holder);
    let began = Instant::now();
    let id = client.send(method, &params)?;
    let (answer, before) = client.answer(id)?;
    let wall = began.elapsed();
    ensure!(answer.get("error").is_none(), "{method}: {answer}");
    Ok(Load { wall, cpu: cpu::used_by(holder).saturating_sub(cpu), before })
}

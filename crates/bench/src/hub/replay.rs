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
use crate::cpu;

const LONG: &str = "sess_long";
const TOKENS: &str = "sess_tokens";

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
}

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    seed::history(&place.store(), LONG, sizes.history, false)?;
    seed::history(&place.store(), TOKENS, sizes.tokens, true)?;
    for (home, version) in [(Home::Alone, 1), (Home::Alone, 2), (Home::Daemon, 1), (Home::Daemon, 2)] {
        let how = format!(
            "{} ({})",
            if version == 1 { "session/load in version 1" } else { "session/resume in version 2" },
            if home == Home::Alone { "without a daemon" } else { "daemon and relay" },
        );
        case(&place, home, version, &how, sizes, table)?;
        place.stop()?;
    }
    Ok(())
}

fn case(place: &Place, home: Home, version: u64, how: &str, sizes: &Sizes, table: &mut Table) -> Result<()> {
    let mut client = Client::start(place, home, version)?;
    let holder = client.holder()?;
    ensure!((home == Home::Alone) == (holder == client.pid()), "the sessions are held elsewhere");
    let began = load(&mut client, holder, version, LONG)?;
    let again = load(&mut client, holder, version, LONG)?;
    let memory = peak_memory(holder)?;
    let tokens = load(&mut client, holder, version, TOKENS)?;
    // Version 2 is shown whole messages: what frames its chunks is gone.
    let least = if version == 1 { sizes.history } else { sizes.history / 10 * 9 };
    ensure!(began.before.bytes >= least, "only {} bytes were replayed", began.before.bytes);
    let megabytes = count(again.before.bytes) / 1e6;
    let size = count(again.before.bytes) / count(again.before.messages);
    let what = format!("{megabytes:.0} MB in messages of {size:.0} B, {how}");
    table.at_least(format!("{what}, brought into use first"), began.rate(), 200.0, " MB/s");
    table.at_least(format!("{what}, in use already"), again.rate(), 200.0, " MB/s");
    let each = again.cpu.div_f64(count(again.before.messages));
    table.note(format!("CPU for each message of it, {how}"), time(each));
    table.note(format!("memory at its peak, {how}"), format!("{} MiB", memory / 1024 / 1024));
    let size = count(tokens.before.bytes) / count(tokens.before.messages);
    table
        .note(format!("tokens in messages of {size:.0} B, {how}"), format!("{} MB/s", number(tokens.rate())));
    client.finish()
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

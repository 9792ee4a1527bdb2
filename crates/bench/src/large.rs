//! A large message through a relay process: raw bytes in, raw bytes out, so that only the relay differs.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{cpu, messages::megabyte};

/// The far end: answers every line with a small result under the line's own id, without parsing the line.
pub(crate) fn sink() -> Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let head = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        let tail = String::from_utf8_lossy(&line[line.len().saturating_sub(200)..]).into_owned();
        let id = id_in(&head).or_else(|| id_in(&tail)).context("a request has an id")?;
        output.write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").as_bytes())?;
        output.flush()?;
    }
}

/// The id in a part of a message.
pub(crate) fn id_in(text: &str) -> Option<&str> {
    let after = &text[text.find("\"id\":")? + 5..];
    Some(after[..after.find([',', '}'])?].trim())
}

/// How long each of `count` large messages takes through the relay and its answer back, and the CPU time of the relay
/// for each.
pub(crate) fn measure(which: &str, count: usize) -> Result<(Vec<Duration>, Duration)> {
    let mut relay = Command::new(std::env::current_exe()?)
        .args(["pass", which])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = relay.stdin.take().context("stdin is piped")?;
    let mut output = BufReader::new(relay.stdout.take().context("stdout is piped")?);
    let frame = megabyte();
    let mut once = || -> Result<Duration> {
        let began = Instant::now();
        input.write_all(&frame)?;
        input.flush()?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        anyhow::ensure!(line.contains("\"result\""), "the relay answered {line}");
        Ok(began.elapsed())
    };
    once()?;
    let before = cpu::used_by(relay.id());
    let times = (0..count).map(|_| once()).collect::<Result<Vec<_>>>()?;
    let each = (cpu::used_by(relay.id()).saturating_sub(before)) / u32::try_from(count)?;
    relay.kill()?;
    relay.wait()?;
    Ok((times, each))
}

//! One agent's stream of tokens to several clients of a session.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use serde_json::json;

use super::{
    Sizes,
    client::{Client, Home, content, find},
    place::Place,
    socket::SocketClient,
    table::{Table, count, number},
};
use crate::{
    against::{Figures, Unit},
    cpu,
};

/// What one stream took.
struct Measured {
    wall: Duration,
    /// Of the daemon.
    cpu: Duration,
}

pub(crate) fn measure(sizes: &Sizes, table: &mut Table) -> Result<()> {
    let place = Place::new()?;
    let mut starter = Client::start(&place, Home::Daemon, 1)?;
    let daemon = starter.holder()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut single = Duration::ZERO;
    for (clients, tokens) in sizes.streams {
        let measured = runtime.block_on(stream(&place, daemon, clients, tokens))?;
        let sent = count(clients * tokens);
        let each = measured.cpu.div_f64(sent);
        table.note(
            format!("{tokens} tokens to {clients} clients, messages received"),
            format!("{}/s", number(sent / measured.wall.as_secs_f64())),
        );
        table.note(format!("CPU of the daemon for each client and message, {clients} clients"), micros(each));
        if clients == 1 {
            single = each;
            continue;
        }
        let whole = measured.cpu.div_f64(count(tokens));
        let further = whole.saturating_sub(single).div_f64(count(clients - 1));
        table.note(format!("the same for each client beyond the first, {clients} clients"), micros(further));
    }
    starter.finish()
}

pub(crate) fn round(place: &Place, sizes: &Sizes, figures: &mut Figures) -> Result<()> {
    let mut starter = Client::start(place, Home::Daemon, 1)?;
    let daemon = starter.holder()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (clients, tokens) in sizes.streams {
        let measured = runtime.block_on(stream(place, daemon, clients, tokens))?;
        let sent = count(clients * tokens);
        let rate = sent / measured.wall.as_secs_f64();
        figures.add(format!("messages received by {clients} clients"), Unit::PerSecond, rate);
        let what = format!("CPU of the daemon for each client and message, {clients} clients");
        figures.cpu(&what, measured.cpu, sent);
    }
    starter.finish()
}

fn micros(time: Duration) -> String {
    format!("{} µs", number(time.as_secs_f64() * 1e6))
}

async fn stream(place: &Place, daemon: u32, clients: usize, tokens: usize) -> Result<Measured> {
    let socket = place.socket()?;
    let mut first = SocketClient::connect(&socket, 1).await?;
    let made = first.call("session/new", &json!({"cwd": "/", "mcpServers": []})).await?;
    let session = made["sessionId"].as_str().context("a session has an id")?;
    let mut all = vec![first];
    for _ in 1..clients {
        let mut client = SocketClient::connect(&socket, 1).await?;
        client.call("session/load", &json!({"sessionId": session, "cwd": "/", "mcpServers": []})).await?;
        all.push(client);
    }
    let prompt = json!({"sessionId": session, "prompt": content(&format!("stream {tokens}"))});
    let cpu = cpu::used_by(daemon);
    let began = Instant::now();
    all[0].send("session/prompt", &prompt).await?;
    let received = try_join_all(all.into_iter().map(receive)).await?;
    let wall = began.elapsed();
    let cpu = cpu::used_by(daemon).saturating_sub(cpu);
    ensure!(
        received.iter().all(|count| *count == tokens),
        "of {tokens} tokens clients received {received:?}"
    );
    Ok(Measured { wall, cpu })
}

/// Counts tokens to the end of the turn.
async fn receive(mut client: SocketClient) -> Result<usize> {
    let mut tokens = 0;
    loop {
        let line = client.next().await?;
        if find(line, b"agent_message_chunk") {
            tokens += 1;
        } else if find(line, b"\"stopReason\"") {
            return Ok(tokens);
        }
    }
}

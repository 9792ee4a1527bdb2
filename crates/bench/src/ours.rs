//! Nudge's side of every case.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result};
use futures::future::join_all;
use nudge_peer::{ChildProgram, Connect, Cx, Peer, StdioTransport, pair, relay as join};

use crate::{
    cases::{Measured, Place, Sizes},
    cpu, idle,
    messages::{Done, Echo, Echoed, Flood, Tick, kilobyte},
};

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn agent_peer() -> Peer {
    Peer::agent().on_request(|echo: Echo, _| async move { Ok(Echoed { text: echo.text }) }).on_request_beside(
        |flood: Flood, cx| async move {
            for number in 0..flood.count {
                cx.notify(Tick::new(number)).await?;
            }
            Ok(Done {})
        },
    )
}

/// The agent process.
pub(crate) fn agent() -> Result<()> {
    Ok(runtime()?.block_on(agent_peer().serve(StdioTransport))?)
}

/// The relay process: standard input and output on one side, the sink on the other.
pub(crate) fn relay() -> Result<()> {
    let sink = ChildProgram::new(std::env::current_exe()?).args(["sink"]);
    Ok(runtime()?.block_on(join((Peer::agent(), StdioTransport), (Peer::client(), sink)))?)
}

/// Runs all cases of one place once.
pub(crate) fn measure(place: Place, sizes: &Sizes) -> Result<Measured> {
    match place {
        Place::Stdio => {
            let agent = ChildProgram::new(std::env::current_exe()?).args(["agent", "nudge"]);
            runtime()?.block_on(drive(agent, sizes))
        }
        Place::Memory | Place::Channel => {
            let (near, far) = pair();
            // Two threads, one for each side, as two processes would have.
            let agent =
                std::thread::spawn(move || runtime()?.block_on(agent_peer().serve(far)).context("agent"));
            let measured = runtime()?.block_on(drive(near, sizes));
            agent.join().ok().context("the agent panicked")??;
            measured
        }
    }
}

/// How many bytes each connection holds that waits, two in each of `pairs`.
pub(crate) fn idle(pairs: usize) -> Result<f64> {
    runtime()?.block_on(async {
        let mut held = vec![waiting().await?];
        let before = idle::resident()?;
        for _ in 0..pairs {
            held.push(waiting().await?);
        }
        tokio::time::sleep(idle::SETTLED).await;
        #[allow(clippy::cast_precision_loss, reason = "counts are small")]
        Ok((idle::resident()? - before) / (2 * pairs) as f64)
    })
}

/// A connection in memory on which one request was answered.
async fn waiting() -> Result<Cx> {
    let (near, far) = pair();
    let (near, far) = (Peer::client().connect(near)?, agent_peer().connect(far)?);
    let cx = near.cx();
    tokio::spawn(near.serve());
    tokio::spawn(far.serve());
    cx.request(kilobyte()).await?;
    Ok(cx)
}

async fn drive(transport: impl Connect, sizes: &Sizes) -> Result<Measured> {
    let ticks = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&ticks);
    let client = Peer::client().on_notification(move |_: Tick, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }
    });
    client.connect(transport)?.run_until(async |cx| cases(&cx, &ticks, sizes).await).await
}

async fn cases(cx: &Cx, ticks: &AtomicU64, sizes: &Sizes) -> Result<Measured> {
    cx.request(Flood { count: sizes.ticks / 10 }).await?;
    let (began, cpu) = (Instant::now(), cpu::used());
    ticks.store(0, Ordering::Relaxed);
    cx.request(Flood { count: sizes.ticks }).await?;
    while ticks.load(Ordering::Relaxed) < sizes.ticks {
        tokio::task::yield_now().await;
    }
    let flood = began.elapsed();
    let flood_cpu = cpu::used().saturating_sub(cpu);

    let mut trips = Vec::with_capacity(sizes.trips);
    for _ in 0..sizes.trips {
        let began = Instant::now();
        cx.request(kilobyte()).await?;
        trips.push(began.elapsed());
    }

    let began = Instant::now();
    join_all((0..64).map(|_| async {
        for _ in 0..sizes.trips_in_flight / 64 {
            cx.request(kilobyte()).await?;
        }
        anyhow::Ok(())
    }))
    .await
    .into_iter()
    .collect::<Result<Vec<()>>>()?;
    Ok(Measured::new(sizes, flood, flood_cpu, trips, began.elapsed()))
}

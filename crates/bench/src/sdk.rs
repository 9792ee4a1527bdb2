//! The official SDK's side of every case, written as its documentation teaches.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use agent_client_protocol::{
    AcpAgent, Agent, Builder, ByteStreams, Channel, Client, ConnectTo, ConnectionTo, Dispatch, Responder,
    Stdio,
};
use anyhow::Result;
use futures::future::join_all;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::{
    cases::{Measured, Place, Sizes},
    cpu, idle,
    messages::{Done, Echo, Echoed, Flood, Tick, kilobyte},
};

type ToClient = ConnectionTo<Client>;
type ToAgent = ConnectionTo<Agent>;
type Error = agent_client_protocol::Error;

/// The runtime its examples use. `BENCH_SDK_SINGLE_THREAD` gives it one thread instead, as Nudge's side has.
fn runtime() -> Result<tokio::runtime::Runtime> {
    if std::env::var_os("BENCH_SDK_SINGLE_THREAD").is_some() {
        return Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?);
    }
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

async fn serve_agent(transport: impl ConnectTo<Agent> + 'static) -> Result<(), Error> {
    Builder::new(Agent)
        .on_receive_request(
            async move |echo: Echo, responder: Responder<Echoed>, _: ToClient| {
                responder.respond(Echoed { text: echo.text })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |flood: Flood, responder: Responder<Done>, cx: ToClient| {
                let sender = cx.clone();
                cx.spawn(async move {
                    for number in 0..flood.count {
                        sender.send_notification(Tick::new(number))?;
                        // Its sends never wait; without this the whole flood would be in memory first.
                        if number % 64 == 0 {
                            tokio::task::yield_now().await;
                        }
                    }
                    responder.respond(Done {})
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(transport)
        .await
}

/// The agent process.
pub(crate) fn agent() -> Result<()> {
    runtime()?.block_on(serve_agent(Stdio::new())).map_err(failed)
}

/// The relay process: standard input and output on one side, the sink on the other.
pub(crate) fn relay() -> Result<()> {
    let sink = AcpAgent::from_args([std::env::current_exe()?.to_string_lossy().into_owned(), "sink".into()])
        .map_err(failed)?;
    runtime()?.block_on(async move {
        let outer: Arc<OnceLock<ToClient>> = Arc::default();
        let back = Arc::clone(&outer);
        Builder::new(Client)
            .on_receive_dispatch(
                async move |message: Dispatch, _: ToAgent| match back.get() {
                    Some(outer) => outer.send_proxied_message(message),
                    None => Ok(()),
                },
                agent_client_protocol::on_receive_dispatch!(),
            )
            .connect_with(sink, async move |inner: ToAgent| {
                Builder::new(Agent)
                    .on_receive_dispatch(
                        async move |message: Dispatch, cx: ToClient| {
                            let _ = outer.set(cx);
                            inner.send_proxied_message(message)
                        },
                        agent_client_protocol::on_receive_dispatch!(),
                    )
                    .connect_to(Stdio::new())
                    .await
            })
            .await
            .map_err(failed)
    })
}

/// Runs all cases of one place once.
pub(crate) fn measure(place: Place, sizes: &Sizes) -> Result<Measured> {
    let ticks = Arc::new(AtomicU64::new(0));
    runtime()?.block_on(async {
        match place {
            Place::Stdio => {
                let exe = std::env::current_exe()?.to_string_lossy().into_owned();
                let agent = AcpAgent::from_args([exe, "agent".into(), "sdk".into()]).map_err(failed)?;
                drive(agent, &ticks, sizes).await
            }
            Place::Memory => {
                let (near, far) = tokio::io::duplex(256 * 1024);
                let (near, far) = (bytes(near), bytes(far));
                let agent = tokio::spawn(serve_agent(far));
                let measured = drive(near, &ticks, sizes).await;
                agent.abort();
                measured
            }
            Place::Channel => {
                let (near, far) = Channel::duplex();
                let agent = tokio::spawn(serve_agent(far));
                let measured = drive(near, &ticks, sizes).await;
                agent.abort();
                measured
            }
        }
    })
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
async fn waiting() -> Result<ToAgent> {
    let (near, far) = tokio::io::duplex(256 * 1024);
    let (near, far) = (bytes(near), bytes(far));
    tokio::spawn(serve_agent(far));
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(Builder::new(Client).connect_with(near, async move |cx: ToAgent| {
        cx.send_request(kilobyte()).block_task().await?;
        let _ = sender.send(cx);
        std::future::pending::<Result<(), Error>>().await
    }));
    Ok(receiver.await?)
}

/// One end of a byte stream as its transport.
fn bytes(
    stream: DuplexStream,
) -> ByteStreams<Compat<WriteHalf<DuplexStream>>, Compat<ReadHalf<DuplexStream>>> {
    let (reader, writer) = tokio::io::split(stream);
    ByteStreams::new(writer.compat_write(), reader.compat())
}

async fn drive(
    transport: impl ConnectTo<Client> + 'static,
    ticks: &Arc<AtomicU64>,
    sizes: &Sizes,
) -> Result<Measured> {
    let counter = Arc::clone(ticks);
    let sizes = *sizes;
    let ticks = Arc::clone(ticks);
    Builder::new(Client)
        .on_receive_notification(
            async move |_: Tick, _: ToAgent| {
                counter.fetch_add(1, Ordering::Relaxed);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(transport, async move |cx: ToAgent| cases(&cx, &ticks, &sizes).await)
        .await
        .map_err(failed)
}

async fn cases(cx: &ToAgent, ticks: &AtomicU64, sizes: &Sizes) -> Result<Measured, Error> {
    cx.send_request(Flood { count: sizes.ticks / 10 }).block_task().await?;
    while ticks.load(Ordering::Relaxed) < sizes.ticks / 10 {
        tokio::task::yield_now().await;
    }
    let (began, cpu) = (Instant::now(), cpu::used());
    ticks.store(0, Ordering::Relaxed);
    cx.send_request(Flood { count: sizes.ticks }).block_task().await?;
    while ticks.load(Ordering::Relaxed) < sizes.ticks {
        tokio::task::yield_now().await;
    }
    let flood = began.elapsed();
    let flood_cpu = cpu::used().saturating_sub(cpu);

    let mut trips = Vec::with_capacity(sizes.trips);
    for _ in 0..sizes.trips {
        let began = Instant::now();
        cx.send_request(kilobyte()).block_task().await?;
        trips.push(began.elapsed());
    }

    let began = Instant::now();
    join_all((0..64).map(|_| async {
        for _ in 0..sizes.trips_in_flight / 64 {
            cx.send_request(kilobyte()).block_task().await?;
        }
        Ok::<(), Error>(())
    }))
    .await
    .into_iter()
    .collect::<Result<Vec<()>, Error>>()?;
    Ok(Measured::new(sizes, flood, flood_cpu, trips, began.elapsed()))
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failed(error: Error) -> anyhow::Error {
    anyhow::anyhow!("the official SDK failed: {error}")
}

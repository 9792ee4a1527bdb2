//! Connections over descriptors that were handed over, and their end from elsewhere.

use std::{
    fs::File,
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use nudge_peer::{CallError, Connect, ConnectionClosed, DescriptorTransport, Peer, pair};

use crate::messages::{Echo, Wait, echo};

type Ends = (OwnedFd, OwnedFd);

/// Two sides, each with where it reads from and where it writes to.
fn pipes() -> (Ends, Ends) {
    let (there, to_there) = std::io::pipe().unwrap();
    let (here, writer) = std::io::pipe().unwrap();
    ((here.into(), to_there.into()), (there.into(), writer.into()))
}

fn sockets() -> (Ends, Ends) {
    let (near, far) = UnixStream::pair().unwrap();
    let both = |end: UnixStream| (end.try_clone().unwrap().into(), end.into());
    (both(near), both(far))
}

fn is_blocking(end: &OwnedFd) -> bool {
    !rustix::fs::fcntl_getfl(end).unwrap().contains(rustix::fs::OFlags::NONBLOCK)
}

#[tokio::test]
async fn messages_pass_and_the_descriptors_stay_blocking() {
    for (near, far) in [pipes(), sockets()] {
        let kept = [&near.0, &near.1, &far.0, &far.1].map(|end| end.try_clone().unwrap());
        let agent = Peer::agent().on_request(|echo: Echo, _| async { Ok(echo) });
        let serving = tokio::spawn(agent.serve(DescriptorTransport::new(far.0, far.1)));
        let client = Peer::client().connect(DescriptorTransport::new(near.0, near.1)).unwrap();
        client
            .run_until(async |cx| {
                for length in [0, 1, 60_000, 3_000_000] {
                    let body = "x".repeat(length);
                    assert_eq!(cx.request(echo(&body)).await.unwrap().body, body);
                }
            })
            .await;
        assert!(kept.iter().all(is_blocking));
        drop(kept);
        serving.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn only_pipes_and_sockets_can_be_opened() {
    let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").unwrap());
    let error = DescriptorTransport::new(null(), null()).open().expect_err("it is neither");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
}

#[tokio::test]
async fn a_cut_ends_a_connection_from_elsewhere() {
    // The other side neither reads nor goes away.
    let (near, far) = pair();
    let (near, cut) = near.with_cut();
    let client = Peer::client().connect(near).unwrap();
    let cx = client.cx();
    let serving = tokio::spawn(client.serve());
    let waiting = cx.request(Wait {});
    tokio::task::yield_now().await;
    cut.now();
    assert!(matches!(waiting.await, Err(CallError::Closed(ConnectionClosed::Eof))));
    serving.await.unwrap().unwrap();
    // It would not end by itself if a stream were still open.
    let _ = Peer::agent().serve(far).await;
}

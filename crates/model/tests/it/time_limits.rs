//! Providers that take too long: to be connected to, to begin, to go on. Each ends in an error that says which.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use futures_util::StreamExt;
use nudge_model::{
    AnswerPiece, ModelError, ModelSource, ProviderAccess, ProviderModels, ProviderOptions, RequestLimits,
};
use nudge_stage::{ExchangeOutcome, ModelReply, StageProvider};
use nudge_testkit::PATIENCE;
use nudge_wire::{ClientContext, ConnectionId, Environment};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::Instant,
};

use crate::providers::{question, told};

/// The limit that a case is about. It is met, not waited for in vain, so it may be short.
const SHORT: Duration = Duration::from_millis(150);
/// All others: a test that met one would not end.
const LONG: Duration = Duration::from_hours(1);

const NEVER: RequestLimits = RequestLimits { connect: LONG, headers: LONG, silence: LONG, local: LONG };

/// Where a provider is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whereabouts {
    /// On this machine.
    Local,
    /// Behind a proxy, under a name that only the proxy has to know.
    Remote,
}

/// What a provider does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slowness {
    /// It takes no connections.
    NoConnection,
    /// It takes a connection, but does not encrypt it.
    NoHandshake,
    NoHeaders,
    /// It says something first.
    Silence,
}

struct Case {
    slowness: Slowness,
    whereabouts: Whereabouts,
    limits: RequestLimits,
    said: &'static str,
    what: &'static str,
}

const CASES: [Case; 7] = [
    Case {
        slowness: Slowness::NoConnection,
        whereabouts: Whereabouts::Local,
        limits: RequestLimits { connect: SHORT, ..NEVER },
        said: "",
        what: "it cannot be connected to in time",
    },
    Case {
        slowness: Slowness::NoConnection,
        whereabouts: Whereabouts::Remote,
        limits: RequestLimits { connect: SHORT, ..NEVER },
        said: "",
        what: "it cannot be connected to in time",
    },
    Case {
        slowness: Slowness::NoHandshake,
        whereabouts: Whereabouts::Local,
        limits: RequestLimits { connect: SHORT, ..NEVER },
        said: "",
        what: "it cannot be connected to in time",
    },
    Case {
        slowness: Slowness::NoHeaders,
        whereabouts: Whereabouts::Local,
        limits: RequestLimits { local: SHORT, ..NEVER },
        said: "",
        what: "it did not answer in time",
    },
    Case {
        slowness: Slowness::NoHeaders,
        whereabouts: Whereabouts::Remote,
        limits: RequestLimits { headers: SHORT, ..NEVER },
        said: "",
        what: "it did not answer in time",
    },
    Case {
        slowness: Slowness::Silence,
        whereabouts: Whereabouts::Local,
        limits: RequestLimits { local: Duration::from_secs(2), ..NEVER },
        said: "Half ",
        what: "it has gone silent",
    },
    Case {
        slowness: Slowness::Silence,
        whereabouts: Whereabouts::Remote,
        limits: RequestLimits { silence: SHORT, ..NEVER },
        said: "Half ",
        what: "it has gone silent",
    },
];

#[tokio::test]
async fn each_limit_ends_in_an_error_that_says_which() {
    for case in &CASES {
        let name = format!("{:?} {:?}", case.slowness, case.whereabouts);
        let check = tokio::time::timeout(PATIENCE, check(case, &name));
        assert!(check.await.is_ok(), "{name} is stuck");
    }
}

async fn check(case: &Case, name: &str) {
    let stage = StageProvider::start().await;
    let reply = match case.slowness {
        Slowness::Silence => ModelReply::stall("Half ", "never"),
        _ => ModelReply::empty().and_gate("never"),
    };
    stage.on("hi").reply(reply);
    let (full, unserved) = (FullPort::new().await, TcpListener::bind("127.0.0.1:0").expect("a port"));
    let (scheme, address) = match case.slowness {
        Slowness::NoConnection => ("http", full.address),
        Slowness::NoHandshake => ("https", unserved.local_addr().expect("it has an address")),
        Slowness::NoHeaders | Slowness::Silence => ("http", stage.address()),
    };
    let began = Instant::now();
    let (pieces, error) = ask(case, scheme, address).await;
    assert!(began.elapsed() >= SHORT, "{name}: too early, after {:?}", began.elapsed());
    let expected = ModelError::Network { provider: "custom".to_owned(), what: case.what.to_owned() };
    assert_eq!((told(&pieces).as_str(), error), (case.said, Some(expected)), "{name}");
    if address == stage.address() {
        stage.wait_for(|seen| seen.outcome == ExchangeOutcome::HungUp, PATIENCE).await;
    }
}

/// Asks the provider at this address, and gives what it says until it is over.
async fn ask(case: &Case, scheme: &str, address: SocketAddr) -> (Vec<AnswerPiece>, Option<ModelError>) {
    let (base, variables) = match case.whereabouts {
        Whereabouts::Local => (format!("{scheme}://{address}/v1"), BTreeMap::new()),
        Whereabouts::Remote => {
            let proxy = ("http_proxy".to_owned(), format!("http://{address}"));
            ("http://models.example.com/v1".to_owned(), BTreeMap::from([proxy]))
        }
    };
    let models = ProviderModels::new(ProviderOptions { limits: case.limits, ..ProviderOptions::default() });
    let client = ClientContext {
        connection: Some(ConnectionId(1)),
        environment: Some(Environment::new(variables)),
        ..ClientContext::default()
    };
    let access = ProviderAccess::set("custom", "openai", &base, &BTreeMap::new());
    models.set(&client, access.expect("the way is one"));
    let chosen = models.choose(&client, Some("custom/any")).await.expect("the provider is set");
    let mut stream = chosen.model.stream(question("hi"));
    let mut pieces = Vec::new();
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(error) => {
                assert!(stream.next().await.is_none(), "nothing follows an error");
                return (pieces, Some(error));
            }
        }
    }
    (pieces, None)
}

/// A port whose queue is full, so that nobody gets through.
struct FullPort {
    address: SocketAddr,
    _listener: tokio::net::TcpListener,
    _waiting: Vec<TcpStream>,
}

impl FullPort {
    async fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket can be had");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port is free");
        let listener = socket.listen(1).expect("it can listen");
        let address = listener.local_addr().expect("it has an address");
        let mut waiting = Vec::new();
        // Those that get through fill the queue; the first that does not shows that it is full.
        while let Ok(stream) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
            waiting.push(stream.expect("somebody listens"));
        }
        Self { address, _listener: listener, _waiting: waiting }
    }
}

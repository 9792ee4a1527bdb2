//! How a client in this process is connected: to the daemon, or to a gateway of its own.

use std::{io, pin::Pin, sync::Arc};

use nudge_peer::{Transport, pair};
use tokio::sync::OnceCell;

use crate::{
    daemon,
    data_place::DataPlace,
    serving::{ProcessGateway, ServingMode, open_gateway, open_tap},
};

/// Opens a connection, or says why it cannot.
pub(crate) type GatewayConnector = Arc<dyn Fn() -> Connecting + Send + Sync>;

/// A connection that is being opened.
type Connecting = Pin<Box<dyn Future<Output = Result<Transport, String>> + Send>>;

/// The way to the daemon, which is started if there is none.
pub(crate) fn through_daemon(place: &DataPlace, serving: &ServingMode) -> GatewayConnector {
    let (place, serving) = (place.clone(), serving.clone());
    Arc::new(move || -> Connecting {
        let (place, serving) = (place.clone(), serving.clone());
        Box::pin(async move {
            let reached = tokio::task::spawn_blocking(move || daemon::reach(&place, &serving)).await;
            let stream = reached.map_err(|error| error.to_string())?.map_err(|error| format!("{error:#}"))?;
            usable(stream).map_err(|error| format!("cannot use the daemon's socket: {error}"))
        })
    })
}

fn usable(stream: std::os::unix::net::UnixStream) -> io::Result<Transport> {
    stream.set_nonblocking(true)?;
    let (reader, writer) = tokio::net::UnixStream::from_std(stream)?.into_split();
    Ok(Transport::new(reader, writer))
}

/// A gateway of this process, opened when it is first needed.
#[derive(Clone)]
pub(crate) struct OwnGateway {
    place: DataPlace,
    serving: ServingMode,
    opened: Arc<OnceCell<ProcessGateway>>,
}

impl OwnGateway {
    pub(crate) fn new(place: DataPlace, serving: ServingMode) -> Self {
        Self { place, serving, opened: Arc::default() }
    }

    /// The way to it.
    pub(crate) fn connector(&self) -> GatewayConnector {
        let own = self.clone();
        Arc::new(move || -> Connecting {
            let own = own.clone();
            Box::pin(async move {
                let Self { place, serving, opened } = &own;
                let process = opened.get_or_try_init(|| open_gateway(place, None, false)).await;
                let process = process.map_err(|error| format!("{error:#}"))?;
                let (ours, theirs) = pair();
                let options = open_tap(serving).and_then(|tap| serving.options(tap, None));
                let options = options.map_err(|error| format!("{error:#}"))?;
                let connected = process.gateway.connect(theirs, options);
                tokio::spawn(connected.map_err(|error| error.to_string())?.run());
                Ok(ours)
            })
        })
    }

    /// Ends its sessions: a turn that runs is interrupted, what waits is kept.
    pub(crate) async fn end(&self) {
        if let Some(process) = self.opened.get() {
            process.hub.end_at_once().await;
        }
    }
}

//! The page on which a user sets up a model: on this computer alone, for ten minutes, for one use.
//!
//! Its address has a name that cannot be guessed and holds nothing secret. What is typed is sent to this process by the browser,
//! tried out with the provider, and kept; it is not shown again.

mod html;
mod request;

use std::{io, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use nudge_model::{ModelProvider, PROVIDERS, ProviderAccess, ProviderModels};
use nudge_wire::ClientContext;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    task::JoinHandle,
};

use self::request::{PageRequest, SetupFields};
use crate::{LoginStore, SetupLogin, logins::blocking};

/// How long the page can be used, unless something else is said.
pub(crate) const LIFETIME: Duration = Duration::from_mins(10);
/// How long it says that it is done with.
const FAREWELL: Duration = Duration::from_secs(30);
/// How many connections it has at one time.
const MOST_CONNECTIONS: usize = 8;
/// How long a browser may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(10);

/// A page that is open. Dropping it closes it.
pub(crate) struct SetupPage {
    id: String,
    url: String,
    done: watch::Receiver<bool>,
    task: JoinHandle<()>,
    closes_by_itself: bool,
}

/// What the page is about.
struct PageState {
    /// `/setup/` and what cannot be guessed.
    path: String,
    /// `127.0.0.1:` and its port.
    host: String,
    providers: ProviderModels,
    logins: Arc<dyn LoginStore>,
    client: ClientContext,
    done: watch::Sender<bool>,
    /// Whoever sends the form has it, until it is tried: it is used once.
    sending: tokio::sync::Mutex<()>,
}

impl PageState {
    /// The providers that a login may be for: those that are used then.
    fn offered(&self) -> Vec<&'static ModelProvider> {
        match self.providers.pinned(&self.client) {
            Some(pinned) => vec![pinned],
            None => PROVIDERS.iter().collect(),
        }
    }
}

impl SetupPage {
    /// Opens the page for a client, and for this long.
    pub(crate) async fn open(
        providers: ProviderModels,
        logins: Arc<dyn LoginStore>,
        client: ClientContext,
        lifetime: Duration,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let host = listener.local_addr()?.to_string();
        let name = random_name()?;
        let (done, is_done) = watch::channel(false);
        let url = format!("http://{host}/setup/{name}");
        let state = PageState {
            path: format!("/setup/{name}"),
            host,
            providers,
            logins,
            client,
            done,
            sending: tokio::sync::Mutex::default(),
        };
        let task = tokio::spawn(serve_for_a_while(listener, Arc::new(state), lifetime));
        Ok(Self { id: format!("setup-{}", &name[..8]), url, done: is_done, task, closes_by_itself: false })
    }

    /// What the page is known by to the client.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a model is set up; tells whether one was in time.
    pub(crate) async fn done(mut self) -> bool {
        let is_done = self.done.wait_for(|is_done| *is_done).await.is_ok();
        // The browser is still to be told so: the page ends by itself.
        self.closes_by_itself = is_done;
        is_done
    }
}

impl Drop for SetupPage {
    fn drop(&mut self) {
        if !self.closes_by_itself {
            self.task.abort();
        }
    }
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Serves until it is over, or is done with and has been told so.
async fn serve_for_a_while(listener: TcpListener, state: Arc<PageState>, lifetime: Duration) {
    let mut done = state.done.subscribe();
    let is_told = async {
        // The sender is in the state.
        let _ = done.wait_for(|is_done| *is_done).await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        () = serve(listener, Arc::clone(&state)) => {}
        () = is_told => {}
        () = tokio::time::sleep(lifetime) => {}
    }
}

async fn serve(listener: TcpListener, state: Arc<PageState>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        // Those that have ended are forgotten.
        while connections.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // There may be no descriptor for it.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let state = Arc::clone(&state);
        let service = service_fn(move |request| answer(Arc::clone(&state), request));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).keep_alive(false);
        let connection = builder.serve_connection(TokioIo::new(socket), service);
        connections.spawn(async move {
            // What goes wrong here is the browser leaving.
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn answer(
    state: Arc<PageState>,
    request: Request<Incoming>,
) -> Result<Response<Full<bytes::Bytes>>, std::convert::Infallible> {
    let asked = PageRequest::read(request, &state.path, &state.host).await;
    Ok(match asked {
        PageRequest::Show if *state.done.borrow() => html::page(200, &html::over()),
        PageRequest::Show => html::page(200, &html::form(&state.offered(), None)),
        PageRequest::Submit(fields) => submit(&state, &fields).await,
        PageRequest::Refused(status, why) => html::page(status, &html::refused(why)),
    })
}

/// Tries out what was typed, and keeps it if it works.
async fn submit(state: &PageState, fields: &SetupFields) -> Response<Full<bytes::Bytes>> {
    let _sending = state.sending.lock().await;
    if *state.done.borrow() {
        return html::page(200, &html::over());
    }
    let offered = state.offered();
    let again = |why: &str| html::page(200, &html::form(&offered, Some((why, fields.provider))));
    if !offered.contains(&fields.provider) {
        return html::page(400, &html::refused("This provider is not one that can be used here."));
    }
    let Some(access) = access_of(fields) else {
        return again(
            "The address has to begin with http:// or https://, and a provider without one needs it.",
        );
    };
    let tested = match state.providers.test(&access, &state.client).await {
        Ok(tested) => tested,
        Err(error) => return again(&error.to_string()),
    };
    let login =
        SetupLogin { provider: access.provider, base_url: fields.address.clone(), key: fields.key.clone() };
    let logins = Arc::clone(&state.logins);
    match blocking(move || logins.keep(login)).await {
        Ok(place) => {
            state.done.send_replace(true);
            html::page(200, &html::done(&tested, &place))
        }
        Err(why) => again(&format!("It works, but cannot be kept: {why}")),
    }
}

fn access_of(fields: &SetupFields) -> Option<ProviderAccess> {
    ProviderAccess::stored(fields.provider, fields.address.as_deref(), fields.key.clone())
}

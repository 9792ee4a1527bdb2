//! Sign-in of the built-in agent: `authenticate` and `logout`, `auth/login` and `auth/logout`, `auth/status`, and what is
//! answered where nobody is signed in.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use nudge_backend::{ElicitationAnswer, SIGNED_OUT};
use nudge_hub::SessionApi;
use nudge_model::{AccessOrigin, ProviderModels};
use nudge_peer::{Cx, RawRequest, UnhandledMessage};
use nudge_wire::{
    ClientContext, Error, ErrorCode, RawJson, Version, acp,
    caps::{ClientInit, ElicitationModes},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{
    Gateway, LoginStore, first_run, forms::RequestForms, logins::blocking, provider_methods,
    setup_page::SetupPage,
};

/// The method by which a page of Nudge's own is opened.
const PAGE: &str = "setup";
/// The method by which the client runs `nudge` on a terminal.
const TERMINAL: &str = "setup-terminal";
/// The variable that makes `nudge` ask on its terminal instead of serving.
pub const LOGIN_VARIABLE: &str = "NUDGE_LOGIN";

/// The models of the built-in agent as one client has them: how they are reached, and how it signs in.
pub(crate) struct ClientSignIn {
    pub(crate) providers: ProviderModels,
    pub(crate) logins: Option<Arc<dyn LoginStore>>,
    pub(crate) client: ClientContext,
    pub(crate) version: Version,
    pub(crate) modes: ElicitationModes,
    has_terminal: bool,
    /// How long a page can be used.
    page_lifetime: Duration,
    pub(crate) cx: Cx,
    /// Whether the client is told when its status changes.
    is_watched: AtomicBool,
}

#[derive(Deserialize)]
struct LoginParams {
    #[serde(rename = "methodId")]
    method: String,
}

impl ClientSignIn {
    pub(crate) fn new(
        providers: ProviderModels,
        gateway: &Gateway,
        client: ClientContext,
        init: &ClientInit,
        cx: Cx,
    ) -> Self {
        let (logins, page_lifetime) = (gateway.logins().cloned(), gateway.page_lifetime());
        let (version, modes) = (init.version, init.elicitation_modes());
        let has_terminal = init.has_terminal_sign_in();
        let is_watched = AtomicBool::new(false);
        Self { providers, logins, client, version, modes, has_terminal, page_lifetime, cx, is_watched }
    }

    /// What the client may choose from to sign in, as its version writes it.
    pub(crate) fn methods(&self) -> RawJson {
        let can_keep = self.logins.is_some();
        let page =
            (PAGE, "Set up a model", "Opens a page on this computer: an API key, or the address of a server");
        let terminal =
            (TERMINAL, "Set up a model in a terminal", "Asks for an API key, or the address of a server");
        let has_page = can_keep && self.modes.url;
        let has_terminal = can_keep && self.has_terminal;
        match self.version {
            Version::V1 => raw(&methods_v1(has_page.then_some(page), has_terminal.then_some(terminal))),
            Version::V2 => raw(&methods_v2(has_page.then_some(page), has_terminal.then_some(terminal))),
        }
    }

    /// Why there is no session: nobody is signed in, and how that can be done.
    pub(crate) fn required(&self) -> Error {
        let what = "No model is set up: sign in, or run `nudge login` in a terminal, or start Ollama";
        let what = match self.providers.problem(&self.client) {
            Some(problem) => format!("{what} ({problem})"),
            None => what.to_owned(),
        };
        let data = json!({ "reason": SIGNED_OUT, "authMethods": self.methods() });
        Error::new(ErrorCode::AUTH_REQUIRED, what).data(&data)
    }

    /// Takes what is about models and sign-in; gives back all else.
    pub(crate) async fn take(
        self: &Arc<Self>,
        sessions: Option<&Arc<SessionApi>>,
        message: UnhandledMessage,
    ) -> Option<UnhandledMessage> {
        let message = provider_methods::answer(&self.providers, &self.client, message).await?;
        let UnhandledMessage::Request(request) = message else { return Some(message) };
        match (self.version, &**request.method()) {
            (_, "auth/status") => self.tell_status(request),
            (Version::V1, "authenticate") | (Version::V2, "auth/login") => self.begin_login(request),
            (Version::V1, "logout") | (Version::V2, "auth/logout") => self.begin_logout(request),
            (_, "session/new") => return self.new_session(sessions, request),
            _ => return Some(UnhandledMessage::Request(request)),
        }
        None
    }

    /// Begins a session, after the user has chosen a model if there is none.
    fn new_session(
        self: &Arc<Self>,
        sessions: Option<&Arc<SessionApi>>,
        request: RawRequest,
    ) -> Option<UnhandledMessage> {
        let Some(sessions) = sessions.filter(|_| !self.providers.has_access(&self.client)) else {
            return Some(UnhandledMessage::Request(request));
        };
        let (sign_in, sessions) = (Arc::clone(self), Arc::clone(sessions));
        // What it waits for may take as long as a user takes.
        tokio::spawn(async move {
            let cancelled = request.cancellation();
            let ready = tokio::select! {
                ready = first_run::make_ready(&sign_in, request.id()) => ready,
                () = cancelled.cancelled() => Err(Error::cancelled()),
                // Nobody will answer, and nobody waits for it.
                () = sign_in.cx.input_ended() => Err(Error::cancelled()),
            };
            match ready {
                Ok(()) => drop(sessions.handle(UnhandledMessage::Request(request)).await),
                Err(error) => drop(request.respond::<()>(Err(error)).await),
            }
        });
        None
    }

    /// Tells the status, and from then on whenever it is another. Beside the queue: a server may have to be asked.
    fn tell_status(self: &Arc<Self>, request: RawRequest) {
        let sign_in = Arc::clone(self);
        tokio::spawn(async move {
            let changes = sign_in.providers.subscribe();
            let status = sign_in.status().await;
            // Whoever asked may be gone.
            let _ = request.respond(Ok(&status)).await;
            if !sign_in.is_watched.swap(true, Ordering::Relaxed) {
                sign_in.tell_changes(status, changes).await;
            }
        });
    }

    fn begin_login(self: &Arc<Self>, request: RawRequest) {
        let sign_in = Arc::clone(self);
        tokio::spawn(async move {
            let cancelled = request.cancellation();
            let done = tokio::select! {
                done = sign_in.login(&request) => done,
                () = cancelled.cancelled() => Err(Error::cancelled()),
                // Nobody will answer, and nobody waits for it.
                () = sign_in.cx.input_ended() => Err(Error::cancelled()),
            };
            let _ = request.respond(done.map(|()| json!({}))).await;
        });
    }

    async fn login(&self, request: &RawRequest) -> Result<(), Error> {
        let params =
            request.params().ok_or_else(|| Error::invalid_params("Invalid params: methodId is missing"))?;
        let read = params.to::<LoginParams>();
        let LoginParams { method } = read.map_err(|error| Error::bad_params(request.method(), &error))?;
        match method.as_str() {
            PAGE if self.modes.url && self.logins.is_some() => {
                self.login_by_page(&self.forms(request.id())).await
            }
            TERMINAL => Err(Error::invalid_params(
                "Invalid params: the client runs this method itself, on a terminal, with the variables it names",
            )),
            _ => Err(Error::invalid_params(
                "Invalid params: methodId is none of those that `initialize` offered",
            )),
        }
    }

    /// What can be shown to the user about a request.
    pub(crate) fn forms(&self, request: &nudge_wire::Id) -> RequestForms {
        RequestForms { cx: self.cx.clone(), request: request.clone() }
    }

    /// Has the user sign in on a page of this computer, and waits until that is done.
    pub(crate) async fn login_by_page(&self, forms: &RequestForms) -> Result<(), Error> {
        let logins = self.logins.clone().ok_or_else(|| self.required())?;
        let page =
            SetupPage::open(self.providers.clone(), logins, self.client.clone(), self.page_lifetime).await;
        let page = page.map_err(|_| Error::internal("No page can be opened on this computer"))?;
        let message = "Set up a model on this page. What you type there goes to Nudge on this computer, and from there to \
            the provider alone. If the page does not open, run `nudge login` in a terminal where Nudge runs.";
        let (id, url) = (page.id().to_owned(), page.url().to_owned());
        let mut done = std::pin::pin!(page.done());
        let is_done = tokio::select! {
            biased;
            // A user may be quicker than the client's word that the page is open.
            is_done = &mut done => is_done,
            shown = forms.page(&id, &url, message) => match shown? {
                ElicitationAnswer::Declined | ElicitationAnswer::Cancelled => return Err(self.required()),
                ElicitationAnswer::Accepted(_) => done.await,
            },
        };
        forms.complete(&id);
        if is_done { Ok(()) } else { Err(self.required()) }
    }

    /// Beside the queue: what is kept may be locked by somebody else.
    fn begin_logout(self: &Arc<Self>, request: RawRequest) {
        let sign_in = Arc::clone(self);
        tokio::spawn(async move {
            let done = sign_in.logout().await;
            let _ = request.respond(done.map(|()| json!({}))).await;
        });
    }

    async fn logout(&self) -> Result<(), Error> {
        if let Some(connection) = self.client.connection {
            self.providers.sign_out(connection);
        }
        if let Some(logins) = self.logins.clone() {
            let forgotten = blocking(move || logins.forget_all()).await;
            // Whoever is told of changes hears of it now, also of a part.
            self.providers.look_at_stored();
            forgotten.map_err(|why| Error::internal(format!("Not all that is kept is removed: {why}")))?;
        }
        Ok(())
    }

    /// Whether sessions can be begun without signing in, and as whom.
    pub(crate) async fn status(&self) -> Value {
        let accounts = self.accounts();
        let state = match accounts.is_empty() {
            false => "authenticated",
            true if self.providers.is_ready(&self.client).await => "not_required",
            true => "unauthenticated",
        };
        if accounts.is_empty() {
            json!({ "state": state })
        } else {
            json!({ "state": state, "accounts": accounts })
        }
    }

    fn accounts(&self) -> Vec<Value> {
        let states = self.providers.states(&self.client).into_iter();
        let reached = states.filter_map(|state| state.access);
        let known = reached.filter(|access| access.origin != AccessOrigin::Local);
        known
            .map(|access| json!({ "label": format!("{} ({})", access.provider.name, access.origin) }))
            .collect()
    }

    /// Tells the client whenever its status is another, until it is gone.
    async fn tell_changes(&self, mut told: Value, mut changes: watch::Receiver<u64>) {
        loop {
            tokio::select! {
                _ = self.cx.closed() => return,
                turned = changes.changed() => if turned.is_err() { return },
            }
            let now = self.status().await;
            if now != told {
                self.cx.notify_now("auth/status_update", Some(&raw(&now)));
                told = now;
            }
        }
    }
}

type MethodText = (&'static str, &'static str, &'static str);

fn methods_v1(page: Option<MethodText>, terminal: Option<MethodText>) -> Vec<acp::v1::AuthMethod> {
    use acp::v1::{AuthMethod, AuthMethodAgent, AuthMethodTerminal};
    let page = page.map(|(id, name, about)| {
        AuthMethod::Agent(AuthMethodAgent::new(id, name).description(about.to_owned()))
    });
    let terminal = terminal.map(|(id, name, about)| {
        let env = [(LOGIN_VARIABLE.to_owned(), "1".to_owned())].into();
        AuthMethod::Terminal(AuthMethodTerminal::new(id, name).description(about.to_owned()).env(env))
    });
    page.into_iter().chain(terminal).collect()
}

fn methods_v2(page: Option<MethodText>, terminal: Option<MethodText>) -> Vec<acp::v2::AuthMethod> {
    use acp::v2::{AuthMethod, AuthMethodAgent, AuthMethodTerminal, EnvVariable};
    let page = page.map(|(id, name, about)| {
        AuthMethod::Agent(AuthMethodAgent::new(id, name).description(about.to_owned()))
    });
    let terminal = terminal.map(|(id, name, about)| {
        let env = vec![EnvVariable::new(LOGIN_VARIABLE, "1")];
        AuthMethod::Terminal(AuthMethodTerminal::new(id, name).description(about.to_owned()).env(env))
    });
    page.into_iter().chain(terminal).collect()
}

fn raw(value: &impl serde::Serialize) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

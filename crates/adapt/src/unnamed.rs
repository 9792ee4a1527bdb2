//! Where the messages of an agent go that name no session: to whoever asked it for what they are about.

use std::collections::{HashSet, VecDeque};

use nudge_backend::{COMPLETE_ELICITATION, CREATE_ELICITATION, check_elicitation_answer};
use nudge_peer::{InOrder, PendingResponse, RawRequest, UnhandledMessage};
use nudge_wire::{ConnectionId, Error, Id, RawJson};

use crate::{
    auth_status::is_status_update,
    open_requests::RequestPurpose,
    route::{AgentListener, SessionRoutes},
};

/// Pages that are remembered until the agent says that they are done with.
const MOST_PAGES: usize = 256;
/// The longest name of a page that is remembered, in bytes.
const LONGEST_NAME: usize = 1024;

/// Who was asked to show a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageOwner {
    /// A client of this session.
    Session(String),
    /// The listener of this number.
    Listener(u64),
}

/// The pages that the agent has not said to be done with.
#[derive(Debug, Default)]
pub(crate) struct OpenPages(VecDeque<(String, PageOwner)>);

impl OpenPages {
    /// Notes who is asked to show a page, if this asks for one.
    pub(crate) fn note(&mut self, asked: &RawJson, owner: PageOwner) {
        let is_page = word(asked, "mode").as_deref() == Some("url");
        let named = word(asked, "elicitationId").filter(|page| is_page && page.len() <= LONGEST_NAME);
        let Some(page) = named else { return };
        self.take(&page);
        if self.0.len() == MOST_PAGES {
            self.0.pop_front();
        }
        self.0.push_back((page, owner));
    }

    fn take(&mut self, page: &str) -> Option<PageOwner> {
        let at = self.0.iter().position(|(known, _)| known == page)?;
        self.0.remove(at).map(|(_, owner)| owner)
    }
}

/// Where a message goes that names no session.
pub(crate) enum UnnamedRoute {
    /// To the session that it is about.
    Session(String),
    /// To this connection, with these params if not with its own.
    Connection(Box<AgentListener>, Option<RawJson>),
    /// To all of these.
    Connections(Vec<AgentListener>),
    /// Nowhere: a request gets this error.
    Refused(Error),
}

/// What an agent names by the id of a request that it has been sent.
enum NamedRequest {
    /// The turn of a session.
    Turn(String),
    /// A request of a client, which knows it by this id.
    Client(Option<AgentListener>, Id),
}

impl SessionRoutes {
    /// Where a message goes that names no session.
    pub(crate) fn unnamed_route(&self, message: &UnhandledMessage, agent: &InOrder) -> UnnamedRoute {
        let (method, params) = (&**message.method(), message.params());
        match message {
            UnhandledMessage::Request(_) if method == CREATE_ELICITATION => {
                self.elicitation_route(params, agent)
            }
            UnhandledMessage::Request(_) => match self.who_asked(params, agent) {
                Some(listener) => UnnamedRoute::Connection(Box::new(listener), None),
                None => UnnamedRoute::Refused(Error::method_not_found(method)),
            },
            UnhandledMessage::Notification(_) if method == COMPLETE_ELICITATION => {
                self.completion_route(params)
            }
            UnhandledMessage::Notification(_) if is_status_update(method) => {
                UnnamedRoute::Connections(self.listeners())
            }
            UnhandledMessage::Notification(_) => UnnamedRoute::Connections(self.concerned(params, agent)),
        }
    }

    /// A form or a page is about one request of a client. That client shows it, or nobody does.
    fn elicitation_route(&self, params: Option<&RawJson>, agent: &InOrder) -> UnnamedRoute {
        let nothing = RawJson::written("{}");
        let asked = params.unwrap_or(&nothing);
        let named = asked.get(&["requestId"]).filter(|id| id.as_str() != "null");
        let (listener, params) = match named.map(|id| self.request_named(&id, agent)) {
            None => (self.who_asked(params, agent), None),
            Some(Some(NamedRequest::Turn(session))) => return UnnamedRoute::Session(session),
            Some(Some(NamedRequest::Client(listener, id))) => {
                (listener, asked.with(&["requestId"], &id.to_json()).ok())
            }
            Some(None) => {
                let what = "`requestId` is the id of a request to the agent that is not answered yet";
                let what = format!("Invalid params for {CREATE_ELICITATION}: {what}");
                return UnnamedRoute::Refused(Error::invalid_params(what));
            }
        };
        match listener.filter(|listener| listener.modes.has(CREATE_ELICITATION, asked)) {
            Some(listener) => {
                self.pages().note(asked, PageOwner::Listener(listener.number));
                UnnamedRoute::Connection(Box::new(listener), params)
            }
            None => UnnamedRoute::Refused(Error::method_not_found(CREATE_ELICITATION)),
        }
    }

    /// Has a form or a page shown that is about a request of this client, with these params if not with its own. Gives back all else.
    pub(crate) fn ask_listener(
        &self,
        message: UnhandledMessage,
        params: Option<&RawJson>,
        listener: &AgentListener,
    ) -> Option<UnhandledMessage> {
        let UnhandledMessage::Request(request) = message else { return Some(message) };
        if &**request.method() != CREATE_ELICITATION {
            return Some(UnhandledMessage::Request(request));
        }
        let nothing = RawJson::object(&[]);
        let asked = params.or(request.params()).unwrap_or(&nothing).clone();
        let told = self.told(listener, CREATE_ELICITATION, &asked);
        let told = told.as_ref().map_or(&asked, |call| &call.params);
        // It is on its way from here on: what the agent says next comes behind it.
        let answer = listener.cx.request_raw(CREATE_ELICITATION, Some(told));
        tokio::spawn(give_answer(request, asked, answer));
        None
    }

    /// That a page is done with is told to who was asked to show it.
    fn completion_route(&self, params: Option<&RawJson>) -> UnnamedRoute {
        let page = params.and_then(|params| word(params, "elicitationId"));
        match page.and_then(|page| self.pages().take(&page)) {
            Some(PageOwner::Session(session)) => UnnamedRoute::Session(session),
            Some(PageOwner::Listener(number)) => {
                let shown_by = |listener: &AgentListener| listener.number == number;
                UnnamedRoute::Connections(self.listeners().into_iter().filter(shown_by).collect())
            }
            None => UnnamedRoute::Connections(Vec::new()),
        }
    }

    /// What the agent knows by this id, unless it has answered it.
    fn request_named(&self, id: &RawJson, agent: &InOrder) -> Option<NamedRequest> {
        let number = Id::from_json(id)?.as_u64()?;
        match self.requests.purpose(number) {
            Some(RequestPurpose::Turn { session, .. }) => Some(NamedRequest::Turn(session.to_string())),
            Some(RequestPurpose::Client(origin)) => {
                Some(NamedRequest::Client(self.listener_of(origin.connection), origin.id))
            }
            None => {
                let passed = agent.forwarded().into_iter().find(|passed| passed.number == number)?;
                let is_its = |listener: &AgentListener| listener.cx.is_same(&passed.from);
                let listener = self.listeners().into_iter().find(is_its);
                Some(NamedRequest::Client(listener, passed.id))
            }
        }
    }

    /// The connection that a request of the agent is about: it has the server that is named, or has asked last for what the agent
    /// works on. If the agent works on nothing, the one that asked it for anything last, or that came last.
    fn who_asked(&self, params: Option<&RawJson>, agent: &InOrder) -> Option<AgentListener> {
        let has_server = || self.who_has_server(params?, agent);
        let asked_last = || self.askers(agent).into_iter().next();
        let asked_before = || self.listener_of(self.requests.last_asker()?);
        let came_last = || self.listeners().pop();
        has_server().or_else(asked_last).or_else(asked_before).or_else(came_last)
    }

    /// The connections that news of the agent are for: those for which it works on something, or else all.
    fn concerned(&self, params: Option<&RawJson>, agent: &InOrder) -> Vec<AgentListener> {
        if let Some(listener) = params.and_then(|params| self.who_has_server(params, agent)) {
            return vec![listener];
        }
        let askers = self.askers(agent);
        if askers.is_empty() { self.listeners() } else { askers }
    }

    /// The connections for which the agent works on something, the last to have asked first.
    pub(crate) fn askers(&self, agent: &InOrder) -> Vec<AgentListener> {
        let listeners = self.listeners();
        let with_id = |id: ConnectionId| listeners.iter().find(|listener| listener.connection == id);
        let own = self.requests.askers().into_iter().filter_map(|(number, id)| Some((number, with_id(id)?)));
        let passed = agent.forwarded().into_iter().filter_map(|passed| {
            let listener = listeners.iter().find(|listener| listener.cx.is_same(&passed.from))?;
            Some((passed.number, listener))
        });
        let mut asked: Vec<_> = own.chain(passed).collect();
        asked.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
        let mut seen = HashSet::new();
        asked.retain(|(_, listener)| seen.insert(listener.number));
        asked.into_iter().map(|(_, listener)| listener.clone()).collect()
    }
}

/// Gives the agent the client's answer, if it is one to what was asked.
async fn give_answer(request: RawRequest, asked: RawJson, answer: PendingResponse<RawJson>) {
    let cancelled = request.cancellation();
    let answer = tokio::select! {
        answer = answer => answer.map_err(Error::from),
        () = cancelled.cancelled() => Err(Error::cancelled()),
    };
    let fits = |answer: RawJson| match check_elicitation_answer(&asked, &answer) {
        Ok(()) => Ok(answer),
        Err(wrong) => Err(Error::internal(wrong.to_string()).reason("invalid_answer")),
    };
    // The agent may be gone.
    let _ = match answer.and_then(fits) {
        Ok(result) => request.into_responder().respond_raw(&result).await,
        Err(error) => request.respond::<()>(Err(error)).await,
    };
}

pub(crate) fn word(params: &RawJson, name: &str) -> Option<String> {
    params.get(&[name])?.to().ok()
}

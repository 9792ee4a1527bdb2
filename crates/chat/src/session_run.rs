//! A core and its connection: what the core wants goes out, what comes is given to it, and a connection that is lost is made again.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::{
    ChatConnector, Doing,
    agent_link::{AgentLink, LinkEvent},
    core::{ChatAct, ChatCore},
};

/// How long to wait before another try to connect: at first, and at the most.
const SOON: Duration = Duration::from_millis(100);
const LATE: Duration = Duration::from_secs(5);
/// How long what was said last may take to go out.
const GOODBYE: Duration = Duration::from_secs(2);

/// A core with its connection.
pub(crate) struct SessionRun {
    pub(crate) core: ChatCore,
    connector: ChatConnector,
    link: Option<AgentLink>,
    events: Option<mpsc::Receiver<LinkEvent>>,
    connecting: Option<Doing<Result<OpenLink, String>>>,
    /// Whether there was a connection.
    has_been: bool,
    tries: u32,
}

/// A connection that was greeted.
pub(crate) struct OpenLink {
    link: AgentLink,
    events: mpsc::Receiver<LinkEvent>,
    greeted: Value,
}

/// What happens to it.
pub(crate) enum RunEvent {
    Link(LinkEvent),
    Connected(Result<OpenLink, String>),
}

impl SessionRun {
    pub(crate) fn new(core: ChatCore, connector: ChatConnector) -> Self {
        let mut run =
            Self { core, connector, link: None, events: None, connecting: None, has_been: false, tries: 0 };
        run.connect(Duration::ZERO);
        run
    }

    /// What happens next. Nothing is lost if it is dropped.
    pub(crate) async fn next(&mut self) -> RunEvent {
        if let Some(connecting) = &mut self.connecting {
            let connected = connecting.await;
            self.connecting = None;
            return RunEvent::Connected(connected);
        }
        match &mut self.events {
            Some(events) => RunEvent::Link(
                events
                    .recv()
                    .await
                    .unwrap_or_else(|| LinkEvent::Over("Nudge has ended the connection".to_owned())),
            ),
            None => std::future::pending().await,
        }
    }

    /// Takes it in; why it cannot begin at all, if it cannot.
    pub(crate) fn happened(&mut self, event: RunEvent) -> Option<String> {
        match event {
            RunEvent::Link(event) => self.heard(event),
            RunEvent::Connected(Ok(open)) => {
                (self.has_been, self.tries) = (true, 0);
                (self.link, self.events) = (Some(open.link), Some(open.events));
                self.core.connected(&open.greeted);
            }
            RunEvent::Connected(Err(why)) if !self.has_been => return Some(why),
            RunEvent::Connected(Err(why)) => {
                self.core.cannot_connect(&why);
                self.connect((SOON * 2_u32.saturating_pow(self.tries)).min(LATE));
                self.tries += 1;
            }
        }
        None
    }

    /// Takes in what has come already, but not endlessly.
    pub(crate) fn take_in(&mut self, most: usize) {
        for _ in 0..most {
            let Some(event) = self.events.as_mut().and_then(|events| events.try_recv().ok()) else { return };
            self.heard(event);
        }
    }

    fn heard(&mut self, event: LinkEvent) {
        let is_over = matches!(event, LinkEvent::Over(_));
        self.core.handle(event);
        if is_over {
            (self.link, self.events) = (None, None);
            self.connect(SOON);
        }
    }

    fn connect(&mut self, after: Duration) {
        let (connector, capabilities) = (self.connector.clone(), ChatCore::capabilities());
        self.connecting = Some(Box::pin(async move {
            tokio::time::sleep(after).await;
            let transport = connector().await?;
            let (link, events) = AgentLink::open(transport).map_err(|error| error.to_string())?;
            let greeted = link.initialize(&capabilities).await.map_err(|error| error.to_string())?;
            Ok(OpenLink { link, events, greeted })
        }));
    }

    /// Does what goes out.
    pub(crate) fn perform(&self, act: ChatAct) {
        let Some(link) = &self.link else { return };
        match act {
            ChatAct::Ask { number, method, params } => link.ask_later(number, method, &params),
            ChatAct::Tell { method, params } => link.tell(method, &params),
            ChatAct::Answer { number, result } => link.answer(number, result),
            _ => {}
        }
    }

    /// Leaves: what was said goes out.
    pub(crate) async fn close(&mut self) {
        if let Some(link) = self.link.take() {
            let _ = tokio::time::timeout(GOODBYE, link.close()).await;
        }
    }
}

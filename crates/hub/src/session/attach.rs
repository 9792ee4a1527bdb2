//! A client joins a session that is in use.

use std::sync::Arc;

use nudge_peer::RequestResponder;
use nudge_session::{AttachOptions, unknown_session};
use nudge_wire::Error;
use tokio::sync::oneshot;

use crate::{
    hub::HubShared,
    session::{ClientView, JoiningClient, RestoreWish, SessionCommand, SessionHandle},
};

/// What a client that joins wants.
#[derive(Debug)]
pub(crate) struct JoinRequest {
    /// What it has been shown so far; [`ClientView::from`] is where it goes on.
    pub(crate) view: ClientView,
    pub(crate) options: AttachOptions,
    pub(crate) responder: RequestResponder,
}

/// What became of a wish to join.
#[derive(Debug)]
pub(crate) enum AttachOutcome {
    /// It has joined and is answered.
    Joined,
    /// It has to read on from the store first: more has been written than is kept in memory.
    ReadOn(Box<JoinRequest>),
}

/// Sends a wish to join, reading on from the store as often as it takes.
pub(crate) async fn join(
    hub: &Arc<HubShared>,
    mut handle: SessionHandle,
    session: &str,
    mut attach: JoinRequest,
) -> Result<(), (Error, Option<RequestResponder>)> {
    loop {
        if attach.options.wants_history
            && let Err(error) = crate::history::replay(&*hub.store, session, &mut attach.view).await
        {
            return Err((error, Some(attach.responder)));
        }
        let (reply, replied) = oneshot::channel();
        let joining = Box::new(JoiningClient { attach, reply });
        if let Err(SessionCommand::Attach(again)) = handle.send(SessionCommand::Attach(joining)).await {
            // It was just being left.
            let again = again.attach;
            handle = match hub.session(session, &RestoreWish::of(&again.view.client)).await {
                Ok(handle) => handle,
                Err(error) => return Err((error, Some(again.responder))),
            };
            attach = again;
            continue;
        }
        match replied.await {
            Ok(AttachOutcome::Joined) => return Ok(()),
            Ok(AttachOutcome::ReadOn(again)) => attach = *again,
            Err(_) => return Err((unknown_session(), None)),
        }
    }
}

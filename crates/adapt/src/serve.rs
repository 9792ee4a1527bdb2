//! Files and terminals for an agent, in the folders of its session, where no editor offers them.

use std::{path::PathBuf, sync::Arc};

use nudge_backend::AgentQuestion;
use nudge_bridge::IndexedUpdate;
use nudge_peer::RequestResponder;
use nudge_wire::{Environment, Error};
use nudge_workspace::{TerminalUpdates, Workspace};

/// The folders of a session, and what is served there.
#[derive(Default)]
pub(crate) struct ServedFolders {
    cwd: PathBuf,
    additional_directories: Vec<PathBuf>,
    workspace: Option<Arc<Workspace>>,
    /// What its terminals show.
    updates: Option<TerminalUpdates>,
}

impl ServedFolders {
    pub(crate) fn new(cwd: &str, additional_directories: &[String]) -> Self {
        let additional_directories = additional_directories.iter().map(PathBuf::from).collect();
        Self { cwd: PathBuf::from(cwd), additional_directories, ..Self::default() }
    }

    /// Answers a question for a file or a terminal.
    pub(crate) fn serve(
        &mut self,
        question: AgentQuestion,
        responder: RequestResponder,
        environment: Option<Environment>,
    ) {
        let workspace = self.workspace();
        let unwanted = responder.cancellation();
        tokio::spawn(async move {
            let AgentQuestion { method, params, .. } = question;
            let answer = tokio::select! {
                biased;
                answer = workspace.request(&method, &params, environment.as_ref()) => answer,
                () = unwanted.cancelled() => Err(Error::cancelled()),
            };
            // The agent may be gone.
            let _ = match answer {
                Ok(result) => responder.respond_raw(&result).await,
                Err(error) => responder.respond::<()>(Err(error)).await,
            };
        });
    }

    /// What a terminal shows next.
    pub(crate) async fn next_update(&mut self) -> IndexedUpdate {
        loop {
            let update = match &mut self.updates {
                Some(updates) => updates.next().await,
                None => std::future::pending().await,
            };
            match update {
                Some(update) => {
                    if let Some(update) = IndexedUpdate::read(&update) {
                        return update;
                    }
                }
                None => self.updates = None,
            }
        }
    }

    fn workspace(&mut self) -> Arc<Workspace> {
        let Self { cwd, additional_directories, workspace, updates } = self;
        let workspace = workspace.get_or_insert_with(|| {
            let workspace = Arc::new(Workspace::new(cwd.clone(), additional_directories.clone()));
            *updates = workspace.updates();
            workspace
        });
        Arc::clone(workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nudge_backend::is_file_or_terminal;
    use nudge_wire::{RawJson, acp::v1::CLIENT_METHOD_NAMES as NAMES};

    #[tokio::test]
    async fn what_sessions_have_served_is_what_can_be() {
        let workspace = ServedFolders::new("/", &[]).workspace();
        let nothing = RawJson::of(&()).expect("it is JSON");
        let more = [NAMES.session_update, NAMES.session_request_permission, "terminal/other", "fs/other", ""];
        let served = [
            NAMES.fs_read_text_file,
            NAMES.fs_write_text_file,
            NAMES.terminal_create,
            NAMES.terminal_output,
            NAMES.terminal_wait_for_exit,
            NAMES.terminal_kill,
            NAMES.terminal_release,
        ];
        for method in served.into_iter().chain(more) {
            let error = workspace.request(method, &nothing, None).await.expect_err("it asks for nothing");
            let is_known = error.code != Error::method_not_found(method).code;
            assert_eq!(is_file_or_terminal(method), is_known, "{method}");
            assert_eq!(is_file_or_terminal(method), served.contains(&method), "{method}");
        }
    }
}

//! A workspace in a folder of its own, and the requests of an agent.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use nudge_wire::Environment;
use nudge_wire::{Error, RawJson};
use nudge_workspace::Workspace;
use serde_json::{Value, json};

pub(crate) struct Desk {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) workspace: Arc<Workspace>,
    environment: Option<Environment>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(Vec::new(), None)
    }

    pub(crate) fn with(additional: Vec<PathBuf>, environment: Option<&[(&str, &str)]>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment = environment
            .map(|variables| Environment::new(variables.iter().map(own).collect::<BTreeMap<_, _>>()));
        let workspace = Arc::new(Workspace::new(dir.path().to_owned(), additional));
        Self { dir, workspace, environment }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, Error> {
        ask(&self.workspace, method, params, self.environment.as_ref()).await
    }

    /// Starts a command and gives its terminal's id.
    pub(crate) async fn create(&self, params: Value) -> String {
        let created = self.ask("terminal/create", params).await.unwrap();
        created["terminalId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn line(&self, line: &str) -> String {
        self.create(json!({ "command": line })).await
    }

    /// A `terminal/*` request about one terminal.
    pub(crate) async fn of(&self, id: &str, what: &str) -> Result<Value, Error> {
        self.ask(&format!("terminal/{what}"), json!({ "terminalId": id })).await
    }

    /// The output and the exit status of a command that has been waited for.
    pub(crate) async fn outcome(&self, params: Value) -> (String, Value) {
        let id = self.create(params).await;
        let status = self.of(&id, "wait_for_exit").await.unwrap();
        let output = self.of(&id, "output").await.unwrap();
        assert_eq!(output["exitStatus"], status);
        assert_eq!(self.of(&id, "release").await.unwrap(), json!({}));
        (output["output"].as_str().unwrap().to_owned(), status)
    }

    /// The numbers that a command says, one a line, once it has said so many.
    pub(crate) async fn numbers(&self, id: &str, count: usize) -> Vec<u32> {
        loop {
            let output = self.of(id, "output").await.unwrap();
            let numbers: Vec<u32> =
                output["output"].as_str().unwrap().lines().map(|line| line.parse().unwrap()).collect();
            if numbers.len() >= count {
                return numbers;
            }
            assert_eq!(output.get("exitStatus"), None, "it has ended too soon: {output}");
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) async fn ask(
    workspace: &Workspace,
    method: &str,
    mut params: Value,
    environment: Option<&Environment>,
) -> Result<Value, Error> {
    params["sessionId"] = json!("s");
    let params = RawJson::of(&params).unwrap();
    workspace.request(method, &params, environment).await.map(|result| result.to().unwrap())
}

/// Checks that a request was refused with this code and these words, and that no word of ours is repeated.
pub(crate) fn refused(result: Result<Value, Error>, code: i64, says: &str) {
    let error = result.expect_err(says);
    assert_eq!(error.code.0, code, "{error}");
    assert!(error.message.contains(says), "{error}");
    assert!(!error.message.contains("secret"), "{error}");
}

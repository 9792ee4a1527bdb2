//! The life of an NES session.

use serde_json::Value;

use super::shape::{methods, object};

object! {
    /// Begins an NES session. What it says about the workspace holds until the session is closed.
    #[derive(Default)]
    pub struct StartRequest as "StartNesRequest" {}
    optional {
        /// All the folders of the workspace.
        workspace_folders: Vec<WorkspaceFolder>,
    }
    lenient {
        /// The folder at the root of the workspace.
        workspace_uri: String,
        /// The repository the workspace is a checkout of.
        repository: NesRepository,
    }
}

object! {
    /// A folder of the workspace.
    pub struct WorkspaceFolder as "WorkspaceFolder" {
        /// Where it is.
        uri: String,
        /// What the user calls it.
        name: String,
    }
}

object! {
    /// A repository and where it came from.
    pub struct NesRepository as "NesRepository" {
        /// Its name.
        name: String,
        /// The user or organisation it belongs to.
        owner: String,
        /// The address it is fetched from.
        remote_url: String,
    }
}

object! {
    /// The session has begun.
    pub struct StartResponse as "StartNesResponse" {
        /// Names the session from here on.
        session_id: String,
    }
    optional {
        /// Settings of the session in the shape of ACP's config options.
        #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Map<String, Value>>>"))]
        config_options: Vec<Value>,
    }
}

object! {
    /// Ends an NES session and whatever it is still working on.
    pub struct CloseRequest as "CloseNesRequest" {
        /// The session.
        session_id: String,
    }
}

object! {
    /// The session has ended.
    #[derive(Default)]
    pub struct CloseResponse as "CloseNesResponse" {}
}

methods! {
    StartRequest => StartResponse, "nes/start";
    CloseRequest => CloseResponse, "nes/close";
}

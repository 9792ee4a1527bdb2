//! Typed messages: which Rust type travels under which method name.

use serde::{Serialize, de::DeserializeOwned};

/// The params of a request, tied to its method and to the type of its result.
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// Other names under which the same request is accepted.
    const ALIASES: &'static [&'static str] = &[];
    /// The result of the request.
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a notification, tied to its method.
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// Other names under which the same notification is accepted.
    const ALIASES: &'static [&'static str] = &[];
}

macro_rules! requests {
    ($($ty:ty => $response:ty, $method:literal;)*) => {
        $(impl Request for $ty {
            const METHOD: &'static str = $method;
            type Response = $response;
        })*
    };
}

macro_rules! notifications {
    ($($ty:ty, $method:literal;)*) => {
        $(impl Notification for $ty {
            const METHOD: &'static str = $method;
        })*
    };
}

mod v1 {
    use super::{Notification, Request};
    use crate::acp::v1;

    requests! {
        v1::InitializeRequest => v1::InitializeResponse, "initialize";
        v1::AuthenticateRequest => v1::AuthenticateResponse, "authenticate";
        v1::LogoutRequest => v1::LogoutResponse, "logout";
        v1::AuthStatusRequest => v1::AuthStatusResponse, "auth/status";
        v1::ListProvidersRequest => v1::ListProvidersResponse, "providers/list";
        v1::SetProviderRequest => v1::SetProviderResponse, "providers/set";
        v1::DisableProviderRequest => v1::DisableProviderResponse, "providers/disable";
        v1::NewSessionRequest => v1::NewSessionResponse, "session/new";
        v1::LoadSessionRequest => v1::LoadSessionResponse, "session/load";
        v1::ResumeSessionRequest => v1::ResumeSessionResponse, "session/resume";
        v1::ListSessionsRequest => v1::ListSessionsResponse, "session/list";
        v1::ForkSessionRequest => v1::ForkSessionResponse, "session/fork";
        v1::CloseSessionRequest => v1::CloseSessionResponse, "session/close";
        v1::DeleteSessionRequest => v1::DeleteSessionResponse, "session/delete";
        v1::ArchiveSessionRequest => v1::ArchiveSessionResponse, "session/archive";
        v1::UnarchiveSessionRequest => v1::UnarchiveSessionResponse, "session/unarchive";
        v1::SessionStatusRequest => v1::SessionStatusResponse, "session/status";
        v1::SetSessionTitleRequest => v1::SetSessionTitleResponse, "session/set_title";
        v1::SetSessionModeRequest => v1::SetSessionModeResponse, "session/set_mode";
        v1::SetSessionConfigOptionRequest => v1::SetSessionConfigOptionResponse, "session/set_config_option";
        v1::PromptRequest => v1::PromptResponse, "session/prompt";
        v1::RequestPermissionRequest => v1::RequestPermissionResponse, "session/request_permission";
        v1::CreateElicitationRequest => v1::CreateElicitationResponse, "elicitation/create";
        v1::ReadTextFileRequest => v1::ReadTextFileResponse, "fs/read_text_file";
        v1::WriteTextFileRequest => v1::WriteTextFileResponse, "fs/write_text_file";
        v1::CreateTerminalRequest => v1::CreateTerminalResponse, "terminal/create";
        v1::TerminalOutputRequest => v1::TerminalOutputResponse, "terminal/output";
        v1::ReleaseTerminalRequest => v1::ReleaseTerminalResponse, "terminal/release";
        v1::WaitForTerminalExitRequest => v1::WaitForTerminalExitResponse, "terminal/wait_for_exit";
        v1::KillTerminalRequest => v1::KillTerminalResponse, "terminal/kill";
        v1::MessageMcpRequest => v1::MessageMcpResponse, "mcp/message";
        v1::InitializeProxyRequest => v1::InitializeProxyResponse, "proxy/initialize";
        v1::ProxySuccessorRequest => v1::ProxySuccessorResponse, "proxy/successor";
    }

    notifications! {
        v1::CancelNotification, "session/cancel";
        v1::SessionNotification, "session/update";
        v1::CompleteElicitationNotification, "elicitation/complete";
        v1::AuthStatusUpdateNotification, "auth/status_update";
        v1::MessageMcpNotification, "mcp/message";
        v1::ProxySuccessorNotification, "proxy/successor";
    }
}

mod v2 {
    use super::{Notification, Request};
    use crate::acp::v2;

    requests! {
        v2::InitializeRequest => v2::InitializeResponse, "initialize";
        v2::LoginAuthRequest => v2::LoginAuthResponse, "auth/login";
        v2::LogoutAuthRequest => v2::LogoutAuthResponse, "auth/logout";
        v2::AuthStatusRequest => v2::AuthStatusResponse, "auth/status";
        v2::ListProvidersRequest => v2::ListProvidersResponse, "providers/list";
        v2::SetProviderRequest => v2::SetProviderResponse, "providers/set";
        v2::DisableProviderRequest => v2::DisableProviderResponse, "providers/disable";
        v2::NewSessionRequest => v2::NewSessionResponse, "session/new";
        v2::ResumeSessionRequest => v2::ResumeSessionResponse, "session/resume";
        v2::ListSessionsRequest => v2::ListSessionsResponse, "session/list";
        v2::ForkSessionRequest => v2::ForkSessionResponse, "session/fork";
        v2::CloseSessionRequest => v2::CloseSessionResponse, "session/close";
        v2::DeleteSessionRequest => v2::DeleteSessionResponse, "session/delete";
        v2::ArchiveSessionRequest => v2::ArchiveSessionResponse, "session/archive";
        v2::UnarchiveSessionRequest => v2::UnarchiveSessionResponse, "session/unarchive";
        v2::SessionStatusRequest => v2::SessionStatusResponse, "session/status";
        v2::SetSessionTitleRequest => v2::SetSessionTitleResponse, "session/set_title";
        v2::SetSessionConfigOptionRequest => v2::SetSessionConfigOptionResponse, "session/set_config_option";
        v2::PromptRequest => v2::PromptResponse, "session/prompt";
        v2::RequestPermissionRequest => v2::RequestPermissionResponse, "session/request_permission";
        v2::CreateElicitationRequest => v2::CreateElicitationResponse, "elicitation/create";
        v2::MessageMcpRequest => v2::MessageMcpResponse, "mcp/message";
        v2::InitializeProxyRequest => v2::InitializeProxyResponse, "proxy/initialize";
        v2::ProxySuccessorRequest => v2::ProxySuccessorResponse, "proxy/successor";
        v2::CancelToolCallRequest => v2::CancelToolCallResponse, "tool_call/cancel";
        v2::CancelTerminalRequest => v2::CancelTerminalResponse, "terminal/cancel";
    }

    notifications! {
        v2::CancelSessionNotification, "session/cancel";
        v2::UpdateSessionNotification, "session/update";
        v2::CompleteElicitationNotification, "elicitation/complete";
        v2::AuthStatusUpdateNotification, "auth/status_update";
        v2::MessageMcpNotification, "mcp/message";
        v2::ProxySuccessorNotification, "proxy/successor";
    }
}

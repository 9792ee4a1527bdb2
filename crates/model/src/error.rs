//! Why a model does not answer.

use crate::{AccessOrigin, ProviderReset};

/// Why a model does not answer, or stopped in the middle. What it says is for people; nothing that a provider sent or was sent
/// is quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider does not know the key, or there is none.
    #[error("{}", not_accepted(.provider, .origin))]
    Auth {
        /// Which provider.
        provider: String,
        /// Where the key comes from, or would have to.
        origin: AccessOrigin,
    },
    /// The provider of a turn cannot be used any more, and the turn is not to go on with another.
    #[error("{provider} is not set up any more; say it again to have another model answer")]
    SignedOut {
        /// Which provider.
        provider: String,
    },
    /// The key that is kept cannot be read.
    #[error("the key for {provider} cannot be had: {what}")]
    Key {
        /// Which provider.
        provider: String,
        /// Why, in our words.
        what: String,
    },
    /// The provider has no such model.
    #[error("{provider} has no model `{model}`; choose another (option `model`)")]
    UnknownModel {
        /// Which provider.
        provider: String,
        /// Which model was asked for.
        model: String,
    },
    /// What was said is longer than what the model can read.
    #[error(
        "the conversation is longer than what the model can read; begin a new session or choose a model with more room"
    )]
    ContextOverflow,
    /// What was paid for is used up.
    #[error("the quota at {provider} is used up{}", when(.reset.as_ref()))]
    Quota {
        /// Which provider.
        provider: String,
        /// When it is there again.
        reset: Option<ProviderReset>,
    },
    /// Too many requests.
    #[error("{provider} takes no more requests at the moment{}", when(.reset.as_ref()))]
    RateLimited {
        /// Which provider.
        provider: String,
        /// When it takes some again.
        reset: Option<ProviderReset>,
    },
    /// Another request with the same key was told to wait, so this one was not sent.
    #[error("{provider} takes no more requests at the moment; again in {}", crate::words::duration(*.wait))]
    HeldBack {
        /// Which provider.
        provider: String,
        /// How long it is still to be waited.
        wait: std::time::Duration,
    },
    /// The provider is overloaded or has failed; another time it may work.
    #[error("{provider} failed ({what}){}", when_or_soon(.reset.as_ref()))]
    Unavailable {
        /// Which provider.
        provider: String,
        /// How, in our words.
        what: String,
        /// When it may work again, if it says so.
        reset: Option<ProviderReset>,
    },
    /// The provider cannot be reached, or went silent.
    #[error("{provider} cannot be reached: {what}")]
    Network {
        /// Which provider.
        provider: String,
        /// What happened, in our words.
        what: String,
    },
    /// The provider's certificate is signed by nobody who is trusted. Another time it will not be either.
    #[error(
        "{provider} cannot be reached: its certificate is not trusted; if its authority is your own or your company's, name the \
         file with the authority's certificate in SSL_CERT_FILE, or in NODE_EXTRA_CA_CERTS to trust it beside all others"
    )]
    Untrusted {
        /// Which provider.
        provider: String,
    },
    /// What the provider sent cannot be read.
    #[error("{provider} sent an answer that cannot be read ({what})")]
    Malformed {
        /// Which provider.
        provider: String,
        /// What was expected, in our words.
        what: String,
    },
    /// The provider did not take the request.
    #[error("{provider} did not take the request ({what})")]
    Rejected {
        /// Which provider.
        provider: String,
        /// Why, in our words.
        what: String,
    },
    /// The provider did not take reasoning back that it had signed, or cannot think as it was told to. Once more without either
    /// will do.
    #[error(
        "{provider} does not let the model think like this; choose another level (option `thought_level`)"
    )]
    Reasoning {
        /// Which provider.
        provider: String,
    },
    /// No provider is set up.
    #[error("no model is set up; sign in, or run `nudge login`")]
    NotSetUp,
    /// A rehearsal cannot be read.
    #[error("the rehearsal cannot be played: {0}; REHEARSAL.md describes the format")]
    Rehearsal(String),
    /// A rehearsal says that the model fails.
    #[error("the model cannot be reached: {0}; try again in a moment")]
    Rehearsed(String),
}

impl ModelError {
    /// Whether the same request may be answered another time.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::HeldBack { .. }
                | Self::Unavailable { .. }
                | Self::Network { .. }
        )
    }

    /// Whether a key was refused that signing in would replace. What is kept comes after what a client has set and its
    /// environment.
    pub fn wants_another_login(&self) -> bool {
        matches!(self, Self::Auth { origin: AccessOrigin::Stored | AccessOrigin::Local, .. })
    }

    /// When the provider says that it answers again.
    pub fn reset(&self) -> Option<ProviderReset> {
        match self {
            Self::Quota { reset, .. } | Self::RateLimited { reset, .. } | Self::Unavailable { reset, .. } => {
                *reset
            }
            Self::HeldBack { wait, .. } => Some(ProviderReset::After(*wait)),
            _ => None,
        }
    }

    /// One word for it, as `_meta.nudge.error` says it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Auth { .. } | Self::Key { .. } | Self::SignedOut { .. } | Self::NotSetUp => "auth",
            Self::UnknownModel { .. } => "unknown_model",
            Self::ContextOverflow => "context_overflow",
            Self::Quota { .. } => "quota",
            Self::RateLimited { .. } | Self::HeldBack { .. } => "rate_limited",
            Self::Unavailable { .. } | Self::Network { .. } | Self::Untrusted { .. } | Self::Rehearsed(_) => {
                "network"
            }
            Self::Malformed { .. } | Self::Rejected { .. } | Self::Reasoning { .. } | Self::Rehearsal(_) => {
                "malformed"
            }
        }
    }
}

/// That a key is not accepted, and where another can be given.
fn not_accepted(provider: &str, origin: &AccessOrigin) -> String {
    match origin {
        AccessOrigin::Connection => {
            format!("{provider} does not accept the key that the client has set; set another there")
        }
        AccessOrigin::Variable(name) => format!(
            "{provider} does not accept the key that the environment of the client has; correct {name} there"
        ),
        AccessOrigin::Stored | AccessOrigin::Local => {
            format!("{provider} does not accept the key; set another with `nudge login {provider}`")
        }
    }
}

/// When it goes on, also where nobody says so.
fn when_or_soon(reset: Option<&ProviderReset>) -> String {
    if reset.is_some() { when(reset) } else { "; try again in a moment".to_owned() }
}

/// When it goes on, as the end of a sentence.
fn when(reset: Option<&ProviderReset>) -> String {
    match reset {
        Some(ProviderReset::After(wait)) => format!("; again in {}", crate::words::duration(*wait)),
        Some(ProviderReset::At(time)) => format!("; again at {}", crate::words::time(*time)),
        None => String::new(),
    }
}

//! How a provider is reached: its address, its key, and where they come from.

use std::{collections::BTreeMap, fmt, net::IpAddr, time::SystemTime};

use nudge_wire::Environment;
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};

use crate::{ApiType, AwsCredentials, ModelError, ModelProvider, SecretText, sigv4::SignableRequest};

/// Where a way to a provider comes from. The first that there is counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessOrigin {
    /// Set by the client over the connection.
    Connection,
    /// This variable of the client's environment.
    Variable(&'static str),
    /// Kept by `nudge login`.
    Stored,
    /// Nothing was said; it is on this machine.
    Local,
}

impl fmt::Display for AccessOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection => f.write_str("set by the client"),
            Self::Variable(name) => write!(f, "{name} of the environment"),
            Self::Stored => f.write_str("nudge login"),
            Self::Local => f.write_str("Ollama on this machine"),
        }
    }
}

/// A way to a provider.
#[derive(Clone)]
pub struct ProviderAccess {
    /// Which provider.
    pub provider: &'static ModelProvider,
    /// How it is spoken to.
    pub api_type: ApiType,
    /// Its address, without a slash at its end.
    pub base_url: String,
    /// Headers that the client wants sent, which may hold keys.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Its key.
    pub key: Option<SecretText>,
    /// What requests are signed with, where there is no key.
    pub aws: Option<AwsCredentials>,
    /// Where this comes from.
    pub origin: AccessOrigin,
    /// Set if its key is kept and has yet to be read: the stamp of what is kept.
    pub(crate) unread_key: Option<u64>,
}

impl fmt::Debug for ProviderAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, api_type, origin, .. } = self;
        let mut told = f.debug_struct("ProviderAccess");
        told.field("provider", &provider.id).field("api_type", api_type).field("origin", origin);
        told.finish_non_exhaustive()
    }
}

/// Why a client's way to a provider is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// There is no such provider.
    #[error("unknown provider; known are {}", ids())]
    UnknownProvider,
    /// It is not spoken to like this.
    #[error("apiType has to be one of {0}")]
    UnknownApiType(String),
    /// The address is none.
    #[error("baseUrl has to be an http or https address without user, query and fragment")]
    BadAddress,
    /// A header is none.
    #[error(
        "headers have to be names with values of text, and cannot set host, content-length or connection"
    )]
    BadHeader,
}

fn ids() -> String {
    crate::PROVIDERS.iter().map(|provider| provider.id).collect::<Vec<_>>().join(", ")
}

/// Headers that belong to the connection.
const OURS: [&str; 5] = ["host", "content-length", "connection", "transfer-encoding", "content-type"];

impl ProviderAccess {
    /// What a client sets over its connection, which says all of it.
    pub fn set(
        provider: &str,
        api_type: &str,
        base_url: &str,
        headers: &BTreeMap<String, String>,
    ) -> Result<Self, AccessError> {
        let provider = ModelProvider::named(provider).ok_or(AccessError::UnknownProvider)?;
        let known = |api: &ApiType| provider.api_types.contains(api);
        let api_type = ApiType::named(api_type).filter(known);
        let api_type =
            api_type.ok_or_else(|| AccessError::UnknownApiType(provider.supported().join(", ")))?;
        let headers = headers.iter().map(|(name, value)| header(name, value));
        Ok(Self {
            provider,
            api_type,
            base_url: whole(address(base_url).ok_or(AccessError::BadAddress)?, api_type),
            headers: headers.collect::<Option<_>>().ok_or(AccessError::BadHeader)?,
            key: None,
            aws: None,
            origin: AccessOrigin::Connection,
            unread_key: None,
        })
    }

    /// What the environment of a client says.
    pub fn from_environment(provider: &'static ModelProvider, environment: &Environment) -> Option<Self> {
        let variable =
            |name: &str| environment.variables().get(name).filter(|value| !value.trim().is_empty());
        let first =
            |names: &[&'static str]| names.iter().find_map(|name| Some((*name, variable(name)?.as_str())));
        let key = first(provider.key_variables);
        let said = first(provider.address_variables);
        let aws = if key.is_none() { aws_credentials(provider, &variable) } else { None };
        let signing = aws.as_ref().map(|_| (AWS_KEY_ID, ""));
        let key = key.map(|(name, key)| (name, key.trim()));
        let origin = key.or(signing).or(said)?.0;
        let base_url = match said {
            Some((_, url)) => address(&with_scheme(url, provider))?,
            None => own_address(provider, &variable)?,
        };
        let api_type = provider.api_at(&base_url);
        let base_url = whole(base_url, api_type);
        let key = key.map(|(_, key)| SecretText::new(key));
        let origin = AccessOrigin::Variable(origin);
        let (headers, unread_key) = (Vec::new(), None);
        let access = Self { provider, api_type, base_url, headers, key, aws, origin, unread_key };
        // Where the provider itself is, nobody is answered without a key.
        let is_its_own = provider.base_url == Some(&access.base_url) && provider.id != "ollama";
        (access.has_credential() || !is_its_own).then_some(access)
    }

    /// Whether it says who asks.
    pub(crate) fn has_credential(&self) -> bool {
        self.key.is_some() || self.aws.is_some() || self.unread_key.is_some()
    }

    /// The provider at this address, or else at its own, with this key.
    pub fn stored(
        provider: &'static ModelProvider,
        base_url: Option<&str>,
        key: Option<SecretText>,
    ) -> Option<Self> {
        let base_url = address(&with_scheme(base_url.or(provider.base_url)?, provider))?;
        let api_type = provider.api_at(&base_url);
        let base_url = whole(base_url, api_type);
        let (origin, headers) = (AccessOrigin::Stored, Vec::new());
        Some(Self { provider, api_type, base_url, headers, key, aws: None, origin, unread_key: None })
    }

    /// The same, spoken to like this, if it can be.
    pub fn spoken(self, api_type: ApiType) -> Option<Self> {
        self.provider.api_types.contains(&api_type).then_some(Self { api_type, ..self })
    }

    /// The same with this key.
    pub fn with_key(self, key: Option<SecretText>) -> Self {
        Self { key, unread_key: None, ..self }
    }

    /// Why what an environment says of a provider is of no use, if it says something.
    pub(crate) fn unusable(provider: &'static ModelProvider, environment: &Environment) -> Option<String> {
        let variable =
            |name: &str| environment.variables().get(name).filter(|value| !value.trim().is_empty());
        let key = provider.key_variables.iter().find(|name| variable(name).is_some())?;
        if Self::from_environment(provider, environment).is_some() {
            return None;
        }
        let address = provider.address_variables.iter().find(|name| variable(name).is_some());
        Some(match address {
            Some(address) => format!("{key} is set, but {address} holds no address that can be used"),
            None => format!("{key} is set, but nothing says where {} is", provider.name),
        })
    }

    /// Whether it is on this machine or nearby, where models take their time.
    pub(crate) fn is_local(&self) -> bool {
        let host = Url::parse(&self.base_url).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        host.is_some_and(|host| {
            let host = host.trim_matches(['[', ']']);
            match host.parse::<IpAddr>() {
                Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
                Ok(IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
                // Names that only a network of one's own knows.
                Err(_) => matches!(host.rsplit_once('.'), None | Some((_, "local" | "internal"))),
            }
        })
    }

    /// Whether anybody's server may be behind it, with any model: not the provider's own.
    pub(crate) fn is_anybodys(&self) -> bool {
        let is_elsewhere = self.provider.base_url.is_some_and(|own| own != self.base_url);
        is_elsewhere || matches!(self.provider.id, "custom" | "ollama")
    }

    /// The headers that carry its key. What the client sets itself comes instead.
    pub(crate) fn key_headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let Some(key) = &self.key else { return Vec::new() };
        let key = key.reveal();
        let (name, value) = match self.api_type {
            ApiType::Anthropic => ("x-api-key", key.to_owned()),
            ApiType::Azure => ("api-key", key.to_owned()),
            ApiType::Gemini => ("x-goog-api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        };
        // One that cannot be sent is told of before.
        let Ok(mut value) = HeaderValue::from_str(&value) else { return Vec::new() };
        value.set_sensitive(true);
        vec![(HeaderName::from_static(name), value)]
    }

    /// Where its key comes from; where there is none, where one can be had from.
    pub(crate) fn key_origin(&self) -> AccessOrigin {
        let has_key = self.has_credential() || !self.headers.is_empty();
        if has_key { self.origin.clone() } else { AccessOrigin::Stored }
    }

    /// Why its key cannot be sent, if it cannot.
    pub(crate) fn unsendable_key(&self) -> Option<ModelError> {
        let is_sendable = |key: &SecretText| HeaderValue::from_str(key.reveal()).is_ok();
        self.key.as_ref().filter(|key| !is_sendable(key)).map(|_| ModelError::Key {
            provider: self.provider.id.to_owned(),
            what: format!("it has characters that no key has ({})", self.origin),
        })
    }

    /// The headers that sign a request, which is posted as JSON now. None where it is not signed, or the client itself says who
    /// asks.
    pub(crate) fn signature(&self, url: &str, body: &[u8], now: SystemTime) -> Vec<(&'static str, String)> {
        let is_set = self.headers.iter().any(|(name, _)| name == "authorization");
        let (Some(aws), false, Ok(url)) = (&self.aws, is_set, Url::parse(url)) else { return Vec::new() };
        let headers = &[("content-type", "application/json")];
        aws.sign(SignableRequest { method: "POST", url: &url, headers, body }, "bedrock", now)
    }

    /// Everything in it that is secret.
    pub fn secrets(&self) -> Vec<SecretText> {
        let read =
            self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let values =
            read.filter(|(name, value)| is_credential(name) || is_random(value)).map(|(_, value)| value);
        // Also without the word that says how it is meant: `Bearer`, `Basic`.
        let bare = values
            .flat_map(|value| [Some(value), value.split_once(' ').map(|(_, key)| key.trim())])
            .flatten();
        let aws = self.aws.iter().flat_map(|aws| [Some(&aws.secret), aws.session_token.as_ref()]).flatten();
        self.key.iter().chain(aws).cloned().chain(bare.map(SecretText::new)).collect()
    }
}

/// Whether a header is one that holds a secret.
fn is_credential(name: &str) -> bool {
    ["auth", "cookie", "key", "token", "secret", "password"].iter().any(|part| name.contains(part))
}

/// Whether a value looks as if nobody had thought it up, whatever its header is called.
fn is_random(value: &str) -> bool {
    let has = |is_it: fn(&u8) -> bool| value.as_bytes().iter().any(is_it);
    value.len() >= 12 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    (!OURS.contains(&name.as_str())).then_some((name, value))
}

/// An address as it is kept: without a slash at its end.
fn address(text: &str) -> Option<String> {
    let url = Url::parse(text.trim()).ok()?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    (is_plain && is_web).then(|| url.as_str().trim_end_matches('/').to_owned())
}

/// `OLLAMA_HOST` may be a mere host and port.
fn with_scheme(url: &str, provider: &ModelProvider) -> String {
    let is_bare = provider.id == "ollama" && !url.contains("://");
    // What listens on every address is reached at this one.
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = match rest.strip_prefix("0.0.0.0") {
        Some(end) if end.is_empty() || end.starts_with([':', '/']) => format!("127.0.0.1{end}"),
        _ => rest.to_owned(),
    };
    let url = if scheme.is_empty() { rest } else { format!("{scheme}://{rest}") };
    match (is_bare, url.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())) {
        (true, true) => format!("http://{url}"),
        (true, false) => format!("http://{url}:11434"),
        (false, _) => url,
    }
}

/// Where it is if no variable says so.
fn own_address<'e>(
    provider: &ModelProvider,
    variable: &impl Fn(&str) -> Option<&'e String>,
) -> Option<String> {
    match provider.id {
        "vertex" => {
            let project = variable("GOOGLE_CLOUD_PROJECT")?;
            let location = variable("GOOGLE_CLOUD_LOCATION").map_or("us-central1", String::as_str);
            // What is nowhere in particular has no place in its name.
            let place = if location == "global" { String::new() } else { format!("{location}-") };
            address(&format!(
                "https://{place}aiplatform.googleapis.com/v1/projects/{project}/locations/{location}"
            ))
        }
        "bedrock" => {
            let region = aws_region(variable)?;
            address(&format!("https://bedrock-runtime.{region}.amazonaws.com"))
        }
        _ => provider.base_url.map(str::to_owned),
    }
}

const AWS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";

/// The region that a client's environment names.
fn aws_region<'e>(variable: &impl Fn(&str) -> Option<&'e String>) -> Option<&'e String> {
    variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"))
}

/// The keys of an account that a client's environment has, for the provider that takes them.
fn aws_credentials<'e>(
    provider: &ModelProvider,
    variable: &impl Fn(&str) -> Option<&'e String>,
) -> Option<AwsCredentials> {
    if provider.id != "bedrock" {
        return None;
    }
    let secret = |name: &str| Some(SecretText::new(variable(name)?.as_str()));
    Some(AwsCredentials {
        key_id: variable(AWS_KEY_ID)?.clone(),
        secret: secret("AWS_SECRET_ACCESS_KEY")?,
        session_token: secret("AWS_SESSION_TOKEN"),
        region: aws_region(variable)?.clone(),
    })
}

/// An address with the path of its API, which the users of some leave out.
fn whole(base_url: String, api_type: ApiType) -> String {
    let path = match api_type {
        ApiType::Azure => "/openai/v1",
        ApiType::Gemini => "/v1beta",
        _ => return base_url,
    };
    let has_path = Url::parse(&base_url).is_ok_and(|url| url.path().len() > 1);
    if has_path { base_url } else { format!("{base_url}{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::new(variables.collect())
    }

    /// The address that an environment leads to, and the key.
    fn reached(provider: &str, variables: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let provider = ModelProvider::named(provider).expect("it is in the table");
        let access = ProviderAccess::from_environment(provider, &environment(variables))?;
        Some((access.base_url, access.key.map(|key| key.reveal().to_owned())))
    }

    #[test]
    fn addresses_are_taken_as_users_write_them() {
        for (provider, variables, expected) in [
            ("ollama", [("OLLAMA_HOST", "0.0.0.0"), ("_", "")], "http://127.0.0.1:11434"),
            ("ollama", [("OLLAMA_HOST", "0.0.0.0:9"), ("_", "")], "http://127.0.0.1:9"),
            ("ollama", [("OLLAMA_HOST", "http://10.0.0.0:9"), ("_", "")], "http://10.0.0.0:9"),
            ("ollama", [("OLLAMA_HOST", "https://0.0.0.0/x"), ("_", "")], "https://127.0.0.1/x"),
            (
                "gemini",
                [("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", "https://a.b")],
                "https://a.b/v1beta",
            ),
            (
                "gemini",
                [("GEMINI_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", "https://a.b/v1")],
                "https://a.b/v1",
            ),
            (
                "azure",
                [("AZURE_OPENAI_API_KEY", "k"), ("AZURE_OPENAI_ENDPOINT", "https://a.openai.azure.com/")],
                "https://a.openai.azure.com/openai/v1",
            ),
            (
                "vertex",
                [("VERTEX_ACCESS_TOKEN", "k"), ("GOOGLE_CLOUD_PROJECT", "p")],
                "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1",
            ),
        ] {
            assert_eq!(reached(provider, &variables).map(|(url, _)| url).as_deref(), Some(expected));
        }
        let global = [
            ("VERTEX_ACCESS_TOKEN", "k"),
            ("GOOGLE_CLOUD_PROJECT", "p"),
            ("GOOGLE_CLOUD_LOCATION", "global"),
        ];
        let url = reached("vertex", &global).map(|(url, _)| url);
        assert_eq!(url.as_deref(), Some("https://aiplatform.googleapis.com/v1/projects/p/locations/global"));
        let set = ProviderAccess::set("azure", "azure", "https://a.openai.azure.com", &BTreeMap::new());
        assert_eq!(set.expect("it can be set").base_url, "https://a.openai.azure.com/openai/v1");
    }

    #[test]
    fn nobody_answers_without_a_key_where_the_provider_itself_is() {
        assert_eq!(reached("anthropic", &[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")]), None);
        assert!(reached("anthropic", &[("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")]).is_some());
        assert!(reached("ollama", &[("OLLAMA_HOST", "127.0.0.1:11434")]).is_some());
        let key = reached("anthropic", &[("ANTHROPIC_API_KEY", " sk-1\r\n")]).and_then(|(_, key)| key);
        assert_eq!(key.as_deref(), Some("sk-1"));
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_told_of() {
        let anthropic = ModelProvider::named("anthropic").expect("it is in the table");
        for (key, is_told) in [("sk-1", false), ("sk\n1", true)] {
            let access = ProviderAccess::stored(anthropic, None, Some(SecretText::new(key)));
            assert_eq!(access.expect("it has an address").unsendable_key().is_some(), is_told);
        }
    }
}

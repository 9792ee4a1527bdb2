//! Requests to providers: the client's proxies and certificates, time limits, and what an error says.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use nudge_wire::Environment;
use parking_lot::Mutex;
use reqwest::{Client, Proxy, RequestBuilder, Response, StatusCode, header::HeaderMap};
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject};

use crate::{ModelError, ProviderAccess, ProviderReset};

/// The longest file of certificates that is read.
const MOST_OF_CERTIFICATES: u64 = 16 * 1024 * 1024;
/// How many ways to reach the network are kept open.
const MOST_CLIENTS: usize = 16;
/// How long the rest of an error may take.
const ERROR_BODY: Duration = Duration::from_secs(2);
/// How much of an error is read to find out what it is about.
const MOST_OF_AN_ERROR: usize = 64 * 1024;

/// How long providers may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// For a connection to be made.
    pub connect: Duration,
    /// For an answer to begin.
    pub headers: Duration,
    /// Between two pieces of an answer.
    pub silence: Duration,
    /// For an answer to begin, and between two pieces, of a model on this machine, which has to be loaded first.
    pub local: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            headers: Duration::from_mins(1),
            silence: Duration::from_mins(2),
            local: Duration::from_mins(10),
        }
    }
}

/// The variables that name proxies.
pub(crate) const PROXY_VARIABLES: &[&str] =
    &["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// What of a client's environment decides how the network is reached.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct NetworkSettings {
    http_proxy: Option<String>,
    https_proxy: Option<String>,
    all_proxy: Option<String>,
    no_proxy: Option<String>,
    /// Replaces the certificates of the system.
    certificates: Option<String>,
    /// Comes beside them.
    extra_certificates: Option<String>,
    /// Whether nothing is encrypted, so that no certificates have to be read.
    is_plain: bool,
}

impl NetworkSettings {
    fn of(environment: &Environment) -> Self {
        let first = |names: &[&str]| {
            let value = |name: &&str| environment.variables().get(*name).filter(|value| !value.is_empty());
            names.iter().find_map(value).cloned()
        };
        Self {
            // In capitals it can be set by whoever sends a request to a CGI program.
            http_proxy: first(&["http_proxy"]),
            https_proxy: first(&["https_proxy", "HTTPS_PROXY"]),
            all_proxy: first(&["all_proxy", "ALL_PROXY"]),
            no_proxy: first(&["no_proxy", "NO_PROXY"]),
            certificates: first(&["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"]),
            extra_certificates: first(&["NODE_EXTRA_CA_CERTS"]),
            is_plain: false,
        }
    }

    /// For this way to a provider. What is on this machine is not asked for elsewhere.
    pub(crate) fn towards(access: &ProviderAccess, environment: &Environment) -> Self {
        let said = Self::of(environment);
        match (access.is_local(), access.base_url.starts_with("http://")) {
            (true, true) => Self { is_plain: true, ..Self::default() },
            (true, false) => {
                let Self { certificates, extra_certificates, .. } = said;
                Self { certificates, extra_certificates, ..Self::default() }
            }
            (false, _) => said,
        }
    }

    fn client(&self, connect: Duration) -> Result<Client, String> {
        let excepted = self.no_proxy.as_deref().and_then(reqwest::NoProxy::from_string);
        let mut builder = Client::builder()
            .no_proxy()
            .connect_timeout(connect)
            .tls_backend_preconfigured(self.tls()?)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("nudge/", env!("CARGO_PKG_VERSION")));
        let bad = |_| "a proxy of the environment has no valid address".to_owned();
        let http = self.http_proxy.as_ref().map(Proxy::http);
        let https = self.https_proxy.as_ref().map(Proxy::https);
        let all = self.all_proxy.as_ref().map(Proxy::all);
        for proxy in [http, https, all].into_iter().flatten() {
            builder = builder.proxy(proxy.map_err(bad)?.no_proxy(excepted.clone()));
        }
        builder.build().map_err(|_| "no connection can be set up".to_owned())
    }

    fn tls(&self) -> Result<ClientConfig, String> {
        let mut roots = RootCertStore::empty();
        match &self.certificates {
            Some(path) => add(&mut roots, path)?,
            None if self.is_plain => {}
            None => {
                let native = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(native.certs);
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
        }
        if let Some(path) = &self.extra_certificates {
            add(&mut roots, path)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|_| "TLS cannot be set up".to_owned())?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn add(roots: &mut RootCertStore, path: &str) -> Result<(), String> {
    let cannot = || "a file of certificates that the environment names cannot be read".to_owned();
    let is_readable = |meta: std::fs::Metadata| meta.is_file() && meta.len() <= MOST_OF_CERTIFICATES;
    if !std::fs::metadata(path).is_ok_and(is_readable) {
        return Err(cannot());
    }
    let read = CertificateDer::pem_file_iter(path).map_err(|_| cannot())?;
    roots.add_parsable_certificates(read.filter_map(Result::ok));
    if roots.is_empty() { Err(cannot()) } else { Ok(()) }
}

/// The connections to providers, one set for each way to reach the network.
pub(crate) struct ProviderHttp {
    limits: RequestLimits,
    clients: Mutex<HashMap<NetworkSettings, Client>>,
}

impl ProviderHttp {
    pub(crate) fn new(limits: RequestLimits) -> Self {
        Self { limits, clients: Mutex::default() }
    }

    /// The connections to a provider for clients with this environment.
    pub(crate) async fn client(
        &self,
        environment: &Environment,
        access: &ProviderAccess,
    ) -> Result<ProviderClient, String> {
        let limits = self.limits;
        let settings = NetworkSettings::towards(access, environment);
        if let Some(client) = self.clients.lock().get(&settings) {
            return Ok(ProviderClient { client: client.clone(), limits });
        }
        // Certificates are read from files.
        let made = settings.clone();
        let made = tokio::task::spawn_blocking(move || made.client(limits.connect)).await;
        let client = made.unwrap_or_else(|_| Err("no connection can be set up".to_owned()))?;
        let mut clients = self.clients.lock();
        if clients.len() >= MOST_CLIENTS {
            clients.clear();
        }
        let client = clients.entry(settings).or_insert(client).clone();
        Ok(ProviderClient { client, limits })
    }
}

/// A way to reach the network, and how long what is asked there may take.
#[derive(Debug, Clone)]
pub(crate) struct ProviderClient {
    client: Client,
    limits: RequestLimits,
}

impl ProviderClient {
    pub(crate) fn get(&self, url: String) -> RequestBuilder {
        self.client.get(url)
    }

    pub(crate) fn post(&self, url: String) -> RequestBuilder {
        self.client.post(url)
    }

    /// Sends a request and waits for the beginning of its answer.
    pub(crate) async fn send(
        &self,
        access: &ProviderAccess,
        request: RequestBuilder,
    ) -> Result<ProviderResponse, ModelError> {
        if let Some(error) = access.unsendable_key() {
            return Err(error);
        }
        let RequestLimits { headers, silence, local, .. } = self.limits;
        let (patience, silence) = if access.is_local() { (local, local) } else { (headers, silence) };
        match tokio::time::timeout(patience, request.send()).await {
            Err(_) => Err(network(access, "it did not answer in time")),
            Ok(Err(error)) => Err(connection_error(access, &error)),
            Ok(Ok(response)) => Ok(ProviderResponse { response, silence }),
        }
    }
}

/// An answer that has begun.
pub(crate) struct ProviderResponse {
    response: Response,
    /// How long it may be silent, which is found out once and not for every token.
    silence: Duration,
}

impl ProviderResponse {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn chunk(
        &mut self,
        access: &ProviderAccess,
    ) -> Result<Option<bytes::Bytes>, ModelError> {
        match tokio::time::timeout(self.silence, self.response.chunk()).await {
            Err(_) => Err(network(access, "it has gone silent")),
            Ok(Err(_)) => Err(network(access, "the connection broke off")),
            Ok(Ok(bytes)) => Ok(bytes),
        }
    }

    /// What there is of an error's body; not much is waited for, since its status says most.
    pub(crate) async fn error_body(&mut self, access: &ProviderAccess) -> Vec<u8> {
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(bytes)) = self.chunk(access).await {
                body.extend_from_slice(&bytes);
                if body.len() > MOST_OF_AN_ERROR {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(ERROR_BODY, read).await;
        body
    }
}

pub(crate) fn network(access: &ProviderAccess, what: &str) -> ModelError {
    ModelError::Network { provider: access.provider.id.to_owned(), what: what.to_owned() }
}

/// What went wrong, in our words: the error's own may name addresses and keys.
fn connection_error(access: &ProviderAccess, error: &reqwest::Error) -> ModelError {
    let mut source = std::error::Error::source(error);
    let mut text = String::new();
    while let Some(error) = source {
        text = error.to_string().to_lowercase();
        source = error.source();
    }
    if text.contains("certificate") {
        return ModelError::Untrusted { provider: access.provider.id.to_owned() };
    }
    let what = if text.contains("refused") {
        "nobody listens at its address"
    } else if text.contains("proxy") || text.contains("tunnel") {
        "the proxy of the environment does not let it through"
    } else if text.contains("lookup") || text.contains("resolve") || text.contains("name or service") {
        "its name is not known to the network"
    } else if error.is_timeout() || text.contains("timed out") {
        "it cannot be connected to in time"
    } else if error.is_connect() {
        "no connection can be made"
    } else {
        "the connection broke off"
    };
    network(access, what)
}

/// When the provider takes requests again, as `retry-after` and the like say.
pub(crate) fn reset(headers: &HeaderMap) -> Option<ProviderReset> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| {
        text(name).and_then(|text| text.trim().parse::<f64>().ok()).filter(|wait| wait.is_finite())
    };
    if let Some(wait) = number("retry-after-ms") {
        return Some(ProviderReset::After(seconds(wait / 1000.0)));
    }
    if let Some(wait) = number("retry-after") {
        return Some(ProviderReset::After(seconds(wait)));
    }
    text("retry-after").and_then(http_date).map(ProviderReset::At)
}

/// At most a year, so that no sum with it overflows.
fn seconds(wait: f64) -> Duration {
    Duration::from_secs_f64(wait.clamp(0.0, 31_536_000.0))
}

/// `Wed, 18 Nov 2026 09:30:00 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text).ok()
}

//! A model of a provider: what is asked goes out in its dialect, and the answer comes back piece by piece.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures_util::stream;
use parking_lot::Mutex;

use crate::{
    AnswerPiece, AnswerPieces, LanguageModel, ModelError, ModelRequest, ProviderAccess, ProviderReset,
    UntakenMedia,
    dialect::{AnswerReader, ApiDialect, CallNaming, ProviderFault, StreamFault, TextCallReader},
    http::{self, ProviderClient, ProviderResponse},
    retry::MOST_WAIT,
};

/// Keeps the requests of one key back while its provider takes none.
#[derive(Debug, Default)]
pub(crate) struct ProviderLimiter(Mutex<Option<Instant>>);

impl ProviderLimiter {
    /// The provider asks to wait.
    fn close(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut closed = self.0.lock();
        *closed = Some(closed.map_or(until, |before| before.max(until)));
    }

    /// How long it is still to be waited.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let until = (*self.0.lock())?;
        until.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
    }
}

/// A model that a provider runs.
pub(crate) struct ProviderModel {
    pub(crate) access: ProviderAccess,
    pub(crate) dialect: Arc<dyn ApiDialect>,
    pub(crate) client: ProviderClient,
    pub(crate) limiter: Arc<ProviderLimiter>,
    pub(crate) model: String,
    pub(crate) untaken: UntakenMedia,
}

impl LanguageModel for ProviderModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn stream(&self, mut request: ModelRequest) -> AnswerPieces {
        request.options.untaken = self.untaken;
        let asked = self.dialect.chat(&self.model, &request);
        let url = format!("{}{}", self.access.base_url, asked.path);
        let signature = self.access.signature(&url, &asked.body, SystemTime::now());
        let mut post = self.client.post(url).header("content-type", "application/json").body(asked.body);
        for (name, value) in asked.headers {
            post = post.header(name, value);
        }
        for (name, value) in signature {
            let Ok(mut value) = reqwest::header::HeaderValue::from_str(&value) else { continue };
            value.set_sensitive(true);
            post = post.header(name, value);
        }
        let post = with_headers(post, &self.access);
        let answer = StreamedAnswer {
            client: self.client.clone(),
            access: self.access.clone(),
            model: self.model.clone(),
            dialect: Arc::clone(&self.dialect),
            limiter: Arc::clone(&self.limiter),
            stage: AnswerStage::Unsent(post),
            reader: self.reader(&request),
            ready: VecDeque::new(),
        };
        Box::pin(stream::unfold(answer, |mut answer| async move {
            let piece = answer.next().await?;
            Some((piece, answer))
        }))
    }
}

impl ProviderModel {
    /// What reads the answer. Of a server that may be anybody's, tools may also be called in the text.
    fn reader(&self, request: &ModelRequest) -> Box<dyn AnswerReader> {
        let reader = self.dialect.reader(&self.model);
        if request.tools.is_empty() || !self.access.is_anybodys() {
            return reader;
        }
        let tools = request.tools.iter().map(|tool| tool.name.clone()).collect();
        Box::new(TextCallReader::new(reader, tools, CallNaming::random()))
    }
}

/// The key, and what the client wants sent, which comes instead of it where it has the same name.
pub(crate) fn with_headers(
    mut request: reqwest::RequestBuilder,
    access: &ProviderAccess,
) -> reqwest::RequestBuilder {
    let is_set = |name: &reqwest::header::HeaderName| access.headers.iter().any(|(other, _)| other == name);
    for (name, value) in access.key_headers().into_iter().filter(|(name, _)| !is_set(name)) {
        request = request.header(name, value);
    }
    access.headers.iter().fold(request, |request, (name, value)| request.header(name, value.clone()))
}

/// An answer on its way.
struct StreamedAnswer {
    client: ProviderClient,
    access: ProviderAccess,
    model: String,
    dialect: Arc<dyn ApiDialect>,
    limiter: Arc<ProviderLimiter>,
    stage: AnswerStage,
    reader: Box<dyn AnswerReader>,
    ready: VecDeque<AnswerPiece>,
}

enum AnswerStage {
    Unsent(reqwest::RequestBuilder),
    Coming(ProviderResponse),
    /// All that there will be is ready; then this error, if there was one.
    Over(Option<ModelError>),
}

impl StreamedAnswer {
    async fn next(&mut self) -> Option<Result<AnswerPiece, ModelError>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                if matches!(piece, AnswerPiece::Stop(_)) {
                    self.stage = AnswerStage::Over(None);
                    self.ready.clear();
                }
                return Some(Ok(piece));
            }
            if let AnswerStage::Over(error) = &mut self.stage {
                return error.take().map(Err);
            }
            if let Err(error) = self.go_on().await {
                self.stage = AnswerStage::Over(Some(error));
            }
        }
    }

    /// One step: sends the request, or takes in the next bytes.
    async fn go_on(&mut self) -> Result<(), ModelError> {
        match std::mem::replace(&mut self.stage, AnswerStage::Over(None)) {
            AnswerStage::Unsent(request) => {
                let sent = self.send(request).await?;
                self.stage = AnswerStage::Coming(sent);
            }
            AnswerStage::Coming(mut response) => {
                let bytes = response.chunk(&self.access).await?;
                let mut pieces = Vec::new();
                let read = match &bytes {
                    Some(bytes) => self.reader.read(bytes, &mut pieces),
                    None => self.reader.end(&mut pieces),
                };
                self.ready.extend(pieces);
                self.stage = match (read, bytes) {
                    (Ok(()), Some(_)) => AnswerStage::Coming(response),
                    (Ok(()), None) => AnswerStage::Over(None),
                    // What was read before it is told first.
                    (Err(fault), _) => AnswerStage::Over(Some(self.stream_error(fault))),
                };
            }
            AnswerStage::Over(error) => self.stage = AnswerStage::Over(error),
        }
        Ok(())
    }

    /// Sends the request; the answer begins, or there is an error.
    async fn send(&mut self, request: reqwest::RequestBuilder) -> Result<ProviderResponse, ModelError> {
        let Self { client, access, model, dialect, limiter, .. } = self;
        if let Some(wait) = limiter.wait() {
            return Err(ModelError::HeldBack { provider: access.provider.id.to_owned(), wait });
        }
        let mut response = client.send(access, request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let reset = http::reset(response.headers());
        let body = response.error_body(access).await;
        let now = SystemTime::now();
        let reset = reset.or_else(|| dialect.reset(&body)).map(|reset| long_reset(reset, now));
        let fault = dialect.fault(status.as_u16(), &body);
        let wait = reset.map(|reset| reset.from(now));
        // Past a while it is the user who tries again, and who may have paid since.
        if let (ProviderFault::RateLimited, Some(wait)) = (fault, wait.filter(|wait| *wait <= MOST_WAIT)) {
            limiter.close(wait);
        }
        Err(fault_error(access, model, fault, reset))
    }

    fn stream_error(&self, fault: StreamFault) -> ModelError {
        let provider = self.access.provider.id.to_owned();
        match fault {
            StreamFault::Provider(fault) => fault_error(&self.access, &self.model, fault, None),
            StreamFault::Malformed(what) => ModelError::Malformed { provider, what: what.to_owned() },
            StreamFault::CutOff => {
                ModelError::Network { provider, what: "the answer ended before its end".to_owned() }
            }
        }
    }
}

/// A wait that nobody sits through is told by its end: `3 days` would be a day off.
fn long_reset(reset: ProviderReset, now: SystemTime) -> ProviderReset {
    match reset {
        ProviderReset::After(wait) if wait > MOST_WAIT => ProviderReset::At(now + wait),
        reset => reset,
    }
}

/// What a fault of a provider is called.
pub(crate) fn fault_error(
    access: &ProviderAccess,
    model: &str,
    fault: ProviderFault,
    reset: Option<ProviderReset>,
) -> ModelError {
    let provider = access.provider.id.to_owned();
    match fault {
        ProviderFault::Auth => ModelError::Auth { provider, origin: access.key_origin() },
        ProviderFault::UnknownModel => ModelError::UnknownModel { provider, model: model.to_owned() },
        ProviderFault::ContextOverflow => ModelError::ContextOverflow,
        ProviderFault::Quota => ModelError::Quota { provider, reset },
        ProviderFault::RateLimited => ModelError::RateLimited { provider, reset },
        ProviderFault::Failed => {
            ModelError::Unavailable { provider, what: "overloaded or broken".to_owned(), reset }
        }
        ProviderFault::Reasoning => ModelError::Reasoning { provider },
        ProviderFault::Rejected(what) => ModelError::Rejected { provider, what: what.to_owned() },
    }
}

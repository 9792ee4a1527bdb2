//! Libraries that read the stream of a model, in a process of their own.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{StreamExt as _, future::try_join_all};
use genai::{
    ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage as GenaiMessage, ChatRequest, ChatStreamEvent},
    resolver::{AuthData, Endpoint, ServiceTargetResolver},
};
use nudge_model::{
    AnswerPiece, ChatMessage, ModelRequest, ModelSource as _, ProviderModels, ProviderOptions,
};
use nudge_wire::{ClientContext, Environment, RawJson};
use serde_json::json;

use super::{
    leg::{StreamWish, Taken},
    provider::{MODEL, age, wish},
};
use crate::{cpu, hub::place::peak_memory};

/// Reads as is wished, and prints what was measured.
pub(crate) fn read(of: &str, base: &str, wish: &str) -> Result<()> {
    let wish: StreamWish = serde_json::from_str(wish)?;
    // The libraries want one even where nothing is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let taken = runtime.block_on(async {
        let reader = StreamReader::new(of, base)?;
        // What is done only once is not measured: connections, and what else is set up with the first question.
        reader.delays(1, Duration::ZERO).await?;
        let cpu = cpu::used_by(std::process::id());
        let began = Instant::now();
        let delays = try_join_all((0..wish.sessions).map(|_| reader.session(&wish))).await?.concat();
        let (wall, cpu) = (began.elapsed(), cpu::used_by(std::process::id()).saturating_sub(cpu));
        anyhow::Ok(Taken { delays, wall, cpu, memory: peak_memory(std::process::id())? })
    })?;
    println!("{}", serde_json::to_string(&taken)?);
    Ok(())
}

enum StreamReader {
    Http { client: reqwest::Client, address: String },
    Genai(genai::Client),
    Model { models: ProviderModels, client: ClientContext },
}

impl StreamReader {
    fn new(of: &str, base: &str) -> Result<Self> {
        Ok(match of {
            "http" => Self::Http {
                client: reqwest::Client::builder().no_proxy().build()?,
                address: format!("{base}/chat/completions"),
            },
            "genai" => Self::Genai(genai_client(format!("{base}/"))?),
            "model" => {
                let variables = BTreeMap::from([("OPENAI_BASE_URL".to_owned(), base.to_owned())]);
                let environment = Some(Environment::new(variables));
                let models =
                    ProviderModels::new(ProviderOptions { environment, ..ProviderOptions::default() });
                Self::Model { models, client: ClientContext::default() }
            }
            _ => bail!("there is no reader `{of}`"),
        })
    }

    async fn session(&self, wish: &StreamWish) -> Result<Vec<Duration>> {
        let mut delays = Vec::new();
        for _ in 0..wish.answers {
            delays.extend(self.delays(wish.tokens, wish.pause).await?);
        }
        Ok(delays)
    }

    /// How long the tokens of an answer took.
    async fn delays(&self, tokens: usize, pause: Duration) -> Result<Vec<Duration>> {
        let wish = wish(tokens, pause);
        let delays = match self {
            Self::Http { client, address } => http(client, address, &wish).await?,
            Self::Genai(client) => genai_delays(client, wish).await?,
            Self::Model { models, client } => model_delays(models, client, &wish).await?,
        };
        anyhow::ensure!(delays.len() == tokens, "of {tokens} tokens {} came", delays.len());
        Ok(delays)
    }
}

async fn http(client: &reqwest::Client, address: &str, wish: &str) -> Result<Vec<Duration>> {
    let body = json!({"model": MODEL, "stream": true, "messages": [{"role": "user", "content": wish}]});
    let asked = client.post(address).header("content-type", "application/json").body(body.to_string());
    let mut response = asked.send().await?;
    let mut delays = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        // Each token is one chunk of the body, and the library gives no two together.
        delays.extend(age(&bytes));
    }
    Ok(delays)
}

fn genai_client(base: String) -> Result<genai::Client> {
    let resolver = ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| {
        let model = ModelIden::new(AdapterKind::OpenAI, target.model.model_name);
        let endpoint = Endpoint::from_owned(base.clone());
        Ok(ServiceTarget { endpoint, auth: AuthData::from_single("key"), model })
    });
    Ok(genai::Client::builder().with_service_target_resolver(resolver).build()?)
}

async fn genai_delays(client: &genai::Client, wish: String) -> Result<Vec<Duration>> {
    let request = ChatRequest::new(vec![GenaiMessage::user(wish)]);
    let mut events = client.exec_chat_stream(MODEL, request, None).await?.stream;
    let mut delays = Vec::new();
    while let Some(event) = events.next().await {
        if let ChatStreamEvent::Chunk(chunk) = event? {
            delays.extend(age(chunk.content.as_bytes()));
        }
    }
    Ok(delays)
}

async fn model_delays(models: &ProviderModels, client: &ClientContext, wish: &str) -> Result<Vec<Duration>> {
    let content = RawJson::of(&json!([{"type": "text", "text": wish}]))?;
    let message = ChatMessage::User { text: wish.to_owned(), content, steer: false };
    let request = ModelRequest { messages: vec![message], ..ModelRequest::default() };
    let chosen = models.choose(client, None).await.context("no model")?;
    let mut pieces = chosen.model.stream(request);
    let mut delays = Vec::new();
    while let Some(piece) = pieces.next().await {
        if let AnswerPiece::Text(text) = piece? {
            delays.extend(age(text.as_bytes()));
        }
    }
    Ok(delays)
}

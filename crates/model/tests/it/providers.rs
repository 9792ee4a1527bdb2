//! Models of providers over a real connection: Anthropic, `OpenAI` and Azure, played by the stand-in.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt;
use nudge_model::{
    AccessOrigin, AnswerOptions, AnswerPart, AnswerPiece, AnswerPieces, ChatMessage, ModelError,
    ModelRequest, ModelSource, ProviderAccess, ProviderModels, ProviderOptions, ProviderReset, ThinkingLevel,
    TokenCount, ToolSpec,
};
use nudge_stage::{ExchangeOutcome, FinishReason, ModelReply, SeenHeader, StageProvider};
use nudge_testkit::PATIENCE;
use nudge_wire::{ClientContext, ConnectionId, RawJson};
use serde_json::{Value, json};

/// One way to a provider.
pub(crate) struct ProviderWay {
    pub(crate) provider: &'static str,
    pub(crate) api_type: &'static str,
    /// Behind the address of the stand-in.
    pub(crate) base: &'static str,
    pub(crate) key: (&'static str, &'static str),
    /// A model that thinks.
    pub(crate) model: &'static str,
}

const ANTHROPIC: ProviderWay = ProviderWay {
    provider: "anthropic",
    api_type: "anthropic",
    base: "",
    key: ("x-api-key", "key-1"),
    model: "claude-opus-4-5",
};

const CHAT: ProviderWay = ProviderWay {
    provider: "openai",
    api_type: "openai",
    base: "/v1",
    key: ("authorization", "Bearer key-1"),
    model: "gpt-5.1",
};

const RESPONSES: ProviderWay = ProviderWay { api_type: "_openai_responses", ..CHAT };

const AZURE: ProviderWay = ProviderWay {
    provider: "azure",
    api_type: "azure",
    base: "/openai/v1",
    key: ("api-key", "key-1"),
    model: "gpt-5.1",
};

const WAYS: [ProviderWay; 4] = [ANTHROPIC, CHAT, RESPONSES, AZURE];

/// A stand-in and a client that has set it as its provider.
pub(crate) struct ProviderStage {
    pub(crate) provider: StageProvider,
    models: ProviderModels,
    client: ClientContext,
    model: String,
}

impl ProviderStage {
    pub(crate) async fn start(way: &ProviderWay) -> Self {
        let provider = StageProvider::start().await;
        let models = ProviderModels::new(ProviderOptions::default());
        let client = ClientContext { connection: Some(ConnectionId(1)), ..ClientContext::default() };
        let headers = BTreeMap::from([(way.key.0.to_owned(), way.key.1.to_owned())]);
        let url = format!("{}{}", provider.url(), way.base);
        let access = ProviderAccess::set(way.provider, way.api_type, &url, &headers);
        models.set(&client, access.expect("the way is one"));
        Self { provider, models, client, model: format!("{}/{}", way.provider, way.model) }
    }

    /// Asks the model.
    pub(crate) async fn stream(&self, request: ModelRequest) -> AnswerPieces {
        let chosen = self.models.choose(&self.client, Some(&self.model)).await;
        chosen.expect("the provider is set").model.stream(request)
    }

    /// The whole answer, texts and thoughts joined.
    pub(crate) async fn ask(&self, request: ModelRequest) -> (Vec<AnswerPiece>, Option<ModelError>) {
        let mut stream = self.stream(request).await;
        let mut pieces: Vec<AnswerPiece> = Vec::new();
        while let Some(piece) = stream.next().await {
            match (piece, pieces.last_mut()) {
                (Err(error), _) => return (pieces, Some(error)),
                (Ok(AnswerPiece::Text(more)), Some(AnswerPiece::Text(text)))
                | (Ok(AnswerPiece::Thought(more)), Some(AnswerPiece::Thought(text))) => text.push_str(&more),
                (Ok(piece), _) => pieces.push(piece),
            }
        }
        (pieces, None)
    }
}

/// A question with two tools.
pub(crate) fn question(text: &str) -> ModelRequest {
    let content = json!([{"type": "text", "text": text}]);
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        input: raw(&json!({"type": "object"})),
    };
    let message = ChatMessage::User { text: text.to_owned(), content: raw(&content), steer: false };
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![message],
        tools: vec![tool("read"), tool("list")],
        options: AnswerOptions { thinking: Some(ThinkingLevel::Low), ..AnswerOptions::default() },
    }
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("a value is JSON")
}

/// What is kept of an answer.
pub(crate) fn parts(pieces: &[AnswerPiece]) -> Vec<AnswerPart> {
    let part = |piece: &AnswerPiece| match piece {
        AnswerPiece::Text(text) => Some(AnswerPart::Text(text.clone())),
        AnswerPiece::Reasoning(reasoning) => Some(AnswerPart::Reasoning(reasoning.clone())),
        AnswerPiece::ToolCall(call) => Some(AnswerPart::Call(call.clone())),
        _ => None,
    };
    pieces.iter().filter_map(part).collect()
}

/// An answer in short.
pub(crate) fn told(pieces: &[AnswerPiece]) -> String {
    let piece = |piece: &AnswerPiece| match piece {
        AnswerPiece::Text(text) => text.clone(),
        AnswerPiece::Thought(text) => format!("({text})"),
        AnswerPiece::Reasoning(reasoning) => format!("<{}>", reasoning.model),
        AnswerPiece::ToolCall(call) => format!("[{} {:?}]", call.name, call.input),
        AnswerPiece::Tokens(_) => String::new(),
        AnswerPiece::Stop(reason) => format!(" {reason:?}"),
        other => format!("{other:?}"),
    };
    pieces.iter().map(piece).collect()
}

#[tokio::test]
async fn an_answer_comes_whole_and_goes_back() {
    for way in &WAYS {
        let stage = ProviderStage::start(way).await;
        let reply = ModelReply::thinking("Hm. Hm.")
            .and_text("I look.")
            .and_call("read", json!({"path": "a.rs", "limit": 20}))
            .and_call("list", json!({}))
            .usage(20, 9);
        stage.provider.on("look").reply(reply);
        stage.provider.on("look").after_tool_result().reply(ModelReply::text("Done."));

        let mut request = question("look");
        let (pieces, error) = stage.ask(request.clone()).await;
        assert_eq!(error, None);
        let signer = match way.api_type {
            "_openai_responses" => "openai-responses",
            "azure" => "openai",
            api_type => api_type,
        };
        let expected = format!(
            r#"(Hm. Hm.)<{signer}/{}>I look.[read {{"path":"a.rs","limit":20}}][list {{}}] EndTurn"#,
            way.model
        );
        assert_eq!(told(&pieces), expected);
        let tokens = pieces.iter().rev().find_map(|piece| match piece {
            AnswerPiece::Tokens(count) => Some(*count),
            _ => None,
        });
        assert_eq!(tokens, Some(TokenCount { input: 20, output: 9, ..TokenCount::default() }));

        let answer = ChatMessage::Agent { parts: parts(&pieces) };
        let ids: Vec<String> = answer.calls().map(|call| call.id.clone()).collect();
        request.messages.push(answer);
        for (id, output) in ids.iter().zip(["fn main", "a.rs"]) {
            let result = ChatMessage::Tool { id: id.clone(), output: output.to_owned(), failed: false };
            request.messages.push(result);
        }
        let (pieces, error) = stage.ask(request).await;
        assert_eq!((told(&pieces).as_str(), error), ("Done. EndTurn", None));
        check_sent(way, &stage.provider);
    }
}

/// What came of the answer and its results when they were sent back.
fn check_sent(way: &ProviderWay, provider: &StageProvider) {
    let seen = &provider.requests()[1];
    assert_eq!((seen.model(), seen.is_stream), (way.model, true));
    assert_eq!((seen.system().as_str(), seen.last_user().as_str()), ("Be brief.", "look"));
    assert_eq!(seen.last_results(), ["fn main", "a.rs"]);
    assert!(seen.has_header(way.key.0));
    assert_eq!(seen.headers["content-type"], SeenHeader::Value("application/json".to_owned()));
    let body = &seen.body;
    match way.api_type {
        "anthropic" => {
            assert_eq!(seen.headers["anthropic-version"], SeenHeader::Value("2023-06-01".to_owned()));
            let thought = json!({"type": "thinking", "thinking": "Hm. Hm.", "signature": "ZmFrZQ=="});
            assert_eq!(body["messages"][1]["content"][0], thought);
            assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 4096}));
        }
        "openai" | "azure" => {
            assert_eq!(seen.path, format!("{}/chat/completions", way.base));
            assert_eq!(body["messages"][2]["reasoning_content"], "Hm. Hm.");
            assert_eq!(body["reasoning_effort"], "low");
        }
        _ => {
            assert_eq!(body["input"][1]["encrypted_content"], "ZmFrZQ==");
            assert_eq!((&body["store"], &body["reasoning"]["effort"]), (&json!(false), &json!("low")));
        }
    }
}

#[tokio::test]
async fn answers_stop_for_other_reasons() {
    for way in &WAYS {
        for (finish, expected) in
            [(FinishReason::Length, "a MaxTokens"), (FinishReason::Refusal, "a Refusal")]
        {
            let stage = ProviderStage::start(way).await;
            stage.provider.on("hi").reply(ModelReply::text("a").finish(finish));
            assert_eq!(told(&stage.ask(question("hi")).await.0), expected);
        }
    }
}

#[tokio::test]
async fn who_drops_an_answer_hangs_up() {
    for way in &WAYS {
        let stage = ProviderStage::start(way).await;
        stage.provider.on("hi").reply(ModelReply::stall("One moment", "never"));
        let mut stream = stage.stream(question("hi")).await;
        while !matches!(stream.next().await, Some(Ok(AnswerPiece::Text(_)))) {}
        drop(stream);
        stage.provider.wait_for(|seen| seen.outcome == ExchangeOutcome::HungUp, PATIENCE).await;
    }
}

#[tokio::test]
async fn errors_are_told_apart_and_quote_nothing() {
    for way in &WAYS {
        let provider = way.provider.to_owned();
        let unavailable = ModelError::Unavailable {
            provider: provider.clone(),
            what: "overloaded or broken".into(),
            reset: None,
        };
        for (reply, said, expected) in [
            (
                ModelReply::error(401, "Bad key sesame."),
                "",
                ModelError::Auth { provider: provider.clone(), origin: AccessOrigin::Connection },
            ),
            (
                ModelReply::error(404, "The model sesame does not exist."),
                "",
                ModelError::UnknownModel { provider: provider.clone(), model: way.model.to_owned() },
            ),
            (
                ModelReply::error(400, "sesame: the prompt is too long for the context window."),
                "",
                ModelError::ContextOverflow,
            ),
            (
                ModelReply::error(400, "Invalid signature of thinking: sesame"),
                "",
                ModelError::Reasoning { provider: provider.clone() },
            ),
            (
                ModelReply::error(429, "You exceeded your current quota, sesame."),
                "",
                ModelError::Quota { provider: provider.clone(), reset: None },
            ),
            (ModelReply::error(500, "sesame"), "", unavailable.clone()),
            (ModelReply::error(529, "sesame"), "", unavailable.clone()),
            (ModelReply::text("a").and_error(500, "sesame"), "a", unavailable.clone()),
            (
                ModelReply::text("a").and_error(429, "sesame"),
                "a",
                ModelError::RateLimited { provider: provider.clone(), reset: None },
            ),
        ] {
            let stage = ProviderStage::start(way).await;
            stage.provider.on("hi").reply(reply);
            let (pieces, error) = stage.ask(question("hi")).await;
            let error = error.expect("it fails");
            assert_eq!((told(&pieces).as_str(), &error), (said, &expected), "{}", way.api_type);
            assert!(!format!("{error} {error:?}").contains("sesame"));
        }
    }
}

#[tokio::test]
async fn a_provider_that_asks_to_wait_is_left_alone() {
    for way in &WAYS {
        let stage = ProviderStage::start(way).await;
        stage.provider.on("hi").times(1).reply(ModelReply::error(429, "Slow down.").retry_after(30));
        let (_, error) = stage.ask(question("hi")).await;
        let reset = error.expect("it fails").reset();
        assert_eq!(reset, Some(ProviderReset::After(Duration::from_secs(30))));
        let (_, error) = stage.ask(question("hi")).await;
        assert!(matches!(error, Some(ModelError::HeldBack { .. })), "{error:?}");
        assert_eq!(stage.provider.requests().len(), 1);
    }
}

/// The beginning of an answer that calls a tool, up to the middle of its arguments.
fn half_a_call(way: &ProviderWay) -> String {
    let events = match way.api_type {
        "anthropic" => vec![
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "read"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"pa"}}),
        ],
        "openai" | "azure" => {
            let function = json!({"name": "read", "arguments": "{\"pa"});
            let calls = json!([{"index": 0, "id": "t", "function": function}]);
            vec![json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})]
        }
        _ => vec![
            json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": "t", "name": "read"}}),
            json!({"type": "response.function_call_arguments.delta", "delta": "{\"pa"}),
        ],
    };
    events.iter().fold(String::new(), |body, event| body + &format!("data: {event}\n\n"))
}

#[tokio::test]
async fn what_breaks_off_or_cannot_be_read_is_no_answer() {
    for way in &WAYS {
        for (reply, said, word) in [
            (ModelReply::text("a").and_raw("data: {oops\n\n"), "a", "malformed"),
            (ModelReply::text("a").and_raw(half_a_call(way)).and_cut(), "a", "network"),
            (ModelReply::text("a").and_cut(), "a", "network"),
            (ModelReply::empty().and_cut(), "", "network"),
        ] {
            let stage = ProviderStage::start(way).await;
            stage.provider.on("hi").reply(reply);
            let (pieces, error) = stage.ask(question("hi")).await;
            let error = error.expect("it fails");
            assert_eq!((told(&pieces).as_str(), error.word()), (said, word), "{}: {error}", way.api_type);
        }
    }
}

#[tokio::test]
async fn models_are_listed_and_one_is_taken() {
    for way in &WAYS {
        let stage = ProviderStage::start(way).await;
        let chosen = stage.models.choose(&stage.client, None).await.expect("there is a model");
        let id = format!("{}/fake-model", way.provider);
        assert_eq!(chosen.choice.map(|choice| choice.id), Some(id.clone()));
        let ids: Vec<String> =
            stage.models.choices(&stage.client).into_iter().map(|choice| choice.id).collect();
        assert_eq!(ids, [id]);
        let base = if way.base.is_empty() { "/v1" } else { way.base };
        assert_eq!(stage.provider.asides(), [format!("GET {base}/models")]);
    }
}

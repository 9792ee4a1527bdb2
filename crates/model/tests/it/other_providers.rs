//! Models of providers over a real connection: Gemini, Vertex, Ollama and Bedrock, played by the stand-in; Azure by its variables.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use nudge_model::{
    AccessOrigin, AnswerPart, AnswerPiece, ChatMessage, ModelError, ModelProvider, ModelSource, ModelWish,
    ProviderModels, ProviderOptions, SignedReasoning, TokenCount,
};
use nudge_stage::{ExchangeOutcome, FinishReason, ModelReply, OfferedModel, StageProvider};
use nudge_testkit::PATIENCE;
use nudge_wire::{ClientContext, ConnectionId, Environment};
use serde_json::{Value, json};

use crate::providers::{ProviderStage, ProviderWay, parts, question, raw, told};

const GEMINI: ProviderWay = ProviderWay {
    provider: "gemini",
    api_type: "_gemini",
    base: "/v1beta",
    key: ("x-goog-api-key", "key-1"),
    model: "gemini-3-flash",
};

const VERTEX: ProviderWay = ProviderWay {
    provider: "vertex",
    api_type: "vertex",
    base: "/v1/projects/p/locations/l",
    key: ("authorization", "Bearer key-1"),
    model: "gemini-2.5-pro",
};

const OLLAMA: ProviderWay = ProviderWay {
    provider: "ollama",
    api_type: "_ollama",
    base: "",
    key: ("authorization", "Bearer key-1"),
    model: "qwen3:8b",
};

const BEDROCK: ProviderWay = ProviderWay {
    provider: "bedrock",
    api_type: "bedrock",
    base: "",
    key: ("authorization", "Bearer key-1"),
    model: "us.anthropic.claude-opus-4-5-v1:0",
};

const WAYS: [ProviderWay; 4] = [GEMINI, VERTEX, OLLAMA, BEDROCK];

/// An answer with its results behind it.
fn answered(pieces: &[AnswerPiece], outputs: &[&str]) -> Vec<ChatMessage> {
    let answer = ChatMessage::Agent { parts: parts(pieces) };
    let ids: Vec<String> = answer.calls().map(|call| call.id.clone()).collect();
    let result = |(id, output): (&String, &&str)| ChatMessage::Tool {
        id: id.clone(),
        output: (*output).to_owned(),
        failed: *output == "no",
    };
    let results: Vec<_> = ids.iter().zip(outputs).map(result).collect();
    std::iter::once(answer).chain(results).collect()
}

#[tokio::test]
async fn an_answer_comes_whole_and_goes_back() {
    for way in &WAYS {
        let stage = ProviderStage::start(way).await;
        let reply = ModelReply::thinking("Hm. Hm.")
            .and_text("I look.")
            .and_call("read", json!({"path": "a.rs", "limit": 20}))
            .and_call("read", json!({}))
            .usage(20, 9);
        stage.provider.on("look").reply(reply);
        stage.provider.on("look").after_tool_result().reply(ModelReply::text("Done."));

        let mut request = question("look");
        let (pieces, error) = stage.ask(request.clone()).await;
        assert_eq!(error, None);
        let signed = format!("<{}/{}>", way.provider, way.model);
        let (thought, call) = match way.provider {
            "ollama" => ("", ""),
            "bedrock" => (signed.as_str(), ""),
            _ => ("", signed.as_str()),
        };
        let expected = format!(
            r#"(Hm. Hm.){thought}I look.{call}[read {{"path":"a.rs","limit":20}}][read {{}}] EndTurn"#
        );
        // What was counted may come between two thoughts.
        assert_eq!(told(&pieces).replace(")(", ""), expected);
        let tokens = pieces.iter().rev().find_map(|piece| match piece {
            AnswerPiece::Tokens(count) => Some(*count),
            _ => None,
        });
        assert_eq!(tokens, Some(TokenCount { input: 20, output: 9, ..TokenCount::default() }));

        request.messages.extend(answered(&pieces, &["fn main", "no"]));
        let (pieces, error) = stage.ask(request).await;
        assert_eq!((told(&pieces).as_str(), error), ("Done. EndTurn", None));
        check_sent(way, &stage.provider);
    }
}

/// What came of the answer and its results when they were sent back.
fn check_sent(way: &ProviderWay, provider: &StageProvider) {
    let seen = &provider.requests()[1];
    assert!(seen.is_stream && seen.has_header(way.key.0));
    assert_eq!((seen.system().as_str(), seen.last_user().as_str()), ("Be brief.", "look"));
    assert_eq!(seen.last_results(), ["fn main", "no"]);
    let body = &seen.body;
    let read = json!({"path": "a.rs", "limit": 20});
    match way.provider {
        "ollama" => {
            assert_eq!((seen.path.as_str(), seen.model()), ("/api/chat", way.model));
            assert_eq!((&body["think"], &body["truncate"]), (&json!(true), &json!(false)));
            assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], read);
        }
        "bedrock" => {
            let path = "/model/us.anthropic.claude-opus-4-5-v1%3A0/converse-stream";
            assert_eq!(seen.path, path);
            let reasoning = json!({"reasoningText": {"text": "Hm. Hm.", "signature": "ZmFrZQ=="}});
            let content = &body["messages"][1]["content"];
            assert_eq!(content[0], json!({ "reasoningContent": reasoning }));
            assert_eq!(content[2]["toolUse"]["input"], read);
            assert_eq!(body["messages"][2]["content"][1]["toolResult"]["status"], "error");
            let thinking = json!({"type": "enabled", "budget_tokens": 4096});
            assert_eq!(body["additionalModelRequestFields"]["thinking"], thinking);
        }
        _ => {
            let end = format!("/models/{}:streamGenerateContent", way.model);
            assert!(seen.path.starts_with(way.base) && seen.path.ends_with(&end), "{}", seen.path);
            let parts = &body["contents"][1]["parts"];
            assert_eq!(parts[1]["functionCall"]["args"], read);
            assert_eq!(
                (&parts[1]["thoughtSignature"], &parts[2]["thoughtSignature"]),
                (&json!("ZmFrZQ=="), &Value::Null)
            );
            let result = &body["contents"][2]["parts"][1]["functionResponse"];
            assert_eq!((&result["name"], &result["response"]), (&json!("read"), &json!({"error": "no"})));
        }
    }
}

#[tokio::test]
async fn answers_stop_for_other_reasons() {
    for way in &WAYS {
        // Ollama's models refuse in words alone.
        let refused = if way.provider == "ollama" { "a EndTurn" } else { "a Refusal" };
        for (finish, expected) in [(FinishReason::Length, "a MaxTokens"), (FinishReason::Refusal, refused)] {
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

/// Replies that fail in the words of a provider, and the error that each is.
fn failures(way: &ProviderWay) -> Vec<(ModelReply, ModelError)> {
    let provider = way.provider.to_owned();
    let auth = ModelError::Auth { provider: provider.clone(), origin: AccessOrigin::Connection };
    let unknown = ModelError::UnknownModel { provider: provider.clone(), model: way.model.to_owned() };
    let overflow = ModelError::ContextOverflow;
    let mut failures = match way.provider {
        "ollama" => vec![
            (ModelReply::error(401, "unauthorized sesame"), auth),
            (ModelReply::error(404, "model \"sesame\" not found, try pulling it first"), unknown),
            (ModelReply::error(400, "the input length exceeds the context length: sesame"), overflow),
        ],
        "bedrock" => vec![
            (ModelReply::error(403, "The security token included in the request is invalid. sesame"), auth),
            (ModelReply::error(400, "The provided model identifier sesame is invalid."), unknown),
            (ModelReply::error(400, "sesame: Input is too long for requested model."), overflow),
        ],
        _ => vec![
            (ModelReply::error(400, "API key not valid. sesame"), auth),
            (ModelReply::error(404, "models/sesame is not found for API version v1beta"), unknown),
            (
                ModelReply::error(
                    400,
                    "The input token count (sesame) exceeds the maximum number of tokens allowed.",
                ),
                overflow,
            ),
        ],
    };
    let limited = ModelError::RateLimited { provider: provider.clone(), reset: None };
    let failed = ModelError::Unavailable { provider, what: "overloaded or broken".to_owned(), reset: None };
    failures.push((ModelReply::error(429, "Slow down, sesame."), limited));
    failures.push((ModelReply::error(500, "sesame"), failed.clone()));
    failures.push((ModelReply::text("a").and_error(503, "sesame"), failed));
    failures
}

#[tokio::test]
async fn errors_are_told_apart_and_quote_nothing() {
    for way in &WAYS {
        for (reply, expected) in failures(way) {
            let stage = ProviderStage::start(way).await;
            stage.provider.on("hi").reply(reply);
            let (_, error) = stage.ask(question("hi")).await;
            let error = error.expect("it fails");
            assert_eq!(error, expected, "{}", way.provider);
            assert!(!format!("{error} {error:?}").contains("sesame"));
        }
    }
}

#[tokio::test]
async fn what_breaks_off_or_cannot_be_read_is_no_answer() {
    for way in &WAYS {
        for (reply, said, word) in [
            (ModelReply::text("a").and_raw("data: {oops\n\n{oops\n"), "a", "malformed"),
            (ModelReply::text("a").and_cut(), "a", "network"),
            (ModelReply::empty().and_cut(), "", "network"),
        ] {
            let stage = ProviderStage::start(way).await;
            stage.provider.on("hi").reply(reply);
            let (pieces, error) = stage.ask(question("hi")).await;
            let error = error.expect("it fails");
            assert_eq!((told(&pieces).as_str(), error.word()), (said, word), "{}: {error}", way.provider);
        }
    }
}

#[tokio::test]
async fn calls_without_a_signature_are_taken_and_wrong_signatures_told() {
    let stage = ProviderStage::start(&GEMINI).await;
    stage.provider.on("look").reply(ModelReply::call("read", json!({})));
    let (pieces, _) = stage.ask(question("look")).await;
    // It did not think, as another model would not have; what it calls has no signature.
    let mut request = question("look");
    request.messages.extend(answered(&pieces, &["fn main"]));
    assert_eq!(stage.ask(request.clone()).await.1, None);

    let model = format!("{}/{}", GEMINI.provider, GEMINI.model);
    let content = raw(&json!({"on": "call", "signature": "another"}));
    let wrong = AnswerPart::Reasoning(SignedReasoning { model, content });
    let ChatMessage::Agent { parts } = &mut request.messages[1] else { panic!("an answer") };
    parts.insert(0, wrong);
    let (_, error) = stage.ask(request.clone()).await;
    assert_eq!(error, Some(ModelError::Reasoning { provider: "gemini".to_owned() }));
    request.options.without_reasoning = true;
    assert_eq!(stage.ask(request).await.1, None);
}

/// A client with this environment.
fn client(variables: &[(&str, &str)]) -> ClientContext {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = Environment::new(variables.collect::<BTreeMap<_, _>>());
    ClientContext { environment: Some(environment), ..ClientContext::default() }
}

#[tokio::test]
async fn the_largest_model_with_tools_is_taken() {
    let provider = StageProvider::start().await;
    let all = ["tools", "thinking", "vision"];
    provider.offer([
        OfferedModel::new("small:1b").bytes(1),
        OfferedModel::new("large:70b").bytes(70).can(["vision"]),
        OfferedModel::new("middle:8b").bytes(8).can(all),
    ]);
    let models = ProviderModels::new(ProviderOptions::default());
    let address = provider.address().to_string();
    let chosen = models.choose(&client(&[("OLLAMA_HOST", &address)]), None).await.expect("there is one");
    let choice = chosen.choice.expect("it is one of several");
    assert_eq!((choice.id.as_str(), choice.context), ("ollama/middle:8b", Some(16_384)));
    assert!(choice.images && !choice.thinking.is_empty());
    let mut request = question("hi");
    request.options.context_size = choice.context;
    assert_eq!(
        told(&chosen.model.stream(request).map(Result::unwrap).collect::<Vec<_>>().await),
        "You said: hi EndTurn"
    );
    let seen = &provider.requests()[0];
    assert_eq!((seen.model(), &seen.body["options"]), ("middle:8b", &json!({"num_ctx": 16_384})));
}

#[tokio::test]
async fn gemini_is_found_by_its_key() {
    let provider = StageProvider::start().await;
    provider.offer(["gemini-2.5-flash", "gemini-3-flash", "gemini-3-pro-image"].map(OfferedModel::new));
    let base = format!("{}/v1beta", provider.url());
    let client = client(&[("GEMINI_API_KEY", "sesame"), ("GOOGLE_GEMINI_BASE_URL", &base)]);
    let models = ProviderModels::new(ProviderOptions::default());
    let chosen = models.choose(&client, None).await.expect("there is one").choice.expect("of several");
    assert_eq!((chosen.id.as_str(), chosen.context), ("gemini/gemini-3-flash", Some(1_000_000)));
    let ids: Vec<String> = models.choices(&client).into_iter().map(|choice| choice.id).collect();
    assert_eq!(ids, ["gemini/gemini-3-flash", "gemini/gemini-2.5-flash"]);
}

#[tokio::test]
async fn bedrock_is_signed_with_the_keys_of_the_client() {
    let provider = StageProvider::start().await;
    provider.sign_with("sesame");
    let models = ProviderModels::new(ProviderOptions::default());
    let url = provider.url();
    let base = [("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", url.as_str()), ("AWS_REGION", "eu-west-1")];
    let keys =
        [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "sesame"), ("AWS_SESSION_TOKEN", "lent")];
    let wrong = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "another")];
    let bearer = [("AWS_BEARER_TOKEN_BEDROCK", "key")];
    let denied = |origin| Err(ModelError::Auth { provider: "bedrock".to_owned(), origin });
    let said = "You said: hi EndTurn".to_owned();
    for (variables, secrets, expected) in [
        (&keys[..], &["sesame", "lent"][..], Ok(said.clone())),
        (&wrong, &["another"], denied(AccessOrigin::Variable("AWS_ACCESS_KEY_ID"))),
        (&bearer, &["key"], Ok(said)),
        (&[], &[], denied(AccessOrigin::Stored)),
    ] {
        let mut client = client(&[&base[..], variables].concat());
        // The keys of an account are there for other things, too.
        let is_of_account = variables.iter().any(|(name, _)| *name == "AWS_ACCESS_KEY_ID");
        assert_eq!(models.has_access(&client), !is_of_account);
        client.connection = Some(ConnectionId(7));
        let wish = ModelWish { provider: ModelProvider::named("bedrock"), ..ModelWish::default() };
        client.hold = models.connect(ConnectionId(7), wish);
        let revealed: Vec<String> =
            models.secrets(&client).iter().map(|secret| secret.reveal().to_owned()).collect();
        assert_eq!(revealed, secrets);
        let withheld = models.withheld_variables(&client);
        assert!(withheld.contains(&"AWS_BEARER_TOKEN_BEDROCK"));
        for variable in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
            assert_eq!(withheld.contains(&variable), is_of_account, "{variable}");
        }
        // Nothing lists its models; one is offered all the same.
        let chosen = models.choose(&client, None).await.expect("there is one");
        let answer: Result<Vec<AnswerPiece>, ModelError> =
            chosen.model.stream(question("hi")).collect::<Vec<_>>().await.into_iter().collect();
        assert_eq!(answer.map(|pieces| told(&pieces)), expected, "{variables:?}");
    }
    let seen = &provider.requests()[0];
    assert!(seen.has_header("x-amz-security-token") && seen.path.contains("anthropic.claude"), "{seen:?}");
}

#[tokio::test]
async fn azure_is_reached_by_the_address_of_a_resource() {
    for path in ["", "/", "/openai/v1", "/openai/v1/"] {
        let provider = StageProvider::start().await;
        let models = ProviderModels::new(ProviderOptions::default());
        let endpoint = format!("{}{path}", provider.url());
        let client = client(&[("AZURE_OPENAI_ENDPOINT", &endpoint), ("AZURE_OPENAI_API_KEY", "key-1")]);
        // It lists what could be deployed; what is, has names that the user knows.
        let chosen = models.choose(&client, Some("azure/my-deployment")).await.expect("it is set up");
        let answer: Vec<_> = chosen.model.stream(question("hi")).collect().await;
        let answer: Vec<AnswerPiece> = answer.into_iter().map(|piece| piece.expect("it answers")).collect();
        assert_eq!(told(&answer), "You said: hi EndTurn");
        let seen = &provider.requests()[0];
        assert_eq!((seen.path.as_str(), seen.model()), ("/openai/v1/chat/completions", "my-deployment"));
        assert!(seen.has_header("api-key") && !seen.has_header("authorization"), "{:?}", seen.headers);
    }
}

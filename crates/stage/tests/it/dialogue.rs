//! What holds in every dialect, checked the same way in each.

use hyper::StatusCode;
use nudge_stage::{
    ConversationToolCall, ExchangeOutcome, MessageRole, ModelReply, StageProvider, ToolResult,
};
use nudge_testkit::PATIENCE;
use serde_json::{Value, json};

use crate::client::{next, post, post_json, read};

/// How a test speaks one dialect.
pub(crate) struct Dialogue {
    /// The path of a request, for a stream or not.
    pub(crate) path: fn(bool) -> &'static str,
    /// A request that says this to a model with the tool `read_file`, for a stream or not.
    pub(crate) ask: fn(&str, bool) -> Value,
    /// The same request, with a call of `read_file` with the argument `path`, of the given id, and its result `fn main`.
    pub(crate) follow_up: fn(&str, bool) -> Value,
    /// All text in an answer, which came as a stream or not.
    pub(crate) said: fn(&str, bool) -> String,
    /// Where the text and the kind of an error are.
    pub(crate) error: (&'static str, &'static str),
    /// The kind of an error of status 429.
    pub(crate) too_many: &'static str,
    /// What the id of a call is in a message.
    pub(crate) call_id: &'static str,
}

const BOTH: [bool; 2] = [false, true];

impl Dialogue {
    pub(crate) async fn check_all(&self) {
        for is_stream in BOTH {
            self.repeats_what_the_user_says(is_stream).await;
            self.goes_on_after_a_tool(is_stream).await;
            self.reports_errors(is_stream).await;
            self.breaks_in_the_middle(is_stream).await;
            self.breaks_before_the_status(is_stream).await;
            self.notices_who_leaves(is_stream).await;
            self.refuses_calls_without_results(is_stream).await;
        }
        self.waits_in_a_stream().await;
        self.waits_before_it_answers().await;
    }

    async fn ask(&self, provider: &StageProvider, text: &str, is_stream: bool) -> (String, bool) {
        let body = (self.ask)(text, is_stream);
        let response = post(provider, (self.path)(is_stream), &body).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        read(response.into_body()).await
    }

    async fn repeats_what_the_user_says(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        let (answer, is_complete) = self.ask(&provider, "héllo world", is_stream).await;
        assert!(is_complete);
        assert_eq!((self.said)(&answer, is_stream), "You said: héllo world");
        let seen = provider.wait_for(|seen| seen.outcome == ExchangeOutcome::Answered, PATIENCE).await;
        assert_eq!((seen.last_user().as_str(), seen.is_stream), ("héllo world", is_stream));
        assert_eq!((seen.model(), seen.rule.as_deref()), ("m", None));
        assert!(seen.has_tool("read_file") && !seen.has_tool("read"), "{seen:?}");
    }

    async fn goes_on_after_a_tool(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        provider.on("look").reply(ModelReply::text("This is for the first request."));
        provider.on("look").after_tool_result().reply(ModelReply::text("It is a program."));
        let body = (self.follow_up)("call_7", is_stream);
        let response = post(&provider, (self.path)(is_stream), &body).await.expect("an answer");
        let (answer, _) = read(response.into_body()).await;
        assert_eq!((self.said)(&answer, is_stream), "It is a program.");

        let seen = &provider.requests()[0];
        let roles: Vec<_> = seen.messages().iter().map(|message| message.role).collect();
        assert_eq!(
            roles,
            [MessageRole::System, MessageRole::User, MessageRole::Assistant, MessageRole::Tool]
        );
        assert_eq!((seen.system().as_str(), seen.last_user().as_str()), ("Be brief.", "look"));
        let arguments = json!({"path": "a.rs"});
        let call =
            ConversationToolCall { id: self.call_id.to_owned(), name: "read_file".to_owned(), arguments };
        assert_eq!(seen.messages()[2].calls, [call]);
        let text = "fn main".to_owned();
        let result = ToolResult { id: self.call_id.to_owned(), text, is_error: false };
        assert_eq!(seen.messages()[3].results, [result]);
        assert_eq!(seen.last_results(), ["fn main"]);
    }

    async fn reports_errors(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        provider.on("hi").reply(ModelReply::error(429, "Too much.").retry_after(7));
        let body = (self.ask)("hi", is_stream);
        let response = post(&provider, (self.path)(is_stream), &body).await.expect("an answer");
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (429, &"7".parse().unwrap())
        );
        let (text, is_complete) = read(response.into_body()).await;
        let error: Value = serde_json::from_str(&text).expect("an error is JSON");
        assert!(is_complete);
        let (message, kind) = self.error;
        assert_eq!(error.pointer(message), Some(&json!("Too much.")));
        assert_eq!(error.pointer(kind), Some(&json!(self.too_many)));
    }

    async fn breaks_in_the_middle(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        provider
            .on("hi")
            .reply(ModelReply::chunks(["A beginning ", "without "]).and_cut().and_text("an end"));
        let (answer, is_complete) = self.ask(&provider, "hi", is_stream).await;
        assert!(!is_complete && !answer.is_empty() && !answer.contains("an end"), "{answer}");
        if is_stream {
            assert_eq!((self.said)(&answer, true), "A beginning without ");
        }
        provider.wait_for(|seen| seen.outcome == ExchangeOutcome::Cut, PATIENCE).await;
    }

    async fn breaks_before_the_status(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        provider.on("hi").reply(ModelReply::empty().and_cut());
        let body = (self.ask)("hi", is_stream);
        assert!(post(&provider, (self.path)(is_stream), &body).await.is_none());
    }

    async fn notices_who_leaves(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        provider.on("hi").reply(ModelReply::stall("One moment", "never"));
        let (path, body) = ((self.path)(is_stream), (self.ask)("hi", is_stream));
        let asking = async { post(&provider, path, &body).await.map(drop) };
        let gate = provider.gate("never");
        tokio::select! {
            Some(()) = asking => assert!(is_stream, "the status of a whole answer comes with the answer"),
            () = gate.reached() => {}
        }
        provider.wait_for(|seen| seen.outcome == ExchangeOutcome::HungUp, PATIENCE).await;
    }

    async fn refuses_calls_without_results(&self, is_stream: bool) {
        let provider = StageProvider::start().await;
        let mut body = (self.follow_up)("call_7", is_stream);
        let messages = ["messages", "input", "contents"].iter().find(|name| body.get(name).is_some());
        let messages = body[*messages.expect("a dialect has messages")].as_array_mut().expect("a list");
        messages.pop();
        let (status, error) = post_json(&provider, (self.path)(is_stream), &body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(error.pointer(self.error.0), Some(&json!("1 tool calls have no result")));
    }

    async fn waits_in_a_stream(&self) {
        let provider = StageProvider::start().await;
        provider.on("hi").reply(ModelReply::stall("One moment", "later").and_text(", and on."));
        let response = post(&provider, (self.path)(true), &(self.ask)("hi", true)).await.expect("an answer");
        let mut body = response.into_body();
        let mut text = String::new();
        while !text.contains("One moment") {
            text += &next(&mut body).await.expect("more comes").expect("the stream is whole");
        }
        let gate = provider.gate("later");
        gate.reached().await;
        assert_eq!(gate.arrivals(), 1);
        assert_eq!(provider.requests()[0].outcome, ExchangeOutcome::Answering);
        gate.open();
        let (rest, is_complete) = read(body).await;
        assert!(is_complete);
        assert_eq!((self.said)(&(text + &rest), true), "One moment, and on.");
    }

    async fn waits_before_it_answers(&self) {
        let provider = StageProvider::start().await;
        provider.on("hi").reply(ModelReply::stall("One moment", "later").and_text(", and on."));
        let asking = self.ask(&provider, "hi", false);
        let gate = provider.gate("later");
        let opening = async {
            gate.reached().await;
            assert_eq!(provider.requests()[0].outcome, ExchangeOutcome::Answering);
            gate.open();
        };
        let ((answer, _), ()) = tokio::join!(asking, opening);
        assert_eq!((self.said)(&answer, false), "One moment, and on.");
    }
}

//! An editor and a maker of suggestions that do what a test wants.

use std::sync::Arc;

use nudge_lsp::{LspOptions, NesConnecting, serve};
use nudge_peer::Transport;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

const ROOM: usize = 1 << 20;

/// When questions for suggestions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    AtOnce,
    /// The first at once, the others when a document has changed since.
    AfterAChange,
}

/// An editor whose server is told these suggestions.
pub(crate) struct Editor {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    asked: i64,
}

impl Editor {
    /// An editor that says this in `initialize`, with all kinds of suggestion wanted.
    pub(crate) async fn new(mut initialize: Value, suggestions: Value, answers: Answers) -> Self {
        let connect = move || -> NesConnecting {
            let (own, other) = duplex(ROOM);
            tokio::spawn(make(other, suggestions.clone(), answers));
            let (reader, writer) = split(own);
            Box::pin(std::future::ready(Ok(Transport::new(reader, writer))))
        };
        let options = LspOptions { connect: Arc::new(connect), version: "0".to_owned(), max_message: ROOM };
        let ((own_in, server_in), (server_out, own_out)) = (duplex(ROOM), duplex(ROOM));
        tokio::spawn(serve(server_in, server_out, options));
        let mut editor = Self { input: split(own_in).1, output: BufReader::new(split(own_out).0), asked: 0 };
        initialize["initializationOptions"] = json!({ "kinds": ["rename", "searchAndReplace"] });
        editor.ask("initialize", &initialize).await;
        editor.note("initialized", &json!({})).await;
        editor
    }

    pub(crate) async fn note(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a request; [`Editor::answer`] gives what comes.
    pub(crate) async fn begin(&mut self, method: &str, params: &Value) {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params })).await;
    }

    /// The answer to the last request.
    pub(crate) async fn answer(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == self.asked && message.get("method").is_none() {
                return message["result"].clone();
            }
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.begin(method, params).await;
        self.answer().await
    }

    pub(crate) async fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
        self.note("textDocument/didOpen", &json!({ "textDocument": document })).await;
    }

    async fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.input.write_all(framed.as_bytes()).await.expect("the server reads");
    }

    async fn next(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).await.expect("the server writes");
            match line.trim().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a length is a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).await.expect("a whole message");
        serde_json::from_slice(&body).expect("a body is JSON")
    }
}

/// A question about the start of a document.
pub(crate) fn question(uri: &str) -> Value {
    let position = json!({ "line": 0, "character": 0 });
    json!({ "textDocument": { "uri": uri }, "position": position, "trigger": "manual" })
}

/// Makes the same suggestions whatever it is told.
async fn make(stream: DuplexStream, suggestions: Value, later: Answers) {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    let (mut waiting, mut answers) = (None, Answers::AtOnce);
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("a line is JSON");
        let (id, result) = match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({ "nes": {}, "positionEncoding": "utf-16" });
                (message["id"].clone(), json!({ "protocolVersion": 2, "capabilities": capabilities }))
            }
            Some("nes/start") => (message["id"].clone(), json!({ "sessionId": "s" })),
            Some("nes/suggest") if answers == Answers::AfterAChange => {
                waiting = Some(message["id"].clone());
                continue;
            }
            Some("nes/suggest") => {
                answers = later;
                (message["id"].clone(), json!({ "suggestions": suggestions }))
            }
            Some("document/didChange") => match waiting.take() {
                Some(id) => (id, json!({ "suggestions": suggestions })),
                None => continue,
            },
            _ => continue,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        if writer.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

//! What is said with a real model: a conversation, a file that is read, a steer.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{RealModel, server::ModelServer, tap::Tap};
use crate::{
    chat::{Chat, Version},
    client::Client,
};

/// How long an answer may take where other programs run too.
const PATIENCE: Duration = Duration::from_mins(10);
/// How long it may take until the server knows that an answer is cut off: it sees so at the next token or the one after.
const CUT: Duration = Duration::from_secs(30);
/// The longest answer that is waited for, in tokens.
const MOST_TOKENS: u64 = 120;
/// Where no Ollama is, so that none of this machine is found.
const NOBODY: &str = "127.0.0.1:9";
/// What is in the file that is read, and nowhere else.
const CONTENT: &str = "The password of the blue door is heliotrope-4711.\n";
const SECRET: &str = "heliotrope-4711";

/// How one step went.
pub(super) struct StepOutcome {
    model: &'static str,
    version: Version,
    step: &'static str,
    took: Duration,
    pub(super) verdict: Result<String>,
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, version, step, took, verdict } = self;
        write!(f, "{model} v{} {step:<12} {:>6.1} s  ", version.number(), took.as_secs_f64())?;
        match verdict {
            Ok(said) => write!(f, "ok: {said}"),
            Err(error) => write!(f, "failed: {error:#}"),
        }
    }
}

type Step = (&'static str, fn(&mut RealTalk) -> Result<String>);

const STEPS: [Step; 6] = [
    ("set", RealTalk::set),
    ("typescript", RealTalk::typescript),
    ("conversation", RealTalk::converse),
    ("tool", RealTalk::read),
    ("steer", RealTalk::steer),
    ("other APIs", RealTalk::other_apis),
];

/// Takes the model through all steps in one version.
pub(super) fn talk(
    server: &ModelServer,
    nudge: &Path,
    model: &'static RealModel,
    version: Version,
) -> Result<Vec<StepOutcome>> {
    let folder = tempfile::Builder::new().prefix("nudge-model-").tempdir()?;
    fs::write(folder.path().join("notes.txt"), CONTENT)?;
    let mut command = Command::new(nudge);
    command.args(["acp", "--no-daemon"]).current_dir(folder.path());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder.path());
    command.env("NUDGE_DATA", folder.path().join("data"));
    let client = Client::start(command, &folder.path().join("stderr.log"))?;
    let chat = Chat::connect(client, version, &json!({}), None)?;
    let tap = Tap::open(server.address)?;
    // Short, and the same each time.
    tap.add(json!({ "max_tokens": MOST_TOKENS, "temperature": 0 }));
    let nudge = nudge.to_owned();
    let mut talk = RealTalk { model, version, nudge, chat, tap, folder };
    let mut outcomes = Vec::new();
    for (step, run) in STEPS {
        let began = Instant::now();
        let verdict = run(&mut talk);
        outcomes.push(StepOutcome { model: model.name, version, step, took: began.elapsed(), verdict });
    }
    Ok(outcomes)
}

struct RealTalk {
    model: &'static RealModel,
    version: Version,
    nudge: PathBuf,
    chat: Chat,
    tap: Tap,
    folder: TempDir,
}

impl RealTalk {
    /// The model is set over the wire; the session offers it.
    fn set(&mut self) -> Result<String> {
        let base = format!("http://{}/v1", self.tap.address);
        let set = json!({ "providerId": "custom", "apiType": "openai", "baseUrl": base });
        let client = &mut self.chat.client;
        ensure!(client.call("providers/set", &set)? == json!({}), "providers/set answers something");
        let listed = client.call("providers/list", &json!({}))?;
        let is_it = |provider: &&Value| provider["providerId"] == "custom";
        let current = listed["providers"].as_array().into_iter().flatten().find(is_it);
        let current = &current.context("there is no such provider")?["current"];
        ensure!(current["baseUrl"] == base.as_str(), "the list says {current}");
        self.chat.begin(self.folder.path())?;
        let session = self.chat.session.clone();
        let offered = self.chat.client.until("the model's name", PATIENCE, |client| {
            let told = client.record.iter().map(|record| record.line.as_str());
            let told: Vec<_> = told.filter(|line| line.contains(&session)).collect();
            told.iter().any(|line| line.contains("custom/")).then_some(told.len())
        });
        offered.map(|_| format!("{} at {base}", self.model.name))
    }

    /// A client made with the official TypeScript SDK sets the model, and has a turn with it.
    fn typescript(&mut self) -> Result<String> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interop/js");
        if !scripts.join("node_modules").exists() {
            return Ok("skipped: crates/interop/setup installs the official SDK".to_owned());
        }
        let base = format!("http://{}/v1", self.tap.address);
        let mut command = Command::new("node");
        command.arg(scripts.join("providers.mjs")).arg(self.version.number().to_string());
        command.args([&base, "Say hello."]).arg(&self.nudge).args(["acp", "--no-daemon", "--data", ""]);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).env("OLLAMA_HOST", NOBODY);
        let output = command.output().context("node cannot be started")?;
        let report: Value = serde_json::from_slice(&output.stdout).with_context(|| {
            format!("it ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
        })?;
        ensure!(report["current"]["baseUrl"] == base.as_str(), "the list says {}", report["current"]);
        let said = report["text"].as_str().unwrap_or_default();
        ensure!(!said.trim().is_empty(), "it says nothing: {report}");
        Ok(format!("{} letters", said.chars().count()))
    }

    /// The model answers piece by piece, and knows what was said before.
    fn converse(&mut self) -> Result<String> {
        let before = self.tap.asked().len();
        let first = self.ask("Say hello and tell me what a variable is, in one short sentence.")?;
        let second = self.ask("Say it once more, in other words.")?;
        ensure!(
            first.pieces > 2 && second.pieces > 2,
            "it came in {} and {} pieces",
            first.pieces,
            second.pieces
        );
        let asked = self.tap.asked();
        let messages = &asked.last().context("the model was not asked")?["messages"];
        ensure!(asked.len() == before + 2, "the model was asked {} times", asked.len() - before);
        ensure!(
            messages.to_string().contains(json!(first.text).to_string().trim_matches('"')),
            "it was not told what it had said"
        );
        Ok(format!(
            "{} and {} pieces, the first after {:.1} s",
            first.pieces,
            second.pieces,
            first.waited.as_secs_f64()
        ))
    }

    /// The model has a file read by a tool, and gets what is in it.
    fn read(&mut self) -> Result<String> {
        if !self.model.calls_tools {
            self.tap.add_once(call_of_read());
        }
        let turn = self.chat.prompt(
            "Use the tool `read` to read the file notes.txt. Then tell me the password that is in it.",
        )?;
        let tap = self.tap.clone();
        let has_result = |asked: &Value| asked["messages"].to_string().contains(SECRET);
        let read = self
            .chat
            .client
            .until("the result of the tool", PATIENCE, |_| tap.asked().iter().any(has_result).then_some(()));
        let reason = self.chat.end_of(turn, PATIENCE)?;
        read?;
        let calls = self.chat.tool_calls(turn.since);
        ensure!(
            calls.values().any(|status| status == "completed"),
            "of the calls none is completed: {calls:?}"
        );
        let is_repeated = if self.chat.agent_text(turn.since).contains(SECRET) { "said" } else { "not said" };
        Ok(format!("{} calls, {reason}, the password is {is_repeated}", calls.len()))
    }

    /// What is said in mid-stream cuts the answer off and gets into the turn.
    fn steer(&mut self) -> Result<String> {
        const STEER: &str = "Stop. Answer with the one word banana instead.";
        let before = self.tap.asked().len();
        let turn = self.chat.prompt("Write a long story about a ship, in many sentences.")?;
        let (session, since) = (self.chat.session.clone(), turn.since);
        self.chat.client.until("the first words", PATIENCE, |client| {
            let later = client.notifications.iter().skip(since);
            later
                .filter(|(_, params)| params["sessionId"] == session.as_str() && is_piece(&params["update"]))
                .nth(3)
                .map(drop)
        })?;
        let (tap, cut) = (self.tap.clone(), self.tap.cut());
        let id = self.chat.inject("steer", STEER)?;
        self.chat.user_message(&id, since, PATIENCE)?;
        let is_cut = |_: &mut Client| (tap.cut() > cut).then_some(());
        self.chat.client.until("the end of the answer that is cut off", CUT, is_cut)?;
        let reason = self.chat.end_of(turn, PATIENCE)?;
        let asked = self.tap.asked();
        let with_steer =
            asked.iter().skip(before).position(|asked| asked["messages"].to_string().contains(STEER));
        ensure!(with_steer.is_some(), "the model was not told");
        let text = self.chat.agent_text(since);
        let is_followed = if text.to_lowercase().contains("banana") { "followed" } else { "not followed" };
        Ok(format!("in question {}, {reason}, {is_followed}", with_steer.unwrap_or_default() + 1))
    }

    /// The same server answers in the other APIs that it has.
    fn other_apis(&mut self) -> Result<String> {
        let mut heard = Vec::new();
        for (api_type, path) in [("anthropic", ""), ("_openai_responses", "/v1")] {
            let base = format!("http://{}{path}", self.tap.address);
            let set = json!({ "providerId": "custom", "apiType": api_type, "baseUrl": base });
            self.chat.client.call("providers/set", &set)?;
            self.chat.begin(self.folder.path())?;
            let answer = self.ask("Say hello.").with_context(|| api_type.to_owned())?;
            ensure!(!answer.text.trim().is_empty(), "{api_type}: it says nothing");
            heard.push(format!("{api_type} in {} pieces", answer.pieces));
        }
        Ok(heard.join(", "))
    }

    fn ask(&mut self, text: &str) -> Result<HeardAnswer> {
        let began = Instant::now();
        let turn = self.chat.prompt(text)?;
        let (session, since) = (self.chat.session.clone(), turn.since);
        self.chat.client.until("an answer", PATIENCE, |client| {
            let later = client.notifications.iter().skip(since);
            later
                .filter(|(_, params)| params["sessionId"] == session.as_str())
                .any(|(_, params)| is_piece(&params["update"]))
                .then_some(())
        })?;
        let waited = began.elapsed();
        self.chat.end_of(turn, PATIENCE)?;
        let pieces = self.chat.updates(since).filter(|update| is_piece(update)).count();
        Ok(HeardAnswer { text: self.chat.agent_text(since), pieces, waited })
    }
}

/// An answer as a client got it.
struct HeardAnswer {
    text: String,
    pieces: usize,
    /// To its first piece.
    waited: Duration,
}

fn is_piece(update: &Value) -> bool {
    update["sessionUpdate"] == "agent_message_chunk"
}

/// What makes a model that knows no tools write a call.
fn call_of_read() -> Value {
    let path =
        json!({ "type": "object", "properties": { "path": { "const": "notes.txt" } }, "required": ["path"] });
    let properties = json!({ "name": { "const": "read" }, "arguments": path });
    let schema = json!({ "type": "object", "properties": properties, "required": ["name", "arguments"] });
    json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "call", "schema": schema } } })
}

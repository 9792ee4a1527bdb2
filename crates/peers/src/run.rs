//! One agent, one version, one way to it: all steps.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use nudge_stage::{ModelReply, ReplyRule, SeenRequest, StageProvider};
use serde_json::{Value, json};

use crate::{
    chat::{Chat, Version},
    client::{Client, PATIENCE},
    install::Cache,
    lossless,
    place::{Place, Route},
    recipe::Recipe,
    script::{self, Moment},
    steps::{STEPS, Verdict},
    tee::Record,
};

/// How one run went.
#[derive(Debug)]
pub struct Outcome {
    /// The agent's name.
    pub agent: String,
    /// The version the client spoke.
    pub version: Version,
    /// Whether Nudge was in between.
    pub through_nudge: bool,
    /// The answer to `initialize`; null if there was none.
    pub initialized: Value,
    /// Each step.
    pub steps: Vec<(&'static str, Verdict, Duration)>,
}

impl Outcome {
    /// Whether nothing failed.
    pub fn is_good(&self) -> bool {
        self.steps.iter().all(|(_, verdict, _)| !matches!(verdict, Verdict::Fail(_)))
    }
}

/// What a step works with.
pub struct Scene<'a> {
    /// The agent.
    pub recipe: &'a Recipe,
    /// The model.
    pub provider: StageProvider,
    /// Its folders.
    pub place: Place,
    /// How it is reached.
    pub route: Route,
    cache: &'a Cache,
    version: Version,
    /// What the client says that it can do.
    capabilities: Value,
    chat: Option<Chat>,
    initialized: Value,
    /// The client's side of connections that are over.
    past: Vec<Record>,
}

/// Takes an agent through the steps of these names, or all; calls `tell` after each. Records are kept in `records`.
pub fn run(
    recipe: &Recipe,
    cache: &Cache,
    (version, route): (Version, Route),
    only: &[String],
    records: &Path,
    mut tell: impl FnMut(&str, &Verdict, Duration),
) -> Result<Outcome> {
    let through_nudge = route != Route::Direct;
    let mut scene = Scene::new(recipe, cache, version, route)?;
    let mut steps = Vec::new();
    for step in STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)) {
        let began = Instant::now();
        let outcome = scene.chat().map(drop).and_then(|()| (step.run)(&mut scene));
        let verdict = outcome.unwrap_or_else(|error| Verdict::Fail(format!("{error:#}")));
        tell(step.name, &verdict, began.elapsed());
        if matches!(verdict, Verdict::Fail(_)) {
            // What it has left behind is no concern of the next.
            scene.restart();
        }
        steps.push((step.name, verdict, began.elapsed()));
    }
    scene.restart();
    if through_nudge && only.is_empty() {
        let verdict = lossless::verdict(&scene.past, &scene.place.taps(), version);
        let verdict = verdict.unwrap_or_else(|error| Verdict::Fail(format!("{error:#}")));
        tell("lossless", &verdict, Duration::ZERO);
        steps.push(("lossless", verdict, Duration::ZERO));
    }
    scene.keep(records)?;
    Ok(Outcome { agent: recipe.name.clone(), version, through_nudge, initialized: scene.initialized, steps })
}

/// What an agent says it can do, asked directly, in each version.
pub fn offers(recipe: &Recipe, cache: &Cache) -> Result<Vec<Value>> {
    let ask = |version| {
        let mut scene = Scene::new(recipe, cache, version, Route::Direct)?;
        let connected = scene.connected().map(drop);
        // One that speaks version 1 only says so, which is no answer in version 2.
        Ok(connected.map_or(Value::Null, |()| scene.initialized.clone()))
    };
    [Version::V1, Version::V2].into_iter().map(ask).collect()
}

/// The program to be put in front of agents: the one named by `NUDGE_BIN`, or that of the same build as this.
pub fn nudge() -> Result<PathBuf> {
    let named = std::env::var_os("NUDGE_BIN").map(PathBuf::from);
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("nudge"));
    let path = named.or_else(beside).context("the path of this program")?;
    if !path.exists() {
        bail!(
            "there is no {}: build it with `cargo build --bin nudge` or name it in NUDGE_BIN",
            path.display()
        );
    }
    Ok(path.canonicalize()?)
}

impl<'a> Scene<'a> {
    pub(crate) fn new(recipe: &'a Recipe, cache: &'a Cache, version: Version, route: Route) -> Result<Self> {
        let provider = StageProvider::start_blocking();
        let place = Place::new(recipe, &provider.url())?;
        let (chat, initialized, past) = (None, Value::Null, Vec::new());
        let capabilities = json!({});
        Ok(Self { recipe, provider, place, route, cache, version, capabilities, chat, initialized, past })
    }

    /// The conversation, begun if there is none.
    pub fn chat(&mut self) -> Result<&mut Chat> {
        let work = self.place.work();
        let chat = self.connected()?;
        if chat.session.is_empty() {
            chat.begin(&work)?;
        }
        Ok(chat)
    }

    /// The connection, made if there is none.
    pub fn connected(&mut self) -> Result<&mut Chat> {
        if self.chat.is_none() {
            let command = self.place.command(self.cache, self.recipe, &self.provider.url(), &self.route)?;
            let client = Client::start(command, &self.place.errors())?;
            let authenticate = self.recipe.authenticate.as_deref();
            let chat = Chat::connect(client, self.version, &self.capabilities, authenticate)?;
            if self.capabilities == json!({}) {
                self.initialized = chat.initialized.clone();
            }
            self.chat = Some(chat);
        }
        Ok(self.chat.as_mut().expect("it was just made"))
    }

    /// As [`restart`](Self::restart), but the client of the next connection can do this.
    pub fn restart_with(&mut self, capabilities: Value) {
        self.restart();
        self.capabilities = capabilities;
    }

    /// The version the client speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The command by which a user signs in on a terminal, with these arguments and variables.
    pub fn sign_in_command(&self, args: &[String], env: &[(String, String)]) -> Command {
        let base = self.provider.url();
        self.place.sign_in_command(self.cache, self.recipe, &base, &self.route, (args, env))
    }

    /// Ends the connection; the next step makes a new one, with a client that can do nothing in particular.
    pub fn restart(&mut self) {
        self.capabilities = json!({});
        if let Some(mut chat) = self.chat.take() {
            // Some agents do not leave by themselves; that is no failure here.
            let _ = chat.client.finish(Duration::from_secs(5));
            self.past.append(&mut chat.client.record);
        }
    }

    /// Kills the program and all in its process group; the next step makes a new connection.
    pub fn kill(&mut self) {
        if let Some(mut chat) = self.chat.take() {
            self.past.append(&mut chat.client.record);
        }
    }

    /// Begins a rule for what the user says in the conversation, and not for what the agent asks beside it.
    pub fn on(&self, text: &'static str) -> ReplyRule {
        self.rule(text, Moment::Said)
    }

    /// Begins a rule for the results of the tools that were called after the user had said this.
    pub fn on_result(&self, text: &'static str) -> ReplyRule {
        self.rule(text, Moment::Result)
    }

    fn rule(&self, text: &'static str, moment: Moment) -> ReplyRule {
        let rule = self.provider.on_any().at_any_moment();
        let rule = rule.when(move |seen| script::moment(seen, text) == Some(moment));
        if self.recipe.shell.is_some() { rule.with_tools() } else { rule }
    }

    /// The call by which the model runs a command, if the agent has a tool for that.
    pub fn shell(&self, command: &str) -> Option<ModelReply> {
        let shell = self.recipe.shell.as_ref()?;
        Some(ModelReply::call(&shell.tool, shell.filled(&[("command", command)])))
    }

    /// The call by which the model writes a file, if the agent has a tool for that.
    pub fn write(&self, path: &str, text: &str) -> Option<ModelReply> {
        let write = self.recipe.write.as_ref()?;
        Some(ModelReply::call(&write.tool, write.filled(&[("path", path), ("text", text)])))
    }

    /// A story that begins, waits at the gate of this name, and then goes on for twenty seconds: some agents notice a
    /// cancel only when the model says something.
    pub fn story(&self, gate: &str) -> ModelReply {
        let reply = ModelReply::chunks(["a long story "]).and_gate(gate);
        reply.and_text("and then ".repeat(200)).every(Duration::from_millis(50))
    }

    /// Whether `session/inject` is offered in this mode.
    pub fn takes(&mut self, mode: &str) -> Result<bool> {
        Ok(self.chat()?.inject_modes().contains(&mode))
    }

    /// How a turn may end that was cancelled. Nudge knows better than some agents.
    pub fn may_end_as(&self) -> Vec<String> {
        let own = if self.route == Route::Direct { &self.recipe.cancel_ends_as[..] } else { &[] };
        own.iter().cloned().chain(["cancelled".to_owned()]).collect()
    }

    /// Waits until the model stands at a gate.
    pub fn reached(&mut self, gate: &str) -> Result<()> {
        let gate = self.provider.gate(gate);
        let chat = self.chat()?;
        chat.client.until("the request to the model", PATIENCE, |_| (gate.arrivals() > 0).then_some(()))
    }

    /// The first request to the model in which the user has just said this.
    pub fn asked(&self, text: &str) -> Option<SeenRequest> {
        self.request(|seen| script::moment(seen, text) == Some(Moment::Said))
    }

    /// The first request to the model that `test` accepts, of those that came.
    pub fn request(&self, test: impl Fn(&SeenRequest) -> bool) -> Option<SeenRequest> {
        self.provider.requests().into_iter().find(|seen| test(seen))
    }

    /// Writes down what was said, in place of an earlier run.
    pub(crate) fn keep(&self, folder: &Path) -> Result<()> {
        self.place.keep(folder)?;
        let lines: Vec<_> = self.past.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        std::fs::write(folder.join("client.jsonl"), lines.join("\n") + "\n")?;
        std::fs::write(folder.join("provider.txt"), format!("{:?}", self.provider))?;
        Ok(())
    }
}

//! `nudge doctor`: starts an agent and shows what it offers, and what Nudge adds; or looks at Nudge itself.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use nudge_adapt::{AgentOffers, DownstreamAgent, SteerTier};
use nudge_wire::{
    RawJson, Version,
    caps::{AgentInit, ClientInit},
};
use serde_json::{Value, json};

use super::own_health;
use crate::{
    agents::catalogue,
    args::AgentArgs,
    data_place::DataPlace,
    log, output,
    serving::DownstreamCommand,
    settings::{LoadedSettings, SettingOrigin},
    terminal_text,
};

/// See whether all is well with Nudge, or with an agent: what it offers, what Nudge adds, and what is wrong
///
/// Without an agent it looks at the settings, the data folder, the store, the daemon, the log and the built-in agent, also
/// if a settings file names an agent. The status is 1 if something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge doctor                   is all well with Nudge itself?
  nudge doctor -- goose acp      what does this agent offer, and does it start?
  nudge doctor --agent claude    one of `nudge agents`")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    agent: AgentArgs,
}

/// What was found.
pub(super) struct DoctorReport {
    name: String,
    started: Duration,
    init: AgentInit,
    /// The newest version it speaks.
    newest: Version,
    /// Whether a session could be begun: why not, otherwise.
    pub(super) session: Result<(), String>,
}

pub(crate) fn run(args: &DoctorArgs, place: &DataPlace, loaded: &LoadedSettings) -> Result<ExitCode> {
    let settings = &loaded.settings;
    let named = settings.agent_name.value.as_deref();
    // The agent of a file is the one that editors use; it is looked at when it is asked for.
    let named = named.filter(|_| !matches!(settings.agent_name.origin, SettingOrigin::File(..)));
    let named = named.filter(|_| args.agent.command.is_empty());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the event loop")?;
    let Some(downstream) = args.agent.downstream(settings, named)? else {
        let is_well = runtime.block_on(own_health::check(place, loaded, args.json));
        runtime.shutdown_timeout(Duration::from_secs(3));
        return Ok(if is_well? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    };
    if !args.json {
        output::remark(format!("starting {} …", terminal_text::one_line(&downstream.name)));
    }
    let report = runtime.block_on(examine(&downstream));
    runtime.shutdown_timeout(Duration::from_secs(3));
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            let error = error_without_lines(&error, &log::take_agent_lines());
            return Err(anyhow::anyhow!(error)).with_context(|| advice(named, &downstream));
        }
    };
    if args.json {
        output::say_json(report.json())?;
    } else {
        output::say(report.text())?;
        if report.session.is_err() {
            show_agent_lines(&log::take_agent_lines());
        }
    }
    Ok(if report.session.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows what the agent wrote to standard error, and gives its error without a repetition of that.
fn error_without_lines(error: &anyhow::Error, lines: &[String]) -> String {
    let error = terminal_text::one_line(&error.to_string());
    show_agent_lines(lines);
    if lines.is_empty() {
        return error;
    }
    let tail = error.find("; its last lines on standard error: ");
    tail.map_or(error.clone(), |at| error[..at].to_owned())
}

fn show_agent_lines(lines: &[String]) {
    if !lines.is_empty() {
        let lines = lines.iter().map(|line| format!("  | {}", terminal_text::one_line(line)));
        output::remark(format!("it wrote to standard error:\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
}

pub(super) async fn examine(downstream: &DownstreamCommand) -> Result<DoctorReport> {
    let began = Instant::now();
    let agent = DownstreamAgent::new(downstream.spec(None), client(Version::V1));
    let init = agent.init().await.map_err(|error| anyhow::anyhow!(error.message))?;
    let started = began.elapsed();
    let session = begin(&agent, downstream).await;
    drop(agent);
    let agent = DownstreamAgent::new(downstream.spec(None), client(Version::V2));
    let newest = agent.init().await.map_or(init.version, |init| init.version);
    Ok(DoctorReport { name: downstream.name.clone(), started, init, newest, session })
}

async fn begin(agent: &Arc<DownstreamAgent>, downstream: &DownstreamCommand) -> Result<(), String> {
    let params = raw(&json!({ "cwd": downstream.cwd, "mcpServers": [] }));
    let asked = agent.request(Version::V1, "session/new", &params, None);
    match tokio::time::timeout(Duration::from_mins(2), asked).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) if error.code.0 == -32000 => {
            Err(format!("it wants a sign-in first: {}", error.message))
        }
        Ok(Err(error)) => Err(error.message),
        Err(_) => Err("it did not answer within two minutes".to_owned()),
    }
}

fn client(version: Version) -> ClientInit {
    let info = json!({ "name": "nudge doctor", "version": env!("CARGO_PKG_VERSION") });
    let params = match version {
        Version::V1 => json!({ "protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info }),
        Version::V2 => json!({ "protocolVersion": 2, "capabilities": {}, "info": info }),
    };
    ClientInit::new(version, raw(&params))
}

/// What to try if it does not start.
fn advice(name: Option<&str>, downstream: &DownstreamCommand) -> String {
    match name.and_then(catalogue::find) {
        Some(known) => format!("{} does not start; it comes in {}", known.title, known.package),
        None => format!(
            "`{}` does not start; try the command in a terminal, it has to speak ACP on standard input",
            downstream.name
        ),
    }
}

impl DoctorReport {
    fn rows(&self) -> Vec<(&'static str, bool, String)> {
        let offers = AgentOffers::of(&self.init);
        let tier = SteerTier::of(&self.init);
        let supplied = |has: bool| if has { "the agent's" } else { "added, from Nudge's store" }.to_owned();
        let passed = |has: bool| if has { "the agent's" } else { "not offered" }.to_owned();
        let steer = format!("added, tier {}: {}", tier.number(), way(tier));
        vec![
            ("session/load", offers.load, supplied(offers.load)),
            ("session/resume", offers.resume, supplied(offers.resume)),
            ("session/list", offers.list, supplied(offers.list)),
            ("session/close", offers.close, supplied(offers.close)),
            ("session/delete", offers.delete, supplied(offers.delete)),
            ("session/fork", offers.fork, passed(offers.fork)),
            ("queue, revoke, replace", false, "added".to_owned()),
            ("steer", tier != SteerTier::Cancel, steer),
            ("next edit suggestions", self.init.nes().is_some(), "added".to_owned()),
            (
                "version 2",
                self.newest == Version::V2,
                if self.newest == Version::V2 { "the agent's" } else { "added" }.to_owned(),
            ),
            ("images", offers.image, passed(offers.image)),
            ("embedded resources", offers.embedded_context, passed(offers.embedded_context)),
        ]
    }

    fn title(&self) -> String {
        let info = |name: &str| {
            let paths = [["agentInfo", name], ["info", name]];
            paths.into_iter().find_map(|path| self.init.result.get(&path)?.to::<String>().ok())
        };
        match (info("name"), info("version")) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name,
            _ => self.name.clone(),
        }
    }

    fn sign_ins(&self) -> Vec<String> {
        let methods: Option<Vec<Value>> =
            self.init.result.get(&["authMethods"]).and_then(|methods| methods.to().ok());
        let ids = methods.unwrap_or_default().into_iter().filter_map(|method| {
            method["id"].as_str().or_else(|| method["methodId"].as_str()).map(str::to_owned)
        });
        ids.collect()
    }

    fn text(&self) -> String {
        let (title, seconds) = (terminal_text::one_line(&self.title()), self.started.as_secs_f32());
        let version = self.newest.number();
        let mut lines = vec![format!("{title} started in {seconds:.1} s and speaks version {version}")];
        lines.push(match &self.session {
            Ok(()) => "a session could be begun".to_owned(),
            Err(why) => format!("a session could NOT be begun: {}", terminal_text::one_line(why)),
        });
        let sign_ins = self.sign_ins();
        if !sign_ins.is_empty() {
            lines.push(format!("ways to sign in: {}", terminal_text::one_line(&sign_ins.join(", "))));
        }
        lines.push(format!("\n{:<24} {:<6} through Nudge", "", "itself"));
        let rows = self.rows().into_iter();
        lines.extend(rows.map(|(what, has, through)| {
            format!("{what:<24} {:<6} {through}", if has { "yes" } else { "no" })
        }));
        lines.join("\n")
    }

    fn json(&self) -> Value {
        let rows = self.rows().into_iter();
        let features: Vec<_> = rows
            .map(|(what, has, through)| json!({ "feature": what, "native": has, "throughNudge": through }))
            .collect();
        json!({
            "agent": self.title(),
            "startMillis": u64::try_from(self.started.as_millis()).unwrap_or(u64::MAX),
            "protocolVersion": self.newest.number(),
            "steerTier": SteerTier::of(&self.init).number(),
            "session": self.session.is_ok(),
            "problem": self.session.as_ref().err(),
            "signIns": self.sign_ins(),
            "features": features,
        })
    }
}

fn way(tier: SteerTier) -> &'static str {
    match tier {
        SteerTier::Inject => "by the agent's own session/inject",
        SteerTier::Steering => "by the agent's own _session/steering",
        SteerTier::Goose => "by the agent's own _goose/unstable/session/steer",
        SteerTier::Prompt => "by a prompt while it works, which the agent takes",
        SteerTier::Cancel => "the turn is cut off at a break-point and goes on with the steer",
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::of(value).expect("plain data with string keys is JSON")
}

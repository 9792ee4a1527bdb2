//! `nudge acp -- AGENT` on a terminal that a client has opened for the user to sign in to the agent: the agent has the terminal.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitCode, ExitStatus},
};

use anyhow::{Context, Result};
use nudge_adapt::{AGENT_LOGIN_VARIABLE, AgentLogin};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::AcpArgs,
    data_place::DataPlace,
    output,
    sessions::{DaemonLink, runtime},
    settings::Settings,
};

/// How the agent is to be signed in to, if this process was started for that.
pub(crate) fn asked() -> Option<Result<AgentLogin>> {
    let said = std::env::var(AGENT_LOGIN_VARIABLE).ok().filter(|said| !said.is_empty())?;
    let read = serde_json::from_str(&said);
    // Its text is not told: there may be keys in it.
    Some(read.map_err(|_| {
        anyhow::anyhow!("{AGENT_LOGIN_VARIABLE} does not say how to sign in; it is set by editors")
    }))
}

/// Gives the terminal to the agent and ends as it does. When it has ended well, a daemon that runs it starts it again, so that it
/// sees the sign-in.
pub(crate) fn run(
    args: &AcpArgs,
    login: AgentLogin,
    place: &DataPlace,
    settings: &Settings,
) -> Result<ExitCode> {
    let named = args.agent.downstream(settings, settings.agent_name.value.as_deref())?;
    let (env, named) = named.map(|agent| (agent.env, (agent.program, agent.args))).unzip();
    let agent = login.agent.clone().or(named);
    let agent = agent.context("name the agent to sign in to, as in `nudge acp -- AGENT`")?;
    let client = login.client.clone();
    let mut command = command(&agent, env.unwrap_or_default(), login);
    runtime()?.block_on(async {
        let status = wait(&mut command).await?;
        if status.success() {
            tell_daemon(place, &agent, client).await;
        }
        Ok(ending(status))
    })
}

fn command((program, own): &(String, Vec<String>), env: Vec<(String, String)>, login: AgentLogin) -> Command {
    let mut command = Command::new(login.command.as_ref().unwrap_or(program));
    if login.command.is_none() {
        command.args(own);
    }
    command.args(login.args).envs(env).envs(login.env).env_remove(AGENT_LOGIN_VARIABLE);
    command
}

/// Runs it to its end. What the terminal tells all that is on it, such as Ctrl-C, is for the agent to heed; what only this process
/// is told is passed on.
async fn wait(command: &mut Command) -> Result<ExitStatus> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let shown = command.get_program().to_string_lossy().into_owned();
    let child = command.spawn().with_context(|| format!("cannot start {shown}"))?;
    let pid = pid(&child);
    let mut ended = tokio::task::spawn_blocking(move || {
        let mut child = child;
        child.wait()
    });
    loop {
        tokio::select! {
            ended = &mut ended => return ended?.context("cannot wait for the agent"),
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
            _ = terminate.recv() => pass_on(pid, Signal::TERM),
            _ = hang_up.recv() => pass_on(pid, Signal::HUP),
        }
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn pass_on(pid: Option<Pid>, signal: Signal) {
    if let Some(pid) = pid {
        // It may have ended just now.
        let _ = kill_process(pid, signal);
    }
}

fn ending(status: ExitStatus) -> ExitCode {
    let by_signal = || status.signal().map_or(1, |signal| 128 + signal);
    ExitCode::from(u8::try_from(status.code().unwrap_or_else(by_signal)).unwrap_or(1))
}

async fn tell_daemon(place: &DataPlace, (program, args): &(String, Vec<String>), client: Option<String>) {
    let told = async {
        let Some(link) = DaemonLink::connect(place)? else { return Ok(()) };
        let params = json!({ "program": program, "args": args, "client": client });
        link.run(async |client| client.request("_nudge/agent_signed_in", &params).await.map(drop)).await
    };
    if let Err(error) = told.await {
        output::remark(format!(
            "nudge: signed in, but the daemon could not be told ({error:#}); `nudge stop` has it start the agent again"
        ));
    }
}

//! `nudge chat`: a conversation with an agent in this terminal.

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    process::{ExitCode, Stdio},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use nudge_chat::{
    ChatConnector, ChatEnd, ChatForm, ChatSettings, OneQuestion, SessionWish, SignInRun,
    permission_text::quoted, terminal_text,
};

use crate::{
    acp,
    args::AgentArgs,
    connectors::{OwnGateway, through_daemon},
    data_place::DataPlace,
    output,
    serving::DownstreamCommand,
    sessions::{self, LookupPurpose, StoreView},
    settings::{DaemonMode, Settings},
};

/// Talk to an agent in this terminal; `nudge` alone does the same
///
/// The built-in agent answers, or the one behind `--` or of `--agent`. While it works, Enter hands a message over for a turn of
/// its own, and Alt-Enter or Ctrl-S puts it into the turn that runs. The session is held by the daemon: it goes on when this
/// terminal is closed, can be taken up again, and editors and other terminals can join it.
///
/// With a QUESTION the answer is written to standard output, and that is all; what the agent asks for is refused then, unless
/// the mode permits it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge chat                            the built-in agent
  nudge chat -- goose acp               any ACP agent
  nudge chat --resume                   choose from the sessions of this folder
  nudge chat --resume last              the newest of this folder, also while an editor has it
  nudge chat \"what does this project do?\"
  git diff | nudge chat -               a question from standard input
  git diff | nudge chat \"is this right?\" -   words, and what standard input says
  nudge chat --json \"hi\" | jq .sessionUpdate

Keys: Enter says or queues, Alt-Enter or Ctrl-S steers, Esc stops, Ctrl-C twice leaves; /help shows all.")]
pub(crate) struct ChatArgs {
    /// One question, answered on standard output; `-` as the last word stands for what standard input says
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,
    /// Take up a session: an id, the beginning of one, or `last`; without one, choose from those of this folder
    #[arg(short, long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Lines alone, nothing drawn: for screen readers, and where keys do not work
    #[arg(long)]
    plain: bool,
    /// With a question: every update as a line of JSON
    #[arg(long, requires = "question")]
    json: bool,
    /// With a question: choose a setting of the session first, such as mode=edit
    #[arg(long, value_name = "NAME=VALUE", requires = "question")]
    set: Vec<String>,
    #[command(flatten)]
    agent: AgentArgs,
}

pub(crate) fn run(args: &ChatArgs, place: &DataPlace, settings: &Settings) -> Result<ExitCode> {
    let question = args.question()?;
    let is_on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let form = if args.plain || !is_on_terminal || is_dumb { ChatForm::Lines } else { ChatForm::Drawn };
    if question.is_some() && args.resume.as_deref() == Some("") {
        bail!("expected a session to put the question in: `--resume last`, or an id");
    }
    let serving = acp::serving(&args.agent, settings)?;
    let runtime = sessions::runtime()?;
    let end = runtime.block_on(async {
        let wish = wish(args.resume.as_deref(), place).await?;
        let chat = ChatSettings {
            wish,
            cwd: std::env::current_dir().context("cannot tell the current folder")?,
            seed: getrandom::u64().context("the system has no random numbers")?,
            form,
            has_colours: output::has_colours(&io::stdout()),
            sign_in: sign_in(serving.agent.as_ref(), place),
        };
        if settings.daemon_mode == DaemonMode::Off || place.socket().is_none() {
            let own = OwnGateway::new(place.clone(), serving);
            let end = talk(chat, question, own.connector()).await;
            own.end().await;
            return end;
        }
        talk(chat, question, through_daemon(place, &serving)).await
    });
    // A read from a terminal cannot be interrupted; it must not hold up the end.
    runtime.shutdown_background();
    report(&end?, form, &args.agent.command)
}

async fn talk(
    settings: ChatSettings,
    question: Option<OneQuestion>,
    connector: ChatConnector,
) -> Result<ChatEnd> {
    match question {
        Some(question) => {
            nudge_chat::ask(settings, question, connector).await.context("cannot write the answer")
        }
        None => nudge_chat::hold(settings, connector).await.context("cannot use the terminal"),
    }
}

/// Says how it ended and how to come back.
fn report(end: &ChatEnd, form: ChatForm, agent: &[String]) -> Result<ExitCode> {
    for text in &end.unsaid {
        output::remark(format!("nudge: this was not said: {}", terminal_text::lines(text)));
    }
    let back = end.session.as_deref().map(terminal_text::one_line);
    match (&end.problem, back) {
        (Some(problem), Some(session)) => bail!("{problem}; the session is {session}"),
        (Some(problem), None) => bail!("{problem}"),
        (None, Some(session)) if form == ChatForm::Drawn && end.code == 0 => {
            let agent = agent.iter().map(|word| format!(" {}", terminal_text::one_line(&quoted(word))));
            let agent: String = agent.collect();
            let agent = if agent.is_empty() { agent } else { format!(" --{agent}") };
            output::remark(format!("to go on: nudge chat --resume {session}{agent}"));
        }
        _ => {}
    }
    Ok(ExitCode::from(end.code))
}

impl ChatArgs {
    fn question(&self) -> Result<Option<OneQuestion>> {
        if self.question.is_empty() {
            return Ok(None);
        }
        let text = sessions::message(&self.question)?;
        let option = |pair: &String| match pair.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => bail!("expected --set NAME=VALUE, such as --set mode=edit"),
        };
        let options = self.set.iter().map(option).collect::<Result<_>>()?;
        Ok(Some(OneQuestion { text, is_json: self.json, options }))
    }
}

/// The session that is meant.
async fn wish(name: Option<&str>, place: &DataPlace) -> Result<SessionWish> {
    match name {
        None => Ok(SessionWish::New),
        Some("") => Ok(SessionWish::Choose),
        Some(name) => {
            let session = StoreView::open(place).await?.find(name, LookupPurpose::GoOn).await?;
            Ok(SessionWish::Resume(session.id.to_string()))
        }
    }
}

/// Starts this program as an editor would to let the user sign in.
fn sign_in(agent: Option<&DownstreamCommand>, place: &DataPlace) -> SignInRun {
    let mut line = vec!["acp".into()];
    if let Some(data) = &place.data {
        line.extend(["--data".into(), data.clone()]);
    }
    if let Some(agent) = agent {
        line.extend(["--".into(), agent.program.clone().into()]);
        line.extend(agent.args.iter().map(Into::into));
    }
    Arc::new(move |args, env| {
        let mut line = line.clone();
        // What the agent wants said stands before its own arguments.
        let at = line.iter().position(|word| word == "--").unwrap_or(line.len());
        line.splice(at..at, args.into_iter().map(Into::into));
        Box::pin(async move {
            let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("nudge"));
            let mut command = tokio::process::Command::new(program);
            command.args(line).envs(env);
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
            command.status().await.is_ok_and(|status| status.success())
        })
    })
}

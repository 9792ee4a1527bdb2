//! `nudge login`: how a provider is reached is asked for, tried out, and kept.

use std::{
    io::{self, Read},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nudge_model::{
    AccessOrigin, ApiType, ModelProvider, PROVIDERS, ProviderAccess, ProviderState, SecretText,
};
use nudge_vault::{KeyCommand, LoginKey, VaultLogin};
use nudge_wire::Environment;

use super::{
    ask,
    desk::{ProviderDesk, known},
};
use crate::{data_place::DataPlace, output, terminal_text};

/// How long a command may take to print the key that is tried out.
const COMMAND: Duration = Duration::from_secs(30);
/// The longest key that is read.
const LONGEST_KEY: u64 = 16 * 1024;
/// How often somebody is asked who does not choose.
const TRIES: usize = 3;

/// Connect a model to the built-in agent: sign in to a provider and keep its key
///
/// Asks for the key without showing it, tries it out with one small request, and keeps it: in the keyring of the system, or else
/// in a file that only you can read. It says which. A daemon that runs takes it over at once.
///
/// A key is never an argument, where others can see it. Give it with --key-stdin, or name a command that prints it.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  nudge login                        choose a provider from a list
  nudge login anthropic              asks for the key
  nudge login ollama                 a model on this machine, without a key
  nudge login custom --url http://127.0.0.1:8080/v1 --model qwen3-coder
  nudge login openai --key-command 'pass show openai'
  nudge login gemini --key-stdin < key.txt")]
pub(crate) struct LoginArgs {
    /// The provider: anthropic, openai, azure, gemini, vertex, bedrock, ollama, or custom for any other server
    provider: Option<String>,

    /// Its address, if it is not the provider's own
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// How it is spoken to, if not as is usual there; for `custom`: `openai`, `openai_responses`, `anthropic`, `gemini` or `ollama`
    #[arg(long, value_name = "TYPE")]
    api: Option<String>,

    /// A command that prints the key, run whenever the key is needed; no shell reads it
    #[arg(long, value_name = "CMD", conflicts_with = "key_stdin")]
    key_command: Option<String>,

    /// Read the key from standard input
    #[arg(long)]
    key_stdin: bool,

    /// The model that is tried out; any, if none is named
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Keep it without trying it out
    #[arg(long)]
    no_test: bool,

    /// A key as an argument, which is refused.
    #[arg(long = "key", hide = true)]
    key: Option<String>,

    /// More arguments, which may be keys and are refused.
    #[arg(hide = true)]
    more: Vec<String>,
}

impl LoginArgs {
    /// To this provider, or to one that the user chooses.
    pub(crate) fn to(provider: Option<String>) -> Self {
        Self { provider, ..Self::default() }
    }
}

/// What is to be kept, and how it is tried out.
struct NewLogin {
    access: ProviderAccess,
    login: VaultLogin,
}

pub(crate) fn login(args: &LoginArgs, place: &DataPlace) -> Result<ExitCode> {
    if args.key.is_some() || !args.more.is_empty() {
        bail!(
            "a key is not taken as an argument: others can see it there, and your shell may remember it. \
             Leave it out to be asked for it, or use --key-stdin"
        );
    }
    let desk = ProviderDesk::open(place, args.model.clone())?;
    let logins = desk.logins()?;
    let provider = match &args.provider {
        Some(id) => known(id)?,
        None => choose(&desk)?,
    };
    let new = new_login(args, provider, &desk.environment)?;
    if !args.no_test {
        try_out(&desk, &new.access)?;
    }
    let stored = logins.0.put(&new.login)?;
    output::say(format!("signed in to {}; {stored}", provider.name))?;
    if let Some(found) = ProviderAccess::from_environment(provider, &desk.environment) {
        output::remark(format!("{} comes before it where it is set", found.origin));
    }
    Ok(ExitCode::SUCCESS)
}

/// Has the user choose a provider.
fn choose(desk: &ProviderDesk) -> Result<&'static ModelProvider> {
    if !ask::has_terminal() {
        bail!("without a terminal nothing can be asked; name the provider: `nudge login PROVIDER`");
    }
    let rows = desk.states(None)?.iter().enumerate().map(row).collect::<Vec<_>>();
    output::remark(format!("Which provider?\n{}", rows.join("\n")));
    for _ in 0..TRIES {
        let answer = ask::line("Number or name: ")?;
        let by_number = answer.parse::<usize>().ok().and_then(|number| PROVIDERS.get(number.checked_sub(1)?));
        if let Some(provider) = by_number.or_else(|| ModelProvider::named(&answer.to_lowercase())) {
            return Ok(provider);
        }
        output::remark(format!("expected a number from 1 to {}, or a name of the list", PROVIDERS.len()));
    }
    bail!("no provider was chosen")
}

fn row((at, state): (usize, &ProviderState)) -> String {
    let ModelProvider { id, name, .. } = state.provider;
    let found = match state.access.as_ref().map(|access| &access.origin) {
        Some(AccessOrigin::Stored) => "signed in already".to_owned(),
        Some(AccessOrigin::Local) => "answers on this machine".to_owned(),
        Some(origin) => format!("found: {origin}"),
        None => String::new(),
    };
    format!("  {}  {id:<10} {name:<18} {found}", at + 1).trim_end().to_owned()
}

/// What the arguments say, and the user where they do not.
fn new_login(
    args: &LoginArgs,
    provider: &'static ModelProvider,
    environment: &Environment,
) -> Result<NewLogin> {
    let url = match &args.url {
        Some(url) => Some(url.clone()),
        None if provider.base_url.is_some() => None,
        None => Some(ask_for_address(provider)?),
    };
    let access = access(provider, url.as_deref(), args.api.as_deref())?;
    let key = key(args, provider)?;
    let tried = match &key {
        LoginKey::Nothing => None,
        LoginKey::Text(key) => Some(key.clone()),
        LoginKey::Command(_) if args.no_test => None,
        LoginKey::Command(command) => Some(command.run(COMMAND, environment)?),
    };
    let login = VaultLogin {
        provider: provider.id.to_owned(),
        base_url: url.map(|_| access.base_url.clone()),
        api_type: args.api.as_ref().map(|_| access.api_type.name().to_owned()),
        key,
    };
    Ok(NewLogin { access: access.with_key(tried), login })
}

fn ask_for_address(provider: &ModelProvider) -> Result<String> {
    let example = match provider.id {
        "azure" => "https://NAME.openai.azure.com",
        "vertex" => "https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION",
        "bedrock" => "https://bedrock-runtime.REGION.amazonaws.com",
        _ => "http://127.0.0.1:8080/v1",
    };
    if !ask::has_terminal() {
        bail!("{} has no address of its own; name it with --url, such as {example}", provider.name);
    }
    ask::line(&format!("Address of {} (such as {example}): ", provider.name))
}

fn access(provider: &'static ModelProvider, url: Option<&str>, api: Option<&str>) -> Result<ProviderAccess> {
    let access = ProviderAccess::stored(provider, url, None);
    let access =
        access.context("expected an http or https address without user, query and fragment for --url")?;
    let Some(api) = api else { return Ok(access) };
    // The underscore of those that the protocol does not have is easily forgotten.
    let api_type = ApiType::named(api).or_else(|| ApiType::named(&format!("_{api}")));
    let spoken = api_type.and_then(|api_type| access.spoken(api_type));
    spoken.with_context(|| format!("expected one of {} for --api", provider.supported().join(", ")))
}

/// The key, from wherever it is to come.
fn key(args: &LoginArgs, provider: &ModelProvider) -> Result<LoginKey> {
    if let Some(line) = &args.key_command {
        return Ok(LoginKey::Command(key_command(line)?));
    }
    let may_be_none = matches!(provider.id, "ollama" | "custom");
    let text = if args.key_stdin {
        read_key()?
    } else if provider.id == "ollama" && args.url.is_none() {
        String::new()
    } else if ask::has_terminal() {
        let none = if may_be_none { ", or Enter for none" } else { "" };
        ask::hidden(&format!("Key for {} (it is not shown{none}): ", provider.name))?
    } else if may_be_none {
        String::new()
    } else {
        bail!(
            "without a terminal no key can be asked for; give it with --key-stdin, or a command with --key-command"
        );
    };
    match text.as_str() {
        "" if may_be_none && !args.key_stdin => Ok(LoginKey::Nothing),
        "" => bail!("there is no key; nothing is kept"),
        text => Ok(LoginKey::Text(SecretText::new(text))),
    }
}

fn read_key() -> Result<String> {
    let mut text = String::new();
    let read = io::stdin().take(LONGEST_KEY + 1).read_to_string(&mut text);
    let is_short = read.context("cannot read a key from standard input")? as u64 <= LONGEST_KEY;
    if !is_short {
        bail!("what comes from standard input is too long for a key");
    }
    Ok(text.trim().to_owned())
}

/// A command as it can be run in any folder.
fn key_command(line: &str) -> Result<KeyCommand> {
    let command = KeyCommand::parse(line)?;
    if !command.program().contains('/') {
        return Ok(command);
    }
    let program =
        std::path::absolute(Path::new(command.program())).context("cannot tell the current folder")?;
    let program =
        program.into_os_string().into_string().ok().context("the name of the key command is no text")?;
    let words = std::iter::once(program).chain(command.words()[1..].iter().cloned());
    Ok(KeyCommand::new(words.collect())?)
}

/// Asks a model for one word. What does not work is kept only if the user says so.
fn try_out(desk: &ProviderDesk, access: &ProviderAccess) -> Result<()> {
    output::remark(format!("trying {} …", access.provider.name));
    let error = match desk.wait(desk.models.test(access, &desk.client)) {
        Ok(tested) => {
            let (model, seconds) = (terminal_text::row(&tested.model), tested.latency.as_secs_f32());
            return output::say(format!("{model} began to answer after {seconds:.1} s"));
        }
        Err(error) => terminal_text::one_line(&error.to_string()),
    };
    if !ask::has_terminal() {
        bail!("it does not work: {error}. Nothing is kept; --no-test keeps it untried");
    }
    output::remark(format!("It does not work: {error}"));
    if ask::yes("Keep it all the same?")? { Ok(()) } else { bail!("nothing is kept") }
}

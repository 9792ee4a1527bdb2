//! The agents that Nudge can stand in front of: how one is named on the command line, and which are known.

pub(crate) mod catalogue;
pub(crate) mod doctor;
pub(crate) mod list;
mod own_health;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::{args::AgentArgs, serving::DownstreamCommand, settings::Settings};

impl AgentArgs {
    /// The agent that was asked for: by its command, or else by the name in the catalogue. `None` for the built-in one.
    pub(crate) fn downstream(
        &self,
        settings: &Settings,
        name_asked: Option<&str>,
    ) -> Result<Option<DownstreamCommand>> {
        let cwd = std::env::current_dir().context("cannot tell the current folder")?;
        let (name, program, args) = if let Some((program, args)) = self.command.split_first() {
            (name(program, args), program.clone(), args.to_vec())
        } else {
            let Some(name) = name_asked.filter(|name| *name != catalogue::BUILT_IN) else { return Ok(None) };
            let Some(known) = catalogue::find(name) else {
                bail!(
                    "there is no agent `{name}` in the catalogue; `nudge agents` lists them, and `-- COMMAND` takes any"
                );
            };
            let args = known.args.iter().map(|arg| (*arg).to_owned()).collect();
            (known.name.to_owned(), known.program.to_owned(), args)
        };
        let (isolate, patience) = (settings.agent_isolate, settings.agent_patience);
        let start_timeout = settings.agent_start_timeout;
        Ok(Some(DownstreamCommand {
            name,
            program,
            args,
            env: Vec::new(),
            cwd,
            isolate,
            patience,
            start_timeout,
        }))
    }
}

/// What a command is called: after the program, or after what a runner of packages or scripts runs.
fn name(program: &str, args: &[String]) -> String {
    let base = |path: &str| {
        let file = Path::new(path).file_name().map_or(path, |name| name.to_str().unwrap_or(path));
        file.trim_end_matches(".js").trim_end_matches(".py").to_owned()
    };
    let program = base(program);
    if !matches!(
        &*program,
        "npx" | "bunx" | "uvx" | "node" | "bun" | "deno" | "python" | "python3" | "env" | "sh"
    ) {
        return program;
    }
    let first = args.iter().find(|arg| !arg.starts_with('-') && !arg.contains('='));
    first.map_or(program, |arg| {
        let without_scope = arg.rsplit('/').next().unwrap_or(arg);
        base(without_scope.split('@').next().filter(|name| !name.is_empty()).unwrap_or(without_scope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_called_after_what_runs() {
        let check = |command: &str, expected: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let (program, args) = words.split_first().unwrap();
            assert_eq!(name(program, args), expected, "{command}");
        };
        check("goose acp", "goose");
        check("/opt/bin/opencode acp", "opencode");
        check("npx -y @agentclientprotocol/claude-agent-acp@0.99.1", "claude-agent-acp");
        check("node dist/index.js --acp", "index");
        check("uvx fast-agent-acp", "fast-agent-acp");
        check("npx", "npx");
    }
}

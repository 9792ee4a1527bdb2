//! Commands in the environment of an editor.

use nudge_process::ProcessCommand;
use nudge_wire::Environment;

/// A command that sees these variables, and none of this process's own.
pub fn in_environment(environment: &Environment, mut command: ProcessCommand) -> ProcessCommand {
    let variables = environment.variables();
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(|name| !variables.contains_key(name)) {
            command = command.env_remove(name);
        }
    }
    variables.iter().fold(command, |command, (name, value)| command.env(name, value))
}

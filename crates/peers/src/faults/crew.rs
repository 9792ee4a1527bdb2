//! Who is taken through the faults: Nudge's own agent, others, and others behind Nudge.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{
    place::Route,
    recipe::{self, File, Recipe},
};

/// What the built-in agent is called here.
pub const NUDGE: &str = "nudge";
/// The agents of other people, by their names in the recipes.
const OTHERS: &[&str] =
    &["goose-1.52", "opencode", "claude-agent-acp", "codex-acp", "gemini-cli", "qwen-code"];

/// What the faults need beside the recipe: agent, variable, value.
const MORE_ENVIRONMENT: &[(&str, &str, &str)] = &[
    // Otherwise the model would have to search for the tools of MCP servers first.
    ("claude-agent-acp", "ENABLE_TOOL_SEARCH", "false"),
    // Otherwise it starts no MCP servers.
    ("gemini-cli", "GEMINI_CLI_TRUST_WORKSPACE", "true"),
];

/// The same for files: agent, path, text.
const MORE_FILES: &[(&str, &str, &str)] = &[
    // As with Claude Code: here it can be said for one tool.
    ("qwen-code", ".qwen/settings.json", r#"{ "tools": { "visible": ["mcp__frail__fall_over"] } }"#),
];

/// How Nudge's own agent is pointed at the stand-in: by the environment, as a user would.
const BUILT_IN: &str = r#"
name = "nudge"
version = ""
program = ""
args = ["acp", "--no-daemon", "--model", "openai/fake-model"]
shell = { tool = "run", arguments = { command = "{command}" } }

[env]
OPENAI_BASE_URL = "{base}/v1"
OPENAI_API_KEY = "sk-of-the-stand-in"
# Nobody is there, so that no model of this machine is found.
OLLAMA_HOST = "127.0.0.1:9"
NUDGE_KEYRING = "false"
"#;

/// One column: an agent and how it is reached.
#[derive(Debug, Clone)]
pub struct CrewMember {
    /// The agent.
    pub recipe: Recipe,
    /// The way to it.
    pub route: Route,
}

impl CrewMember {
    /// Whether Nudge is in front of it.
    pub fn is_behind(&self) -> bool {
        self.route != Route::Direct
    }

    /// Whether it is Nudge's own agent.
    pub fn is_built_in(&self) -> bool {
        self.recipe.name == NUDGE
    }

    /// What it is called in what is told of the run.
    pub fn title(&self) -> String {
        let title = self.recipe.title();
        if self.is_behind() { format!("{title} behind Nudge") } else { title }
    }
}

/// The agents of these names, all if there are none; behind Nudge too if that is wanted. `nudge` is the program.
pub fn crew(names: &[String], nudge: &Path, with_behind: bool) -> Result<Vec<CrewMember>> {
    let known = || std::iter::once(NUDGE).chain(OTHERS.iter().copied());
    if let Some(unknown) = names.iter().find(|name| !known().any(|known| known == name.as_str())) {
        bail!("there is no agent `{unknown}`; there is: {}", known().collect::<Vec<_>>().join(", "));
    }
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut crew = Vec::new();
    if is_wanted(NUDGE) {
        crew.push(CrewMember { recipe: built_in(nudge)?, route: Route::Direct });
    }
    let others: Vec<String> =
        OTHERS.iter().filter(|name| is_wanted(name)).map(|&name| name.to_owned()).collect();
    let others = if others.is_empty() { Vec::new() } else { recipe::chosen(&others)? };
    let others: Vec<_> = others.into_iter().map(with_more).collect();
    crew.extend(others.iter().map(|recipe| CrewMember { recipe: recipe.clone(), route: Route::Direct }));
    if with_behind {
        let route = Route::Nudge(nudge.to_owned());
        crew.extend(others.into_iter().map(|recipe| CrewMember { recipe, route: route.clone() }));
    }
    Ok(crew)
}

/// A recipe with what the faults need beside it.
fn with_more(mut recipe: Recipe) -> Recipe {
    for (_, variable, value) in MORE_ENVIRONMENT.iter().filter(|(name, ..)| *name == recipe.name) {
        recipe.env.insert((*variable).to_owned(), (*value).to_owned());
    }
    for (_, path, text) in MORE_FILES.iter().filter(|(name, ..)| *name == recipe.name) {
        recipe.files.push(File { path: (*path).to_owned(), text: (*text).to_owned() });
    }
    recipe
}

fn built_in(nudge: &Path) -> Result<Recipe> {
    let mut recipe: Recipe = toml::from_str(BUILT_IN)?;
    env!("CARGO_PKG_VERSION").clone_into(&mut recipe.version);
    recipe.program = nudge.display().to_string();
    Ok(recipe)
}

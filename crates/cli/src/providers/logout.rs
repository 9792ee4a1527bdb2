//! `nudge logout`: what `nudge login` has kept is forgotten.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nudge_vault::VaultEntry;

use super::desk::{ProviderDesk, known};
use crate::{data_place::DataPlace, output};

/// Forget a login and its key
///
/// Without a name it is the only one that there is. What the environment says is not touched, and counts from then on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge logout anthropic
  nudge logout --all")]
pub(crate) struct LogoutArgs {
    /// The provider, such as `anthropic`
    #[arg(conflicts_with = "all")]
    provider: Option<String>,

    /// Forget all of them
    #[arg(long)]
    all: bool,
}

pub(crate) fn logout(args: &LogoutArgs, place: &DataPlace) -> Result<ExitCode> {
    let desk = ProviderDesk::open(place, None)?;
    let vault = &desk.logins()?.0;
    let kept = vault.list()?;
    let ids = match (&args.provider, &kept[..]) {
        (Some(id), _) => vec![known(id)?.id.to_owned()],
        (None, []) => Vec::new(),
        (None, kept) if args.all || kept.len() == 1 => kept.iter().map(id).collect(),
        (None, kept) => {
            let ids: Vec<_> = kept.iter().map(id).collect();
            bail!("there are several logins: {}; name one, or use --all", ids.join(", "))
        }
    };
    let mut removed = 0;
    for id in &ids {
        let Some(login) = vault.remove(id)? else { continue };
        removed += 1;
        output::say(format!("signed out of {id}"))?;
        if let Some((name, fault)) = login.left_behind {
            output::remark(format!(
                "its key is still in the system's keyring, as `{name}` of `nudge`, and has to be removed there: {fault}"
            ));
        }
    }
    if removed == 0 {
        output::say("there is no such login")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn id(entry: &VaultEntry) -> String {
    entry.provider.clone()
}

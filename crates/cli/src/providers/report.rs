//! `nudge providers`: which there are, whether they answer, and which models they have. No key is shown.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nudge_model::{AccessOrigin, ModelChoice, ModelError, ProviderAccess, ProviderState, TestedProvider};
use nudge_vault::{KeyPlace, VaultEntry};
use serde_json::{Value, json};

use super::{ProviderArgs, desk::ProviderDesk};
use crate::{output, terminal_text};

/// Every provider and how it is reached.
pub(super) fn list(desk: &ProviderDesk, args: &ProviderArgs) -> Result<ExitCode> {
    let states = desk.states(args.provider.as_deref())?;
    let (kept, code) = match desk.logins.as_ref().map(|logins| logins.0.list()).transpose() {
        Ok(kept) => (kept.unwrap_or_default(), ExitCode::SUCCESS),
        Err(error) => {
            output::remark(format!("nudge: what `nudge login` keeps cannot be read: {error}"));
            (Vec::new(), ExitCode::FAILURE)
        }
    };
    if args.json {
        output::say_json(states.iter().map(|state| described(state, &kept)).collect::<Value>())?;
        return Ok(code);
    }
    let rows: Vec<[String; 4]> = states.iter().map(|state| row(state, &kept)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (ids, names, origins) = (width(0), width(1), width(2));
    for [id, name, origin, address] in &rows {
        output::say(format!("{id:<ids$}  {name:<names$}  {origin:<origins$}  {address}").trim_end())?;
    }
    if states.iter().all(|state| state.access.is_none()) {
        output::remark("none is set up; `nudge login` does that");
    }
    Ok(code)
}

fn row(state: &ProviderState, kept: &[VaultEntry]) -> [String; 4] {
    let ProviderState { provider, access, .. } = state;
    let (origin, address) = match access {
        None => ("not set up".to_owned(), String::new()),
        Some(access) => {
            let place = key_place(access, kept).map(|place| format!(" ({})", shown_place(place)));
            let place = place.unwrap_or_default();
            (format!("{}{place}", access.origin), access.base_url.clone())
        }
    };
    [provider.id.to_owned(), provider.name.to_owned(), origin, address]
        .map(|cell| terminal_text::one_line(&cell))
}

fn shown_place(place: &KeyPlace) -> String {
    match place {
        KeyPlace::Nowhere => "no key".to_owned(),
        KeyPlace::Keyring => "key in the keyring".to_owned(),
        KeyPlace::File(_) => "key in a file".to_owned(),
        KeyPlace::Command(command) => format!("key from `{}`", command.program()),
    }
}

/// Where the key of a provider lies that is kept.
fn key_place<'k>(access: &ProviderAccess, kept: &'k [VaultEntry]) -> Option<&'k KeyPlace> {
    let entry = kept.iter().find(|entry| entry.provider == access.provider.id)?;
    (access.origin == AccessOrigin::Stored).then_some(&entry.key)
}

fn described(state: &ProviderState, kept: &[VaultEntry]) -> Value {
    let ProviderState { provider, access, .. } = state;
    let key = access.as_ref().and_then(|access| key_place(access, kept)).map(|place| match place {
        KeyPlace::Nowhere => "none",
        KeyPlace::Keyring => "keyring",
        KeyPlace::File(_) => "file",
        KeyPlace::Command(_) => "command",
    });
    json!({
        "providerId": provider.id,
        "name": provider.name,
        "origin": access.as_ref().map(|access| access.origin.to_string()),
        "keptKey": key,
        "apiType": access.as_ref().map(|access| access.api_type.name()),
        "baseUrl": access.as_ref().map(|access| access.base_url.clone()),
        "supported": provider.supported(),
    })
}

/// The providers that can be asked.
fn reached(desk: &ProviderDesk, args: &ProviderArgs) -> Result<Vec<ProviderAccess>> {
    let states = desk.states(args.provider.as_deref())?;
    let reached: Vec<_> = states.into_iter().filter_map(|state| state.access).collect();
    match (&args.provider, reached.is_empty()) {
        (_, false) => Ok(reached),
        (Some(_), true) => bail!("this provider is not set up; `nudge login` does that"),
        (None, true) => bail!("no provider is set up; `nudge login` does that"),
    }
}

/// Has each provider say a word.
pub(super) fn test(desk: &ProviderDesk, args: &ProviderArgs) -> Result<ExitCode> {
    let mut told = Vec::new();
    let mut is_well = true;
    for access in reached(desk, args)? {
        let tested = desk.wait(desk.models.test(&access, &desk.client));
        is_well &= tested.is_ok();
        if args.json {
            told.push(described_test(&access, &tested));
        } else {
            output::say(tested_line(&access, &tested))?;
        }
    }
    if args.json {
        output::say_json(Value::from(told))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tested_line(access: &ProviderAccess, tested: &Result<TestedProvider, ModelError>) -> String {
    let outcome = match tested {
        Ok(tested) => {
            let seconds = tested.latency.as_secs_f32();
            format!("{} began to answer after {seconds:.1} s", terminal_text::row(&tested.model))
        }
        Err(error) => format!("does NOT work: {}", terminal_text::one_line(&error.to_string())),
    };
    format!("{:<10} {outcome}", access.provider.id)
}

fn described_test(access: &ProviderAccess, tested: &Result<TestedProvider, ModelError>) -> Value {
    let id = access.provider.id;
    match tested {
        Ok(tested) => {
            let latency = u64::try_from(tested.latency.as_millis()).unwrap_or(u64::MAX);
            json!({ "providerId": id, "works": true, "model": tested.model, "latencyMs": latency })
        }
        Err(error) => {
            json!({ "providerId": id, "works": false, "error": error.word(), "message": error.to_string() })
        }
    }
}

/// The models of the providers.
pub(super) fn models(desk: &ProviderDesk, args: &ProviderArgs) -> Result<ExitCode> {
    let mut all = Vec::new();
    let mut is_well = true;
    for access in reached(desk, args)? {
        match desk.wait(desk.models.models_at(&access, &desk.client)) {
            Ok(models) => all.extend(models),
            Err(error) => {
                is_well = false;
                output::remark(format!("nudge: {}", terminal_text::one_line(&error.to_string())));
            }
        }
    }
    if args.json {
        output::say_json(all.iter().map(described_model).collect::<Value>())?;
    }
    for model in all.iter().filter(|_| !args.json) {
        output::say(model_line(model))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn model_line(model: &ModelChoice) -> String {
    let id = terminal_text::row(&model.id);
    match model.context {
        Some(context) => format!("{id}  ({context} tokens)"),
        None => id,
    }
}

fn described_model(model: &ModelChoice) -> Value {
    json!({ "id": model.id, "name": model.name, "context": model.context, "images": model.images, "audio": model.audio })
}

//! What happens when a session is to begin and there is no model: the user chooses how to get one, by a form if the client has
//! one. Nothing secret is asked for in a form; a key is typed on a page.

use std::sync::Arc;

use nudge_backend::ElicitationAnswer;
use nudge_model::{ModelProvider, ProviderAccess, REHEARSAL};
use nudge_wire::{Error, Id};
use serde_json::{Map, Value, json};

use crate::{SetupLogin, forms::RequestForms, logins::blocking, sign_in::ClientSignIn};

const KEY: &str = "key";
const ADDRESS: &str = "address";
const OLLAMA: &str = "ollama";
/// A server of the user's own.
const CUSTOM: &str = "custom";
/// How often it is asked for an address.
const TRIES: usize = 3;

/// Sees to it that the client has a model, or says how the user can.
pub(crate) async fn make_ready(sign_in: &ClientSignIn, request: &Id) -> Result<(), Error> {
    if sign_in.providers.is_ready(&sign_in.client).await {
        return Ok(());
    }
    if !sign_in.modes.form {
        return Err(sign_in.required());
    }
    let asked = ask(sign_in, &sign_in.forms(request)).await;
    // It may have been set up in a terminal instead.
    if sign_in.providers.is_ready(&sign_in.client).await {
        return Ok(());
    }
    asked.and(Err(sign_in.required()))
}

/// Has the user choose.
async fn ask(sign_in: &ClientSignIn, forms: &RequestForms) -> Result<(), Error> {
    let message = "No model is set up yet. What shall answer?";
    let (choices, mut changes) = (choices(sign_in).await, sign_in.providers.subscribe());
    let is_set_up_elsewhere = async {
        // The sender is in the providers.
        while changes.changed().await.is_ok() && !sign_in.providers.has_access(&sign_in.client) {}
    };
    let answer = tokio::select! {
        answer = forms.form(message, &choices) => answer?,
        // The form is taken back.
        () = is_set_up_elsewhere => return Ok(()),
    };
    let ElicitationAnswer::Accepted(content) = answer else { return Err(sign_in.required()) };
    match content["choice"].as_str().unwrap_or_default() {
        KEY => sign_in.login_by_page(forms).await?,
        ADDRESS => ask_for_address(sign_in, forms).await?,
        REHEARSAL => play_rehearsals(sign_in),
        // It was started meanwhile, or has got a model.
        _ => {}
    }
    Ok(())
}

/// The form: only what can be done from here.
async fn choices(sign_in: &ClientSignIn) -> Value {
    let mut choices = Vec::new();
    if sign_in.providers.is_ollama_there(&sign_in.client).await {
        choices.push(json!({ "const": OLLAMA, "title": "Ollama, which runs here but has no model that calls tools: after `ollama pull`" }));
    }
    if sign_in.modes.url && sign_in.logins.is_some() {
        choices.push(json!({ "const": KEY, "title": "A provider, with an API key (opens a page)" }));
    }
    if sign_in.providers.pinned(&sign_in.client).is_none_or(|pinned| pinned.id == CUSTOM) {
        choices.push(json!({ "const": ADDRESS, "title": "A server of my own, by its address" }));
    }
    choices.push(json!({ "const": REHEARSAL, "title": "No model: a rehearsal, to see how it works" }));
    let choice = json!({ "type": "string", "title": "Model", "oneOf": choices,
        "description": "In a terminal, `nudge login` does the same." });
    json!({ "type": "object", "properties": { "choice": choice }, "required": ["choice"] })
}

async fn ask_for_address(sign_in: &ClientSignIn, forms: &RequestForms) -> Result<(), Error> {
    let address = json!({ "type": "string", "format": "uri", "title": "Address", "minLength": 1, "maxLength": 2000,
        "description": "Of a server that speaks like OpenAI's, such as http://127.0.0.1:8080/v1" });
    let schema = json!({ "type": "object", "properties": { "address": address }, "required": ["address"] });
    let mut wrong = String::new();
    for _ in 0..TRIES {
        let message = format!(
            "{wrong}Where is the server? If it needs a key, run `nudge login custom` in a terminal instead."
        );
        let ElicitationAnswer::Accepted(content) = forms.form(&message, &schema).await? else {
            return Err(sign_in.required());
        };
        wrong = match access_at(&content) {
            Some(access) => match sign_in.providers.test(&access, &sign_in.client).await {
                Ok(_) => return keep(sign_in, access).await,
                Err(error) => format!("It cannot be used: {error}. "),
            },
            None => "It has to begin with http:// or https://, and to have no user, password or query. "
                .to_owned(),
        };
    }
    Err(Error::internal(format!("No server was found. {}", wrong.trim_end())).reason("network"))
}

async fn keep(sign_in: &ClientSignIn, access: ProviderAccess) -> Result<(), Error> {
    match &sign_in.logins {
        Some(logins) => {
            let login = SetupLogin::at(access.provider, &access.base_url);
            let logins = Arc::clone(logins);
            blocking(move || logins.keep(login)).await.map_err(Error::internal)?;
        }
        None => sign_in.providers.set(&sign_in.client, access),
    }
    Ok(())
}

fn access_at(content: &Map<String, Value>) -> Option<ProviderAccess> {
    let custom = ModelProvider::named(CUSTOM).expect("it is in the table");
    let address = content["address"].as_str().unwrap_or_default();
    ProviderAccess::stored(custom, Some(address), None)
}

/// From now on, for all that this client begins, until a model is set up.
fn play_rehearsals(sign_in: &ClientSignIn) {
    if let Some(connection) = sign_in.client.connection {
        sign_in.providers.rehearse(connection);
    }
}

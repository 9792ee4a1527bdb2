//! Which models a provider has: its list, and what has to be asked about each of them.

use futures_util::{StreamExt, stream};
use reqwest::RequestBuilder;

use crate::{
    ModelError, ProviderAccess,
    chat_model::{fault_error, with_headers},
    dialect::{ApiDialect, DialectRequest, ListedModel},
    http::{self, ProviderClient},
};

/// The longest list that is read.
const MOST_OF_A_LIST: usize = 8 * 1024 * 1024;
/// How many models are asked about, and how many at a time.
const MOST_QUESTIONS: usize = 100;
const QUESTIONS_AT_ONCE: usize = 8;

/// The models of a provider.
pub(crate) async fn ask(
    client: &ProviderClient,
    access: &ProviderAccess,
    dialect: &dyn ApiDialect,
) -> Result<Vec<ListedModel>, ModelError> {
    let Some(path) = dialect.models_path() else {
        let named = |id: &&str| ListedModel { id: (*id).to_owned(), ..ListedModel::default() };
        return Ok(dialect.unlisted_models().iter().map(named).collect());
    };
    let mut request = client.get(format!("{}{path}", access.base_url));
    for (name, value) in dialect.list_headers() {
        request = request.header(*name, *value);
    }
    let Some(body) = answer(client, access, dialect, request).await? else { return Ok(Vec::new()) };
    let models = dialect.read_models(&body).into_iter().enumerate();
    let asked = models.map(|(at, model)| async move {
        let question = dialect.model_question(&model).filter(|_| at < MOST_QUESTIONS);
        match question {
            Some(question) => ask_about(client, access, dialect, model, question).await,
            None => model,
        }
    });
    Ok(stream::iter(asked).buffered(QUESTIONS_AT_ONCE).collect().await)
}

/// A model with what is said about it. What cannot be had is left open.
async fn ask_about(
    client: &ProviderClient,
    access: &ProviderAccess,
    dialect: &dyn ApiDialect,
    mut model: ListedModel,
    question: DialectRequest,
) -> ListedModel {
    let url = format!("{}{}", access.base_url, question.path);
    let request = client.post(url).header("content-type", "application/json").body(question.body);
    if let Ok(Some(body)) = answer(client, access, dialect, request).await {
        dialect.read_model(&body, &mut model);
    }
    model
}

/// The body of an answer; none if there is nothing that answers it.
async fn answer(
    client: &ProviderClient,
    access: &ProviderAccess,
    dialect: &dyn ApiDialect,
    request: RequestBuilder,
) -> Result<Option<Vec<u8>>, ModelError> {
    let mut response = client.send(access, with_headers(request, access)).await?;
    let status = response.status().as_u16();
    if !response.status().is_success() {
        let reset = http::reset(response.headers());
        let body = response.error_body(access).await;
        return match status {
            // It has none; what the user names is asked for.
            404 | 405 | 501 => Ok(None),
            _ => Err(fault_error(access, "", dialect.fault(status, &body), reset)),
        };
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk(access).await? {
        body.extend_from_slice(&bytes);
        if body.len() > MOST_OF_A_LIST {
            let what = "a list of models of a reasonable length".to_owned();
            return Err(ModelError::Malformed { provider: access.provider.id.to_owned(), what });
        }
    }
    Ok(Some(body))
}

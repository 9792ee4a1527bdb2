//! The list of models, as `OpenAI` and those like it give it.

use serde_json::Value;

use crate::dialect::ListedModel;

pub(in crate::dialect) const MODELS_PATH: &str = "/models";

/// What is in the names of models that answer nothing, or not in words.
const NO_CHAT: &[&str] = &[
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "image",
    "realtime",
    "transcribe",
    "davinci",
    "babbage",
    "instruct-0914",
    "sora",
    "rerank",
];

/// The models of a list.
pub(in crate::dialect) fn read_models(body: &[u8]) -> Vec<ListedModel> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    // Some give the list itself.
    let models = body["data"].as_array().or(body.as_array()).into_iter().flatten();
    models.filter_map(listed).collect()
}

fn listed(model: &Value) -> Option<ListedModel> {
    let id = model["id"].as_str()?;
    let contexts = ["context_length", "context_window", "max_context_length", "max_model_len"];
    Some(ListedModel {
        id: id.to_owned(),
        name: model["name"].as_str().or_else(|| file_name(id)).map(str::to_owned),
        // llama.cpp tells it beside what it knows of the file.
        context: contexts
            .into_iter()
            .find_map(|name| model[name].as_u64())
            .or(model["meta"]["n_ctx"].as_u64()),
        calls_tools: if is_chat(id) { calls_tools(model) } else { Some(false) },
        ..ListedModel::default()
    })
}

/// What a model is called that is named by its file.
fn file_name(id: &str) -> Option<&str> {
    id.strip_suffix(".gguf")?.rsplit(['/', '\\']).next()
}

fn is_chat(id: &str) -> bool {
    !NO_CHAT.iter().any(|part| id.contains(part))
}

fn calls_tools(model: &Value) -> Option<bool> {
    let parameters = model["supported_parameters"].as_array();
    let by_parameters = parameters.map(|known| known.iter().any(|name| name == "tools"));
    by_parameters.or(model["capabilities"]["function_calling"].as_bool())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_more_than_names() {
        let body = br#"{"object": "list", "data": [
            {"id": "gpt-5.1", "object": "model", "owned_by": "openai"},
            {"id": "text-embedding-3-small"},
            {"id": "a/b", "name": "A: B", "context_length": 9000, "supported_parameters": ["tools", "top_p"]},
            {"id": "c", "max_model_len": 4096, "supported_parameters": ["top_p"]},
            {"id": "d", "max_context_length": 5, "capabilities": {"function_calling": true}},
            {"id": "/models/Qwen-1.5B.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_ctx_train": 32768}},
            {"object": "model"}, 7
        ]}"#;
        let told: Vec<String> = read_models(body)
            .into_iter()
            .map(|model| format!("{} {:?} {:?} {:?}", model.id, model.name, model.context, model.calls_tools))
            .collect();
        let expected = [
            "gpt-5.1 None None None",
            "text-embedding-3-small None None Some(false)",
            r#"a/b Some("A: B") Some(9000) Some(true)"#,
            "c None Some(4096) Some(false)",
            "d None Some(5) Some(true)",
            r#"/models/Qwen-1.5B.gguf Some("Qwen-1.5B") Some(8192) None"#,
        ];
        assert_eq!(told, expected);
        assert_eq!(read_models(br#"[{"id": "x"}]"#).len(), 1);
        assert!(read_models(b"<html>").is_empty());
    }
}

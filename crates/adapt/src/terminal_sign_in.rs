//! Sign-in on a terminal: the client runs the command by which it starts Nudge, and Nudge runs the agent there.

use std::{collections::BTreeMap, fmt, path::Path};

use nudge_wire::{
    RawJson, Version,
    caps::{AgentInit, ClientInit},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The variable that makes `nudge acp -- AGENT` run the agent on its terminal instead of serving; it holds an [`AgentLogin`].
pub const AGENT_LOGIN_VARIABLE: &str = "NUDGE_AGENT_LOGIN";
/// Under which name in `_meta` agents told of such a method before the protocol had it.
const OLDER: &str = "terminal-auth";

/// How an agent lets users sign in on a terminal.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentLogin {
    /// What is run: the agent's own program unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments: behind those of the agent, or all that there are if there is a command.
    pub args: Vec<String>,
    /// Variables beside those of the agent.
    pub env: BTreeMap<String, String>,
    /// The agent that is signed in to, where the command line does not name it: its program and arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<(String, Vec<String>)>,
    /// By which the daemon that has offered it knows the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// Where a sign-in on a terminal is run from.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignInPlace<'a> {
    /// The program by which Nudge is started.
    pub nudge: Option<&'a Path>,
    /// The command of the agent, if it is one.
    pub agent: Option<&'a (String, Vec<String>)>,
    /// By which the client is known, here alone.
    pub client: Option<&'a str>,
}

/// Variables may hold keys, so none is shown.
impl fmt::Debug for AgentLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentLogin").finish_non_exhaustive()
    }
}

impl AgentLogin {
    fn of(method: &Value, place: SignInPlace<'_>) -> Self {
        let args = method["args"].as_array().into_iter().flatten();
        let args = args.filter_map(|arg| arg.as_str().map(str::to_owned)).collect();
        let client = place.client.map(str::to_owned);
        Self { args, env: variables(&method["env"]), client, ..Self::default() }
    }

    fn written(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys is JSON")
    }
}

/// The ids of the methods in an answer to `initialize` by which a user signs in on a terminal. They are none for `authenticate`.
pub fn terminal_methods(answer: &RawJson) -> Vec<String> {
    let methods = methods(answer).unwrap_or_default();
    let terminal = methods.iter().filter(|method| is_terminal(method));
    terminal.filter_map(|method| Some(method_id(method)?.to_owned())).collect()
}

/// Whether an agent lets users sign in on a terminal, however it says so.
pub(crate) fn has_terminal_sign_in(init: &AgentInit) -> bool {
    let methods = methods(&init.result).unwrap_or_default();
    methods.iter().any(|method| is_terminal(method) || older(method).is_some())
}

fn methods(answer: &RawJson) -> Option<Vec<Value>> {
    answer.get(&["authMethods"])?.to().ok()
}

/// An answer to `initialize` of an agent, written in the client's version, with the terminal methods in it as they are run through
/// Nudge from this place.
pub fn through_nudge(answer: RawJson, client: &ClientInit, place: SignInPlace<'_>) -> RawJson {
    let Some(methods) = methods(&answer) else { return answer };
    if !methods.iter().any(|method| is_terminal(method) || older(method).is_some()) {
        return answer;
    }
    let has_terminal = client.has_terminal_sign_in();
    let runs_older = has_older(client);
    let offered = methods.into_iter().filter(|method| !is_terminal(method) || has_terminal || runs_older);
    let offered: Vec<Value> = offered.map(|method| rewritten(method, client, place)).collect();
    let offered = RawJson::of(&offered).expect("a tree of JSON values can be written");
    answer.with(&["authMethods"], &offered).unwrap_or(answer)
}

fn rewritten(mut method: Value, client: &ClientInit, place: SignInPlace<'_>) -> Value {
    let told = older(&method).cloned();
    let in_older = told.as_ref().map(|told| {
        let command = told["command"].as_str().map(str::to_owned);
        AgentLogin { command, agent: place.agent.cloned(), ..AgentLogin::of(told, place) }
    });
    let login = match &in_older {
        _ if is_terminal(&method) => Some(AgentLogin::of(&method, place)),
        // One that is told in the older form alone is offered in the protocol's as well.
        Some(login) if client.has_terminal_sign_in() => Some(login.clone()),
        _ => None,
    };
    if let Some(login) = login.map(|login| login.written()) {
        method["type"] = json!("terminal");
        method["args"] = json!([]);
        method["env"] = match client.version {
            Version::V1 => json!({ AGENT_LOGIN_VARIABLE: login }),
            Version::V2 => json!([{ "name": AGENT_LOGIN_VARIABLE, "value": login }]),
        };
    }
    if let (Some(Value::Object(mut told)), Some(login), Some(nudge)) =
        (told, in_older.filter(|login| login.agent.is_some()), place.nudge.and_then(Path::to_str))
    {
        told.insert("command".to_owned(), json!(nudge));
        told.insert("args".to_owned(), json!(["acp"]));
        told.insert("env".to_owned(), json!({ AGENT_LOGIN_VARIABLE: login.written() }));
        method["_meta"][OLDER] = Value::Object(told);
    }
    method
}

fn is_terminal(method: &Value) -> bool {
    method["type"] == "terminal"
}

fn older(method: &Value) -> Option<&Value> {
    Some(&method["_meta"][OLDER]).filter(|told| told["command"].is_string())
}

/// Whether a client runs the commands of methods that say them as they did before the protocol had them.
fn has_older(client: &ClientInit) -> bool {
    let names = ["clientCapabilities", "capabilities"];
    names.iter().any(|name| {
        client.params.get(&[name, "_meta", OLDER]).is_some_and(|offered| offered.as_str() == "true")
    })
}

fn method_id(method: &Value) -> Option<&str> {
    method["id"].as_str().or_else(|| method["methodId"].as_str())
}

/// Environment variables, as either version writes them.
fn variables(env: &Value) -> BTreeMap<String, String> {
    let of_object = |object: &Map<String, Value>| -> BTreeMap<String, String> {
        let text = object.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        text.collect()
    };
    match env {
        Value::Object(object) => of_object(object),
        Value::Array(list) => {
            let text = |variable: &Value| {
                Some((variable["name"].as_str()?.to_owned(), variable["value"].as_str()?.to_owned()))
            };
            list.iter().filter_map(text).collect()
        }
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> RawJson {
        RawJson::of(value).unwrap()
    }

    fn client(version: Version, capabilities: &Value) -> ClientInit {
        let name = if version == Version::V1 { "clientCapabilities" } else { "capabilities" };
        ClientInit::new(version, raw(&json!({ name: capabilities })))
    }

    fn methods(version: Version, capabilities: &Value, methods: &Value) -> Value {
        let answer = raw(&json!({ "authMethods": methods, "x": 1.50 }));
        let client = client(version, capabilities);
        let agent = ("goose".to_owned(), vec!["acp".to_owned()]);
        let place =
            SignInPlace { nudge: Some(Path::new("/bin/nudge")), agent: Some(&agent), client: Some("7") };
        let told = through_nudge(answer, &client, place);
        told.to::<Value>().unwrap()["authMethods"].clone()
    }

    fn login(text: &Value) -> AgentLogin {
        serde_json::from_str(text.as_str().unwrap()).unwrap()
    }

    #[test]
    fn a_terminal_method_is_run_by_the_line_that_starts_nudge() {
        let v1 = json!([{ "id": "t", "name": "T", "type": "terminal", "args": ["--cli"], "env": { "A": "1" } },
            { "id": "key", "name": "Key" }]);
        let told = methods(Version::V1, &json!({ "auth": { "terminal": true } }), &v1);
        assert_eq!((&told[0]["args"], &told[1]), (&json!([]), &v1[1]));
        let said = login(&told[0]["env"][AGENT_LOGIN_VARIABLE]);
        assert_eq!((said.args, said.env["A"].as_str()), (vec!["--cli".to_owned()], "1"));
        assert_eq!(said.client.as_deref(), Some("7"));
        let v2 = json!([{ "methodId": "t", "type": "terminal", "env": [{ "name": "A", "value": "1" }] }]);
        let told = methods(Version::V2, &json!({ "auth": { "terminal": {} } }), &v2);
        assert_eq!(told[0]["env"][0]["name"], AGENT_LOGIN_VARIABLE);
        assert_eq!(login(&told[0]["env"][0]["value"]).env["A"], "1");
    }

    #[test]
    fn a_client_without_terminals_is_offered_none() {
        let all = json!([{ "id": "t", "type": "terminal" }, { "id": "key" }]);
        assert_eq!(methods(Version::V1, &json!({}), &all), json!([{ "id": "key" }]));
    }

    #[test]
    fn the_older_form_is_run_through_nudge_as_well() {
        let all = json!([{ "id": "t", "type": "terminal", "args": ["--cli"],
            "_meta": { "terminal-auth": { "command": "/node", "args": ["x.js", "--cli"], "label": "Log in" } } }]);
        let told = methods(Version::V1, &json!({ "_meta": { "terminal-auth": true } }), &all);
        let older = &told[0]["_meta"]["terminal-auth"];
        assert_eq!(older["command"], "/bin/nudge");
        assert_eq!((&older["args"], &older["label"]), (&json!(["acp"]), &json!("Log in")));
        let said = login(&older["env"][AGENT_LOGIN_VARIABLE]);
        assert_eq!(said.command.as_deref(), Some("/node"));
        assert_eq!(said.args, ["x.js", "--cli"]);
        assert_eq!(said.agent.unwrap().0, "goose");
    }

    #[test]
    fn the_older_form_alone_is_offered_to_clients_that_know_the_protocols() {
        let all = json!([{ "id": "c", "name": "C", "_meta": { "terminal-auth": { "command": "/copilot", "args": ["login"] } } }]);
        let told = methods(Version::V1, &json!({ "auth": { "terminal": true } }), &all);
        assert_eq!((&told[0]["type"], &told[0]["args"]), (&json!("terminal"), &json!([])));
        let said = login(&told[0]["env"][AGENT_LOGIN_VARIABLE]);
        assert_eq!((said.command.as_deref(), said.args), (Some("/copilot"), vec!["login".to_owned()]));
        let told = methods(Version::V1, &json!({}), &all);
        assert!(told[0].get("type").is_none(), "as it came: {told}");
        assert_eq!(told[0]["_meta"]["terminal-auth"]["command"], "/bin/nudge");
    }

    #[test]
    fn what_is_no_list_of_methods_passes() {
        for odd in [json!(7), json!({}), json!(null), json!(["x", 7])] {
            assert_eq!(methods(Version::V1, &json!({}), &odd), odd);
        }
    }
}

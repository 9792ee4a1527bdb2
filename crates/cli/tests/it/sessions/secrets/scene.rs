//! A place in which secrets are planted, each where it can be given, and a provider behind a proxy that wants a password.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

use nudge_stage::{ModelReply, StageProvider};
use nudge_testkit::{LoopbackProxy, PlantedSecret};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    super::{Client, Place},
    cases::{KeyWay, SecretCase},
};
use crate::nudge_with;

/// A host that only the proxy knows.
const HOST: &str = "http://models.test";

/// What commands are told to print: files with all forms of what is secret, at once and in two parts; their own environment, and
/// that of the process that runs them, which is ours.
const COMMAND: &str = "cat ???.txt; for f in ???.txt; do head -c 13 $f; sleep 0.02; tail -c +14 $f; done; \
    env; tr '\\0' '\\n' < /proc/$PPID/environ | grep -a '^[A-Za-z_]*=.*qv'; while [ ! -e go ]; do sleep 0.01; done";

/// One secret for each place.
pub(super) struct PlantedSecrets {
    /// Of the provider that is asked.
    key: PlantedSecret,
    /// Of a provider that is not, in its variable.
    idle: PlantedSecret,
    account: PlantedSecret,
    token: PlantedSecret,
    /// In a header that the client sets.
    header: PlantedSecret,
    /// Kept by a login.
    login: PlantedSecret,
    pub(super) proxy: PlantedSecret,
    /// In a variable that holds an address.
    address: PlantedSecret,
    /// In an address that the client sets, which is refused and so not known.
    refused: PlantedSecret,
}

impl PlantedSecrets {
    fn new() -> Self {
        let tags = ["Key", "Idl", "Aws", "Tok", "Hdr", "Log", "Prx", "Adr", "Url"];
        let [key, idle, account, token, header, login, proxy, address, refused] =
            tags.map(PlantedSecret::new);
        Self { key, idle, account, token, header, login, proxy, address, refused }
    }

    /// Those that are taken out of what is told: a provider that is asked with an account has no key.
    fn known(&self, way: KeyWay) -> Vec<&PlantedSecret> {
        let Self { key, idle, account, token, header, login, proxy, address, .. } = self;
        let known = [idle, account, token, header, login, proxy, address].into_iter();
        known.chain((way != KeyWay::Account).then_some(key)).collect()
    }

    /// Those that commands do not have. They need the way to the network; what they use an account for is theirs, unless models are
    /// asked with it.
    pub(super) fn withheld(&self, way: KeyWay) -> Vec<&PlantedSecret> {
        let Self { key, idle, account, token, header, login, refused, .. } = self;
        let account = [account, token].into_iter().filter(|_| way == KeyWay::Account);
        [key, idle, header, login, refused].into_iter().chain(account).collect()
    }

    pub(super) fn all(&self) -> Vec<PlantedSecret> {
        self.known(KeyWay::Variable).into_iter().chain([&self.refused]).cloned().collect()
    }
}

/// Where a case is played.
pub(super) struct SecretScene {
    pub(super) case: SecretCase,
    pub(super) place: Place,
    pub(super) stage: StageProvider,
    pub(super) proxy: LoopbackProxy,
    pub(super) planted: PlantedSecrets,
    /// For the trace, and for what is the user's own.
    pub(super) beside: TempDir,
}

impl SecretScene {
    pub(super) fn new(case: SecretCase) -> Self {
        let (place, stage, planted) = (Place::new(), StageProvider::start_blocking(), PlantedSecrets::new());
        let proxy = LoopbackProxy::start(stage.address());
        let beside = tempfile::tempdir().expect("a temporary folder");
        for secret in planted.known(case.way) {
            let path = place.work.path().join(format!("{}.txt", secret.tag));
            fs::write(path, secret.all_forms()).expect("the folder can be written to");
        }
        stage.sign_with(planted.account.text());
        let scene = Self { case, place, stage, proxy, planted, beside };
        scene.script();
        scene
    }

    /// What the stand-in does. The model says what is secret, cut in two, has a command print it, and then is refused in every way.
    fn script(&self) {
        let forms = self.planted.known(self.case.way).into_iter().flat_map(PlantedSecret::forms);
        let chunks: Vec<String> = forms.flat_map(|form| in_two(&form)).collect();
        let said = ModelReply::thinking_chunks(chunks.clone()).and_chunks(chunks);
        let look = said.and_call("run", json!({ "command": COMMAND }));
        self.stage.on("look").times(1).reply(look);
        // As real ones do.
        let quoted = format!(
            "Incorrect API key: {}",
            self.planted.all().iter().map(PlantedSecret::text).collect::<Vec<_>>().join(" ")
        );
        self.stage.on("wrong").times(1).reply(ModelReply::error(401, &quoted));
        self.stage.on("bad").times(1).reply(ModelReply::error(400, &quoted));
        self.stage.on("break").times(1).reply(ModelReply::chunks(["Well"]).and_error(401, &quoted));
    }

    /// Where the provider is.
    fn url(&self) -> String {
        format!("{HOST}{}", self.case.provider.path)
    }

    /// The environment of everything that is run.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let SecretCase { provider, way, daemon, .. } = self.case;
        let PlantedSecrets { key, idle, account, token, proxy, address, .. } = &self.planted;
        let path = |path: &std::path::Path| path.to_str().expect("its name is text").to_owned();
        let idle_key = if provider.id == "azure" { "VERTEX_ACCESS_TOKEN" } else { "AZURE_OPENAI_API_KEY" };
        let idle_address = if provider.id == "ollama" { "ANTHROPIC_BASE_URL" } else { "OLLAMA_HOST" };
        let mut variables = vec![
            ("NUDGE_DATA", path(self.place.data.path())),
            ("NUDGE_DAEMON", daemon.to_owned()),
            ("NUDGE_LINGER", "5".to_owned()),
            ("NUDGE_LOG", "trace".to_owned()),
            ("NUDGE_KEYRING", "false".to_owned()),
            ("NUDGE_MODEL", format!("{}/fake-model", provider.id)),
            ("NUDGE_TRACE", path(&self.beside.path().join("trace"))),
            ("http_proxy", format!("http://me:{}@{}", proxy.url_form(), self.proxy.address())),
            ("no_proxy", String::new()),
            ("NO_PROXY", String::new()),
            ("AWS_SECRET_ACCESS_KEY", account.text()),
            ("AWS_SESSION_TOKEN", token.text()),
            (idle_key, idle.text()),
            (idle_address, format!("{HOST}/").replace("//m", &format!("//me:{}@m", address.url_form()))),
        ];
        match way {
            KeyWay::Variable => variables.push((provider.variables.0, key.text())),
            KeyWay::Account => {
                variables.extend([
                    ("AWS_ACCESS_KEY_ID", "AKID".to_owned()),
                    ("AWS_REGION", "eu-west-1".to_owned()),
                ]);
            }
            KeyWay::Header | KeyWay::Login | KeyWay::KeyCommand | KeyWay::Page => return variables,
        }
        variables.push((provider.variables.1, self.url()));
        variables
    }

    /// What a command says that goes well, on both of its outputs.
    pub(super) fn run(&self, args: &[&str], input: &str) -> String {
        let environment = self.environment();
        let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut process = nudge_with(args, &environment);
        // It may not want any.
        let _ = process.try_line(input);
        let (status, lines, errors) = process.finish();
        assert!(status.success(), "{args:?}: {lines:?} {errors}");
        lines.join("\n") + &errors
    }

    /// Keeps a login that is not used, and the one that is, if it is kept; gives what was said.
    pub(super) fn log_in(&self) -> String {
        let SecretCase { provider, way, .. } = self.case;
        let other = if provider.id == "gemini" { "anthropic" } else { "gemini" };
        let mut said = self
            .run(&["login", other, "--url", HOST, "--key-stdin", "--no-test"], &self.planted.login.text());
        let url = self.url();
        let login = ["login", provider.id, "--url", &url, "--api", provider.api_type];
        if way == KeyWay::Login {
            said += &self.run(&[&login[..], &["--key-stdin"]].concat(), &self.planted.key.text());
        } else if way == KeyWay::KeyCommand {
            let file = self.beside.path().join(KEY_FILE);
            fs::write(&file, self.planted.key.text()).expect("the folder can be written to");
            let command = format!("cat {}", file.display());
            said += &self.run(&[&login[..], &["--key-command", &command]].concat(), "");
        }
        said
    }

    pub(super) fn client(&self, version: u64) -> Client {
        let environment = self.environment();
        let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Client::new(nudge_with(&["acp"], &environment), version, &json!({ "elicitation": { "url": {} } }))
    }

    /// What a client gives: a header for a provider that is not used, an address with a password, and the key, if it is its part.
    pub(super) fn give(&self, client: &mut Client) {
        let SecretCase { provider, way, .. } = self.case;
        let url = self.url();
        let other = if provider.id == "custom" { "openai" } else { "custom" };
        let headers = json!({ "x-own": self.planted.header.text() });
        let set = json!({ "providerId": other, "apiType": "openai", "baseUrl": url, "headers": headers });
        client.ask("providers/set", &set);
        let address = url.replace("//", &format!("//me:{}@", self.planted.refused.url_form()));
        let set = |address: &str, headers: Value| json!({ "providerId": provider.id, "apiType": provider.api_type, "baseUrl": address, "headers": headers });
        assert_eq!(client.refused("providers/set", &set(&address, json!({}))).0, -32602);
        let key = self.planted.key.text();
        match way {
            KeyWay::Header => {
                let word = if provider.key_header == "authorization" { "Bearer " } else { "" };
                client
                    .ask("providers/set", &set(&url, json!({ provider.key_header: format!("{word}{key}") })));
            }
            KeyWay::Page => self.sign_in(client),
            KeyWay::Variable | KeyWay::Account | KeyWay::Login | KeyWay::KeyCommand => {}
        }
    }

    /// Types the key on the page for it.
    fn sign_in(&self, client: &mut Client) {
        let method = if client.version == 1 { "authenticate" } else { "auth/login" };
        let id = client.send(method, &json!({ "methodId": "setup" }));
        let shown = client.agent_request();
        client.answer(&shown, &json!({ "action": "accept" }));
        let url = shown["params"]["url"].as_str().expect("a page has an address");
        let (host, path) = url.trim_start_matches("http://").split_once('/').expect("the page has a name");
        let address = self.url().replace(':', "%3A").replace('/', "%2F");
        let form = format!(
            "provider={}&address={address}&key={}",
            self.case.provider.id,
            self.planted.key.url_form()
        );
        let mut socket = TcpStream::connect(host).expect("the page is there");
        let request = format!(
            "POST /{path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nsec-fetch-site: same-origin\r\n\
             content-length: {}\r\n\r\n{form}",
            form.len()
        );
        socket.write_all(request.as_bytes()).expect("the page is there");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("the page answers");
        assert!(answer.contains("It works"), "{answer}");
        self.planted.key.check_absent("the page", answer.as_bytes());
        assert_eq!(client.response(id)["result"], json!({}));
    }
}

/// Where a command finds the key.
const KEY_FILE: &str = "key";

/// A text, cut in the middle.
fn in_two(text: &str) -> [String; 2] {
    let (first, second) = text.split_at(text.len() / 2);
    [format!(" {first}"), second.to_owned()]
}

//! Secrets, planted in every place in which one can be given, and then looked for in all that comes out.

use nudge_gateway::{LoginStore, SetupLogin};
use nudge_model::{ModelProvider, ModelWish, SecretText};
use nudge_peer::FrameTap;
use nudge_stage::{ModelReply, StageProvider};
use nudge_testkit::PlantedSecret;
use serde_json::{Value, json};

use super::{ALL_DIALECTS, Client, ClientSetup, Dialect, Place, VERSIONS, each, place::NOBODY};

/// How the provider that is asked is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Variable,
    Header,
    Login,
}

/// One secret for each place.
struct Planted {
    variable: PlantedSecret,
    /// Of a provider that is not used.
    idle_variable: PlantedSecret,
    aws: PlantedSecret,
    header: PlantedSecret,
    /// Set by another client.
    others_header: PlantedSecret,
    login: PlantedSecret,
    address: PlantedSecret,
}

impl Planted {
    fn new() -> Self {
        let [variable, idle_variable, aws, header, others_header, login, address] =
            ["Var", "Idl", "Aws", "Hdr", "Oth", "Log", "Url"].map(PlantedSecret::new);
        Self { variable, idle_variable, aws, header, others_header, login, address }
    }

    /// Those that are known, and so are taken out of what tools say. The one in an address is refused, and a key that is kept is
    /// read when it is needed.
    fn known(&self, way: Way) -> Vec<&PlantedSecret> {
        let known = [&self.variable, &self.idle_variable, &self.aws, &self.header, &self.others_header];
        known.into_iter().chain((way == Way::Login).then_some(&self.login)).collect()
    }

    fn all(&self) -> Vec<&PlantedSecret> {
        let mut all = self.known(Way::Login);
        all.push(&self.address);
        all
    }

    fn environment(&self, dialect: Dialect, stage: &StageProvider, way: Way) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("AZURE_OPENAI_API_KEY", self.idle_variable.text()),
            ("AWS_SECRET_ACCESS_KEY", self.aws.text()),
        ];
        if let (Way::Variable, Some((key, address))) = (way, dialect.variables) {
            variables.push((key, self.variable.text()));
            variables.push((address, dialect.base_url(stage)));
        } else {
            // Of a provider that cannot be reached.
            variables.push(("VERTEX_ACCESS_TOKEN", self.variable.text()));
        }
        variables
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_secret_comes_out_nowhere() {
    let ways = [Way::Variable, Way::Header, Way::Login];
    let cases = ALL_DIALECTS.into_iter().enumerate().flat_map(|(at, dialect)| {
        ways.into_iter().enumerate().map(move |(way_at, way)| (dialect, way, VERSIONS[(at + way_at) % 2]))
    });
    let cases = cases.filter(|(dialect, way, _)| *way != Way::Variable || dialect.variables.is_some());
    each(cases, |(dialect, way, version)| check(dialect, way, version)).await;
}

async fn check(dialect: Dialect, way: Way, version: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = folder.path().join("trace");
    let tap = FrameTap::to_file(&trace).expect("a trace can be written");
    let store = format!("sqlite:{}", folder.path().join("store.db").display());
    let (place, stage, planted) =
        (Place::with(&store, NOBODY).await, StageProvider::start().await, Planted::new());
    script(&stage, &planted);
    place.write("Log.txt", "exact: nothing\na line\n");
    for secret in planted.known(way) {
        place.write(&format!("{}.txt", secret.tag), secret.all_forms());
    }
    let setup = ClientSetup {
        environment: planted.environment(dialect, &stage, way),
        wish: ModelWish { provider: ModelProvider::named(dialect.provider), model: None },
        tap: Some(tap.clone()),
        ..ClientSetup::default()
    };
    let mut client = place.client_with(version, setup.clone()).await;
    let mut other = place.client_with(3 - version, setup).await;
    give(&place, &stage, &planted, (dialect, way), [&mut client, &mut other]).await;
    let mut heard = talk(&place, client, way).await;
    heard.extend(other.leave().await);
    drop(tap);

    check_sent(&stage, &planted, dialect);
    let wire = heard.join("\n");
    let mut places = vec![("the wire", wire.into_bytes())];
    for file in std::fs::read_dir(folder.path()).expect("the folder is there") {
        let path = file.expect("a file").path();
        places.push(("a file", std::fs::read(path).expect("it can be read")));
    }
    assert!(places.len() > 2, "there are a trace and a store");
    for (what, bytes) in &places {
        for secret in planted.all() {
            secret.check_absent(what, bytes);
        }
    }
}

/// Gives each secret in its place.
async fn give(
    place: &Place,
    stage: &StageProvider,
    planted: &Planted,
    (dialect, way): (Dialect, Way),
    [client, other]: [&mut Client; 2],
) {
    let kept = if way == Way::Login { dialect.provider } else { "azure" };
    let provider = ModelProvider::named(kept).expect("it is in the table");
    let base_url = Some(dialect.base_url(stage));
    let key = Some(SecretText::new(planted.login.text()));
    place.logins.keep(SetupLogin { provider, base_url, key }).expect("it can be kept");
    let mut set = dialect.set(stage);
    let header = format!("Bearer {}", planted.header.text());
    set["headers"] = json!({ dialect.key_header: header });
    if way == Way::Header {
        client.ask("providers/set", &set).await;
    }
    set["headers"] = json!({ dialect.key_header: header, "x-own": planted.others_header.text() });
    other.ask("providers/set", &set).await;
    set["baseUrl"] = json!(format!("http://user:{}@127.0.0.1/", planted.address.url_form()));
    let error = client.refused("providers/set", &set).await;
    assert_eq!(error["code"], -32602, "{error}");
}

/// What the stand-in does: each prompt has a tool look at what is secret.
fn script(stage: &StageProvider, planted: &Planted) {
    let files = "cat Var.txt Idl.txt Aws.txt Hdr.txt Oth.txt Log.txt";
    let halves =
        "for f in Var Idl Aws Hdr Oth Log; do head -c 13 $f.txt; sleep 0.02; tail -c +14 $f.txt; done";
    for (prompt, command) in [("env", "env"), ("files", files), ("halves", halves)] {
        stage.on(prompt).times(1).reply(ModelReply::call("run", json!({ "command": command })));
    }
    stage.on("read").times(1).reply(
        ModelReply::call("read", json!({ "path": "Var.txt" }))
            .and_call("read", json!({ "path": "Hdr.txt" }))
            .and_call("read", json!({ "path": "Log.txt" }))
            .and_call("search", json!({ "pattern": "exact" })),
    );
    let edits = ["Var.txt", "Hdr.txt", "Log.txt", "Oth.txt"];
    let edit = |path: &str| json!({ "path": path, "old": "a line", "new": "another" });
    let reply = edits.iter().fold(ModelReply::empty(), |reply, path| reply.and_call("edit", edit(path)));
    stage.on("change").times(1).reply(reply);
    // As real ones do.
    let secrets: Vec<String> = planted.all().iter().map(|secret| secret.text()).collect();
    stage
        .on("wrong")
        .times(1)
        .reply(ModelReply::error(401, format!("Incorrect API key: {}", secrets.join(" "))));
}

/// A session in which all of it happens; gives every line that was heard.
async fn talk(place: &Place, mut client: Client, way: Way) -> Vec<String> {
    client.new_session(&place.cwd()).await;
    for words in ["env", "files", "halves", "read", "change"] {
        let from = client.log.len();
        client.prompt(words);
        match words {
            "read" => {}
            "change" => {
                for _ in 0..4 {
                    client.permit().await;
                }
            }
            _ => client.permit().await,
        }
        let over = client.over_from(from).await;
        assert_eq!(over.reason, "end_turn", "{way:?} {words}: {over:?}");
    }
    let over = client.turn("wrong").await;
    assert_eq!(over.error["data"]["reason"], "auth", "{over:?}");
    for method in ["providers/list", "auth/status", "session/list"] {
        client.ask(method, &json!({})).await;
    }
    let mut reader = place.client(client.version).await;
    reader.load(&client.session, &place.cwd()).await;
    client.ask("_nudge/settle", &json!({})).await;
    let mut heard = client.leave().await;
    heard.extend(reader.leave().await);
    heard
}

/// What went to the model has no secret in it, but a mask where one was.
fn check_sent(stage: &StageProvider, planted: &Planted, dialect: Dialect) {
    let bodies: Vec<String> = stage.requests().iter().map(|seen| Value::to_string(&seen.body)).collect();
    let sent = bodies.join("\n");
    for secret in planted.all() {
        secret.check_absent("what went to the model", sent.as_bytes());
    }
    assert!(sent.contains("exact: ***") && sent.contains("a line"), "something was looked at");
    let variables = dialect.variables.map(|(key, _)| key).into_iter();
    for variable in variables.chain(["AZURE_OPENAI_API_KEY", "VERTEX_ACCESS_TOKEN"]) {
        assert!(!sent.contains(&format!("{variable}=")), "commands have no key: {variable}");
    }
}

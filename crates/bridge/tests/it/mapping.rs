//! The bridge between v1 and v2: every row of `spec/mapping.md` has examples in `spec/golden/mapping`, and they hold.

use std::{collections::BTreeSet, env, fs};

use nudge_bridge::{
    MethodCall, ToV1, ToV2, V1Client, agent_to_v1, agent_to_v2, prompt_answer, request_to_v1, request_to_v2,
    turn_ended, turn_failed, turn_started,
};
use nudge_wire::RawJson;
use serde_json::{Value, json};

use crate::types::{self, Side};

pub(crate) const SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec");

/// What a row of the table says about one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// There and back gives the same.
    Exact,
    /// The same in other words, with nothing that converts it back.
    Equal,
    /// Something is lost.
    Nearest,
    /// The other side is not told.
    Nothing,
    /// Does not come from that side.
    Never,
}

struct Row {
    id: String,
    to_v1: How,
    to_v2: How,
}

impl Row {
    fn how(&self, to: Side) -> How {
        match to {
            Side::V1 => self.to_v1,
            Side::V2 => self.to_v2,
        }
    }
}

/// The rows of all tables of the page.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(format!("{SPEC}/mapping.md")).expect("the page is in the repository");
    let how = |cell: &str| match cell {
        "exact" => How::Exact,
        "equal" => How::Equal,
        "nearest" => How::Nearest,
        "nothing" => How::Nothing,
        "–" => How::Never,
        other => panic!("`{other}` is not a word for how something is mapped"),
    };
    let row = |line: &str| {
        let cells = line.strip_prefix("| `")?.trim_end().trim_end_matches('|');
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 6, "{line}");
        Some(Row {
            id: cells[0].trim_end_matches('`').to_owned(),
            to_v1: how(cells[3]),
            to_v2: how(cells[4]),
        })
    };
    page.lines().filter_map(row).collect()
}

/// One example: what happens to one value of the bridge, step by step.
struct Case {
    file: String,
    id: String,
    to: Side,
    steps: Vec<Value>,
    whole: Value,
}

fn cases() -> Vec<Case> {
    let folder = format!("{SPEC}/golden/mapping");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is in the repository")
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let of_file = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable file");
        let cases: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        cases.into_iter().map(move |whole| Case {
            file: path.display().to_string(),
            id: whole["id"].as_str().expect("an id").to_owned(),
            to: match whole["to"].as_str() {
                Some("v1") => Side::V1,
                Some("v2") => Side::V2,
                other => panic!("{other:?} is not a version"),
            },
            steps: whole["steps"].as_array().expect("steps").clone(),
            whole,
        })
    };
    files.into_iter().flat_map(of_file).collect()
}

/// The value of the bridge that serves a client of one version.
enum Bridge {
    V1(Box<ToV1>),
    V2(Box<ToV2>),
}

impl Bridge {
    fn for_client(side: Side, case: &Value) -> Self {
        match side {
            Side::V1 => {
                let init = json!({ "clientCapabilities": case["capabilities"] });
                Self::V1(Box::new(ToV1::new(V1Client::of(&raw(&init)))))
            }
            Side::V2 => {
                let bridge = ToV2::new("m-");
                Self::V2(Box::new(match case["cwd"].as_str() {
                    Some(cwd) => bridge.with_cwd(cwd),
                    None => bridge,
                }))
            }
        }
    }

    /// Does one step and gives what comes of it.
    fn step(&mut self, to: Side, name: &str, input: &Value) -> Value {
        let input_raw = raw(input);
        match (self, name) {
            (Self::V1(bridge), "update") => list(&bridge.update(&input_raw)),
            (Self::V2(bridge), "update") => list(&bridge.update(&input_raw)),
            (Self::V1(bridge), "permission") => value(&bridge.permission(&input_raw)),
            (Self::V2(bridge), "permission") => value(&bridge.permission(&input_raw)),
            (_, "permission_answer") if to == Side::V1 => value(&ToV2::permission_answer(&input_raw)),
            (_, "permission_answer") => value(&ToV1::permission_answer(&input_raw)),
            (Self::V1(bridge), "own_terminal") => {
                bridge.own_terminal(input.as_str().expect("an id"));
                json!([])
            }
            (Self::V2(bridge), "turn_started") => list(&bridge.update(&turn_started())),
            (Self::V2(bridge), "turn_ended") => list(&bridge.update(&turn_ended(&input_raw))),
            (Self::V2(bridge), "turn_failed") => list(&bridge.update(&turn_failed(&input_raw))),
            (Self::V1(bridge), "setup") => setup(&bridge.setup(&input_raw)),
            (Self::V2(bridge), "setup") => setup(&bridge.setup(&input_raw)),
            (Self::V1(bridge), "set_mode") => {
                bridge.set_mode(&input_raw).map_or(Value::Null, |raw| value(&raw))
            }
            (Self::V1(bridge), "set_config_option") => value(&bridge.set_config_option(&input_raw)),
            (Self::V2(bridge), "set_config_option") => call(&bridge.set_config_option(&input_raw)),
            (Self::V1(bridge), "config_result") => value(&bridge.config_result(&input_raw)),
            (Self::V2(bridge), "config_result") => {
                let method = input["method"].as_str().expect("a method").to_owned();
                let call = MethodCall { method, params: raw(&input["params"]) };
                value(&bridge.config_result(&call, &raw(&input["result"])))
            }
            (_, "prompt_answer") => match prompt_answer(&input_raw) {
                Ok(result) => json!({ "result": value(&result) }),
                Err(error) => json!({ "error": value(&error) }),
            },
            (_, "initialize_result") if to == Side::V1 => value(&agent_to_v1(&input_raw)),
            (_, "initialize_result") => value(&agent_to_v2(&input_raw)),
            (_, "request") => {
                let method = input["method"].as_str().expect("a method");
                let convert = if to == Side::V1 { request_to_v1 } else { request_to_v2 };
                call(&convert(method, &raw(&input["params"])))
            }
            (_, other) => panic!("there is no step `{other}` here"),
        }
    }
}

fn raw(value: &Value) -> RawJson {
    RawJson::parse(value.to_string()).expect("JSON")
}

fn value(raw: &RawJson) -> Value {
    raw.to().expect("the bridge makes JSON")
}

fn list(raws: &[RawJson]) -> Value {
    raws.iter().map(value).collect()
}

fn call(call: &MethodCall) -> Value {
    json!({ "method": call.method, "params": value(&call.params) })
}

fn setup(setup: &nudge_bridge::ClientSessionSetup) -> Value {
    json!({ "result": value(&setup.result), "updates": list(&setup.updates) })
}

/// The one member of a step that is not `gives` or about how it is checked.
fn parts(step: &Value) -> (&str, &Value) {
    let members = step.as_object().expect("a step is an object");
    let (name, input) =
        members.iter().find(|(name, _)| *name != "gives" && *name != "untyped").expect("a step has a name");
    (name, input)
}

/// Whom the value of the bridge serves, where that is not whom the frames are for.
fn client(case: &Case) -> Side {
    match case.whole["client"].as_str() {
        Some("v1") => Side::V1,
        Some("v2") => Side::V2,
        _ => case.to,
    }
}

#[test]
fn every_example_holds() {
    let bless = env::var_os("NUDGE_BLESS").is_some();
    let mut blessed: Vec<(String, Value)> = Vec::new();
    for mut case in cases() {
        let mut bridge = Bridge::for_client(client(&case), &case.whole);
        for (index, step) in case.steps.iter().enumerate() {
            let (name, input) = parts(step);
            let gives = bridge.step(case.to, name, input);
            if !bless {
                assert_eq!(gives, step["gives"], "{} {} step {index}: {name}", case.file, case.id);
            }
            case.whole["steps"][index]["gives"] = gives;
        }
        match blessed.last_mut() {
            Some((file, Value::Array(cases))) if *file == case.file => cases.push(case.whole),
            _ => blessed.push((case.file, json!([case.whole]))),
        }
    }
    for (file, cases) in blessed.into_iter().filter(|_| bless) {
        fs::write(file, format!("{cases:#}\n")).expect("a writable file");
    }
}

#[test]
fn every_row_has_examples_and_every_example_a_row() {
    let rows = rows();
    let cases = cases();
    let ids: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "an id is used twice");
    assert!(rows.len() > 50, "the tables were not read");
    for row in &rows {
        for to in [Side::V1, Side::V2] {
            let has = cases.iter().any(|case| case.id == row.id && case.to == to);
            let claims = row.how(to) != How::Never;
            assert_eq!(has, claims, "{} to {to:?}: the page and the examples differ", row.id);
        }
    }
    for case in &cases {
        assert!(ids.contains(case.id.as_str()), "{}: `{}` is in no table", case.file, case.id);
    }
}

#[test]
fn what_the_page_calls_nothing_gives_nothing() {
    for (case, how) in cases_with_rows() {
        let last = case.steps.last().expect("a step");
        let empty = last["gives"].as_array().is_some_and(Vec::is_empty);
        assert_eq!(empty, how == How::Nothing, "{} to {:?}", case.id, case.to);
    }
}

#[test]
fn what_the_page_calls_exact_comes_back_the_same() {
    let exact = cases_with_rows().into_iter().filter(|(_, how)| *how == How::Exact);
    exact.for_each(|(case, _)| check_back(&case));
}

/// Every example with what the page says of it.
fn cases_with_rows() -> Vec<(Case, How)> {
    let rows = rows();
    let how = |case: &Case| rows.iter().find(|row| row.id == case.id).map(|row| row.how(case.to));
    cases().into_iter().filter_map(|case| how(&case).map(|how| (case, how))).collect()
}

fn check_back(case: &Case) {
    let mut back = Bridge::for_client(case.to.other(), &case.whole);
    for step in &case.steps {
        let (name, input) = parts(step);
        let gives = &step["gives"];
        let again = match name {
            "own_terminal" => continue,
            "update" => {
                let again = gives.as_array().expect("updates").iter();
                let mut again = again.flat_map(|update| {
                    let Value::Array(again) = back.step(case.to.other(), name, update) else { panic!() };
                    again
                });
                let first = again.next().unwrap_or(Value::Null);
                assert_eq!(again.next(), None, "{}: more came back than went", case.id);
                first
            }
            "setup" => back.step(case.to.other(), name, &gives["result"])["result"].clone(),
            _ => back.step(case.to.other(), name, gives),
        };
        assert_eq!(without_notes(&again), without_notes(input), "{} {name}, there and back", case.id);
    }
}

/// The value without `_meta.nudge`, which neither side reads.
fn without_notes(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_notes).collect(),
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), without_notes(member))).collect();
            if let Some(Value::Object(meta)) = members.get_mut("_meta") {
                meta.remove("nudge");
                if meta.is_empty() {
                    members.remove("_meta");
                }
            }
            Value::Object(members)
        }
        other => other.clone(),
    }
}

#[test]
fn examples_are_what_the_official_types_say() {
    let mut wrong = Vec::new();
    for case in cases() {
        for (index, step) in case.steps.iter().enumerate() {
            let (name, input) = parts(step);
            let typed =
                |what: &str| !step["untyped"].as_array().is_some_and(|all| all.contains(&json!(what)));
            // What goes away from the client is written in the client's version.
            let away = matches!(name, "set_mode" | "set_config_option");
            let read = if away { client(&case) } else { case.to.other() };
            let input = if typed("input") { types::check(read, name, input) } else { Ok(()) };
            let given = &step["gives"];
            let given = if typed("gives") { types::check_given(read.other(), name, given) } else { Ok(()) };
            let place = |what: &str| format!("{} to {:?} step {index}, {what}: ", case.id, case.to);
            wrong.extend(input.err().map(|error| place("input") + &error));
            wrong.extend(given.err().map(|error| place("gives") + &error));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

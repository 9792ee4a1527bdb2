//! The scripted agent as a program. That its tests are here also has it built with the others, which start it.
#![allow(clippy::disallowed_methods, reason = "tests start processes")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Starts the agent, says this, and gives its first answer.
fn first_answer(args: &[&str], said: &Value) -> Value {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_scripted-agent"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the agent can be started");
    let mut input = agent.stdin.take().expect("it has an input");
    writeln!(input, "{said}").expect("it reads");
    let mut answer = String::new();
    let output = agent.stdout.take().expect("it has an output");
    BufReader::new(output).read_line(&mut answer).expect("what it says is text");
    drop(input);
    agent.wait().expect("it ends with its input");
    serde_json::from_str(&answer).expect("it says JSON")
}

#[test]
fn it_is_greeted_in_the_version_that_it_speaks() {
    for (args, version) in [(&[][..], 1), (&["--v2"][..], 2)] {
        let greeting = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize",
            "params": { "protocolVersion": version } });
        let answer = first_answer(args, &greeting);
        assert_eq!(answer["id"], 7, "{answer}");
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
    }
}

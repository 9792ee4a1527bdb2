//! Neovim with the plugin, in a terminal, in a project and home of its own.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use nudge_testkit::{PATIENCE, Terminal};
use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use vt100::Color;

use crate::programs::{has_in_environment, installed, nudge, package, path_with_nudge, repository};

const ROWS: u16 = 16;
const COLS: u16 = 80;
/// How the colours of `init.lua` are marked in a dump.
const MARKS: &[(Color, char)] =
    &[(Color::Idx(2), '+'), (Color::Idx(1), '-'), (Color::Idx(6), '~'), (Color::Idx(5), '?')];

pub(crate) const TAB: &str = "\t";
pub(crate) const ESC: &str = "\x1b";
pub(crate) const CTRL_RIGHT: &str = "\x1b[1;5C";
pub(crate) const END: &str = "\x1bOF";

/// A running Neovim.
pub(crate) struct Neovim {
    pub(crate) terminal: Terminal,
    program: PathBuf,
    place: TempDir,
}

impl Neovim {
    /// Opens the first of the files in Neovim `version`, if that is installed, and waits until Nudge is ready.
    pub(crate) fn open(version: &str, files: &[(&str, &str)]) -> Option<Self> {
        Self::open_with(version, files, "")
    }

    /// The same with some Lua run at the end of the configuration.
    pub(crate) fn open_with(version: &str, files: &[(&str, &str)], lua: &str) -> Option<Self> {
        let editor = Self::start(version, files, &repository().join("editors/neovim"), "", lua)?;
        editor.wait_lua("require('nudge.client').of(0) ~= nil and require('nudge.status').state", "ready");
        Some(editor)
    }

    /// Opens the first of the files with the plugin in a folder instead of ours, and waits until `nudge lsp` is ready, which
    /// the plugin has for its server by the Lua that `editors/README.md` tells its users to write.
    pub(crate) fn open_with_plugin(
        version: &str,
        plugin: &Path,
        lua: &str,
        files: &[(&str, &str)],
    ) -> Option<Self> {
        let editor = Self::start(version, files, plugin, lua, "")?;
        editor.wait_lua("require('nudge_test').state()", "ready");
        Some(editor)
    }

    /// `config` is the user's own, `lua` is run once the file is there.
    fn start(version: &str, files: &[(&str, &str)], plugin: &Path, config: &str, lua: &str) -> Option<Self> {
        let program = installed(&format!("nvim-{version}"))?;
        let place = tempfile::tempdir().expect("there is room for temporary files");
        let project = place.path().join("project");
        std::fs::create_dir_all(project.join(".git")).expect("the folder is new");
        for (name, text) in files {
            std::fs::write(project.join(name), text).expect("the folder is ours");
        }
        std::fs::write(place.path().join("config.lua"), config).expect("the folder is ours");
        let init = package().join("tests/it/neovim/init.lua");
        let mut command = CommandBuilder::new(&program);
        command.args([OsStr::new("-i"), "NONE".as_ref(), "-u".as_ref(), init.as_ref()]);
        command.args(["--listen".as_ref(), place.path().join("nvim.sock").as_os_str()]);
        command.args(["-c", &format!("lua do {lua} end")]);
        command.arg(files[0].0);
        command.cwd(&project);
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "share"),
            ("NUDGE_DATA", "data"),
            ("NUDGE_TEST_CONFIG", "config.lua"),
        ] {
            command.env(name, place.path().join(folder));
        }
        command.env("NUDGE_PLUGIN", plugin);
        command.env("PATH", path_with_nudge());
        command.env("LC_ALL", "C.UTF-8");
        let editor = Self { terminal: Terminal::start(command, ROWS, COLS), program, place };
        editor.terminal.wait_text(files[0].0);
        Some(editor)
    }

    /// Opens the first of the files and does not wait for Nudge. The Lua is the user's configuration.
    pub(crate) fn open_at_once(version: &str, files: &[(&str, &str)], config: &str) -> Option<Self> {
        Self::start(version, files, &repository().join("editors/neovim"), config, "")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.place.path().join("project").join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the project")).expect("the folder is ours");
        std::fs::write(path, text).expect("the folder is ours");
    }

    /// Types.
    pub(crate) fn keys(&self, keys: &str) {
        self.terminal.send(keys);
    }

    /// Leaves insert mode. What is typed next must not come together with the key, which would make it another key.
    pub(crate) fn escape(&self) {
        self.keys(ESC);
        self.wait_lua("vim.api.nvim_get_mode().mode", "n");
    }

    /// The value of a Lua expression in the editor, as text.
    pub(crate) fn lua(&self, expression: &str) -> String {
        let quoted = format!("luaeval('tostring({})')", expression.replace('\'', "''"));
        self.remote(&quoted)
    }

    /// Waits until a Lua expression has a value.
    pub(crate) fn wait_lua(&self, expression: &str, value: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let is = self.lua(expression);
            if is == value {
                return;
            }
            assert!(Instant::now() < deadline, "{expression} is {is}, not {value}\n{}", self.screen());
        }
    }

    /// Waits until there is nothing that the plugin has asked or is about to ask.
    pub(crate) fn settle(&self) {
        self.wait_lua("require('nudge.suggest').idle()", "true");
    }

    /// The text of the current buffer.
    pub(crate) fn text(&self) -> String {
        self.remote("join(getline(1, '$'), nr2char(10))") + "\n"
    }

    /// Waits until the current buffer has this text.
    pub(crate) fn wait_buffer(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.text() != text {
            assert!(Instant::now() < deadline, "the buffer is\n{}\n{}", self.text(), self.screen());
        }
    }

    /// The text part of the screen in words.
    pub(crate) fn screen(&self) -> String {
        self.terminal.dump(ROWS - 2, MARKS)
    }

    /// Waits until the text part of the screen is that of the file `screens/NAME.txt`.
    ///
    /// With `NUDGE_UPDATE_SCREENS` set, waits until nothing changes and writes the file.
    pub(crate) fn expect_screen(&self, name: &str) {
        let path = package().join("tests/it/neovim/screens").join(name).with_extension("txt");
        if std::env::var_os("NUDGE_UPDATE_SCREENS").is_some() {
            self.terminal.wait_still(Duration::from_secs(1));
            std::fs::write(&path, self.screen()).expect("the folder is in the repository");
        }
        let wanted = std::fs::read_to_string(&path).unwrap_or_default();
        let deadline = Instant::now() + PATIENCE;
        while self.screen() != wanted {
            assert!(Instant::now() < deadline, "{name}: wanted\n{wanted}\nthe screen is\n{}", self.screen());
            // Asking the editor something lets it draw.
            self.lua("1");
        }
    }

    /// Waits until the text part of the screen has something in it.
    pub(crate) fn see(&self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.screen().contains(wanted) {
            assert!(Instant::now() < deadline, "wanted\n{wanted}\nthe screen is\n{}", self.screen());
            self.lua("1");
        }
    }

    /// Kills the `nudge` processes of this place whose arguments begin with these, and says how many.
    pub(crate) fn kill(&self, arguments: &[&str]) -> usize {
        let found = self.processes(arguments);
        for pid in &found {
            let _ = kill_process(*pid, Signal::KILL);
        }
        found.len()
    }

    /// The `nudge` processes of this place whose arguments begin with these.
    pub(crate) fn processes(&self, arguments: &[&str]) -> Vec<Pid> {
        let data = format!("NUDGE_DATA={}", self.place.path().join("data").display());
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_ours = |pid: &i32| is_nudge(*pid, arguments) && has_in_environment(*pid, &data);
        pids.filter(is_ours).filter_map(Pid::from_raw).collect()
    }

    fn remote(&self, expression: &str) -> String {
        // An editor that waits for a key to go on does not answer.
        let answer = Command::new("timeout")
            .arg(PATIENCE.as_secs().to_string())
            .arg(&self.program)
            .args(["--headless", "--server"])
            .arg(self.place.path().join("nvim.sock"))
            .args(["--remote-expr", expression])
            .output()
            .expect("Neovim starts");
        assert_ne!(answer.status.code(), Some(124), "no answer to {expression}\n{}", self.screen());
        String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned()
    }
}

impl Drop for Neovim {
    fn drop(&mut self) {
        self.kill(&[]);
    }
}

fn is_nudge(pid: i32, arguments: &[&str]) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command);
    let mut words = command.split('\0');
    let program = words.next().unwrap_or_default();
    Path::new(program).file_name() == Path::new(nudge()).file_name()
        && arguments.iter().all(|wanted| words.next() == Some(*wanted))
}

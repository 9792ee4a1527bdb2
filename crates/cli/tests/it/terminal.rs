//! A program on a pseudo-terminal.

use std::{
    io::{Read, Write},
    path::Path,
    sync::Arc,
    time::Instant,
};

use nudge_testkit::PATIENCE;
use parking_lot::{Condvar, Mutex};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// A program on a terminal. Killed when dropped.
pub(crate) struct Terminal {
    shown: Arc<(Mutex<String>, Condvar)>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    // Closing it would hang up the program.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Runs a line in a shell, with these variables and no others.
    pub(crate) fn run(line: &str, env: &[(&str, &str)], cwd: &Path) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", line]);
        command.env_clear();
        for (name, value) in env {
            command.env(name, value);
        }
        command.env("NUDGE", env!("CARGO_BIN_EXE_nudge"));
        command.cwd(cwd);
        let size = PtySize { rows: 40, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("there are pseudo-terminals");
        let child = pty.slave.spawn_command(command).expect("the shell starts");
        let mut output = pty.master.try_clone_reader().expect("the terminal can be read");
        let keys = pty.master.take_writer().expect("the terminal can be written to");
        let shown = Arc::new((Mutex::new(String::new()), Condvar::new()));
        std::thread::spawn({
            let shown = Arc::clone(&shown);
            move || {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = output.read(&mut bytes) {
                    shown.0.lock().push_str(&String::from_utf8_lossy(&bytes[..read]));
                    shown.1.notify_all();
                }
            }
        });
        Self { shown, keys, child, _master: pty.master }
    }

    pub(crate) fn types(&mut self, keys: &str) -> &mut Self {
        self.keys.write_all(keys.as_bytes()).and_then(|()| self.keys.flush()).expect("it reads its keys");
        self
    }

    /// Waits until a text is shown.
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock();
        while !shown.contains(text) {
            let is_late = self.shown.1.wait_until(&mut shown, deadline).timed_out();
            assert!(!is_late, "waited for {text:?}; shown is\n{shown}");
        }
        drop(shown);
        self
    }

    /// All that was shown, once it has ended, and its status.
    pub(crate) fn ended(&mut self) -> (u32, String) {
        let code = self.child.wait().expect("it ends").exit_code();
        let shown = self.shown.0.lock().clone();
        (code, shown)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

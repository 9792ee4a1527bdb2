//! From a key to the screen in `nudge chat`, while words stream and while nothing does, beside a terminal that echoes by itself.

use std::{
    io::{Read, Write},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long half of the keys may take while words stream.
const BAR: Duration = Duration::from_millis(10);
/// Letters between keys that take away what was typed.
const LINE: usize = 20;

/// What streams: a word each two milliseconds, for minutes.
const STREAM: &str = "[[turn]]\n[[turn.step]]\nplay = [{ text = \"word \", repeat = 90000, token_ms = 2 }]\n";

pub(crate) fn run(quick: bool) -> Result<()> {
    let keys = if quick { 100 } else { 1000 };
    let place = tempfile::tempdir().context("a temporary folder")?;
    let rehearsal = place.path().join("stream.toml");
    std::fs::write(&rehearsal, STREAM)?;
    let nudge = std::env::current_exe()?.with_file_name("nudge");
    let mut echo = BenchTerminal::start(CommandBuilder::new("cat"))?;
    let floor = echo.keys(keys)?;
    let mut command = CommandBuilder::new(&nudge);
    command.args(["chat", "--no-daemon", "--rehearsal"]);
    command.arg(&rehearsal);
    command.env("NUDGE_DATA", place.path().join("data"));
    command.env("NUDGE_CONFIG", "");
    command.cwd(place.path());
    let mut chat = BenchTerminal::start(command)?;
    chat.wait_for("idle")?;
    let idle = chat.keys(keys)?;
    chat.send("go\r")?;
    chat.wait_for("word word")?;
    let streaming = chat.keys(keys)?;
    ensure!(is_streaming(&mut chat)?, "the stream was over before the keys were");
    println!("{:<44} {:>10} {:>10} {:>10}", "from a key to the screen, microseconds", "p50", "p99", "most");
    for (what, times) in [
        ("a terminal that echoes by itself (cat)", &floor),
        ("nudge chat, idle", &idle),
        ("nudge chat, 500 words a second stream", &streaming),
    ] {
        let of = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_micros();
        println!("{what:<44} {:>10} {:>10} {:>10}", of(50), of(99), of(100));
    }
    let late = streaming[streaming.len() / 2];
    println!(
        "p50 while words stream: {:.1} ms; the bar is {} ms",
        late.as_secs_f64() * 1000.0,
        BAR.as_millis()
    );
    ensure!(late <= BAR, "that is too late");
    Ok(())
}

fn is_streaming(chat: &mut BenchTerminal) -> Result<bool> {
    chat.seen.clear();
    chat.wait_for("word").map(|()| true)
}

/// A program on a terminal.
struct BenchTerminal {
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
    input: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    /// What came since the last key.
    seen: String,
}

impl BenchTerminal {
    fn start(mut command: CommandBuilder) -> Result<Self> {
        command.env("TERM", "xterm-256color");
        let pty =
            native_pty_system().openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 })?;
        let child = pty.slave.spawn_command(command)?;
        let mut reader = pty.master.try_clone_reader()?;
        let input = pty.master.take_writer()?;
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, _master: pty.master, input, output, seen: String::new() })
    }

    fn send(&mut self, keys: &str) -> Result<()> {
        self.input.write_all(keys.as_bytes()).and_then(|()| self.input.flush()).context("cannot type")
    }

    fn wait_for(&mut self, text: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            let bytes = self.output.recv_timeout(left).with_context(|| format!("waited for `{text}`"))?;
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok(())
    }

    /// Types letters one by one and measures how long each takes to be on the screen, in order of time.
    fn keys(&mut self, count: usize) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(count);
        let mut typed = String::new();
        for number in 0..count {
            if number % LINE == 0 {
                self.send("\u{15}")?;
                thread::sleep(Duration::from_millis(50));
                self.output.try_iter().for_each(drop);
                (self.seen, typed) = (String::new(), String::new());
            }
            // Letters that stand in no word of the stream, nor in what is drawn around them; the line so far is awaited, for
            // what was typed before is drawn again and again.
            typed.push(char::from(b"QXZJK"[number % 5]));
            let began = Instant::now();
            self.send(&typed[typed.len() - 1..])?;
            let line = typed.clone();
            self.wait_for(&line)?;
            times.push(began.elapsed());
            thread::sleep(Duration::from_millis(7));
        }
        times.sort_unstable();
        Ok(times)
    }
}

impl Drop for BenchTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

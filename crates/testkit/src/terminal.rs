//! A program in a terminal: keys go in, and the screen is what a person would see.

use std::{
    fmt::Write as _,
    io::{Read, Write},
    num::NonZero,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use vt100::{Callbacks, Color, Parser, Screen};

use crate::PATIENCE;

/// A running program with its screen. Killed when dropped.
pub struct Terminal {
    shared: Arc<Shared>,
    keyboard: Keyboard,
    child: Box<dyn Child + Send + Sync>,
    // Closing it would hang up the program.
    master: Box<dyn MasterPty + Send>,
}

struct Shared {
    parser: Mutex<Parser<Answers>>,
    changed: Condvar,
}

/// What a terminal answers when it is asked, and what its window was last told to be called.
struct Answers {
    keyboard: Keyboard,
    title: Option<String>,
}

/// Writes what is typed; by itself, so that a program that does not read yet can still be heard.
type Keyboard = Arc<Mutex<Box<dyn Write + Send>>>;

impl Terminal {
    /// Starts a program on a screen of this size.
    pub fn start(mut command: CommandBuilder, rows: u16, cols: u16) -> Self {
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "");
        let pty = native_pty_system()
            .openpty(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 })
            .expect("there are pseudo-terminals");
        let child = pty.slave.spawn_command(command).expect("the program starts");
        let output = pty.master.try_clone_reader().expect("the terminal can be read");
        let keyboard =
            Arc::new(Mutex::new(pty.master.take_writer().expect("the terminal can be written to")));
        let answers = Answers { keyboard: Arc::clone(&keyboard), title: None };
        let [high, wide] =
            [rows, cols].map(|size| NonZero::new(size).expect("a screen has rows and columns"));
        let parser = Mutex::new(Parser::new_with_callbacks(high, wide, 0, answers));
        let shared = Arc::new(Shared { parser, changed: Condvar::new() });
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.read(output)
        });
        Self { shared, keyboard, child, master: pty.master }
    }

    /// The terminal gets another size.
    pub fn resize(&self, rows: u16, cols: u16) {
        let [high, wide] =
            [rows, cols].map(|size| NonZero::new(size).expect("a screen has rows and columns"));
        self.shared.parser.lock().screen_mut().set_size(high, wide);
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("the terminal has another size");
    }

    /// The process in it.
    pub fn process_id(&self) -> Option<u32> {
        self.child.process_id()
    }

    /// Waits until the program has ended; its exit code.
    pub fn exit_code(&mut self) -> u32 {
        self.child.wait().expect("it was started").exit_code()
    }

    /// Types.
    pub fn send(&self, keys: &str) {
        let mut input = self.keyboard.lock();
        input.write_all(keys.as_bytes()).and_then(|()| input.flush()).expect("the program reads its keys");
    }

    /// Waits until the screen is as wanted, and fails with the screen as it is.
    pub fn wait(&self, what: &str, wanted: impl FnMut(&Screen) -> bool) {
        let is_so = self.is_within(PATIENCE, wanted);
        assert!(is_so, "waited for {what}; the screen is\n{}", self.look(Screen::contents));
    }

    /// Waits until the screen is as wanted, but not longer than this; whether it is.
    pub fn is_within(&self, time: Duration, mut wanted: impl FnMut(&Screen) -> bool) -> bool {
        let deadline = Instant::now() + time;
        let mut parser = self.shared.parser.lock();
        while !wanted(parser.screen()) {
            if self.shared.changed.wait_until(&mut parser, deadline).timed_out() {
                return wanted(parser.screen());
            }
        }
        true
    }

    /// Does something again and again until it says that it is done, and fails with the screen as it is.
    pub fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done() {
            assert!(
                Instant::now() < deadline,
                "tried for {what}; the screen is\n{}",
                self.look(Screen::contents)
            );
        }
    }

    /// Waits until nothing has changed on the screen for so long.
    pub fn wait_still(&self, time: Duration) {
        let mut parser = self.shared.parser.lock();
        while !self.shared.changed.wait_for(&mut parser, time).timed_out() {}
    }

    /// Waits until a text is on the screen.
    pub fn wait_text(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Looks at the screen as it is.
    pub fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(self.shared.parser.lock().screen())
    }

    /// What the window was last told to be called.
    pub fn title(&self) -> Option<String> {
        self.shared.parser.lock().callbacks().title.clone()
    }

    /// The first rows of the screen, with what is in one of the colours between marks: `[+added+]`.
    pub fn dump(&self, rows: u16, marks: &[(Color, char)]) -> String {
        self.look(|screen| dump(screen, rows, marks))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shared {
    fn read(&self, mut output: Box<dyn Read + Send>) {
        let mut bytes = vec![0; 65536];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            let mut parser = self.parser.lock();
            parser.process(&bytes[..count]);
            self.changed.notify_all();
        }
    }
}

impl Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        i1: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        let (row, col) = screen.cursor_position();
        let answer = match (i1, params.first().and_then(|first| first.first()), c) {
            (None, _, 'c') => "\x1b[?62;22c".to_owned(),
            (None, Some(5), 'n') => "\x1b[0n".to_owned(),
            (None, Some(6), 'n') => format!("\x1b[{};{}R", row + 1, col + 1),
            _ => return,
        };
        let _ = self.keyboard.lock().write_all(answer.as_bytes());
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.title = Some(String::from_utf8_lossy(title).into_owned());
    }
}

/// The screen in words, the colours in which something is shown as marks, and the cursor as `▏`.
fn dump(screen: &Screen, rows: u16, marks: &[(Color, char)]) -> String {
    let (_, cols) = screen.size();
    let cursor = screen.cursor_position();
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        let mut open = None;
        for col in 0..cols.get() {
            let Some(cell) = screen.cell(row, col) else { continue };
            let mark = marks.iter().find(|(color, _)| [cell.bgcolor(), cell.fgcolor()].contains(color));
            let mark = mark.map(|(_, mark)| *mark);
            if mark != open {
                line.extend(open.into_iter().flat_map(|mark| [mark, ']']));
                line.extend(mark.into_iter().flat_map(|mark| ['[', mark]));
                open = mark;
            }
            if (row, col) == cursor {
                line.push('▏');
            }
            if !cell.is_wide_continuation() {
                line.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
        }
        line.extend(open.into_iter().flat_map(|mark| [mark, ']']));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

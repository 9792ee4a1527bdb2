//! The chat on a terminal: keys and events are given to the core, and what it wants is drawn and done.

use std::{io, path::PathBuf, time::Duration};

use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste, Event, EventStream},
    execute, terminal,
};
use futures_util::StreamExt;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
    time::Instant,
};

use crate::{
    ChatConnector, ChatEnd, ChatSettings, SignInRun,
    conversation::ConversationForm,
    core::{ChatAct, ChatCore, LiveRows},
    session_run::{RunEvent, SessionRun},
    terminal_screen::{TerminalScreen, put},
};

/// How often what streams is drawn.
const FRAME: Duration = Duration::from_millis(16);
/// How often what changes with the time alone is drawn.
const TICK: Duration = Duration::from_millis(250);
/// How long the system may take to stop the program.
const STOPS_WITHIN: Duration = Duration::from_millis(50);
/// How many events are taken in before something is drawn.
const AT_ONCE: usize = 512;

/// Holds a chat on this terminal until the user leaves.
pub(crate) async fn run(settings: ChatSettings, connector: ChatConnector) -> io::Result<ChatEnd> {
    let (columns, rows) = terminal::size()?;
    let screen = TerminalScreen::new(columns.into(), rows.into(), settings.has_colours);
    let mut core =
        ChatCore::new(ConversationForm::Drawn, settings.wish.clone(), settings.cwd_text(), settings.seed);
    core.set_size(screen.width(), rows.into());
    let mode = RawMode::enter()?;
    let (files, found) = mpsc::channel(1);
    let mut chat = InteractiveChat {
        run: SessionRun::new(core, connector),
        screen,
        mode,
        cwd: settings.cwd.clone(),
        sign_in: settings.sign_in,
        files,
        began: Instant::now(),
        drawn_at: Instant::now(),
        is_stale: true,
    };
    let end = chat.hold(found).await;
    let session = chat.run.core.session_id().map(str::to_owned);
    let unsaid = chat.run.core.unsaid();
    // What was being said stays as far as it was shown.
    let last = chat.run.core.last_rows();
    let last = chat.screen.draw(&last, &LiveRows::default());
    let cleared = chat.screen.clear();
    let left = put(&(last + &cleared));
    drop(chat);
    let end = end?;
    left?;
    Ok(ChatEnd { session, unsaid, ..end })
}

struct InteractiveChat {
    run: SessionRun,
    screen: TerminalScreen,
    mode: RawMode,
    cwd: PathBuf,
    sign_in: SignInRun,
    files: mpsc::Sender<Vec<String>>,
    began: Instant,
    drawn_at: Instant,
    /// Whether something is not drawn yet.
    is_stale: bool,
}

/// What happens to a chat.
enum Happening {
    Terminal(Event),
    Run(RunEvent),
    Files(Vec<String>),
    Time,
    /// The terminal or the system ends it, with this exit code.
    Over(u8),
}

impl InteractiveChat {
    async fn hold(&mut self, mut found: mpsc::Receiver<Vec<String>>) -> io::Result<ChatEnd> {
        let mut keys = Some(EventStream::new());
        let mut signals = EndSignals::new()?;
        loop {
            let wakes = if self.is_stale { self.drawn_at + FRAME } else { Instant::now() + TICK };
            let happening = tokio::select! {
                biased;
                happening = signals.next() => happening,
                event = next_key(&mut keys) => match event {
                    Some(Ok(event)) => Happening::Terminal(event),
                    // The terminal is gone.
                    Some(Err(_)) | None => Happening::Over(129),
                },
                () = tokio::time::sleep_until(wakes), if self.is_stale || self.run.core.is_moving() => Happening::Time,
                event = self.run.next() => Happening::Run(event),
                Some(files) = found.recv() => Happening::Files(files),
            };
            let is_key = matches!(happening, Happening::Terminal(_) | Happening::Time);
            if let Some(end) = self.happened(happening)? {
                return Ok(end);
            }
            if let Some(end) = self.act(&mut keys).await? {
                return Ok(end);
            }
            if is_key || self.drawn_at.elapsed() >= FRAME {
                self.draw()?;
            }
        }
    }

    fn happened(&mut self, happening: Happening) -> io::Result<Option<ChatEnd>> {
        self.is_stale = true;
        let core = &mut self.run.core;
        core.set_now(self.began.elapsed());
        match happening {
            Happening::Terminal(Event::Key(key)) => core.key(key),
            Happening::Terminal(Event::Paste(text)) => core.paste(&text),
            Happening::Terminal(Event::Resize(columns, rows)) => self.resize(columns, rows)?,
            Happening::Terminal(_) | Happening::Time => {}
            Happening::Run(event) => {
                if let Some(why) = self.run.happened(event) {
                    return Ok(Some(ChatEnd { problem: Some(why), ..ChatEnd::of(1) }));
                }
                self.run.take_in(AT_ONCE);
            }
            Happening::Files(files) => core.set_files(files),
            Happening::Over(exit) => return Ok(Some(ChatEnd::of(exit))),
        }
        Ok(None)
    }

    /// Does what the core wants.
    async fn act(&mut self, keys: &mut Option<EventStream>) -> io::Result<Option<ChatEnd>> {
        for act in self.run.core.take_acts() {
            match act {
                ChatAct::Leave => {
                    self.draw()?;
                    self.run.close().await;
                    return Ok(Some(ChatEnd::of(0)));
                }
                ChatAct::Redraw => {
                    let (columns, rows) = terminal::size()?;
                    self.resize(columns, rows)?;
                }
                ChatAct::Ring => put("\u{7}")?,
                ChatAct::Suspend => self.suspend(keys)?,
                ChatAct::SignIn { args, env } => {
                    let cleared = self.screen.clear();
                    put(&cleared)?;
                    self.mode.leave();
                    // Nobody else reads the terminal meanwhile.
                    *keys = None;
                    let is_done = (self.sign_in)(args, env).await;
                    self.mode.enter_again()?;
                    *keys = Some(EventStream::new());
                    self.run.core.signed_in(is_done);
                    let (columns, rows) = terminal::size()?;
                    self.resize(columns, rows)?;
                }
                ChatAct::FindFiles => {
                    let (cwd, files) = (self.cwd.clone(), self.files.clone());
                    tokio::task::spawn_blocking(move || {
                        let _ = files.blocking_send(crate::workspace_files::files_below(&cwd));
                    });
                }
                other => self.run.perform(other),
            }
        }
        Ok(None)
    }

    fn draw(&mut self) -> io::Result<()> {
        let finished = self.run.core.take_rows();
        let live = self.run.core.live();
        let out = self.screen.draw(&finished, &live);
        put(&out)?;
        (self.drawn_at, self.is_stale) = (Instant::now(), false);
        Ok(())
    }

    fn resize(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        self.run.core.set_size(usize::from(columns).saturating_sub(1), rows.into());
        let live = self.run.core.live();
        let out = self.screen.redraw(columns.into(), rows.into(), &live);
        put(&out)
    }

    /// Goes into the background. What follows comes when the shell brings it back, or at once where there is no shell to do so.
    fn suspend(&mut self, keys: &mut Option<EventStream>) -> io::Result<()> {
        let cleared = self.screen.clear();
        put(&cleared)?;
        self.mode.leave();
        *keys = None;
        // As the terminal does it: whoever has started this and waits for it stops too.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        // The signal may reach another thread, a moment later.
        std::thread::sleep(STOPS_WITHIN);
        self.mode.enter_again()?;
        *keys = Some(EventStream::new());
        let (columns, rows) = terminal::size()?;
        self.resize(columns, rows)
    }
}

/// The next key, while somebody reads them.
async fn next_key(keys: &mut Option<EventStream>) -> Option<io::Result<Event>> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// The terminal gives every key at once, and pastes as such; as it was before once this is dropped.
struct RawMode {
    is_on: bool,
}

impl RawMode {
    fn enter() -> io::Result<Self> {
        let mut mode = Self { is_on: false };
        mode.enter_again()?;
        Ok(mode)
    }

    fn enter_again(&mut self) -> io::Result<()> {
        terminal::enable_raw_mode()?;
        self.is_on = true;
        execute!(io::stdout(), EnableBracketedPaste)
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_on) {
            // A terminal that is gone needs nothing any more.
            let _ = execute!(io::stdout(), DisableBracketedPaste);
            let _ = put("\u{1b}[?25h");
            let _ = terminal::disable_raw_mode();
        }
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The signals that end a chat.
struct EndSignals {
    hang_up: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl EndSignals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Happening {
        tokio::select! {
            _ = self.hang_up.recv() => Happening::Over(129),
            _ = self.terminate.recv() => Happening::Over(143),
            _ = self.interrupt.recv() => Happening::Over(130),
        }
    }
}

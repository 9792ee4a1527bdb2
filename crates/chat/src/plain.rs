//! The chat in lines alone: what is said comes as lines to be read or read aloud, and what the user says is a line each.

use std::{
    io::{self, BufRead, IsTerminal},
    time::Duration,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::Instant,
};

use crate::{
    ChatConnector, ChatEnd, ChatSettings,
    conversation::ConversationForm,
    core::{ChatAct, ChatCore},
    session_run::{RunEvent, SessionRun},
    terminal_screen::put,
};

/// No row is broken: whoever reads aloud does that better.
const WIDTH: usize = 1_000_000;
/// The longest line that is taken.
const LONGEST: u64 = 8 * 1024 * 1024;
/// How often half a line is looked at again.
const TICK: Duration = Duration::from_secs(1);

/// Holds a chat in lines until the user leaves, or the input is over and all is answered.
pub(crate) async fn run(settings: ChatSettings, connector: ChatConnector) -> io::Result<ChatEnd> {
    let mut core =
        ChatCore::new(ConversationForm::Spoken, settings.wish.clone(), settings.cwd_text(), settings.seed);
    core.set_size(WIDTH, 24);
    core.set_files(crate::workspace_files::files_below(&settings.cwd));
    let mut chat = PlainChat {
        run: SessionRun::new(core, connector),
        settings,
        began: Instant::now(),
        is_input_over: false,
        next_line: None,
        is_script: !io::stdin().is_terminal(),
    };
    let end = chat.hold(lines()).await?;
    chat.show()?;
    let session = chat.run.core.session_id().map(str::to_owned);
    Ok(ChatEnd { session, unsaid: chat.run.core.unsaid(), ..end })
}

struct PlainChat {
    run: SessionRun,
    settings: ChatSettings,
    began: Instant,
    is_input_over: bool,
    /// A line that waits for its moment.
    next_line: Option<String>,
    /// Whether nobody is there who looks before the next line is said.
    is_script: bool,
}

impl PlainChat {
    async fn hold(&mut self, mut lines: mpsc::Receiver<String>) -> io::Result<ChatEnd> {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        loop {
            tokio::select! {
                event = self.run.next() => {
                    if let Some(problem) = self.happened(event) {
                        return Ok(ChatEnd { problem: Some(problem), ..ChatEnd::of(1) });
                    }
                }
                line = lines.recv(), if !self.is_input_over && self.next_line.is_none() => match line {
                    Some(line) => self.next_line = Some(line),
                    None => self.is_input_over = true,
                },
                _ = interrupt.recv() => self.run.core.interrupt_turn(),
                _ = terminate.recv() => return Ok(ChatEnd::of(143)),
                () = tokio::time::sleep(TICK) => self.run.core.set_now(self.began.elapsed()),
            }
            let (core, is_script) = (&self.run.core, self.is_script);
            if let Some(line) = self.next_line.take_if(|line| core.takes_line(line, is_script)) {
                self.line(&line);
            } else if self.next_line.is_some() && is_script {
                // What comes next in the script is no answer to what may be asked.
                self.run.core.refuse_questions();
            }
            if self.is_input_over {
                self.run.core.input_over();
            }
            if let Some(end) = self.act().await? {
                return Ok(end);
            }
            self.show()?;
        }
    }

    fn happened(&mut self, event: RunEvent) -> Option<String> {
        self.run.core.set_now(self.began.elapsed());
        self.run.happened(event)
    }

    fn line(&mut self, line: &str) {
        self.run.core.set_now(self.began.elapsed());
        self.run.core.line(line);
    }

    async fn act(&mut self) -> io::Result<Option<ChatEnd>> {
        for act in self.run.core.take_acts() {
            match act {
                ChatAct::Leave => {
                    self.run.close().await;
                    return Ok(Some(ChatEnd::of(0)));
                }
                ChatAct::SignIn { args, env } => {
                    let is_done = (self.settings.sign_in)(args, env).await;
                    self.run.core.signed_in(is_done);
                }
                other => self.run.perform(other),
            }
        }
        if self.is_input_over && (self.run.core.has_failed() || !self.run.core.is_busy()) {
            let code = u8::from(self.run.core.has_failed());
            self.run.close().await;
            return Ok(Some(ChatEnd::of(code)));
        }
        Ok(None)
    }

    fn show(&mut self) -> io::Result<()> {
        let mut out = String::new();
        for row in self.run.core.take_rows() {
            out.push_str(row.text().trim_end());
            out.push('\n');
        }
        put(&out)
    }
}

/// The lines of standard input, as they come.
fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match io::Read::take(&mut input, LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line);
            if sender.blocking_send(text.trim_end_matches(['\n', '\r']).to_owned()).is_err() {
                return;
            }
        }
    });
    lines
}

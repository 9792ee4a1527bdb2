//! The provider: streams tokens in the manner of `OpenAI`'s chat completions, each with the time at which it was written.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, ensure};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What the one model is called.
pub(super) const MODEL: &str = "bench";
/// What begins a token; its time follows.
const MARK: &str = "at:";
const MODELS: &str = r#"{"object":"list","data":[{"id":"bench","object":"model"}]}"#;

/// The text by which this many tokens are asked for, with a pause before each.
pub(super) fn wish(tokens: usize, pause: Duration) -> String {
    format!("tokens {tokens} {}", pause.as_micros())
}

/// How long ago the token in this text was written, if there is one in it.
pub(super) fn age(text: &[u8]) -> Option<Duration> {
    let at = text.windows(MARK.len()).position(|part| part == MARK.as_bytes())? + MARK.len();
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let written =
        digits.fold(0_u64, |number, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    Some(Duration::from_nanos(now().saturating_sub(written)))
}

/// Nanoseconds of the clock that all processes have.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A provider in a process of its own, which ends with this value.
pub(super) struct ProviderProcess {
    child: Child,
    /// The base address of its API.
    pub(super) base: String,
}

impl ProviderProcess {
    pub(super) fn start() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("provider").stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("its output is a pipe")?;
        let mut base = String::new();
        BufReader::new(output).read_line(&mut base)?;
        ensure!(!base.is_empty(), "the provider does not start");
        Ok(Self { child, base: base.trim().to_owned() })
    }
}

impl Drop for ProviderProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until it is killed.
pub(crate) fn serve() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}/v1", listener.local_addr()?);
        loop {
            let (socket, _) = listener.accept().await?;
            // Whoever has left is not answered.
            tokio::spawn(async move { answer_all(socket).await.ok() });
        }
    })
}

/// The requests of one connection.
async fn answer_all(mut socket: TcpStream) -> Result<()> {
    socket.set_nodelay(true)?;
    let mut read = Vec::new();
    loop {
        let head = loop {
            if let Some(end) = read.windows(4).position(|part| part == b"\r\n\r\n") {
                break end + 4;
            }
            if socket.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        };
        let length = content_length(&read[..head]);
        while read.len() < head + length {
            ensure!(socket.read_buf(&mut read).await? > 0, "the client has left");
        }
        let body = String::from_utf8_lossy(&read[head..head + length]).into_owned();
        read.drain(..head + length);
        if let Some((tokens, pause)) = asked(&body) {
            stream(&mut socket, tokens, pause).await?;
            continue;
        }
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", MODELS.len());
        socket.write_all(format!("{head}\r\n\r\n{MODELS}").as_bytes()).await?;
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_lowercase();
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

/// How many tokens the last message of the user asks for, and the pause before each.
fn asked(body: &str) -> Option<(usize, Duration)> {
    let mut words =
        body[body.rfind("tokens ")?..].split(|letter: char| !letter.is_ascii_alphanumeric()).skip(1);
    let tokens = words.next()?.parse().ok()?;
    Some((tokens, Duration::from_micros(words.next()?.parse().ok()?)))
}

async fn stream(socket: &mut TcpStream, tokens: usize, pause: Duration) -> Result<()> {
    let mut written =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..tokens {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        push(&mut written, &delta(&format!(r#"{{"content":"{MARK}{} "}}"#, now()), "null"));
        socket.write_all(&written).await?;
        written.clear();
    }
    push(&mut written, &delta("{}", r#""stop""#));
    push(&mut written, "[DONE]");
    written.extend_from_slice(b"0\r\n\r\n");
    Ok(socket.write_all(&written).await?)
}

fn delta(delta: &str, reason: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"{MODEL}","choices":[{{"index":0,"delta":{delta},"finish_reason":{reason}}}]}}"#
    )
}

/// One event as a chunk of the body.
fn push(written: &mut Vec<u8>, data: &str) {
    let event = format!("data: {data}\n\n");
    written.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
}

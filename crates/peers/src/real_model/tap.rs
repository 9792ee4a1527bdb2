//! A tap between Nudge and the server of a model: keeps what is asked, and changes how it is to be answered.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _, copy},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde_json::Value;

/// Members that are put into questions.
#[derive(Default)]
struct TapAdditions {
    always: Value,
    once: Value,
}

/// A tap that runs as long as the process.
#[derive(Clone)]
pub(super) struct Tap {
    pub(super) address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
    /// How many answers nobody waited for to their end.
    cut: Arc<AtomicUsize>,
    additions: Arc<Mutex<TapAdditions>>,
}

impl Tap {
    /// One in front of this server.
    pub(super) fn open(server: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let tap = Self { address, asked: Arc::default(), cut: Arc::default(), additions: Arc::default() };
        let own = tap.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let tap = own.clone();
                // A client that leaves in the middle ends only its own connection.
                thread::spawn(move || tap.pass(client, server));
            }
        });
        Ok(tap)
    }

    /// Puts these members into every question from now on.
    pub(super) fn add(&self, members: Value) {
        self.additions.lock().always = members;
    }

    /// Puts these members into the next question.
    pub(super) fn add_once(&self, members: Value) {
        self.additions.lock().once = members;
    }

    /// All questions so far, as they came.
    pub(super) fn asked(&self) -> Vec<Value> {
        self.asked.lock().clone()
    }

    /// How many answers were cut off by whoever had asked.
    pub(super) fn cut(&self) -> usize {
        self.cut.load(Ordering::Relaxed)
    }

    /// One request and its answer.
    fn pass(&self, client: TcpStream, server: SocketAddr) -> Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let (mut head, mut length) = (first, 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let (name, value) = line.split_once(':').unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "" => break,
                "content-length" => length = value.trim().parse()?,
                "connection" => {}
                _ => head.push_str(&line),
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body = if body.is_empty() { body } else { self.changed(&body)? };
        let mut upstream = TcpStream::connect(server).context("the server of the model is gone")?;
        write!(upstream, "{head}content-length: {}\r\nconnection: close\r\n\r\n", body.len())?;
        upstream.write_all(&body)?;
        let mut client = client;
        let copied = copy(&mut upstream, &mut client);
        if copied.is_err() {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        // Whoever has left is not answered any further.
        let _ = upstream.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
        copied.map(drop).map_err(Into::into)
    }

    /// Keeps a question, and gives it with what is to be added.
    fn changed(&self, body: &[u8]) -> Result<Vec<u8>> {
        let mut body: Value = serde_json::from_slice(body)?;
        self.asked.lock().push(body.clone());
        let mut additions = self.additions.lock();
        let all = [additions.always.clone(), additions.once.take()];
        for members in all.into_iter().filter_map(|members| members.as_object().cloned()) {
            body.as_object_mut().context("a question is an object")?.extend(members);
        }
        Ok(serde_json::to_vec(&body)?)
    }
}

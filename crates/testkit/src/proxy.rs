//! A proxy on this machine that takes every request to one place, whatever host it names, and keeps who asked for what.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use parking_lot::Mutex;

/// The longest head of a request.
const MOST_OF_A_HEAD: usize = 64 * 1024;

/// A connection that was made to a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxiedConnection {
    /// The first line of the first request: `CONNECT models.test:443 HTTP/1.1`.
    pub request_line: String,
    /// What `proxy-authorization` says.
    pub authorization: Option<String>,
}

/// A proxy that runs until the test ends.
#[derive(Debug)]
pub struct LoopbackProxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<ProxiedConnection>>>,
}

impl LoopbackProxy {
    /// One behind which there is only this.
    pub fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port can be had");
        let address = listener.local_addr().expect("it has an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                // What goes wrong here is one side leaving.
                thread::spawn(move || drop(pass(client, target, &kept)));
            }
        });
        Self { address, seen }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connections there have been.
    pub fn seen(&self) -> Vec<ProxiedConnection> {
        self.seen.lock().clone()
    }
}

/// One connection, to its end.
fn pass(mut client: TcpStream, target: SocketAddr, kept: &Mutex<Vec<ProxiedConnection>>) -> io::Result<()> {
    let head = read_head(&mut client)?;
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut lines = text.lines();
    let request_line = lines.next().unwrap_or_default().to_owned();
    let is_tunnel = request_line.starts_with("CONNECT ");
    let mut headers = lines.filter_map(|line| line.split_once(": "));
    let authorization = headers.find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    let authorization = authorization.map(|(_, value)| value.to_owned());
    kept.lock().push(ProxiedConnection { request_line, authorization });
    let mut server = TcpStream::connect(target)?;
    if is_tunnel {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    } else {
        server.write_all(&head)?;
    }
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let forth = thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let _ = io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = forth.join();
    Ok(())
}

/// What comes up to the end of a head, and perhaps the beginning of what is behind it.
fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (mut head, mut bytes) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = client.read(&mut bytes)?;
        if count == 0 || head.len() > MOST_OF_A_HEAD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&bytes[..count]);
    }
    Ok(head)
}

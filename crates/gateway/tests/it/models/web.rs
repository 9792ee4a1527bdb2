//! A browser that says what it is told to.

use std::fmt::Write;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A page on this computer.
#[derive(Debug, Clone)]
pub(crate) struct WebPage {
    /// With its port.
    pub(crate) host: String,
    pub(crate) path: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct WebAnswer {
    pub(crate) status: u16,
    /// All of it, headers included.
    pub(crate) text: String,
}

impl WebPage {
    pub(crate) fn at(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("the page is of this computer");
        let (host, path) = rest.split_once('/').expect("the page has a name");
        Self { host: host.to_owned(), path: format!("/{path}") }
    }

    pub(crate) async fn get(&self) -> WebAnswer {
        self.request("GET", &self.path, &[], "").await.expect("the page is there")
    }

    /// Sends the form, as a browser does from the page itself.
    pub(crate) async fn post(&self, form: &str) -> WebAnswer {
        let origin = format!("http://{}", self.host);
        let headers = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
        self.request("POST", &self.path, &headers, form).await.expect("the page is there")
    }

    /// Sends what is said; nothing if nobody listens. A `host` among the headers comes instead of the right one.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Option<WebAnswer> {
        let mut socket = TcpStream::connect(&self.host).await.ok()?;
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            let _ = write!(text, "host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "content-length: {}\r\n\r\n{body}", body.len());
        // A server that has heard enough may close before all is sent.
        let _ = socket.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer).await;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1)?.parse().ok()?;
        Some(WebAnswer { status, text })
    }
}

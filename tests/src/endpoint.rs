//! A real HTTP endpoint on loopback: keeps every request, and answers as it was told to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::host::until;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// The body, as text.
    pub body: String,
}

/// What is answered on a path.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// The wait before it.
    pub after: Duration,
    /// What it waits for besides.
    pub gate: Option<Arc<Notify>>,
}

impl Reply {
    /// An answer with a status and a body.
    pub fn new(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.to_owned(), after: Duration::ZERO, gate: None }
    }

    /// The same, not before the gate is opened.
    #[must_use]
    pub fn behind(mut self, gate: &Arc<Notify>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

#[derive(Default)]
struct Book {
    received: Vec<Received>,
    /// By path: answers to be given in turn; the last one stays.
    replies: HashMap<String, Vec<Reply>>,
}

/// The endpoint; it ends with this value.
pub struct Endpoint {
    address: SocketAddr,
    book: Arc<Mutex<Book>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Endpoint {
    /// Listens on a free port of loopback.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let book: Arc<Mutex<Book>> = Arc::default();
        let kept = Arc::clone(&book);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let book = Arc::clone(&kept);
                tokio::spawn(async move { drop(answer(stream, &book).await) });
            }
        });
        Ok(Self { address, book, serving })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// An address of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What is answered on a path, in turn; the last one stays. 200 where nothing is said.
    pub fn reply(&self, path: &str, replies: Vec<Reply>) {
        self.book().replies.insert(path.to_owned(), replies);
    }

    /// Requests on a path so far.
    pub fn received(&self, path: &str) -> Vec<Received> {
        self.book().received.iter().filter(|request| request.path == path).cloned().collect()
    }

    /// Waits for so many requests on a path.
    pub async fn wait_for(&self, path: &str, count: usize) -> Result<Vec<Received>> {
        until(&format!("{path} has had {count} requests"), async || Ok(self.received(path).len() >= count))
            .await?;
        Ok(self.received(path))
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(stream: TcpStream, book: &Mutex<Book>) -> Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let mut words = line.split_whitespace();
    let (method, path) =
        (words.next().context("a method")?.to_owned(), words.next().context("a path")?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let reply = {
        let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
        book.received.push(Received { method, path: path.clone(), headers, body });
        match book.replies.get_mut(&path) {
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies.first().cloned().context("a reply")?,
            None => Reply::new(200, "ok"),
        }
    };
    tokio::time::sleep(reply.after).await;
    if let Some(gate) = &reply.gate {
        gate.notified().await;
    }
    let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!(
        "HTTP/1.1 {} Whatever\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{}",
        reply.status,
        reply.body.len(),
        reply.body
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(())
}

//! A lean HTTP/1.1 client: one connection that is kept, so that the load costs the machine little.

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A connection to the host under load.
pub(super) struct Connection {
    stream: TcpStream,
    address: String,
    buffer: Vec<u8>,
}

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON, null if it is none.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Connection {
    /// Connects to `HOST:PORT`.
    pub(super) async fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, address: address.to_owned(), buffer: Vec::with_capacity(4096) })
    }

    /// Sends a request and reads its answer.
    pub(super) async fn send(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        let head = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).into_owned();
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let length =
            header(&text, "content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
        while self.buffer.len() < head + length {
            self.more().await?;
        }
        let body = self.buffer[head..head + length].to_vec();
        self.buffer.drain(..head + length);
        Ok(Answer { status, body })
    }

    async fn more(&mut self) -> std::io::Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await?;
        if read == 0 || self.buffer.len() > ANSWER_BYTES_MAX {
            return Err(std::io::Error::new(
                std::io::ErrorKind::UnexpectedEof,
                "the host closed the connection",
            ));
        }
        Ok(())
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

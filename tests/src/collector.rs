//! A small collector of traces over OTLP: it keeps what comes.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A span as it came over the wire.
#[derive(Clone, Debug)]
pub struct Span {
    /// Its trace, in hex.
    pub trace: String,
    /// Its id, in hex.
    pub id: String,
    /// The span that it is below, in hex; empty if none.
    pub parent: String,
    /// What it is.
    pub name: String,
}

/// The spans that came so far.
pub type Spans = Arc<Mutex<Vec<Span>>>;

/// Takes spans on a port of its own; its address.
pub async fn collector() -> (String, Spans) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let spans = Spans::default();
    let kept = Arc::clone(&spans);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let kept = Arc::clone(&kept);
            tokio::spawn(async move {
                if let Some(body) = take_request(stream).await {
                    kept.lock().unwrap().extend(decode(&body));
                }
            });
        }
    });
    (endpoint, spans)
}

/// Reads one POST to /v1/traces and answers it; the connection ends with it.
async fn take_request(mut stream: TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|n| n.trim().parse().ok())?;
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.ok()?;
    Some(bytes[head_end..head_end + length].to_vec())
}

/// The spans of an export: `resource_spans` (1), in it `scope_spans` (2), in it `spans` (2).
fn decode(body: &[u8]) -> Vec<Span> {
    let resources = fields(body).into_iter().filter(|(number, _)| *number == 1);
    let scopes = resources.flat_map(|(_, bytes)| fields(bytes)).filter(|(number, _)| *number == 2);
    let spans = scopes.flat_map(|(_, bytes)| fields(bytes)).filter(|(number, _)| *number == 2);
    spans.map(|(_, bytes)| span(bytes)).collect()
}

fn span(bytes: &[u8]) -> Span {
    let fields = fields(bytes);
    let field = |wanted: u64| {
        fields.iter().find(|(number, _)| *number == wanted).map_or(&[][..], |(_, bytes)| *bytes)
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Span {
        trace: hex(field(1)),
        id: hex(field(2)),
        parent: hex(field(4)),
        name: String::from_utf8_lossy(field(5)).into_owned(),
    }
}

/// The length-delimited fields of a protobuf message; others are stepped over.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => {
                varint(&mut bytes);
            }
            1 => bytes = &bytes[8..],
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (field, rest) = bytes.split_at(length);
                found.push((key >> 3, field));
                bytes = rest;
            }
            5 => bytes = &bytes[4..],
            other => panic!("not a protobuf wire type: {other}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

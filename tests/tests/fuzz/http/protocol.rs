//! Bytes on a connection that are hardly HTTP: they cost their sender an answer below 500, or the connection.

use std::time::Duration;

use anyhow::{Result, ensure};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use stepwell_tests::db::TestDb;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::world::World;
use crate::cases::{check, fail};

/// After this, what has come is the whole answer: the host waits for more of the request.
const SILENCE: Duration = Duration::from_millis(500);

const SOUND: &[&str] = &[
    "GET /api/v1/instances?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"name\":\"x\"}",
    "POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nc\r\n{\"name\":\"x\"}\r\n0\r\n\r\n",
    "POST /api/v1/workflows/one/instances HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let changed = (select(SOUND), vec((any::<Index>(), vec(any::<u8>(), 0..6), 0..4_usize), 0..4)).prop_map(
        |(sound, changes)| {
            let mut bytes = sound.as_bytes().to_vec();
            for (at, new, gone) in changes {
                let from = at.index(bytes.len() + 1);
                bytes.splice(from..(from + gone).min(bytes.len()), new);
            }
            bytes
        },
    );
    let long = (1..200_000_usize, select(&["GET /", "GET / HTTP/1.1\r\nA: ", "GET / HTTP/1.1\r\n"][..]))
        .prop_map(|(length, before)| {
            let header = if before.ends_with("\r\n") { "a: b\r\n" } else { "a" };
            format!("{before}{}", header.repeat(length / header.len())).into_bytes()
        });
    prop_oneof![8 => changed, 1 => long, 1 => vec(any::<u8>(), 0..400)]
}

#[test]
fn no_bytes_break_a_host() {
    let runtime = super::runtime();
    let db = TestDb::sqlite().unwrap();
    let world = runtime.block_on(World::begin(&db)).unwrap();
    let address = world.client().url.trim_start_matches("http://").to_owned();
    // Many at once: most of the time is spent waiting for a host that waits for more.
    check("no_bytes_break_a_host", 30, vec(bytes(), 32), |many| {
        let answers = futures::future::try_join_all(many.iter().map(|bytes| answer(&address, bytes)));
        match runtime.block_on(answers) {
            Ok(_) => Ok(()),
            Err(error) => fail(format!("{error:#}")),
        }
    });
    runtime.block_on(world.still_works()).unwrap();
    runtime.block_on(world.end());
}

async fn answer(address: &str, bytes: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    // A host may hang up before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let mut part = [0; 16 << 10];
    while let Ok(Ok(count @ 1..)) = tokio::time::timeout(SILENCE, stream.read(&mut part)).await {
        answer.extend_from_slice(&part[..count]);
    }
    let text = String::from_utf8_lossy(&answer);
    ensure!(answer.is_empty() || text.starts_with("HTTP/1."), "{text}");
    let mut statuses = text.lines().filter(|line| line.starts_with("HTTP/1.")).map(|line| line.get(9..10));
    ensure!(statuses.all(|first| first != Some("5")), "{text}");
    Ok(())
}

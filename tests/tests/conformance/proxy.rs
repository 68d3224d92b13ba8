//! A wire to PostgreSQL that can be cut at the worst moment.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Where the next COMMIT is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server never hears of it.
    BeforeTheServer = 1,
    /// The server has done it, and its answer is lost.
    BeforeTheAnswer = 2,
}

/// Carries connections, cuts them on demand.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
}

struct Shared {
    /// The next cut, 0 for none.
    cut: AtomicU8,
    cuts: AtomicU8,
    /// A message with this in it is a commit, too: a batch in one statement is one.
    batch: Mutex<Option<Vec<u8>>>,
    /// The answer to a message with this in it is swallowed, once.
    word: Mutex<Option<Vec<u8>>>,
    /// Nobody gets through any more after a cut.
    closed_after: AtomicBool,
    closed: AtomicBool,
}

impl Proxy {
    /// In front of the server of a database's URL.
    pub(crate) async fn start(url: &str) -> Result<(Self, String)> {
        let host = url
            .split('@')
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .context("host and port")?
            .to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            cut: AtomicU8::new(0),
            cuts: AtomicU8::new(0),
            batch: Mutex::new(None),
            word: Mutex::new(None),
            closed_after: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        });
        let through = url.replace(&host, &address.to_string());
        let carried = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !carried.closed.load(Ordering::SeqCst) {
                    tokio::spawn(carry(client, host.clone(), Arc::clone(&carried)));
                }
            }
        });
        Ok((Self { shared }, through))
    }

    /// Cuts the connection of the next statement that names `word`, or rather a parameter of it, before its answer.
    pub(crate) fn cut_answer_to(&self, word: &str) {
        *self.shared.word.lock().expect("the word") = Some(word.as_bytes().to_vec());
    }

    /// A statement that names `word` as a parameter counts as a COMMIT, too.
    pub(crate) fn commits_name(&self, word: &str) {
        *self.shared.batch.lock().expect("the word") = Some(word.as_bytes().to_vec());
    }

    /// Cuts the next COMMIT.
    pub(crate) fn cut_next(&self, cut: Cut) {
        self.shared.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Cuts the next COMMIT and lets nobody through afterwards.
    pub(crate) fn cut_for_good(&self, cut: Cut) {
        self.shared.closed_after.store(true, Ordering::SeqCst);
        self.cut_next(cut);
    }

    /// How many COMMITs were cut.
    pub(crate) fn cuts(&self) -> u8 {
        self.shared.cuts.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn commits(&self, message: &[u8]) -> bool {
        let batch = self.batch.lock().expect("the word");
        message.windows(7).any(|word| word.eq_ignore_ascii_case(b"commit\0"))
            || batch
                .as_ref()
                .is_some_and(|word| message.windows(word.len()).any(|part| part == word.as_slice()))
    }

    fn names_word(&self, message: &[u8]) -> bool {
        let mut word = self.word.lock().expect("the word");
        let named =
            word.as_ref().is_some_and(|word| message.windows(word.len()).any(|part| part == word.as_slice()));
        if named {
            *word = None;
        }
        named
    }
}

async fn carry(client: TcpStream, server: String, shared: Arc<Shared>) -> Result<()> {
    let server = TcpStream::connect(server).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let swallow = Arc::new(AtomicBool::new(false));
    // Whichever ends first ends the other: both halves of both wires are dropped.
    tokio::select! {
        ended = forth(from_client, to_server, &shared, &swallow) => ended,
        ended = back(from_server, to_client, &swallow) => ended,
    }
}

async fn forth(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    swallow: &AtomicBool,
) -> Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        let message = &buffer[..count];
        let cut = if shared.commits(message) { shared.cut.swap(0, Ordering::SeqCst) } else { 0 };
        if cut != 0 {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
            shared.closed.store(shared.closed_after.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        if cut == Cut::BeforeTheServer as u8 {
            return Ok(());
        }
        let named = shared.names_word(message);
        if named {
            shared.cuts.fetch_add(1, Ordering::SeqCst);
        }
        swallow.fetch_or(named || cut == Cut::BeforeTheAnswer as u8, Ordering::SeqCst);
        to.write_all(message).await?;
    }
}

async fn back(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, swallow: &AtomicBool) -> Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 || swallow.load(Ordering::SeqCst) {
            return Ok(());
        }
        to.write_all(&buffer[..count]).await?;
    }
}

//! Clients: they ask any host, note what they are told, and ask again when they are told nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::book::{Book, Wrong};
use crate::fleet::Fleet;
use crate::shapes::Shape;

/// A request without an answer for so long is given up, and made again.
const REQUEST_SECONDS_MAX: u64 = 60;
/// How often "there is no such thing" is asked again: a host of another test may have taken a dead one's address.
const MISSES_MAX: u32 = 200;
/// Pauses of clients that wait for something.
const MOMENT: Duration = Duration::from_millis(5);

/// How much is going on.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Workers take nothing while fewer instances are in flight.
    pub low: usize,
    /// Nothing is started while more are.
    pub high: usize,
    /// Clients that start instances.
    pub starters: u64,
    /// Clients that work.
    pub workers: u64,
}

/// One run: its hosts, its clients and what they know.
pub struct Run {
    /// Its name: workflows and tasks of other runs are called otherwise.
    pub name: String,
    /// The hosts.
    pub fleet: Fleet,
    /// What clients were told.
    pub book: Book,
    /// How much is going on.
    pub load: Load,
    /// Nothing more is started, and workers take all there is.
    pub draining: AtomicBool,
    /// Workers go home.
    pub over: AtomicBool,
    numbers: AtomicU64,
}

impl Run {
    /// Nothing has happened yet.
    pub fn new(fleet: Fleet, load: Load) -> Arc<Self> {
        Arc::new(Self {
            name: format!("{:012x}", rand::random::<u64>() >> 16),
            fleet,
            book: Book::default(),
            load,
            draining: AtomicBool::new(false),
            over: AtomicBool::new(false),
            numbers: AtomicU64::new(0),
        })
    }

    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Whether workers should leave what there is, so that enough stays in flight.
    pub fn is_low(&self) -> bool {
        !self.is_draining() && self.book.in_flight() < self.load.low
    }
}

/// What came of a request.
pub enum Reply {
    /// An answer that counts.
    Told(u16, Value),
    /// It may have been done, or not.
    Nothing,
    /// The one who answered knows nothing of it.
    Unknown,
}

/// A client.
pub struct Client {
    /// Where it belongs.
    pub run: Arc<Run>,
    /// Its moods.
    pub random: StdRng,
    http: reqwest::Client,
    misses: u32,
}

impl Client {
    /// A client of its own moods.
    pub fn new(run: &Arc<Run>, http: &reqwest::Client, seed: u64) -> Self {
        Self { run: run.clone(), random: StdRng::seed_from_u64(seed), http: http.clone(), misses: 0 }
    }

    /// One more of the same run.
    pub fn another(&mut self) -> Self {
        Self::new(&self.run, &self.http, self.random.random())
    }

    /// Asks any host once. Now and then the client hangs up at once.
    pub async fn ask(
        &mut self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Reply {
        let Some(url) = self.run.fleet.any(&mut self.random) else { return Reply::Nothing };
        let method = method.parse().unwrap_or(reqwest::Method::GET);
        let mut request = self.http.request(method, format!("{url}{path}"));
        request = token.into_iter().fold(request, |request, token| request.header("x-lock-token", token));
        request = body.into_iter().fold(request, |request, body| request.json(body));
        let patience = if self.random.random_bool(0.02) && !self.run.is_draining() {
            Duration::from_millis(self.random.random_range(0..30))
        } else {
            Duration::from_secs(REQUEST_SECONDS_MAX)
        };
        let answer = async {
            let response = request.send().await.ok()?;
            Some((response.status().as_u16(), response.bytes().await.ok()?))
        };
        let Ok(Some((status, body))) = tokio::time::timeout(patience, answer).await else {
            self.run.book.open().silences += 1;
            return Reply::Nothing;
        };
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut told = self.run.book.open();
        match status {
            429 | 503 => {
                told.silences += 1;
                Reply::Nothing
            }
            401 | 403 | 404 => Reply::Unknown,
            500.. => {
                told.wrong.push((Wrong::Other, format!("{path}: {status} {body}")));
                Reply::Nothing
            }
            _ => {
                told.answers += 1;
                Reply::Told(status, body)
            }
        }
    }

    /// Waits before the same is asked again; false if there is no point in it any more.
    pub async fn again(&mut self, reply: &Reply, what: &str) -> bool {
        if matches!(reply, Reply::Unknown) {
            self.misses += 1;
            if self.misses > MISSES_MAX {
                self.run.book.open().wrong.push((Wrong::Lost, format!("no host knows {what}")));
                return false;
            }
        }
        tokio::time::sleep(Duration::from_millis(self.random.random_range(5..100))).await;
        true
    }

    /// Starts instances until the run drains; never fewer than wanted, each exactly once.
    pub async fn start_all(mut self) {
        while !self.run.is_draining() {
            if self.run.book.in_flight() >= self.run.load.high {
                tokio::time::sleep(MOMENT).await;
                continue;
            }
            let number = self.run.numbers.fetch_add(1, Ordering::Relaxed);
            let shape = Shape::any(&mut self.random);
            self.start(shape, &format!("{}-{number}", self.run.name)).await;
        }
    }

    async fn start(&mut self, shape: Shape, key: &str) {
        let path = format!("/api/v1/workflows/{}/instances", shape.key(&self.run.name));
        let body = json!({ "context": { "key": key }, "idempotencyKey": key });
        loop {
            let reply = self.ask("POST", &path, None, Some(&body)).await;
            if let Reply::Told(status, answer) = &reply {
                let run = self.run.clone();
                let mut told = run.book.open();
                match answer["id"].as_str() {
                    Some(id) => told.started(key, shape, id),
                    None => {
                        told.wrong.push((Wrong::Other, format!("a start was refused: {status} {answer}")));
                        return;
                    }
                }
                drop(told);
                // Some ask once more, as if the answer had been lost.
                if self.random.random_bool(0.95) {
                    return;
                }
            }
            if !self.again(&reply, key).await {
                return;
            }
        }
    }
}

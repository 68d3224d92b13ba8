//! A crowd of workers on two hosts and one PostgreSQL, some of which are killed all the time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use stepwell_tests::command::Host;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Answer, Client, one_task};
use tempfile::TempDir;
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::holdings::{Holdings, Told};
use crate::note;
use crate::process::{self, TASK_TYPE};

/// Tasks of the usual run.
const TASKS: usize = 2_000;
/// Workers at once.
const WORKERS: usize = 64;
/// Tasks for each worker that is killed.
const TASKS_PER_KILL: usize = 50;
/// Clients that start instances.
const STARTERS: usize = 8;
/// One instance in so many is cancelled at once, while its task waits or is in somebody's hands.
const CANCEL_ONE_IN: usize = 50;
/// Without any progress at so many looks, something is stuck: far more than the longest lock and a slow machine need.
/// Looks, not time: a machine may stand still.
const STUCK_LOOKS: u32 = 300;
/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a request is made before it is given up.
const TRIES_MAX: u32 = 20;
/// Complaints that are shown.
const COMPLAINTS_MAX: usize = 5;

/// Runs it, and checks what the workers saw.
pub async fn work(db: &TestDb) -> Result<()> {
    let tasks = number("STEPWELL_TASKS").unwrap_or(TASKS);
    let seed = number("STEPWELL_SEED").unwrap_or_else(|| rand::random_range(1..1_000_000));
    let begun = Instant::now();
    let hosts = [Host::start(&["--database", db.url()]).await, Host::start(&["--database", db.url()]).await];
    let urls: Vec<String> = hosts.iter().map(|host| host.url.clone()).collect();
    let more = ["lockDuration: 4s", "retries: 1000", "maxLockExpiries: 100000"];
    Client::new(urls[0].clone()).deploy(TASK_TYPE, one_task(TASK_TYPE, &more)).await?;

    let random = StdRng::seed_from_u64(u64::try_from(seed)?);
    let mut crew = Crew::begin(urls.clone(), random)?;
    let killed = Arc::clone(&crew.killed);
    let mut starters = JoinSet::new();
    for number in 0..STARTERS {
        let (client, killed) = (Client::new(urls[number % urls.len()].clone()), Arc::clone(&killed));
        let numbers = (number..tasks).step_by(STARTERS);
        starters.spawn(start(client, numbers, killed));
    }
    crew.kill_until(db, tasks, &mut starters).await?;
    let kills = crew.killed.load(Ordering::Relaxed);
    let books = crew.end().await?;

    let (mut holdings, mut told) = (Holdings::default(), Told::default());
    for path in books.paths() {
        holdings.add(note::read(&path)?, &mut told);
    }
    let ended = ended(db).await?;
    let wrong = holdings.wrong(&ended, &mut told);
    let count = |status: &str| ended.values().filter(|found| *found == status).count();
    let summary = format!(
        "{tasks} tasks, {WORKERS} workers, two hosts, {kills} workers killed: {} completed, {} failed, {} cancelled; \
         handed out {} times, {} of them more than once, {} reports refused; {} wrong; {} s, seed {seed}",
        count("COMPLETED"),
        count("FAILED"),
        count("CANCELLED"),
        told.handed_out,
        told.again,
        told.refused,
        wrong.len(),
        begun.elapsed().as_secs(),
    );
    eprintln!("{summary}");
    let complaints = wrong.iter().take(COMPLAINTS_MAX).cloned().collect::<Vec<_>>().join("\n");
    ensure!(wrong.is_empty(), "{summary}\n{complaints}");
    ensure!(ended.len() == tasks, "{} tasks were made: {summary}", ended.len());
    // Else the run has shown nothing.
    ensure!(told.again > 0 && told.handed_out > tasks, "{summary}");
    for host in hosts {
        host.stop().await;
    }
    Ok(())
}

/// Starts instances, not faster than workers die.
async fn start(client: Client, numbers: impl Iterator<Item = usize>, killed: Arc<AtomicUsize>) -> Result<()> {
    for number in numbers {
        while killed.load(Ordering::Relaxed) < number / TASKS_PER_KILL {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let id = start_one(&client, number).await?;
        if number % CANCEL_ONE_IN == 0 {
            // It may have ended already.
            let cancelled = persist(&client, &format!("/api/v1/instances/{id}/cancel"), &json!({})).await?;
            ensure!([200, 204, 409].contains(&cancelled.status), "{cancelled:?}");
        }
    }
    Ok(())
}

/// Starts an instance once, however often it has to be asked for.
async fn start_one(client: &Client, number: usize) -> Result<String> {
    let body = json!({ "idempotencyKey": format!("start-{number}") });
    let started = persist(client, &format!("/api/v1/workflows/{TASK_TYPE}/instances"), &body).await?;
    ensure!([200, 201].contains(&started.status), "{started:?}");
    Ok(started.body["id"].as_str().context("an id")?.to_owned())
}

/// Asks again after a host was too slow or too busy to answer.
async fn persist(client: &Client, path: &str, body: &Value) -> Result<Answer> {
    let mut tries = 0;
    loop {
        tries += 1;
        match client.post(path, body).await {
            Ok(answer) if ![429, 503].contains(&answer.status) => return Ok(answer),
            tried if tries == TRIES_MAX => return tried.context("no answer in the end"),
            _ => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// The workers, and where they write.
struct Crew {
    hosts: Vec<String>,
    random: StdRng,
    books: Books,
    workers: Vec<Child>,
    killed: Arc<AtomicUsize>,
}

/// The books of all workers there ever were.
struct Books {
    folder: TempDir,
    count: usize,
}

impl Books {
    fn next(&mut self) -> PathBuf {
        self.count += 1;
        self.path(self.count)
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.path().join(number.to_string())
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        (1..=self.count).map(|number| self.path(number))
    }
}

impl Crew {
    fn begin(hosts: Vec<String>, random: StdRng) -> Result<Self> {
        let books = Books { folder: tempfile::tempdir()?, count: 0 };
        let mut crew = Self { hosts, random, books, workers: Vec::new(), killed: Arc::default() };
        for _ in 0..WORKERS {
            let worker = crew.hire()?;
            crew.workers.push(worker);
        }
        Ok(crew)
    }

    fn hire(&mut self) -> Result<Child> {
        process::spawn(&self.books.next(), &self.hosts, self.random.random())
    }

    /// Kills a worker now and then, and hires another, until every task has ended.
    async fn kill_until(
        &mut self,
        db: &TestDb,
        tasks: usize,
        starters: &mut JoinSet<Result<()>>,
    ) -> Result<()> {
        let (mut seen, mut idle_looks) = (0, 0);
        let mut looked = Instant::now();
        loop {
            let pause = Duration::from_millis(self.random.random_range(0..150));
            tokio::time::sleep(pause).await;
            let unlucky = self.random.random_range(0..WORKERS);
            let next = self.hire()?;
            let mut dead = std::mem::replace(&mut self.workers[unlucky], next);
            ensure!(dead.try_wait()?.is_none(), "a worker has ended by itself");
            dead.kill().await?;
            self.killed.fetch_add(1, Ordering::Relaxed);
            while let Some(starter) = starters.try_join_next() {
                starter??;
            }
            if looked.elapsed() < LOOK_EVERY {
                continue;
            }
            looked = Instant::now();
            let ended = db.numbers(
                "select count(*) from workflow_external_tasks where status in ('COMPLETED', 'FAILED', 'CANCELLED')",
            );
            let ended = usize::try_from(*ended.await?.first().context("a count")?)?;
            if ended == tasks && starters.is_empty() {
                return Ok(());
            }
            (seen, idle_looks) = if ended == seen { (seen, idle_looks + 1) } else { (ended, 0) };
            ensure!(idle_looks < STUCK_LOOKS, "nothing moves: {ended} of {tasks} tasks have ended");
        }
    }

    async fn end(mut self) -> Result<Books> {
        for worker in &mut self.workers {
            worker.kill().await?;
        }
        Ok(self.books)
    }
}

/// How each task ended.
async fn ended(db: &TestDb) -> Result<HashMap<String, String>> {
    let rows = db.texts("select id::text || ' ' || status from workflow_external_tasks").await?;
    let pairs = rows.iter().filter_map(|row| row.split_once(' '));
    Ok(pairs.map(|(id, status)| (id.to_owned(), status.to_owned())).collect())
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

//! The load of workers alone: tasks lie ready, loaded in bulk, and workers fetch and complete them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::super::Error;
use super::super::print::Output;
use super::bar;
use super::cycle::{self, BUSY, Client};
use super::host::Host;
use super::report::Samples;
use super::worker_surface::{Surface, Worker};
use crate::store;

/// How often progress is shown.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A host, and open tasks in its database that wait for workers.
pub(super) struct Pile {
    host: Option<Host>,
    address: String,
    database: String,
    data: PathBuf,
    open: u64,
}

/// What workers did, and how long it took them.
#[derive(Default)]
pub(super) struct Done {
    pub(super) fetch: Samples,
    pub(super) complete: Samples,
    pub(super) took: Duration,
}

/// How much the workers do.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) surface: Surface,
    pub(super) workers: usize,
    /// They end after so many tasks, together.
    pub(super) tasks_max: u64,
    /// And after this time.
    pub(super) time_max: Duration,
    /// Whether a new task is made for each that is completed.
    pub(super) refill: bool,
}

impl Pile {
    /// A host with no tasks yet.
    pub(super) async fn begin(database: String, data: PathBuf) -> Result<Self, Error> {
        let mut pile = Self { host: None, address: String::new(), database, data, open: 0 };
        pile.start_host().await?;
        cycle::deploy(&pile.address).await?;
        Ok(pile)
    }

    /// Where the host listens.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    async fn start_host(&mut self) -> Result<(), Error> {
        let host = Host::start(&self.database, &self.data).await?;
        self.address.clone_from(&host.address);
        self.host = Some(host);
        Ok(())
    }

    /// Ends the host.
    pub(super) async fn stop_host(&mut self) {
        if let Some(host) = self.host.take() {
            host.stop().await;
        }
    }

    /// Loads more tasks until there are so many: one is really started, the others are its copies. The host is away
    /// meanwhile: what it remembers of its tasks would not be true any more.
    pub(super) async fn fill(&mut self, wanted: u64, output: &Output) -> Result<(), Error> {
        let missing = wanted.saturating_sub(self.open);
        if missing == 0 {
            return Ok(());
        }
        let failed = |why: String| Error::refused("bench_workers", format!("no tasks were loaded: {why}"));
        let told = |error: std::io::Error| failed(error.to_string());
        let mut client = Client::open(&self.address, BUSY, 0, 0).await.map_err(told)?;
        let original = client.start().await.map_err(told)?;
        let original = original.ok_or_else(|| failed("an instance was not started".into()))?;
        self.stop_host().await;
        let bar = bar::of(missing, "loading tasks", output);
        let moved = |done| bar.set_position(done);
        let copied = store::preload::copy_instance(&self.database, original, missing - 1, moved).await;
        bar.finish_and_clear();
        copied.map_err(failed)?;
        self.open += missing;
        self.start_host().await
    }

    /// Lets workers at it.
    pub(super) async fn work(&mut self, work: Work, title: &str, output: &Output) -> Result<Done, Error> {
        let failed = |why: String| Error::refused("bench_workers", format!("the load broke off: {why}"));
        let mut ready = Vec::new();
        for number in 0..work.workers {
            let worker = Worker::open(&self.address, work.surface, number).await;
            let starter = Client::open(&self.address, BUSY, number, 0).await;
            ready.push(
                worker
                    .and_then(|worker| Ok((worker, starter?)))
                    .map_err(|error| failed(error.to_string()))?,
            );
        }
        let taken = Arc::new(AtomicU64::new(0));
        let bar = bar::of(work.tasks_max, title, output);
        let begun = Instant::now();
        let mut workers = JoinSet::new();
        for (worker, starter) in ready {
            workers.spawn(each(worker, starter, work, Arc::clone(&taken), begun));
        }
        let mut done = Done::default();
        loop {
            bar.set_position(taken.load(Ordering::Relaxed).min(work.tasks_max));
            match tokio::time::timeout(LOOK_EVERY, workers.join_next()).await {
                Err(_) => {}
                Ok(None) => break,
                Ok(Some(Ok(Ok(one)))) => {
                    done.fetch.add(one.fetch);
                    done.complete.add(one.complete);
                    done.took = done.took.max(one.took);
                }
                Ok(Some(Ok(Err(error)))) => return Err(failed(error.to_string())),
                Ok(Some(Err(error))) => return Err(failed(error.to_string())),
            }
        }
        bar.finish_and_clear();
        if !work.refill {
            self.open = self.open.saturating_sub(done.complete.len() as u64);
        }
        Ok(done)
    }
}

async fn each(
    mut worker: Worker,
    mut starter: Client,
    work: Work,
    taken: Arc<AtomicU64>,
    begun: Instant,
) -> std::io::Result<Done> {
    let mut done = Done::default();
    while begun.elapsed() < work.time_max && taken.fetch_add(1, Ordering::Relaxed) < work.tasks_max {
        let asked = Instant::now();
        let task = worker.fetch().await?;
        done.fetch.push(asked.elapsed());
        let reported = Instant::now();
        worker.complete(&task).await?;
        done.complete.push(reported.elapsed());
        if work.refill {
            starter.start().await?;
        }
        done.took = begun.elapsed();
    }
    Ok(done)
}

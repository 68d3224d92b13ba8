//! A run from begin to end: hosts and clients start, trouble is made by the caller, everything ends, and is checked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use stepwell_tests::db::TestDb;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::book::Wrong;
use crate::calm::Calm;
use crate::clients::{Client, Load, Run};
use crate::fleet::Fleet;
use crate::shapes::Shape;
use crate::verify;

/// Without any progress for so long, something is stuck: far more than the longest lease and a slow machine need.
const STUCK: Duration = Duration::from_secs(240);
/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The most instances that must have ended between two kills.
const ENDS_MAX: usize = 200;
/// Complaints that are printed; there may be as many as instances.
const COMPLAINTS_MAX: usize = 5;

/// Hosts and clients of a run.
pub struct Crew {
    /// What they share.
    pub run: Arc<Run>,
    /// Chances of the run; the same seed, the same chances.
    pub random: StdRng,
    /// How often a host or the database was ended so far.
    pub kills: u32,
    /// The fewest instances that were in flight at such a time.
    pub in_flight_min: usize,
    name: String,
    seed: u64,
    begun: Instant,
    http: reqwest::Client,
    starters: JoinSet<()>,
    workers: JoinSet<()>,
}

impl Crew {
    /// Starts hosts from 0, deploys every workflow, and lets the clients begin.
    pub async fn begin(name: &str, db: TestDb, hosts: usize, load: Load) -> Result<Self> {
        let seed = std::env::var("STEPWELL_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| rand::random_range(1..1_000_000));
        let http = stepwell_tests::command::client().build()?;
        let run = Run::new(Fleet::new(db)?, load);
        for number in 0..hosts {
            run.fleet.start(number).await?;
        }
        let mut random = StdRng::seed_from_u64(seed);
        let calm = Calm::new(run.fleet.any(&mut random).context("a host")?, &http);
        for shape in Shape::ALL {
            calm.deploy(&shape.key(&run.name), &shape.source(&run.name)).await?;
        }
        let (mut starters, mut workers) = (JoinSet::new(), JoinSet::new());
        for _ in 0..load.starters {
            starters.spawn(Client::new(&run, &http, random.random()).start_all());
        }
        for _ in 0..load.workers {
            workers.spawn(Client::new(&run, &http, random.random()).work());
        }
        let (begun, name) = (Instant::now(), name.to_owned());
        let (kills, in_flight_min) = (0, usize::MAX);
        Ok(Self { run, random, kills, in_flight_min, name, seed, begun, http, starters, workers })
    }

    /// A random while, with clients at work; then, as soon as there is enough in flight, the time for a kill.
    /// Some come before anything could end since the last one, others in the middle of work.
    pub async fn busy(&mut self, while_ms_max: u64) -> Result<()> {
        let (book, low) = (&self.run.book, self.run.load.low);
        let enough = book.ended() + self.random.random_range(0..ENDS_MAX);
        wait("something has ended", || book.ended() >= enough, || book.progress()).await?;
        let pause = Duration::from_millis(self.random.random_range(0..while_ms_max));
        tokio::time::sleep(pause).await;
        wait("enough is in flight", || book.in_flight() >= low, || book.progress()).await?;
        self.kills += 1;
        self.in_flight_min = self.in_flight_min.min(self.run.book.in_flight());
        Ok(())
    }

    /// One line on how it goes.
    pub fn tell(&self, of: u32, what: &str) {
        let (kills, name) = (self.kills, &self.name);
        let (flying, ended) = (self.run.book.in_flight(), number(self.run.book.ended()));
        eprintln!("{name}: {kills} of {of}, {what}; {flying} in flight, {ended} ended");
    }

    /// No more trouble: everything that was started must end, as it should, and nothing else may be there.
    pub async fn end(mut self) -> Result<()> {
        let run = self.run.clone();
        run.draining.store(true, Ordering::Relaxed);
        let ended = async {
            while let Some(starter) = self.starters.join_next().await {
                starter?;
            }
            wait("every instance has ended", || run.book.all_ended(), || run.book.ended()).await
        };
        let ended = ended.await;
        run.over.store(true, Ordering::Relaxed);
        while let Some(worker) = self.workers.join_next().await {
            worker?;
        }
        let calm = Calm::new(run.fleet.any(&mut self.random).context("a host")?, &self.http);
        let told = std::mem::take(&mut *run.book.open());
        let wrong = verify::check(&calm, &told, &run.name).await?;
        let count = |kind: Wrong| number(wrong.iter().filter(|(wrong, _)| *wrong == kind).count());
        let summary = format!(
            "{}: {} kills with at least {} in flight, {} instances, {} tasks, {} answers, {} without, \
             {} lost, {} doubled, {} otherwise wrong, {} s, seed {}",
            self.name,
            self.kills,
            self.in_flight_min,
            number(told.instances.len()),
            number(told.tasks.len()),
            number(usize::try_from(told.answers)?),
            number(usize::try_from(told.silences)?),
            count(Wrong::Lost),
            count(Wrong::Doubled),
            count(Wrong::Other),
            self.begun.elapsed().as_secs(),
            self.seed,
        );
        eprintln!("{summary}");
        let complaints: Vec<String> =
            wrong.iter().take(COMPLAINTS_MAX).map(|(kind, what)| format!("{kind:?}: {what}")).collect();
        ensure!(wrong.is_empty(), "{summary}\n{}\n{}", complaints.join("\n"), run.fleet.logs());
        ended.with_context(|| format!("{summary}\n{}", run.fleet.logs()))?;
        ensure!(!told.instances.is_empty(), "nothing was started");
        run.fleet.stop().await;
        Ok(())
    }
}

/// Waits for a condition for as long as there is progress.
pub async fn wait<P: PartialEq>(
    what: &str,
    condition: impl Fn() -> bool,
    progress: impl Fn() -> P,
) -> Result<()> {
    let (mut seen, mut since) = (progress(), Instant::now());
    while !condition() {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = progress();
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        ensure!(since.elapsed() < STUCK, "gave up waiting until {what}: nothing moves");
    }
    Ok(())
}

/// A number that people can read.
fn number(value: usize) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    (!head.is_empty()).then(|| head.to_owned()).into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

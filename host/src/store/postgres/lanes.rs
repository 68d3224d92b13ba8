//! Lanes: connections for commits, each with a number in the database that tells which commits were done.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::DateTime;
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::session::Session;
use super::whole::{self, Seal};
use crate::domain::{Clock, SystemClock, Timestamp};
use crate::engine::port::Verdict;
use crate::engine::port::store::Turn;
use crate::failpoint::{self, Point};
use crate::store::commit::{decide, decide_swiftly};
use crate::store::driver::Transaction;
use crate::store::error::Fault;
use crate::store::guard;
use crate::store::patience::Patience;
use crate::store::prepare::Prepared;
use crate::store::statement;

/// How long to look for the outcome of a commit whose answer was lost.
const LOOK_SECONDS_MAX: u64 = 10;

/// How often a batch is tried again after deadlocks.
const DEADLOCKS_MAX: u32 = 20;

/// Commits at once, each on a lane of its own.
pub(super) struct Lanes {
    free: Mutex<Vec<Lane>>,
    permits: Semaphore,
    count: u32,
}

impl Lanes {
    /// So many lanes; each connects when it is first used.
    pub(super) fn new(options: &PgConnectOptions, count: u32) -> Self {
        let lane = |_| Lane { id: Uuid::now_v7(), number: 0, options: options.clone(), session: None };
        Self {
            free: Mutex::new((0..count).map(lane).collect()),
            permits: Semaphore::new(count as usize),
            count,
        }
    }

    /// Runs a batch in a transaction.
    pub(super) async fn transact(&self, sets: &[Arc<Prepared>], turn: &Turn) -> Result<Vec<Verdict>, Fault> {
        let closed = || Fault::Away("it is closed".to_owned());
        let _permit = self.permits.acquire().await.map_err(|_| closed())?;
        let mut lane = self.free().pop().ok_or_else(closed)?;
        let result = lane.transact(sets, turn).await;
        self.free().push(lane);
        result
    }

    /// Waits for commits that are under way, and ends.
    pub(super) async fn close(&self) {
        let under_way = self.permits.acquire_many(self.count).await;
        self.permits.close();
        drop(under_way);
        let lanes = std::mem::take(&mut *self.free());
        for lane in lanes {
            if let Some(session) = lane.session {
                session.close().await;
            }
        }
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Lane>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that commits, and its row in `workflow_lanes`.
struct Lane {
    id: Uuid,
    /// Of the last transaction that was tried; never used twice.
    number: i64,
    options: PgConnectOptions,
    session: Option<Session>,
}

/// How a try ended.
enum Ended {
    /// Known, whatever it is.
    Known(Result<Vec<Verdict>, Fault>),
    /// COMMIT was sent and not answered.
    Lost(Vec<Verdict>, String),
}

impl Lane {
    async fn transact(&mut self, sets: &[Arc<Prepared>], turn: &Turn) -> Result<Vec<Verdict>, Fault> {
        let mut patience = Patience::new();
        let mut deadlocks = 0;
        loop {
            let fault = match self.attempt(sets, turn).await {
                Ended::Known(Ok(verdicts)) => return Ok(verdicts),
                Ended::Known(Err(fault)) => fault,
                Ended::Lost(verdicts, why) => match self.was_committed(&why).await? {
                    true => return Ok(verdicts),
                    false => Fault::Away(why),
                },
            };
            let again = match &fault {
                Fault::Away(_) => {
                    self.session = None;
                    patience.another().await
                }
                Fault::Again(_) => {
                    deadlocks += 1;
                    // Two batches that met once must not meet again.
                    tokio::time::sleep(Duration::from_millis(rand::random_range(
                        0..5 * u64::from(deadlocks),
                    )))
                    .await;
                    deadlocks <= DEADLOCKS_MAX
                }
                Fault::Data(_) | Fault::Broken(_) | Fault::Unknown(_) => false,
            };
            if !again {
                return Err(fault);
            }
            metrics::counter!("stepwell_commit_retries_total").increment(1);
        }
    }

    async fn attempt(&mut self, sets: &[Arc<Prepared>], turn: &Turn) -> Ended {
        self.number += 1;
        let now = SystemClock.now();
        let mut session = match self.take_session().await {
            Ok(session) => session,
            Err(fault) => return Ended::Known(Err(fault)),
        };
        if guard::presumable(sets)
            && whole::fits(sets)
            && let Some(ended) = self.write_whole(&mut session, sets, now).await
        {
            if !matches!(ended, Ended::Known(Err(Fault::Away(_))) | Ended::Lost(..)) {
                self.session = Some(session);
            }
            return ended;
        }
        let seal = json!({ "id": self.id, "number": self.number, "touched_at": now }).to_string();
        let verdicts = match write(&mut session, sets, &seal).await {
            Ok(verdicts) => verdicts,
            Err(fault) => {
                self.roll_back(session, &fault).await;
                return Ended::Known(Err(fault));
            }
        };
        failpoint::pass(Point::CommitWritten);
        turn.end();
        match session.say("commit").await {
            Ok(()) => {
                self.session = Some(session);
                Ended::Known(Ok(verdicts))
            }
            // Nothing was written: it does not matter whether the end of nothing was heard.
            Err(_) if !verdicts.contains(&Verdict::Applied) => Ended::Known(Ok(verdicts)),
            Err(Fault::Away(why)) => Ended::Lost(verdicts, why),
            // The server answered: it has rolled back.
            Err(fault) => Ended::Known(Err(fault)),
        }
    }

    /// One statement for everything; none if a row has changed, and nothing was written.
    async fn write_whole(
        &self,
        session: &mut Session,
        sets: &[Arc<Prepared>],
        now: Timestamp,
    ) -> Option<Ended> {
        if let Err(fault) = session.refresh().await {
            return Some(Ended::Known(Err(fault)));
        }
        let at = DateTime::from_timestamp_millis(now.millis()).unwrap_or_default();
        failpoint::pass(Point::CommitGuarded);
        let verdicts = vec![Verdict::Applied; sets.len()];
        match session.write_whole(sets, &Seal { id: self.id, number: self.number, at }).await {
            Ok(true) => Some(Ended::Known(Ok(verdicts))),
            Ok(false) => None,
            Err(Fault::Away(why)) => Some(Ended::Lost(verdicts, why)),
            // The server answered: it has rolled back.
            Err(fault) => Some(Ended::Known(Err(fault))),
        }
    }

    async fn take_session(&mut self) -> Result<Session, Fault> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => Session::connect(&self.options).await,
        }
    }

    /// Keeps the connection if the fault has left it sound.
    async fn roll_back(&mut self, mut session: Session, fault: &Fault) {
        if !matches!(fault, Fault::Away(_)) && session.say("rollback").await.is_ok() {
            self.session = Some(session);
        }
    }

    /// Whether the transaction with the lane's last number was committed. The look waits for an old backend that
    /// still holds the lane's row; one that has not come to it yet finds a later number there, and gives up.
    async fn was_committed(&mut self, lost: &str) -> Result<bool, Fault> {
        let mut patience = Patience::lasting(Duration::from_secs(LOOK_SECONDS_MAX));
        let tried = self.number;
        loop {
            match self.look(tried).await {
                Ok(committed) => {
                    self.number = tried + 1;
                    return Ok(committed);
                }
                Err(Fault::Away(_) | Fault::Again(_)) if patience.another().await => {}
                Err(Fault::Away(why) | Fault::Again(why)) => {
                    return Err(Fault::Unknown(format!(
                        "{lost}; then, while looking for the outcome: {why}"
                    )));
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Looks for a number, and puts a later one in its place.
    async fn look(&mut self, tried: i64) -> Result<bool, Fault> {
        let mut session = Session::connect(&self.options).await?;
        session.say("begin").await?;
        session.say("set local lock_timeout = '10s'").await?;
        let now = SystemClock.now();
        let rows = session
            .query(&statement::LOOK_LANE, &json!({ "id": self.id, "touched_at": now }).to_string())
            .await?;
        let number: Option<i64> = rows.first().and_then(|row| row.parse().ok());
        let number = number.ok_or_else(|| Fault::Broken("a lane has no number".into()))?;
        // A commit that was done must still be found should the answer to this one be lost, too.
        if number != tried {
            let fence = json!({ "id": self.id, "number": tried + 1, "touched_at": now }).to_string();
            session.query(&statement::SEAL_LANE, &fence).await?;
        }
        session.say("commit").await?;
        self.session = Some(session);
        Ok(number == tried)
    }
}

/// Everything of a transaction but its end.
async fn write(session: &mut Session, sets: &[Arc<Prepared>], seal: &str) -> Result<Vec<Verdict>, Fault> {
    session.refresh().await?;
    session.say("begin").await?;
    let verdicts = match decide_swiftly(session, sets).await? {
        Some(verdicts) => verdicts,
        None => {
            session.say("rollback").await?;
            session.say("begin").await?;
            decide(session, sets).await?
        }
    };
    if verdicts.contains(&Verdict::Applied) {
        session.query(&statement::SEAL_LANE, seal).await?;
    }
    Ok(verdicts)
}

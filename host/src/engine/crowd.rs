//! Tenants beside each other: while several are about, each has only so many starts under way at once, and those of
//! one that floods the host wait in its own line. A tenant that is alone has the whole host. A start whose plugins went
//! wrong keeps its place for a while, for longer where many have: what a tenant's plugins can cost others is bounded by
//! their faults, not by their speed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::Error;
use super::recent::lock;
use crate::domain::TenantId;

/// Starts of one tenant that are under way at once while others are about: what a commit of another waits behind.
const STARTS_MAX: usize = 16;

/// Starts of one tenant that wait in its line.
const WAITING_MAX: usize = 10_000;

/// How long a start that ended in an incident keeps its place at first: with [`STARTS_MAX`] places, 16 of them a second.
const REST_AFTER_FAULT: Duration = Duration::from_secs(1);

/// How often that is doubled, at most, and after how many of them, if few went well in between.
const REST_DOUBLED_MAX: u32 = 5;
const REST_DOUBLED_AFTER: u32 = 4;

/// For how many starts that ended in an incident one makes up that did not.
const MAKES_UP_FOR: u32 = 4;

/// How long a tenant counts as being about after it was last seen.
const ABOUT: Duration = Duration::from_secs(5);

/// The tenants that are about.
#[derive(Default)]
pub(super) struct Crowd {
    tenants: Mutex<HashMap<TenantId, Member>>,
}

struct Member {
    seen: Instant,
    line: Arc<Line>,
}

struct Line {
    starts: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Places that are kept although nothing is under way.
    resting: AtomicUsize,
    faults: Faults,
}

/// How many more of a tenant's starts have ended in an incident lately than others make up for.
#[derive(Default)]
struct Faults(AtomicU32);

impl Faults {
    /// A start did not.
    fn made_up(&self) {
        self.change(|count| count.saturating_sub(MAKES_UP_FOR));
    }

    /// One more did: how long it keeps its place. Each for a little longer than the one before, so that those that
    /// began together do not begin together again.
    fn one_more(&self) -> Duration {
        let most = REST_DOUBLED_AFTER * (REST_DOUBLED_MAX + 1) - 1;
        let count = self.change(|count| (count + 1).min(most));
        let rest = REST_AFTER_FAULT * 2_u32.pow(count / REST_DOUBLED_AFTER);
        rest + rest * (count % REST_DOUBLED_AFTER) / REST_DOUBLED_AFTER
    }

    /// What it was before.
    fn change(&self, next: impl Fn(u32) -> u32) -> u32 {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| Some(next(count)))
            .unwrap_or_default()
    }
}

/// The right to start one instance, given back when dropped; without a number in it while the tenant is alone.
pub(super) struct Place {
    held: Option<(OwnedSemaphorePermit, Arc<Line>)>,
}

impl Place {
    /// The start has ended; `faulty` if it was with an incident.
    pub(super) fn leave(self, faulty: bool) {
        let Some((permit, line)) = self.held else { return };
        if !faulty {
            return line.faults.made_up();
        }
        let rest = line.faults.one_more();
        line.resting.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            tokio::time::sleep(rest).await;
            line.resting.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
}

impl Crowd {
    /// A tenant is at work: it must not wait for the floods of others.
    pub(super) fn seen(&self, tenant: &TenantId) {
        self.meet(tenant);
    }

    /// Waits until the tenant may start one more.
    pub(super) async fn enter(&self, tenant: &TenantId) -> Result<Place, Error> {
        let Some(line) = self.meet(tenant) else { return Ok(Place { held: None }) };
        if let Ok(place) = line.starts.clone().try_acquire_owned() {
            return Ok(Place { held: Some((place, line)) });
        }
        let waiting = Waiting::new(&line.waiting);
        if waiting.behind >= WAITING_MAX {
            let message = format!(
                "{WAITING_MAX} starts of the tenant {tenant} wait already; try again later, and with fewer"
            );
            return Err(Error::Busy { code: "too_many_starts", message });
        }
        let permit = line.starts.clone().acquire_owned().await.ok();
        drop(waiting);
        Ok(Place { held: permit.map(|permit| (permit, line)) })
    }

    /// Takes note of a tenant. Its line, if others are about.
    fn meet(&self, tenant: &TenantId) -> Option<Arc<Line>> {
        let now = Instant::now();
        let mut tenants = lock(&self.tenants);
        match tenants.get_mut(tenant) {
            Some(member) => member.seen = now,
            None => {
                // A newcomer is rare enough to look who has left.
                tenants.retain(|_, member| member.is_about(now) || member.rests());
                let line = Line {
                    starts: Arc::new(Semaphore::new(STARTS_MAX)),
                    waiting: AtomicUsize::new(0),
                    resting: AtomicUsize::new(0),
                    faults: Faults::default(),
                };
                tenants.insert(tenant.clone(), Member { seen: now, line: Arc::new(line) });
            }
        }
        if !tenants.iter().any(|(name, member)| name != tenant && member.is_about(now)) {
            tenants.retain(|name, member| name == tenant || member.rests());
            return None;
        }
        tenants.get(tenant).map(|member| member.line.clone())
    }
}

impl Member {
    /// It was seen lately, or has starts under way.
    fn is_about(&self, now: Instant) -> bool {
        let kept = self.line.resting.load(Ordering::Relaxed);
        now.duration_since(self.seen) < ABOUT || self.line.starts.available_permits() + kept < STARTS_MAX
    }

    /// It is not forgotten what went wrong.
    fn rests(&self) -> bool {
        self.line.resting.load(Ordering::Relaxed) > 0
    }
}

/// One that waits in a line.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    behind: usize,
}

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        Self { count, behind: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn tenants() -> (TenantId, TenantId) {
        ("flood".parse().unwrap(), "other".parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_tenant_that_is_alone_is_not_bounded() {
        let (crowd, (flood, other)) = (Crowd::default(), tenants());
        crowd.seen(&other);
        tokio::time::advance(ABOUT).await;
        let places: Vec<_> =
            (0..10 * STARTS_MAX).map(|_| crowd.enter(&flood).now_or_never().unwrap().unwrap()).collect();
        assert_eq!(places.len(), 10 * STARTS_MAX, "the other one has left");
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_waits_in_its_own_line_while_others_are_about() {
        let (crowd, (flood, other)) = (Crowd::default(), tenants());
        crowd.seen(&other);
        let mut places: Vec<_> =
            (0..STARTS_MAX).map(|_| crowd.enter(&flood).now_or_never().unwrap().unwrap()).collect();
        let mut next = std::pin::pin!(crowd.enter(&flood));
        assert!(next.as_mut().now_or_never().is_none(), "its places are taken");
        assert!(crowd.enter(&other).now_or_never().is_some(), "another tenant has its own");
        places.pop();
        assert!(next.now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_faulty_start_keeps_its_place_for_a_while() {
        let (crowd, (flood, other)) = (Crowd::default(), tenants());
        crowd.seen(&other);
        let places = async || {
            let places = (0..STARTS_MAX).map(|_| crowd.enter(&flood).now_or_never());
            places.map(|place| place.map(Result::unwrap)).collect::<Option<Vec<_>>>()
        };
        places().await.unwrap().into_iter().for_each(|place| place.leave(false));
        places().await.unwrap().into_iter().for_each(|place| place.leave(true));
        let begun = Instant::now();
        crowd.enter(&flood).await.unwrap();
        assert_eq!(begun.elapsed(), REST_AFTER_FAULT);
        assert!(places().await.is_none(), "they come back one by one");
        tokio::time::sleep(REST_AFTER_FAULT * 16).await;
        assert!(places().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_only_rests_is_not_about() {
        let (crowd, (flood, other)) = (Crowd::default(), tenants());
        crowd.enter(&other).await.unwrap();
        for _ in 0..STARTS_MAX {
            crowd.enter(&flood).await.unwrap().leave(true);
        }
        let bounded = async || crowd.enter(&other).await.unwrap().held.is_some();
        assert!(bounded().await);
        tokio::time::sleep(ABOUT).await;
        let free = lock(&crowd.tenants)[&flood].line.starts.available_permits();
        assert!(free < STARTS_MAX, "some places are still kept");
        assert!(!bounded().await, "it is alone");
    }

    #[test]
    fn the_more_go_wrong_the_longer_each_keeps_its_place() {
        let faults = Faults::default();
        let rests: Vec<Duration> = (0..200).map(|_| faults.one_more()).collect();
        assert_eq!(rests[0], REST_AFTER_FAULT);
        assert!(rests.is_sorted() && rests[4] == REST_AFTER_FAULT * 2 && rests[8] == REST_AFTER_FAULT * 4);
        assert!(rests[199] < REST_AFTER_FAULT * 64, "{:?}", rests[199]);
        (0..6).for_each(|_| faults.made_up());
        assert_eq!(faults.one_more(), REST_AFTER_FAULT, "enough went well since");
    }

    #[test]
    fn a_tenant_some_of_whose_starts_go_wrong_is_not_slowed_down() {
        let faults = Faults::default();
        for _ in 0..100 {
            assert!(faults.one_more() < REST_AFTER_FAULT * 2);
            faults.made_up();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_has_an_end_and_who_leaves_it_is_not_counted() {
        let (crowd, (flood, other)) = (Crowd::default(), tenants());
        crowd.seen(&other);
        let _places: Vec<_> =
            (0..STARTS_MAX).map(|_| crowd.enter(&flood).now_or_never().unwrap().unwrap()).collect();
        let mut line: Vec<_> = (0..WAITING_MAX).map(|_| Box::pin(crowd.enter(&flood))).collect();
        assert!(line.iter_mut().all(|start| start.as_mut().now_or_never().is_none()));
        let refused = crowd.enter(&flood).now_or_never();
        assert!(matches!(refused, Some(Err(Error::Busy { code: "too_many_starts", .. }))));
        line.pop();
        assert!(crowd.enter(&flood).now_or_never().is_none(), "there is room in the line");
    }
}

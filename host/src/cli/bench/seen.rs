//! What the load saw.

use super::dispatch::Dispatch;
use super::report::Samples;

/// Times of every operation, and what went wrong.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) start: Samples,
    /// Polls for a task that was there.
    pub(super) poll: Samples,
    pub(super) complete: Samples,
    pub(super) cycle: Samples,
    pub(super) dispatch: Samples,
    /// From when a start was due to its task in the hands of a worker.
    pub(super) start_to_hand: Samples,
    /// Polls that do not wait, for tasks that nobody makes.
    pub(super) empty_poll: Samples,
    /// Polls that were answered before the start was.
    pub(super) early: u64,
    pub(super) errors: u64,
}

impl Seen {
    /// Takes all that another saw.
    pub(super) fn add(&mut self, other: Self) {
        self.start.add(other.start);
        self.poll.add(other.poll);
        self.complete.add(other.complete);
        self.cycle.add(other.cycle);
        self.dispatch.add(other.dispatch);
        self.start_to_hand.add(other.start_to_hand);
        self.empty_poll.add(other.empty_poll);
        self.early += other.early;
        self.errors += other.errors;
    }

    /// Takes the times of a task that has reached a worker.
    pub(super) fn dispatched(&mut self, dispatch: Dispatch) {
        self.dispatch.push(dispatch.took);
        self.start_to_hand.push(dispatch.since_start);
        self.early += u64::from(dispatch.early);
    }

    /// Every operation that was seen, by name, in the order in which they are shown.
    pub(super) fn operations(&mut self) -> Vec<(&'static str, &mut Samples)> {
        let all = [
            ("start", &mut self.start),
            ("poll", &mut self.poll),
            ("complete", &mut self.complete),
            ("cycle", &mut self.cycle),
            ("dispatch", &mut self.dispatch),
            ("startToHand", &mut self.start_to_hand),
            ("emptyPoll", &mut self.empty_poll),
        ];
        all.into_iter().filter(|(_, samples)| samples.len() > 0).collect()
    }
}

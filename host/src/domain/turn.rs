//! The order in which tasks are handed out. Each task has its turn, a moment, and the earliest turn of a type is next.
//!
//! A task's turn is when it was made, and 10 seconds more for each task of the same type and priority that its instance
//! made just before it, and an hour more (or less) for each level that its priority is below (or above) the default. A
//! turn never moves, and time does; so, whatever is made and whoever makes it:
//!
//! - No task is passed by one of the same priority that was made after its turn: none waits for ever.
//! - A task that comes `w` seconds after others of its priority has at most `w / 10 + 1` tasks of any one of their
//!   instances before it, however many that instance has.
//! - A task of a priority `n` levels below another's is passed by it only if that one was made within `n` hours of its turn.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// The priority of tasks that have none of their own.
pub const PRIORITY_DEFAULT: i64 = 5;

/// The time from one turn of an instance to its next.
const STEP_MS: i64 = 10_000;
/// The time that one level of priority is worth.
const LEVEL_MS: i64 = 3_600_000;
/// Levels that count, to either side of the default.
const LEVELS_MAX: i64 = 1_000;
/// Task types and priorities whose next turns an instance keeps.
const KEPT_MAX: usize = 32;

/// Where an instance's next turns are: of each task type and priority of which it made tasks just now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns(Vec<(String, i64, Timestamp)>);

impl Turns {
    /// The turn of a new task.
    pub fn next(&mut self, task_type: &str, priority: i64, now: Timestamp) -> Timestamp {
        self.0.retain(|(_, _, free_at)| *free_at > now);
        let same = |turn: &&mut (String, i64, Timestamp)| turn.0 == task_type && turn.1 == priority;
        let at = match self.0.iter_mut().find(same) {
            Some((_, _, free_at)) => {
                let at = *free_at;
                *free_at = at.plus_millis(STEP_MS);
                at
            }
            None => {
                self.keep(task_type, priority, now.plus_millis(STEP_MS));
                now
            }
        };
        at.plus_millis(head_start_ms(priority))
    }

    /// The one that will be over first gives way.
    fn keep(&mut self, task_type: &str, priority: i64, free_at: Timestamp) {
        if self.0.len() >= KEPT_MAX
            && let Some((first, _)) = self.0.iter().enumerate().min_by_key(|(_, (_, _, free_at))| *free_at)
        {
            self.0.swap_remove(first);
        }
        self.0.push((task_type.to_owned(), priority, free_at));
    }
}

/// The turn of a task whose priority changes.
pub fn moved(turn_at: Timestamp, from: i64, to: i64) -> Timestamp {
    turn_at.plus_millis(head_start_ms(to) - head_start_ms(from))
}

/// How much later a task's turn is for its priority; negative if it is before others.
fn head_start_ms(priority: i64) -> i64 {
    priority.saturating_sub(PRIORITY_DEFAULT).clamp(-LEVELS_MAX, LEVELS_MAX) * LEVEL_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000_000);

    fn later(ms: i64) -> Timestamp {
        NOW.plus_millis(ms)
    }

    #[test]
    fn tasks_of_an_instance_take_turns_ten_seconds_apart() {
        let mut turns = Turns::default();
        let made: Vec<Timestamp> = (0..3).map(|_| turns.next("a", 5, NOW)).collect();
        assert_eq!(made, [NOW, later(10_000), later(20_000)]);
        assert_eq!(turns.next("b", 5, NOW), NOW, "another type");
        assert_eq!(turns.next("a", 4, NOW), later(-3_600_000), "another priority");
        assert_eq!(turns.next("a", 5, later(5_000)), later(30_000), "those before it have had 5 s of 30");
        assert_eq!(turns.next("a", 5, later(90_000)), later(90_000), "its turns are over");
    }

    #[test]
    fn priority_is_worth_an_hour_a_level_up_to_a_bound() {
        let turn = |priority| Turns::default().next("a", priority, NOW);
        assert_eq!(turn(1), later(-4 * 3_600_000));
        assert_eq!(turn(10), later(5 * 3_600_000));
        assert_eq!(turn(i64::MAX), later(1_000 * 3_600_000));
        assert_eq!(turn(i64::MIN), later(-1_000 * 3_600_000));
        for (from, to) in [(5, 1), (1, 10), (i64::MIN, i64::MAX)] {
            assert_eq!(moved(turn(from), from, to), turn(to));
        }
    }

    #[test]
    fn what_an_instance_keeps_is_bounded() {
        let mut turns = Turns::default();
        turns.next("much", 5, NOW);
        turns.next("much", 5, NOW);
        for number in 0..10 * KEPT_MAX {
            turns.next(&number.to_string(), 5, NOW);
        }
        assert_eq!(turns.0.len(), KEPT_MAX);
        assert_eq!(turns.next("much", 5, NOW), later(20_000), "the longest is kept");
        turns.next("a", 5, later(100_000));
        assert_eq!(turns.0.len(), 1, "what is over is forgotten");
    }

    /// The bounds of the module's first lines, over floods of every size and newcomers at every moment.
    #[test]
    fn a_newcomer_has_few_of_any_one_instance_before_it_and_no_task_waits_for_ever() {
        for flood in [1, 7, 100, 10_000] {
            let mut many = Turns::default();
            let flooded: Vec<Timestamp> = (0..flood).map(|_| many.next("a", 5, NOW)).collect();
            for waited_s in [0, 1, 9, 10, 11, 600, 86_400] {
                let newcomer = Turns::default().next("a", 5, later(waited_s * 1_000));
                let before = flooded.iter().filter(|turn| **turn <= newcomer).count();
                assert!(i64::try_from(before).unwrap() <= waited_s / 10 + 1, "{flood} {waited_s} {before}");
            }
            for turn in flooded {
                assert!(Turns::default().next("a", 5, turn.plus_millis(1)) > turn);
                assert!(Turns::default().next("a", 1, turn.plus_millis(4 * LEVEL_MS + 1)) > turn);
            }
        }
    }
}

//! Waits that grow, with some chance in them, so that hosts which failed together do not return together.

use std::time::Duration;

use crate::domain::id::repeatable;

/// The wait after some failures in a row: doubled from `first` to `longest`, between half of it and all of it.
pub(crate) fn after(failures: u32, first: Duration, longest: Duration) -> Duration {
    let doubled = first.saturating_mul(1_u32 << failures.saturating_sub(1).min(20)).min(longest);
    jittered(doubled)
}

/// Between half of a time and all of it.
pub(crate) fn jittered(time: Duration) -> Duration {
    let chance = if repeatable() { 0.5 } else { rand::random::<f64>() };
    time.mul_f64(0.5 + chance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_longest() {
        let first = Duration::from_millis(100);
        let longest = Duration::from_secs(5);
        for (failures, most) in [(1, 100), (2, 200), (4, 800), (30, 5_000), (u32::MAX, 5_000)] {
            let wait = after(failures, first, longest);
            assert!(wait <= Duration::from_millis(most), "{failures}: {wait:?}");
            assert!(wait >= Duration::from_millis(most / 2), "{failures}: {wait:?}");
        }
    }
}

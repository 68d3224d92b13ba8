//! How many cases, from which seed, and what is said when one fails.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// The seed of the usual run: it is the same each time, so that nothing fails by chance.
const SEED: u64 = 1;
/// Cases of a cheap property in the usual run; those that are dear have fewer, in any run.
pub const USUAL: u32 = 4_000;
/// A case that takes longer hangs, or costs more than its input: far more than a slow machine needs.
const CASE_TIME_MAX: Duration = Duration::from_secs(60);
/// Steps towards a smaller input.
const SHRINKS_MAX: u32 = 2_000;

/// What a property says of one case.
pub type Verdict = Result<(), TestCaseError>;

/// Checks a property, with `usual` cases unless `CASES` says otherwise. `name` is the beginning of the test's own.
pub fn check<S: Strategy>(name: &str, usual: u32, input: S, property: impl Fn(S::Value) -> Verdict)
where
    S::Value: Debug,
{
    let (seed, cases) = (number("STEPWELL_SEED").unwrap_or(SEED), count(usual));
    let config = Config {
        cases,
        max_shrink_iters: SHRINKS_MAX,
        max_global_rejects: cases.saturating_mul(20),
        failure_persistence: None,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let timed = |value| {
        let started = Instant::now();
        property(value)?;
        let took = started.elapsed();
        if took > CASE_TIME_MAX { Err(TestCaseError::fail(format!("it took {took:?}"))) } else { Ok(()) }
    };
    match TestRunner::new_with_rng(config, random).run(&input, timed) {
        Ok(()) => eprintln!("{name}: {cases} cases, seed {seed}"),
        Err(TestError::Fail(reason, value)) => {
            let cases = number("STEPWELL_CASES").unwrap_or(u64::from(USUAL));
            let again = format!("make fuzz ONLY={name} SEED={seed} CASES={cases}");
            panic!("{name}: {reason}\nfor {value:?}\nagain with: {again}")
        }
        Err(TestError::Abort(reason)) => panic!("{name} makes no cases: {reason}"),
    }
}

/// As many cases as are asked for; `usual` in the usual run, and in the same proportion in a long one.
pub fn count(usual: u32) -> u32 {
    match number("STEPWELL_CASES") {
        Some(cases) => {
            let in_proportion = cases.saturating_mul(u64::from(usual)) / u64::from(USUAL);
            u32::try_from(in_proportion).unwrap_or(u32::MAX).max(1)
        }
        None => usual,
    }
}

/// A number from the environment.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Fails a case with everything that is known.
pub fn fail<T>(reason: impl Into<String>) -> Result<T, TestCaseError> {
    Err(TestCaseError::fail(reason.into()))
}

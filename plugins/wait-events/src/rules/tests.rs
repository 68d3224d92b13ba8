//! The twelve cells, and what stands around them.

use super::*;

const API: &str = "api_response";
const KAFKA: &str = "kafka_event";

fn rules(strategy: Strategy, on_timeout: OnTimeout, required: &[&str]) -> Rules {
    Rules {
        events: vec![API.into(), KAFKA.into()],
        required: required.iter().map(|name| (*name).into()).collect(),
        strategy,
        on_timeout,
    }
}

fn after(rules: &Rules, received: &[&str], missed: &[&str], over: bool) -> Verdict {
    let received: Vec<String> = received.iter().map(|name| (*name).into()).collect();
    let missed = missed.iter().map(|name| ((*name).into(), "gone".into())).collect();
    judge(rules, &received, &missed, over)
}

const FAILED: Verdict = Verdict::Fail { timed_out: true };

/// Strategy and `onTimeout` against what has come when the time is over: nothing, the answer, the event.
/// The answer is required and the event is not.
#[test]
fn the_twelve_cells() {
    use OnTimeout::{Continue, ContinueWithPartial, Fail};
    use Verdict::{Done, Partly};
    for (strategy, on_timeout, nothing, answer, event) in [
        (Strategy::All, Fail, FAILED, FAILED, FAILED),
        (Strategy::All, Continue, FAILED, Done, FAILED),
        (Strategy::All, ContinueWithPartial, Partly, Partly, Partly),
        (Strategy::Any, Fail, FAILED, Done, Done),
        (Strategy::Any, Continue, Done, Done, Done),
        (Strategy::Any, ContinueWithPartial, Partly, Done, Done),
        (Strategy::RequiredOnly, Fail, FAILED, Done, FAILED),
        (Strategy::RequiredOnly, Continue, FAILED, Done, FAILED),
        (Strategy::RequiredOnly, ContinueWithPartial, Partly, Done, Partly),
        (Strategy::Custom, Fail, FAILED, Done, FAILED),
        (Strategy::Custom, Continue, FAILED, Done, FAILED),
        (Strategy::Custom, ContinueWithPartial, Partly, Done, Partly),
    ] {
        let rules = rules(strategy, on_timeout, &[API]);
        let found = [&[][..], &[API], &[KAFKA]].map(|received| after(&rules, received, &[], true));
        assert_eq!(found, [nothing, answer, event], "{strategy:?} {on_timeout:?}");
        assert_eq!(after(&rules, &[KAFKA, API], &[], true), Done, "{strategy:?} {on_timeout:?}");
    }
}

#[test]
fn in_time_it_goes_on_as_soon_as_the_strategy_has_enough() {
    for (strategy, nothing, answer, event) in [
        (Strategy::All, false, false, false),
        (Strategy::Any, false, true, true),
        (Strategy::RequiredOnly, false, true, false),
        (Strategy::Custom, false, true, false),
        (Strategy::Count(1), false, true, true),
        (Strategy::Count(2), false, false, false),
        (Strategy::None, true, true, true),
    ] {
        for on_timeout in [OnTimeout::Fail, OnTimeout::Continue, OnTimeout::ContinueWithPartial] {
            let rules = rules(strategy, on_timeout, &[API]);
            let expected = |done: bool| if done { Verdict::Done } else { Verdict::Wait };
            let found = [&[][..], &[API], &[KAFKA]].map(|received| after(&rules, received, &[], false));
            assert_eq!(found, [nothing, answer, event].map(expected), "{strategy:?} {on_timeout:?}");
            assert_eq!(after(&rules, &[API, KAFKA], &[], false), Verdict::Done);
        }
    }
}

#[test]
fn it_fails_as_soon_as_it_must_and_goes_on_without_something_when_nothing_more_can_come() {
    let check = |strategy, on_timeout, received: &[&str], missed: &[&str], expected| {
        let rules = rules(strategy, on_timeout, &[API]);
        assert_eq!(
            after(&rules, received, missed, false),
            expected,
            "{strategy:?} {on_timeout:?} {missed:?}"
        );
    };
    let gone = Verdict::Fail { timed_out: false };
    check(Strategy::All, OnTimeout::Fail, &[], &[KAFKA], gone);
    check(Strategy::All, OnTimeout::Continue, &[], &[KAFKA], Verdict::Wait);
    check(Strategy::All, OnTimeout::Continue, &[API], &[KAFKA], Verdict::Done);
    check(Strategy::All, OnTimeout::Continue, &[], &[API], gone);
    check(Strategy::All, OnTimeout::ContinueWithPartial, &[], &[API], Verdict::Wait);
    check(Strategy::All, OnTimeout::ContinueWithPartial, &[KAFKA], &[API], Verdict::Partly);
    check(Strategy::Any, OnTimeout::Fail, &[], &[API], Verdict::Wait);
    check(Strategy::Any, OnTimeout::Fail, &[], &[API, KAFKA], gone);
    check(Strategy::Any, OnTimeout::Continue, &[], &[API, KAFKA], Verdict::Done);
    check(Strategy::RequiredOnly, OnTimeout::Fail, &[], &[KAFKA], Verdict::Wait);
    check(Strategy::Count(2), OnTimeout::Continue, &[API], &[KAFKA], gone);
    check(Strategy::Count(2), OnTimeout::ContinueWithPartial, &[API], &[KAFKA], Verdict::Partly);
}

#[test]
fn a_wait_without_events_is_over() {
    let mut rules = rules(Strategy::All, OnTimeout::Fail, &[]);
    rules.events.clear();
    for strategy in [Strategy::All, Strategy::Any, Strategy::RequiredOnly, Strategy::None] {
        rules.strategy = strategy;
        assert_eq!(after(&rules, &[], &[], false), Verdict::Done, "{strategy:?}");
    }
}

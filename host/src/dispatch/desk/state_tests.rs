//! The desk's rules, one by one.

use super::*;

fn key(types: &[&str]) -> GroupKey {
    (TenantId::default(), types.iter().map(|&t| t.to_owned()).collect())
}

fn park(state: &mut State<&'static str>, key: &GroupKey, name: &'static str, tasks_max: usize) -> PollerId {
    state.park(key, Poller::new(Some(name.into()), tasks_max, None, name), 100, 100).unwrap()
}

/// The tasks 1, 2, … for the first slots of an order.
fn found(order: &Order, count: usize) -> Vec<(Option<LockToken>, usize)> {
    order.slots.iter().take(count).enumerate().map(|(n, slot)| (Some(slot.lock_token), n + 1)).collect()
}

/// Parks polls and lets them ask in vain, so that they wait for an announcement.
fn waiting(names: &[&'static str]) -> (State<&'static str>, GroupKey, Vec<PollerId>) {
    let (mut state, key) = (State::default(), key(&["a"]));
    let ids = names.iter().map(|name| park(&mut state, &key, name, 1)).collect();
    let order = state.begin(&key, None).unwrap();
    assert!(settle::<_, usize>(&mut state, &key, order, Vec::new()).answers.is_empty());
    assert!(state.begin(&key, None).is_none(), "nothing happened, so nobody asks");
    (state, key, ids)
}

#[test]
fn the_first_parked_is_the_first_served_and_nobody_else_is_woken() {
    let (mut state, key, _) = waiting(&["first", "second", "third"]);
    assert_eq!(state.announce(&key.0, "a", 1), vec![key.clone()]);
    let order = state.begin(&key, None).unwrap();
    assert!(state.begin(&key, None).is_none(), "one claim at a time");
    let tasks = found(&order, 1);
    let settled = settle(&mut state, &key, order, tasks);
    assert_eq!(settled.answers, vec![("first", vec![1])]);
    assert_eq!(settled.repeat, None);
    assert_eq!(state.parked(), 2);
    assert!(state.begin(&key, None).is_none());
}

#[test]
fn one_claim_serves_all_who_wait() {
    let (mut state, key) = (State::default(), key(&["a"]));
    park(&mut state, &key, "greedy", 3);
    park(&mut state, &key, "modest", 1);
    let order = state.begin(&key, None).unwrap();
    assert_eq!(order.slots.len(), 4);
    let mut tasks = found(&order, 4);
    tasks.reverse();
    let settled = settle(&mut state, &key, order, tasks);
    assert_eq!(settled.answers, vec![("greedy", vec![1, 3, 4]), ("modest", vec![2])]);
    assert_eq!(state.parked(), 0);
    assert!(state.groups.is_empty() && state.interest.is_empty() && state.per_tenant.is_empty());
}

#[test]
fn a_poll_that_came_during_a_claim_is_asked_for_after_it() {
    let (mut state, key) = (State::default(), key(&["a"]));
    park(&mut state, &key, "early", 1);
    let order = state.begin(&key, None).unwrap();
    park(&mut state, &key, "late", 1);
    settle::<_, usize>(&mut state, &key, order, Vec::new());
    assert_eq!(state.begin(&key, None).unwrap().slots.len(), 2);
}

#[test]
fn a_full_claim_is_followed_by_another() {
    let (mut state, key, _) = waiting(&["someone"; SLOTS_MIN + 1]);
    state.announce(&key.0, "a", 1);
    let order = state.begin(&key, None).unwrap();
    assert_eq!(order.slots.len(), SLOTS_MIN);
    let tasks = found(&order, SLOTS_MIN);
    assert_eq!(settle(&mut state, &key, order, tasks).answers.len(), SLOTS_MIN);
    assert!(state.begin(&key, None).is_some(), "there may be more than was announced");
}

#[test]
fn those_who_wait_share_what_is_there() {
    let (mut state, key) = (State::default(), key(&["a"]));
    for (name, tasks_max) in [("first", 20), ("second", 20), ("third", 2), ("fourth", 20)] {
        park(&mut state, &key, name, tasks_max);
    }
    let order = state.begin(&key, Some(20)).unwrap();
    let tasks = found(&order, 20);
    let settled = settle(&mut state, &key, order, tasks);
    let shares = settled.answers.iter().map(|(name, share)| (*name, share.len()));
    assert_eq!(shares.collect::<Vec<_>>(), [("first", 6), ("second", 6), ("third", 2), ("fourth", 6)]);
}

#[test]
fn tasks_of_a_poll_that_left_are_unwanted() {
    let (mut state, key, ids) = waiting(&["gone", "here"]);
    state.announce(&key.0, "a", 2);
    let order = state.begin(&key, None).unwrap();
    assert!(state.leave(&key, ids[0]).is_some());
    assert_eq!(state.parked(), 1, "the place is free at once");
    let tasks = found(&order, 2);
    let settled = settle(&mut state, &key, order, tasks);
    assert_eq!(settled.answers, vec![("here", vec![2])]);
    assert_eq!(settled.unwanted, vec![1]);
}

#[test]
fn an_expired_poll_gets_what_is_being_claimed_for_it() {
    let (mut state, key, ids) = waiting(&["tired", "fresh"]);
    state.announce(&key.0, "a", 1);
    let order = state.begin(&key, None).unwrap();
    assert!(!state.expire(&key, ids[0]), "it must wait for the claim");
    let tasks = found(&order, 1);
    assert_eq!(settle(&mut state, &key, order, tasks).answers, vec![("tired", vec![1])]);
    assert!(state.expire(&key, ids[1]), "no claim is under way: it leaves");
    assert!(state.groups.is_empty());
}

#[test]
fn an_impatient_poll_is_answered_after_one_question() {
    let (mut state, key) = (State::default(), key(&["a"]));
    let id = park(&mut state, &key, "hasty", 1);
    assert!(!state.expire(&key, id));
    let order = state.begin(&key, None).unwrap();
    assert_eq!(settle::<_, usize>(&mut state, &key, order, Vec::new()).answers, vec![("hasty", Vec::new())]);
}

#[test]
fn less_than_announced_is_asked_for_again_a_few_times() {
    let (mut state, key, _) = waiting(&["first"]);
    state.announce(&key.0, "a", 1);
    for nth in 1..=REPEATS_MAX {
        let order = state.begin(&key, None).unwrap();
        assert_eq!(
            settle::<_, usize>(&mut state, &key, order, Vec::new()).repeat,
            Some(Repeat { nth, missing: 1 })
        );
        state.announce_again(&key, 1);
    }
    let order = state.begin(&key, None).unwrap();
    assert_eq!(settle::<_, usize>(&mut state, &key, order, Vec::new()).repeat, None);
}

#[test]
fn bounds_hold_for_the_host_and_for_a_tenant() {
    let (mut state, key) = (State::default(), key(&["a"]));
    let mut try_park = |host, tenant| state.park(&key, Poller::new(None, 1, None, "x"), host, tenant);
    assert!(try_park(2, 1).is_ok());
    assert_eq!(try_park(2, 1), Err(Full::Tenant));
    assert_eq!(try_park(1, 2), Err(Full::Host));
    state.close();
    assert_eq!(state.park(&key, Poller::new(None, 1, None, "x"), 9, 9), Err(Full::Closed));
}

#[test]
fn an_announcement_reaches_every_group_that_has_the_type() {
    let mut state = State::default();
    let (one, both, other) = (key(&["a"]), key(&["a", "b"]), key(&["b"]));
    for key in [&one, &both, &other] {
        park(&mut state, key, "x", 1);
    }
    assert_eq!(state.announce(&one.0, "a", 1), vec![one.clone(), both]);
    assert!(state.announce(&"elsewhere".parse().unwrap(), "a", 1).is_empty());
}

#[test]
fn closing_answers_all_but_those_in_a_claim() {
    let (mut state, key, _) = waiting(&["first"]);
    state.announce(&key.0, "a", 1);
    let order = state.begin(&key, None).unwrap();
    assert!(state.close().is_empty(), "a claim is under way for it");
    assert_eq!(settle::<_, usize>(&mut state, &key, order, Vec::new()).answers, vec![("first", Vec::new())]);

    let (mut state, _, _) = waiting(&["first", "second"]);
    assert_eq!(state.close().len(), 2);
    assert_eq!(state.parked(), 0);
}

#[test]
fn a_failed_claim_tells_those_who_were_never_served() {
    let (mut state, key, _) = waiting(&["old"]);
    park(&mut state, &key, "new", 1);
    let _order = state.begin(&key, None).unwrap();
    assert_eq!(state.failed(&key), vec!["new"]);
    assert_eq!(state.parked(), 1);
}

#[test]
fn a_claim_that_found_all_there_is_has_asked_for_those_behind_its_last_slot() {
    let mut state = State::default();
    let key = key(&["a"]);
    for _ in 0..=SLOTS_MAX {
        assert!(state.park(&key, Poller::new(None, 1, None, "x"), 1_000, 1_000).is_ok());
    }
    let order = state.begin(&key, None).unwrap();
    assert_eq!(order.slots.len(), SLOTS_MAX);
    let settled = settle::<_, usize>(&mut state, &key, order, Vec::new());
    assert!(settled.answers.is_empty());
    assert!(state.begin(&key, None).is_none(), "nothing is asked again at once");
    assert_eq!(state.parked(), SLOTS_MAX + 1);
}

#[test]
fn a_sweep_reaches_every_group_in_turn() {
    let mut state = State::default();
    let keys: Vec<_> = ["a", "b", "c"].iter().map(|name| key(&[name])).collect();
    for key in &keys {
        park(&mut state, key, "x", 1);
    }
    let mut asked: Vec<_> = (0..3).flat_map(|_| state.ask(1)).collect();
    asked.sort_unstable_by_key(|key| key.1.clone());
    assert_eq!(asked, keys);
}

/// As the database answers: who gets less than asked for has all there is.
fn settle<W, T>(
    state: &mut State<W>,
    key: &GroupKey,
    order: Order,
    tasks: Vec<(Option<LockToken>, T)>,
) -> Settled<W, T> {
    let all_found = tasks.len() < order.slots.len();
    state.settle(key, order, tasks, all_found)
}

#[test]
fn a_claim_trusts_as_much_as_those_who_wait_can_bear() {
    let (mut state, key) = (State::default(), key(&["a"]));
    let trust = |state: &mut State<&'static str>| {
        let order = state.begin(&key, None).unwrap();
        let trust = order.trust;
        settle(state, &key, order, Vec::<(_, ())>::new());
        trust
    };
    state.park(&key, Poller::new(None, 1, None, "waits"), 9, 9).unwrap();
    assert_eq!(trust(&mut state), Trust::Absence);
    let mut hurried = Poller::new(None, 1, None, "does not wait");
    hurried.impatient = true;
    state.park(&key, hurried, 9, 9).unwrap();
    assert_eq!(trust(&mut state), Trust::Tasks);
    assert_eq!(state.ask(9), vec![key.clone()]);
    assert_eq!(trust(&mut state), Trust::Nothing, "a sweep finds what no hint told of");
    state.announce(&key.0, "a", 1);
    assert_eq!(trust(&mut state), Trust::Absence);
}

#[test]
fn nobody_asks_where_nothing_is_known_to_wait() {
    let (mut state, key) = (State::default(), key(&["a"]));
    park(&mut state, &key, "waits", 1);
    assert!(state.begin(&key, Some(0)).is_none());
    assert!(state.begin(&key, None).is_none(), "it counts as asked");
    state.announce(&key.0, "a", 1);
    let order = state.begin(&key, Some(1)).unwrap();
    assert_eq!(order.slots.len(), 1);
    settle(&mut state, &key, order, Vec::<(_, ())>::new());
    assert_eq!(state.ask(9), vec![key.clone()]);
    assert!(state.begin(&key, Some(0)).is_some(), "a sweep asks whatever is known");
}

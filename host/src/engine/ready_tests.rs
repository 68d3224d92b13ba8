//! What is known of waiting tasks, case by case.

use super::*;
use crate::domain::turn::Turns;

fn task(tenant: &str, task_type: &str, priority: i64) -> Task {
    let mut task = crate::engine::task::sample_task();
    task.tenant = tenant.parse().unwrap();
    (task.id, task.task_type, task.priority) = (TaskId::new(), task_type.to_owned(), priority);
    task.status = TaskStatus::Pending;
    task.turn_at = Turns::default().next(task_type, priority, task.created_at);
    task
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_000_000)
}

fn names(types: &[&str]) -> Vec<String> {
    types.iter().map(|name| (*name).to_owned()).collect()
}

/// A claim that finds nothing: from then on the types are known.
fn learn(ready: &Ready, tenant: &TenantId, types: &[&str]) {
    let question = ready.ask(tenant, &names(types));
    ready.answered(question, &[], Some(Vec::new()));
}

fn taken(ready: &Ready, tenant: &TenantId, types: &[&str], count: usize) -> Option<Vec<TaskId>> {
    Some(ready.take(tenant, &names(types), count)?.into_iter().map(|task| task.id).collect())
}

#[test]
fn a_type_is_known_once_a_claim_has_found_all_of_it() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let one = task("default", "a", 1);
    ready.offer(one.clone(), now());
    assert_eq!(taken(&ready, &tenant, &["a"], 9), None, "nobody has asked yet");
    let question = ready.ask(&tenant, &names(&["a"]));
    ready.answered(question, std::slice::from_ref(&one), None);
    assert_eq!(taken(&ready, &tenant, &["a"], 9), None, "there may be more than was asked for");
    learn(&ready, &tenant, &["a"]);
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![]));
    ready.offer(one.clone(), now());
    assert_eq!(taken(&ready, &tenant, &["a", "b"], 9), None, "one of two is not known");
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![one.id]));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![]), "nobody gets it twice");
}

#[test]
fn tasks_come_by_turn_over_all_types_of_one_tenant() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    learn(&ready, &tenant, &["a", "b"]);
    learn(&ready, &"other".parse().unwrap(), &["a"]);
    let [late, early, first] = [task("default", "a", 5), task("default", "b", 5), task("default", "b", 1)];
    let late = Task { turn_at: now().plus_millis(1), ..late };
    let foreign = task("other", "a", 0);
    for task in [&late, &early, &first, &foreign] {
        ready.offer(task.clone(), now());
    }
    assert_eq!(taken(&ready, &tenant, &["a", "b"], 2), Some(vec![first.id, early.id]));
    assert_eq!(taken(&ready, &tenant, &["a", "b"], 2), Some(vec![late.id]));
}

#[test]
fn what_is_committed_during_a_claim_is_neither_lost_nor_given_twice() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let question = ready.ask(&tenant, &names(&["a"]));
    let [seen, unseen] = [task("default", "a", 1), task("default", "a", 1)];
    ready.offer(seen.clone(), now());
    ready.offer(unseen.clone(), now());
    ready.answered(question, &[seen], Some(Vec::new()));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![unseen.id]));
}

#[test]
fn doubt_during_a_claim_outlives_it() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let question = ready.ask(&tenant, &names(&["a"]));
    ready.doubt(&tenant, "a", now());
    ready.answered(question, &[], Some(Vec::new()));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), None);
    let old = ready.ask(&tenant, &names(&["a"]));
    ready.forget();
    let _new = ready.ask(&tenant, &names(&["a"]));
    ready.answered(old, &[], Some(Vec::new()));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), None, "an answer from before everything was forgotten");
}

#[test]
fn what_waits_for_a_time_or_is_held_is_not_offered() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    learn(&ready, &tenant, &["a"]);
    ready.offer(Task { available_at: now().plus_millis(1), ..task("default", "a", 1) }, now());
    ready.offer(Task { status: TaskStatus::Locked, ..task("default", "a", 1) }, now());
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![]));
}

#[test]
fn memory_is_bounded_by_bytes_and_by_types() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    learn(&ready, &tenant, &["big", "small"]);
    let big = serde_json::Value::String("x".repeat(BYTES_MAX / 4));
    for _ in 0..4 {
        ready.offer(Task { input: big.clone(), ..task("default", "big", 1) }, now());
    }
    assert_eq!(taken(&ready, &tenant, &["big"], 9), None, "not all of it is remembered");
    assert_eq!(taken(&ready, &tenant, &["small"], 9), Some(vec![]));
    assert_eq!(lock(&ready.queues).bytes, 0);
    for number in 0..2 * QUEUES_MAX {
        learn(&ready, &tenant, &[&number.to_string()]);
    }
    assert!(lock(&ready.queues).by_name.len() <= QUEUES_MAX);
}

#[test]
fn what_a_claim_has_left_is_learnt_but_not_where_others_are_at_work() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let question = ready.ask(&tenant, &names(&["a"]));
    assert!(ready.worth_a_look(&question, now()));
    assert!(!ready.worth_a_look(&question, now()), "not again and again");
    let left = task("default", "a", 1);
    ready.answered(question, &[], Some(vec![left.clone()]));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), Some(vec![left.id]));
    ready.doubt(&tenant, "a", now().plus_millis(5_000));
    let question = ready.ask(&tenant, &names(&["a"]));
    assert!(!ready.worth_a_look(&question, now().plus_millis(5_500)));
    assert!(ready.worth_a_look(&question, now().plus_millis(6_000)));
}

#[test]
fn a_claim_that_left_something_makes_its_types_unknown() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let both = ready.ask(&tenant, &names(&["a", "b"]));
    let alone = ready.ask(&tenant, &names(&["b"]));
    // The first held rows of b that it did not take; the second passed them over.
    ready.answered(both, &[], None);
    ready.answered(alone, &[], Some(Vec::new()));
    assert_eq!(taken(&ready, &tenant, &["b"], 9), None);
}

#[test]
fn what_is_too_much_to_remember_is_not_learnt() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let question = ready.ask(&tenant, &names(&["a"]));
    let big = serde_json::Value::String("x".repeat(BYTES_MAX / 2));
    let rest = (0..2).map(|_| Task { input: big.clone(), ..task("default", "a", 1) }).collect();
    ready.answered(question, &[], Some(rest));
    assert_eq!(taken(&ready, &tenant, &["a"], 9), None);
    assert_eq!(lock(&ready.queues).bytes, 0);
}

#[test]
fn a_long_queue_is_left_alone_for_a_while() {
    let (ready, tenant) = (Ready::default(), TenantId::default());
    let question = ready.ask(&tenant, &names(&["a"]));
    assert!(ready.worth_a_look(&question, now()));
    ready.too_many(&question, now());
    assert!(!ready.worth_a_look(&question, now().plus_millis(TOO_MANY_MS)));
    assert!(ready.worth_a_look(&question, now().plus_millis(TOO_MANY_MS + 1_000)));
}

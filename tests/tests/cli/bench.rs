//! `stepwell bench`: it counts what it did, and nothing goes wrong.

use serde_json::Value;
use stepwell_tests::command::run;

use crate::support::folder;

/// A short run of whole cycles, with more arguments; what it told.
async fn external_task(more: &[&str]) -> Value {
    let args = ["bench", "external-task", "--json", "--workers", "4", "--warm-up-seconds", "0"];
    run(&[&args[..], more].concat()).await.exits(0).json()
}

#[track_caller]
fn number(told: &Value, pointer: &str) -> f64 {
    let found = told.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {pointer}: {told}"))
}

/// Times of an operation that was done, in order.
#[track_caller]
fn timed(told: &Value, operation: &str) {
    let at = |what: &str| number(told, &format!("/{operation}/{what}"));
    assert!(at("count") > 0.0, "{operation}: {told}");
    assert!(at("p50Ms") <= at("p99Ms") && at("p99Ms") <= at("p999Ms"), "{operation}: {told}");
}

#[tokio::test]
async fn whole_cycles_are_counted_and_timed() {
    let told = external_task(&["--no-raw", "--cycles", "400"]).await;
    assert!(told["cycles"].as_u64().unwrap() >= 400, "{told}");
    assert_eq!(told["errors"], 0, "{told}");
    for operation in ["start", "poll", "complete", "cycle", "dispatch", "startToHand"] {
        timed(&told, operation);
    }
    assert!(number(&told, "/cycle/p50Ms") > 0.0, "{told}");
    assert!(number(&told, "/host/rssBytes") > 1e6, "{told}");
    assert!(number(&told, "/host/cpuMsPerCycle") > 0.0, "{told}");
    assert!(number(&told, "/host/pluginShareOfCpu") > 0.0, "{told}");
    // A cycle is at least a start and a completion; each reads and writes.
    let (statements, transactions) =
        (number(&told, "/host/statementsPerCycle"), number(&told, "/host/transactionsPerCycle"));
    assert!(transactions > 0.0 && statements > transactions, "{told}");
    assert!(transactions >= number(&told, "/host/writingTransactionsPerCycle"), "{told}");
    assert!(told["postgres"].is_null(), "SQLite has no server: {told}");
}

#[tokio::test]
async fn the_raw_limit_is_measured_in_the_same_run() {
    let told = external_task(&["--seconds", "2"]).await;
    assert!(number(&told, "/rawCyclesPerSecond") > 0.0 && number(&told, "/ratio") >= 0.0, "{told}");
}

#[tokio::test]
async fn half_of_the_load_is_measured_in_the_same_run_and_drawn() {
    let folder = folder();
    let file = folder.path().join("bench.svg");
    let told =
        external_task(&["--no-raw", "--half", "--seconds", "3", "--plot", file.to_str().unwrap()]).await;
    let half = &told["half"];
    assert_eq!(half["errors"], 0, "{told}");
    assert!(number(half, "/cycles") > 0.0, "{told}");
    assert!(number(half, "/rate") <= number(&told, "/cyclesPerSecond").max(1.0), "{told}");
    for operation in ["start", "poll", "complete", "dispatch", "startToHand", "emptyPoll"] {
        timed(half, operation);
    }
    let picture = std::fs::read_to_string(file).unwrap();
    for told in ["dispatch", "emptyPoll", "p99", "cycles in each second"] {
        assert!(picture.contains(told), "no {told}: {picture}");
    }
    well_formed(&picture);
}

#[tokio::test]
async fn a_load_on_a_schedule_keeps_to_its_rate() {
    let told = external_task(&["--no-raw", "--rate", "20", "--seconds", "5"]).await;
    assert_eq!(told["errors"], 0, "{told}");
    // A machine that stands still may miss some; none may be too many.
    let (cycles, missed) = (number(&told, "/cycles"), number(&told, "/missed"));
    assert!(cycles > 0.0 && cycles <= 101.0 && cycles + missed >= 99.0, "{told}");
}

#[tokio::test]
async fn a_full_database_is_compared_with_an_empty_one() {
    let more = ["--preload", "300", "--alternate", "1", "--cycles", "50"];
    let told = external_task(&more).await;
    assert_eq!(told["preloaded"], 300, "{told}");
    assert!(number(&told, "/emptyMedian") > 0.0 && number(&told, "/fullMedian") > 0.0, "{told}");
    assert!(number(&told, "/ratio") > 0.0, "{told}");
}

#[tokio::test]
async fn plugins_are_measured_by_verb() {
    let told = run(&["bench", "plugin", "--json", "--calls", "50"]).await.exits(0).json();
    let rows = told["plugins"].as_array().unwrap();
    for (plugin, verb) in
        [("EXTERNAL_TASK", "start"), ("EXTERNAL_TASK", "on-event"), ("jsonpath", "transform")]
    {
        let found = rows.iter().find(|row| row["plugin"] == plugin && row["verb"] == verb);
        let row = found.unwrap_or_else(|| panic!("no {verb} of {plugin}: {told}"));
        let (median, p99) = (number(row, "/medianMicros"), number(row, "/p99Micros"));
        assert!(median > 0.0 && p99 >= median && number(row, "/fuel") > 0.0, "{row}");
        assert_eq!(row["calls"], 50, "{row}");
    }
}

#[tokio::test]
async fn starts_are_timed_cold_and_warm() {
    let told = run(&["bench", "start", "--json", "--runs", "2"]).await.exits(0).json();
    for (name, starts) in [("cold", 1), ("warm", 2)] {
        assert_eq!(told[name]["starts"], starts, "{told}");
        let at = |what: &str| number(&told, &format!("/{name}/{what}"));
        assert!(at("medianMs") > 0.0 && at("maxMs") >= at("medianMs"), "{told}");
    }
}

#[tokio::test]
async fn pollers_that_wait_are_weighed() {
    let args = ["bench", "parked", "--json", "--pollers", "50", "--seconds", "1", "--wait-seconds", "10"];
    let told = run(&args).await.exits(0).json();
    assert_eq!(told["pollers"], 50, "{told}");
    assert!(number(&told, "/rssBytesAfter") > 1e6, "{told}");
    assert!(number(&told, "/cpuPercentOfCore") >= 0.0, "{told}");
}

#[tokio::test]
async fn workers_fetch_and_complete_what_was_loaded() {
    let args = ["bench", "workers", "--json", "--surface", "both", "--workers", "1,8", "--seconds", "60"];
    let more = ["--tasks", "200", "--open", "300,20", "--fetches", "50"];
    let told = run(&[&args[..], &more].concat()).await.exits(0).json();
    let surfaces = ["native", "camunda"];
    let each =
        |numbers: [u64; 2]| numbers.into_iter().flat_map(move |n| surfaces.map(|surface| (surface, n)));
    assert_eq!(told["throughput"].as_array().map(Vec::len), Some(4), "{told}");
    for (row, (surface, workers)) in told["throughput"].as_array().unwrap().iter().zip(each([1, 8])) {
        assert_eq!((&row["surface"], &row["workers"]), (&surface.into(), &workers.into()), "{told}");
        assert_eq!(row["tasks"], 200, "{told}");
        assert!(number(row, "/tasksPerSecond") > 0.0, "{told}");
        timed(row, "fetch");
        timed(row, "complete");
    }
    // From the fewest to the most.
    for (row, (surface, open)) in told["latency"].as_array().unwrap().iter().zip(each([20, 300])) {
        assert_eq!((&row["surface"], &row["open"]), (&surface.into(), &open.into()), "{told}");
        assert_eq!(row["fetch"]["count"], 50, "{told}");
        timed(row, "fetch");
    }
    for surface in surfaces {
        assert!(number(&told, &format!("/p99Ratio/{surface}")) > 0.0, "{told}");
    }
}

/// Every element of a picture is closed, in order, and its text is escaped.
#[track_caller]
fn well_formed(picture: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in picture.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("an open tag: {part}"));
        assert!(!text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").contains('&'), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{picture}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
    }
    assert!(open.is_empty() && picture.starts_with("<svg "), "{open:?} stay open");
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[tokio::test]
async fn lateness_of_timers_is_told_for_both_shapes() {
    let mut told = Value::Null;
    // A machine may be too busy to start them all before the first is due: then there is nothing to measure.
    for lead_seconds in ["5", "30", "200"] {
        let args =
            ["bench", "timers", "--json", "--timers", "40", "--pending", "300", "--spread-seconds", "1"];
        let ran = run(&[&args[..], &["--lead-seconds", lead_seconds]].concat()).await;
        if !ran.stderr.contains("raise --lead-seconds") {
            told = ran.exits(0).json();
            break;
        }
    }
    let runs = told["runs"].as_array().expect("a list");
    let shapes: Vec<_> = runs.iter().map(|run| (&run["pending"], &run["spreadSeconds"])).collect();
    let expected = [(300, 1), (300, 0)];
    assert!(shapes.len() == expected.len(), "{told}");
    for (run, (pending, spread)) in runs.iter().zip(expected) {
        assert!(run["pending"] == pending && run["spreadSeconds"] == spread, "{told}");
        assert!(run["decided"]["count"] == 40 && run["committed"]["count"] == 40, "{told}");
        assert!(number(run, "/decided/p50Ms") <= number(run, "/decided/maxMs"), "{told}");
        assert!(number(run, "/hostRssBytes") > 1e6, "{told}");
    }
    run(&["bench", "timers", "--database", "sqlite:x.db"]).await.exits(2);
}

//! `stepwell bench`: it counts what it did, and nothing goes wrong.

use stepwell_tests::command::run;

#[tokio::test]
async fn whole_cycles_are_counted_and_timed() {
    let args = ["bench", "external-task", "--json", "--no-raw", "--workers", "4", "--warm-up-seconds", "0"];
    let ran = run(&[&args[..], &["--cycles", "20", "--seconds", "120"]].concat()).await.exits(0);
    let told = ran.json();
    assert!(told["cycles"].as_u64().unwrap() >= 20, "{told}");
    assert_eq!(told["errors"], 0, "{told}");
    for operation in ["start", "poll", "complete", "cycle"] {
        let (p50, p99) =
            (told[operation]["p50Ms"].as_f64().unwrap(), told[operation]["p99Ms"].as_f64().unwrap());
        assert!(p50 > 0.0 && p99 >= p50, "{operation}: {told}");
    }
    assert!(told["host"]["rssBytes"].as_u64().unwrap() > 0, "{told}");
}

#[tokio::test]
async fn the_raw_limit_is_measured_in_the_same_run() {
    let args =
        ["bench", "external-task", "--json", "--workers", "2", "--warm-up-seconds", "0", "--seconds", "2"];
    let told = run(&args).await.exits(0).json();
    assert!(told["rawCyclesPerSecond"].as_f64().unwrap() > 0.0, "{told}");
}

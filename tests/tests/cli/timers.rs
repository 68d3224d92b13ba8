//! `stepwell timer` and `stepwell schedule`.

use stepwell_tests::command::{Host, run};

use crate::support::{folder, instance_in};

#[tokio::test]
async fn run_times_are_shown_before_anything_is_deployed() {
    let preview =
        |more: &'static [&'static str]| async move { run(&[&["schedule", "preview"], more].concat()).await };
    let shown =
        preview(&["0 2 * * *", "--tz", "Europe/Prague", "--from", "2026-03-28T12:00:00Z"]).await.exits(0);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "2026-03-29T03:00:00+02:00",
            "2026-03-30T02:00:00+02:00",
            "2026-03-31T02:00:00+02:00",
            "2026-04-01T02:00:00+02:00",
            "2026-04-02T02:00:00+02:00"
        ]
    );
    let json = preview(&["@daily", "--count", "2", "--json"]).await.exits(0).json();
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(2));
    for wrong in [
        &["0 0 30 2 *"][..],
        &["soon"],
        &["@daily", "--tz", "Mars/Phobos"],
        &["@daily", "--count", "0"],
        &["@daily", "--from", "yesterday"],
    ] {
        preview(wrong).await.exits(2);
    }
}

#[tokio::test]
async fn timers_are_listed_moved_fired_and_cancelled() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let file = data.path().join("wait.yaml");
    std::fs::write(&file, "steps:\n  - { id: wait, type: TIMER, config: { delay: 2h } }\n").unwrap();
    host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", "wait"]).await.exits(0);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let started = host.cli_json(&["instance", "start", "wait"]).await;
        let instance = started["id"].as_str().unwrap().to_owned();
        let timers = host.cli_json(&["timer", "list", "--instance", &instance]).await;
        ids.push((instance, timers["items"][0]["id"].as_str().unwrap().to_owned()));
    }
    let listed = host.cli(&["timer", "list"]).await.exits(0);
    assert!(
        listed.stdout.starts_with("ID") && ids.iter().all(|(_, id)| listed.stdout.contains(id)),
        "{listed:?}"
    );
    let (instance, timer) = &ids[0];
    let moved = host.cli(&["timer", "reschedule", timer, "--delay", "3d"]).await.exits(0);
    assert!(moved.stdout.starts_with("due at 2"), "{moved:?}");
    host.cli(&["timer", "reschedule", timer]).await.exits(2);
    host.cli(&["timer", "reschedule", timer, "--delay", "3 parsecs"]).await.exits(1);
    host.cli(&["timer", "fire", timer]).await.exits(0);
    instance_in(&host.url, instance, "completed").await;
    host.cli(&["timer", "fire", timer]).await.exits(1);
    assert_eq!(host.cli_json(&["timer", "show", timer]).await["triggered"], true);
    let (instance, timer) = &ids[1];
    host.cli(&["timer", "cancel", timer]).await.exits(0);
    instance_in(&host.url, instance, "failed").await;
    host.cli(&["timer", "show", timer]).await.exits(3);
    host.stop().await;
}

#[tokio::test]
async fn schedules_are_shown_before_deploying_listed_paused_and_resumed() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let file = data.path().join("nightly.yaml");
    let source = "triggers:\n  - { cron: 0 2 * * *, timeZone: Europe/Prague }\nsteps:\n  - { id: wait, type: TIMER, config: { \
                  delay: 2h } }\n";
    std::fs::write(&file, source).unwrap();
    let deploy = ["workflow", "deploy", file.to_str().unwrap(), "--key", "nightly"];
    let checked = host.cli(&[&deploy[..], &["--dry-run"]].concat()).await.exits(0);
    assert!(checked.stdout.starts_with("checked, not deployed: nightly, version 1"), "{checked:?}");
    assert_eq!(checked.stdout.lines().filter(|line| line.starts_with("  2")).count(), 5, "{checked:?}");
    host.cli(&["workflow", "show", "nightly"]).await.exits(3);
    host.cli(&deploy).await.exits(0);
    let listed = host.cli_json(&["schedule", "list", "--workflow", "nightly"]).await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    host.cli(&["schedule", "pause", id]).await.exits(0);
    assert_eq!(host.cli_json(&["schedule", "show", id]).await["paused"], true);
    let resumed = host.cli(&["schedule", "resume", id]).await.exits(0);
    assert!(resumed.stdout.contains("next at 2"), "{resumed:?}");
    host.cli(&["schedule", "pause", "00000000-0000-4000-8000-000000000000"]).await.exits(3);
    host.stop().await;
}

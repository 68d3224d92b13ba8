//! The two tenants side by side, in windows with and without the mob.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use stepwell_tests::command::{self, command, source_root};
use stepwell_tests::db::{TestDb, run_on_postgres, run_on_sqlite};
use stepwell_tests::guests;
use stepwell_tests::host::{Client, until};
use tokio_util::sync::CancellationToken;

use crate::innocent::{self, OPERATIONS, Times};
use crate::kinds::{self, Kind};
use crate::mob::{self, Ends};

/// Set to `long`, windows are long enough to judge by, and judged.
const VARIABLE: &str = "STEPWELL_HOSTILE";
/// How long the starts that had begun before the mob hung up have for their end.
const SETTLE: Duration = Duration::from_secs(2);
/// How much longer others may wait beside the mob.
const RATIO_MAX: f64 = 1.5;

#[test]
fn others_are_served_meanwhile_on_sqlite() {
    run_on_sqlite(|db| side_by_side("SQLite", db));
}

#[test]
fn others_are_served_meanwhile_on_postgres() {
    if long() {
        run_on_postgres(|db| side_by_side("PostgreSQL", db));
    }
}

fn long() -> bool {
    std::env::var(VARIABLE).is_ok_and(|form| form == "long")
}

async fn side_by_side(name: &str, db: TestDb) -> Result<()> {
    let (pairs, window) = if long() { (5, Duration::from_secs(15)) } else { (2, Duration::from_secs(4)) };
    let plugins = tempfile::tempdir()?;
    std::fs::write(plugins.path().join("hostile.wasm"), guests::hostile())?;
    let mut host = start(&db, plugins.path()).await?;
    let client = Client::new(host.url.clone());
    until("HOSTILE is served", async || Ok(client.get("/api/v1/plugins/HOSTILE").await?.status == 200))
        .await?;
    let (innocent, hostile) = (client.tenant("innocent"), Client::new(host.url.clone()).tenant("hostile"));
    innocent::prepare(&innocent).await?;
    mob::prepare(&hostile).await?;
    calm(&innocent, Duration::from_secs(1)).await?;

    let (mut cycles, mut ends, mut ratios, mut beyond) = (0, Ends::new(), Vec::new(), Vec::new());
    for _ in 0..pairs {
        let alone = calm(&innocent, window).await?;
        let harmless = mobbed(&innocent, &kinds::HARMLESS, window, &mut ends).await?;
        let beside = mobbed(&innocent, &kinds::ALL, window, &mut ends).await?;
        cycles += alone.cycles() + harmless.cycles() + beside.cycles();
        let [to_alone, to_harmless] = compare(name, alone, harmless, beside);
        ratios.push(to_alone);
        beyond.push(to_harmless);
    }
    let (medians, beyond) = (medians(&ratios), medians(&beyond));
    for (at, operation) in OPERATIONS.iter().enumerate() {
        let (ratio, beyond) = (medians[at], beyond[at]);
        say(&format!("{name}: {operation}: median ratio {ratio:.2}, to as many harmless ones {beyond:.2}"));
    }
    say(&format!("{name}: {cycles} cycles of the innocent tenant; the hostile one's ends: {ends:?}"));

    ensure!(host.runs(), "the host died: {}", host.log());
    client.get("/readyz").await?.expect(200)?;
    nothing_is_out_of_place(&db, &innocent, &ends).await?;
    host.stop().await;
    if long() {
        let worst = medians.into_iter().fold(0.0, f64::max);
        ensure!(worst <= RATIO_MAX, "others wait {worst:.2} times as long beside hostile plugins");
    }
    Ok(())
}

async fn start(db: &TestDb, plugins: &std::path::Path) -> Result<command::Host> {
    let data = source_root().join("target/hostile-data");
    let text = |path: &std::path::Path| path.to_str().map(str::to_owned).context("a path of letters");
    let (data, plugins) = (text(&data)?, text(plugins)?);
    let flags = ["serve", "--json", "--listen", "127.0.0.1:0", "--database", db.url()];
    let folders = ["--data", &data, "--plugins", &plugins];
    let mut serve = command(&command::binary(), &flags.into_iter().chain(folders).collect::<Vec<_>>());
    serve.env("STEPWELL_LOG", "error");
    Ok(command::Host::from_command(serve).await)
}

/// Cycles of the innocent tenant alone.
async fn calm(innocent: &Client, window: Duration) -> Result<Times> {
    let stop = CancellationToken::new();
    let cycles = tokio::spawn(innocent::cycles(innocent.clone(), stop.clone()));
    tokio::time::sleep(window).await;
    stop.cancel();
    cycles.await?
}

/// The same while a mob rushes in, until the window is over. What it left under way has ended when this returns.
async fn mobbed(
    innocent: &Client,
    kinds: &'static [Kind],
    window: Duration,
    ends: &mut Ends,
) -> Result<Times> {
    let stop = CancellationToken::new();
    let cycles = tokio::spawn(innocent::cycles(innocent.clone(), stop.clone()));
    let rushed = mob::rush(innocent.url.clone(), kinds, window).await;
    stop.cancel();
    let times = cycles.await??;
    tokio::time::sleep(SETTLE).await;
    for (end, count) in rushed? {
        *ends.entry(end).or_default() += count;
    }
    Ok(times)
}

/// How much longer others wait beside hostile plugins than alone, and than beside as many harmless ones.
fn compare(name: &str, alone: Times, harmless: Times, beside: Times) -> [[f64; 3]; 2] {
    let (alone, harmless, beside) = (alone.p99_ms(), harmless.p99_ms(), beside.p99_ms());
    let to = |base: [f64; 3]| [0, 1, 2].map(|at| beside[at] / base[at].max(0.001));
    let ratios = to(alone);
    for at in 0..3 {
        let (operation, ratio) = (OPERATIONS[at], ratios[at]);
        say(&format!(
            "{name}: {operation}: innocent p99: {:.1} ms alone, {:.1} ms beside hostile plugins, ratio {ratio:.2} \
             ({:.1} ms beside as many harmless ones)",
            alone[at], beside[at], harmless[at]
        ));
    }
    [ratios, to(harmless)]
}

/// Every cycle is whole, every hostile instance is held or cut, and no incident is anybody else's.
async fn nothing_is_out_of_place(db: &TestDb, innocent: &Client, ends: &Ends) -> Result<()> {
    let count = async |table: &str, tenant: &str, more: &str| {
        db.numbers(&format!("select count(*) from {table} where tenant = '{tenant}' {more}")).await
    };
    until("every innocent instance is completed", async || {
        Ok(count("workflow_instances", "innocent", "and status <> 'completed'").await? == [0])
    })
    .await?;
    ensure!(innocent.poll_with("taskType=t&waitSeconds=0").await?.is_empty(), "a task is left over");
    ensure!(count("workflow_incidents", "innocent", "").await? == [0]);
    let short_of_time = mob::SHORT_OF_TIME.iter().any(|code| ends.contains_key(*code));
    for kind in kinds::ALL {
        let was = kind.code.is_none_or(|code| ends.contains_key(code));
        ensure!(was || short_of_time, "none was {kind:?}: {ends:?}");
    }
    let held: usize = ends.iter().filter(|(end, _)| *end != "completed").map(|(_, count)| count).sum();
    let held_in_all = count("workflow_instances", "hostile", "and status = 'incident'").await?;
    // Some were held that nobody waited for any more.
    ensure!(held_in_all >= vec![i64::try_from(held)?], "{held_in_all:?}, {held} were told");
    ensure!(count("workflow_incidents", "hostile", "").await? == held_in_all);
    for table in ["workflow_external_tasks", "workflow_outbox", "workflow_timers"] {
        ensure!(count(table, "hostile", "").await? == [0], "an effect of a hostile step is in {table}");
    }
    Ok(())
}

fn medians(rounds: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|at| median(rounds.iter().map(|round| round[at]).collect()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Not `println`, which a passing test does not show.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

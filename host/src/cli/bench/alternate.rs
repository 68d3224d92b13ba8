//! An empty database and one full of finished instances, measured in turn: what a machine does between two runs then
//! falls on both.

use serde_json::{Value, json};

use super::super::Error;
use super::super::print::Output;
use super::super::temporary::TemporaryFolder;
use super::external_task::{Args, closed};
use super::host::Host;
use super::report::median;
use super::{cycle, preload};
use crate::store;

/// Schemas of a PostgreSQL database that are made and removed.
const EMPTY: &str = "stepwell_bench_empty";
const FULL: &str = "stepwell_bench_full";

/// Runs so many pairs.
pub(super) async fn run(
    args: &Args,
    pairs: u32,
    folder: &TemporaryFolder,
    output: &Output,
) -> Result<(), Error> {
    if args.database.as_ref().is_some_and(|database| database.starts_with("sqlite:")) {
        let why = "--alternate makes SQLite databases of its own in a temporary folder (TMPDIR): leave out --database";
        return Err(Error::usage(why));
    }
    let measured = measure(args, pairs, folder, output).await;
    if let Some(database) = &args.database {
        for schema in [EMPTY, FULL] {
            let _ = store::preload::drop_schema(database, schema).await;
        }
    }
    let [empty, full] = measured?;
    let (of_empty, of_full) = (median(empty.clone()), median(full.clone()));
    let told = json!({
        "workers": args.workers,
        "preloaded": args.preload,
        "emptyCyclesPerSecond": empty,
        "fullCyclesPerSecond": full,
        "emptyMedian": of_empty,
        "fullMedian": of_full,
        "ratio": of_full / of_empty.max(1e-9),
    });
    show(output, &told);
    Ok(())
}

async fn measure(
    args: &Args,
    pairs: u32,
    folder: &TemporaryFolder,
    output: &Output,
) -> Result<[Vec<f64>; 2], Error> {
    let full = fresh(args, folder, FULL).await?;
    let data = folder.path().join("data");
    let host = Host::start(&full, &data).await?;
    cycle::deploy(&host.address).await?;
    preload::fill(&host, &full, args.preload, output).await?;
    host.stop().await;

    let mut rates = [Vec::new(), Vec::new()];
    for pair in 1..=pairs {
        for (which, rates) in rates.iter_mut().enumerate() {
            let database = if which == 0 { fresh(args, folder, EMPTY).await? } else { full.clone() };
            let host = Host::start(&database, &data).await?;
            cycle::deploy(&host.address).await?;
            let measured = closed(&host, &args.plan(), output).await?;
            host.stop().await;
            let name = ["empty", "full"][which];
            output.line(format!("run {pair}, {name}: {:.0} cycles/s", measured.cycles_per_second()));
            rates.push(measured.cycles_per_second());
        }
    }
    Ok(rates)
}

/// The address of a database with nothing in it.
async fn fresh(args: &Args, folder: &TemporaryFolder, name: &str) -> Result<String, Error> {
    if let Some(database) = &args.database {
        let made = store::preload::fresh_schema(database, name).await;
        return made.map_err(|why| Error::refused("bench_schema", format!("the schema {name}: {why}")));
    }
    let file = folder.path().join(format!("{name}-{}.db", uuid::Uuid::now_v7()));
    Ok(format!("sqlite:{}", file.display()))
}

fn show(output: &Output, told: &Value) {
    if output.json {
        return output.value(told);
    }
    let number = |name: &str| told[name].as_f64().unwrap_or_default();
    output.line(format!(
        "median with {} finished instances: {:.0} cycles/s; without: {:.0} cycles/s; ratio {:.2}",
        told["preloaded"],
        number("fullMedian"),
        number("emptyMedian"),
        number("ratio")
    ));
}

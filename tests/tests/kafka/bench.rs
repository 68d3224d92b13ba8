//! `stepwell bench events --kafka` measures what it says.

use anyhow::Result;
use stepwell_tests::{command, db, kafka};

#[test]
fn events_through_kafka_are_counted() {
    db::run(async {
        let Some(broker) = kafka::shared()? else { return Ok(()) };
        let address = broker.address();
        let args = ["bench", "events", "--json", "--events", "40", "--waiting", "0,100", "--kafka", &address];
        let told = command::run(&args).await.exits(0).json();
        let runs = told["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert_eq!(runs.len(), 2, "{told}");
        for run in runs {
            assert!(run["way"] == "kafka" && run["perSecond"].as_f64() > Some(0.0), "{told}");
        }
        Result::Ok(())
    });
}

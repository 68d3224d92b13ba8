//! schemathesis over the host's own document: what it makes of each route's schema is answered as documented.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use stepwell_tests::command::source_root;
use stepwell_tests::db::TestDb;

use crate::cases::{count, number};
use crate::http::{World, runtime};

/// Requests for each route, in the usual run.
const EXAMPLES: u32 = 10;

/// Far more than any machine needs.
const HANGS_AFTER: Duration = Duration::from_secs(1_800);

/// A server error is never right; all else must be in the document: the status, the type, the shape.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance";
/// The document has a stream as text, and the tool looks for a schema of each event.
const CHECKS_OF_STREAMS: &str = "not_a_server_error,status_code_conformance,content_type_conformance";

#[test]
fn the_document_is_kept_on_sqlite() {
    let Some(tool) = tool() else { return };
    the_document_is_kept(tool, &TestDb::sqlite().unwrap()).unwrap();
}

#[test]
fn the_document_is_kept_on_postgres() {
    let Some(tool) = tool() else { return };
    if let Some(db) = runtime().block_on(TestDb::postgres()).unwrap() {
        the_document_is_kept(tool, &db).unwrap();
    }
}

fn the_document_is_kept(tool: &PathBuf, db: &TestDb) -> Result<()> {
    let runtime = runtime();
    let world = runtime.block_on(World::begin(db))?;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("known.toml"), known(&world))?;
    let run = |arguments: &[&str], cases_min: u32| -> Result<()> {
        let mut command = tokio::process::Command::new(tool);
        command.args(arguments).arg(format!("{}/openapi.json", world.client().url)).args(settings());
        command.current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        let output = async { tokio::time::timeout(HANGS_AFTER, command.output()).await };
        let output = runtime.block_on(output).context("schemathesis hangs")??;
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {said}{complaint}", output.status);
        let cases = cases(&said).with_context(|| format!("no count in {said}"))?;
        ensure!(cases >= cases_min, "{said}");
        eprintln!(
            "schemathesis on {}: {cases} cases",
            if db.is_postgres() { "PostgreSQL" } else { "SQLite" }
        );
        Ok(())
    };
    let known = ["--config-file", "known.toml", "run"];
    // Anything, everywhere: most ids are made up. Then the same with ids that are there.
    run(&["run", "--exclude-path-regex", "/events$", "--checks", CHECKS], 500)?;
    run(&[&known[..], &["--exclude-path-regex", "/events$", "--checks", CHECKS]].concat(), 500)?;
    // A stream of events lasts as long as its instance: this one has ended.
    let cancel = format!("/api/v1/instances/{}/cancel", world.instances[0]);
    runtime.block_on(world.client().post(&cancel, &serde_json::json!({})))?;
    run(&[&known[..], &["--include-path-regex", "/events$", "--checks", CHECKS_OF_STREAMS]].concat(), 5)?;
    runtime.block_on(world.still_works())?;
    runtime.block_on(world.end());
    Ok(())
}

/// What every run has in common.
fn settings() -> Vec<String> {
    let seed = number("STEPWELL_SEED").unwrap_or(1).to_string();
    let pairs = [
        ("--phases", "examples,coverage,fuzzing"),
        ("--max-examples", &count(EXAMPLES).to_string()),
        ("--seed", &seed),
        // The host is open to this machine: a token that is made up would only be refused.
        ("--generation-with-security-parameters", "false"),
        ("--generation-database", "none"),
        // How fast the machine is must not matter.
        ("--suppress-health-check", "all"),
        ("--request-timeout", "300"),
        ("--workers", "1"),
    ];
    let flags = ["--continue-on-failure", "--no-color"].map(str::to_owned);
    pairs.iter().flat_map(|(name, value)| [(*name).to_owned(), (*value).to_owned()]).chain(flags).collect()
}

/// How many cases it made: `1287 generated, 1287 passed`.
fn cases(said: &str) -> Option<u32> {
    let line = said.lines().find(|line| line.contains(" generated, "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Ids that are there, by route.
fn known(world: &World) -> String {
    let (task, lock) = &world.tasks[0];
    let by_route = [
        ("^/api/v1/instances/", format!("id = {:?}", world.instances[0])),
        ("^/api/v1/tasks/", format!("id = {task:?}")),
        ("^/api/v1/tokens/", format!("id = {:?}", world.tokens[0])),
        ("^/api/n8n/external-tasks/.+/", format!("id = {task:?}\nX-Lock-Token = {lock:?}")),
        ("^/api/v1/workflows/.+/versions/", "key = \"one\"\nversion = 1".to_owned()),
        ("^/api/v1/workflows/[^/]+(/instances)?$", "key = \"one\"".to_owned()),
        ("^/api/v1/plugins/", "nameOrDigest = \"EXTERNAL_TASK\"".to_owned()),
        ("^/api/n8n/external-tasks/poll$", "taskType = \"work\"".to_owned()),
    ];
    let part = |(path, parameters)| {
        format!("[[operations]]\ninclude-path-regex = {path:?}\n[operations.parameters]\n{parameters}\n")
    };
    by_route.map(part).concat()
}

/// The program; installed if it is not there. None if it cannot be had: the test is skipped, loudly, and fails where
/// `CI` is `true`.
fn tool() -> Option<&'static PathBuf> {
    static TOOL: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let installed = TOOL.get_or_init(|| {
        let root = source_root();
        let said = |output: Output| String::from_utf8_lossy(&output.stderr).into_owned();
        match Command::new(root.join("scripts/install-schemathesis.sh")).output() {
            Ok(output) if output.status.success() => {
                Ok(root.join("target/tools/schemathesis/bin/schemathesis"))
            }
            Ok(output) => Err(said(output)),
            Err(error) => Err(error.to_string()),
        }
    });
    match installed {
        Ok(tool) => Some(tool),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("there is no schemathesis: {why}")
        }
        Err(why) => {
            // Not `eprintln`, which a passing test does not show.
            let _ = writeln!(std::io::stderr(), "SKIPPED, no schemathesis: {why}");
            None
        }
    }
}

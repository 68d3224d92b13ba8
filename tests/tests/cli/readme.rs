//! The README's walk is run as it is written, against a real host.

use std::process::Stdio;

use stepwell_tests::command::{Host, binary, finish, source_root};
use tokio::process::Command;

use crate::support::folder;

/// What the README calls the server; the test's is elsewhere.
const WRITTEN: &str = "http://127.0.0.1:8080";

#[tokio::test]
async fn every_marked_block_works_in_order() {
    let readme = std::fs::read_to_string(source_root().join("README.md")).unwrap();
    let blocks = marked_blocks(&readme);
    assert!(blocks.len() >= 4, "the README has lost its walk: {} blocks", blocks.len());
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let script = format!("set -euo pipefail\n{}", blocks.join("\n")).replace(WRITTEN, &host.url);

    let mut shell = Command::new("bash");
    let path = std::env::var("PATH").unwrap_or_default();
    shell
        .args(["-c", &script])
        .current_dir(source_root())
        .env("PATH", format!("{}:{path}", binary().parent().unwrap().display()))
        .env("STEPWELL_SERVER", &host.url)
        .env("no_proxy", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let ran = finish(shell).await.exits(0);
    assert!(ran.stdout.contains("PROJ-42"), "{ran:?}");
    host.stop().await;
}

#[test]
fn the_quick_start_is_two_commands() {
    let readme = std::fs::read_to_string(source_root().join("README.md")).unwrap();
    let start = readme.split("## Quick start").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let block = start.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let commands: Vec<&str> =
        block.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).collect();
    assert_eq!(commands, ["make run", "make test"]);
}

/// The contents of blocks that begin with ```` ```sh test ````.
fn marked_blocks(readme: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in readme.lines() {
        match &mut open {
            Some(block) if line == "```" => {
                blocks.push(std::mem::take(block));
                open = None;
            }
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line == "```sh test" => open = Some(String::new()),
            None => {}
        }
    }
    blocks
}

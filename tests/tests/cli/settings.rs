//! Where settings come from: flags, then variables, then the file; mistakes are named.

use serde_json::Value;
use stepwell_tests::command::{Ran, finish, stepwell};

use crate::support::folder;

const FILE: &str = r#"
listen = "127.0.0.1:1111"
log = "debug"
data = "from-file"
keep_instances = "90d"

[limits]
poll_tasks_max = 7

[plugin_limits.default]
memory_bytes_max = 1048576

[plugin_limits.tenant.acme]
effects_max = 3
"#;

async fn show(file: &str, variables: &[(&str, &str)], flags: &[&str]) -> Ran {
    let folder = folder();
    std::fs::write(folder.path().join("stepwell.toml"), file).unwrap();
    let mut command = stepwell(&["config", "show", "--json"]);
    command.args(flags).envs(variables.iter().copied()).current_dir(folder.path());
    finish(command).await
}

#[tokio::test]
async fn flags_win_over_variables_and_variables_over_the_file() {
    let file: Value = show(FILE, &[], &[]).await.exits(0).json();
    assert_eq!(file["listen"], "127.0.0.1:1111");
    assert_eq!(file["database"], "sqlite:from-file/stepwell.db");
    assert_eq!(file["limits"]["poll_tasks_max"], 7);
    assert_eq!(file["limits"]["page_rows_max"], 500);
    assert_eq!(file["plugin_limits"]["default"]["memory_bytes_max"], 1_048_576);
    assert_eq!(file["plugin_limits"]["tenant"]["acme"]["effects_max"], 3);
    assert_eq!(file["keep_instances"], "7776000s");
    assert_eq!(file["keep_journals"], "2592000s");

    let variables =
        [("STEPWELL_LISTEN", "127.0.0.1:2222"), ("STEPWELL_LOG", "warn"), ("INSTANCE_ID", "seven")];
    let variable = show(FILE, &variables, &[]).await.exits(0).json();
    assert_eq!(variable["listen"], "127.0.0.1:2222");
    assert_eq!(variable["log"], "warn");
    assert_eq!(variable["node_id"], "seven");

    let flag = show(FILE, &variables, &["--listen", "127.0.0.1:3333"]).await.exits(0).json();
    assert_eq!(flag["listen"], "127.0.0.1:3333");
    assert_eq!(flag["log"], "warn");
}

#[tokio::test]
async fn what_is_kept_and_how_long_is_a_setting() {
    let usual = show("", &[], &[]).await.exits(0).json();
    assert_eq!((&usual["keep_waits"], &usual["keep_rejected"]), (&"2592000s".into(), &"604800s".into()));
    let variables = [("STEPWELL_KEEP_REJECTED", "1h")];
    let chosen = show("keep_waits = '2d'", &variables, &[]).await.exits(0).json();
    assert_eq!((&chosen["keep_waits"], &chosen["keep_rejected"]), (&"172800s".into(), &"3600s".into()));
    let wrong = show("", &[], &["--keep-waits", "soon"]).await.exits(78);
    assert!(wrong.stderr.contains("keep_waits: 'soon' is not a time"), "{wrong:?}");
}

#[tokio::test]
async fn a_key_that_is_not_a_setting_is_named() {
    for (file, named) in [
        ("lisen = '127.0.0.1:1'", "lisen"),
        ("[limits]\npoll_task_max = 1", "limits.poll_task_max"),
        ("[plugin_limits.default]\nmemory = 1", "memory"),
        ("keep_instances = 'a while'", "keep_instances"),
        ("listen = 7", "listen"),
    ] {
        let ran = show(file, &[], &[]).await.exits(78);
        assert!(ran.stderr.contains(named), "{file}: {ran:?}");
    }
}

#[tokio::test]
async fn a_file_that_was_named_must_be_there() {
    let ran = show("", &[], &["--config", "other.toml"]).await.exits(78);
    assert!(ran.stderr.contains("other.toml"), "{ran:?}");
}

#[tokio::test]
async fn a_wrong_log_filter_or_collector_is_a_wrong_setting() {
    let folder = folder();
    let data = folder.path().to_str().unwrap();
    for wrong in [["--log", "stepwell=loud"], ["--otlp", "not an address"]] {
        let mut command = stepwell(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
        command.args(wrong);
        let ran = finish(command).await.exits(78);
        assert!(ran.stderr.contains(wrong[1]), "{ran:?}");
    }
}

#[tokio::test]
async fn a_password_is_not_shown() {
    let ran = show("database = 'postgres://me:hunter2@db/steps'", &[], &[]).await.exits(0);
    assert_eq!(ran.json()["database"], "postgres://me@db/steps");
    assert!(!ran.stdout.contains("hunter2"));
}

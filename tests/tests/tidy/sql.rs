//! Two databases, side by side, and no clock of their own.

use crate::tree::File;

/// Statements that SQLite does not need: it has one host, so there is nobody to tell, and a commit whose answer
/// is lost is not lost on a network.
const POSTGRES_ONLY: [&str; 6] =
    ["claimed_tasks", "leased_tasks", "look_lane", "notify", "seal_lane", "sweep_lanes"];

/// Ways to ask the database for the time.
const CLOCKS: [&str; 9] = [
    "now()",
    "unixepoch()",
    "clock_timestamp()",
    "statement_timestamp()",
    "transaction_timestamp()",
    "current_timestamp",
    "current_date",
    "current_time",
    "localtimestamp",
];

/// Names that are on one side only.
pub(crate) fn twins(postgres: &[String], sqlite: &[String]) -> Vec<String> {
    let lacks = |side: &str, all: &[String], others: &[String]| -> Vec<String> {
        let alone = all.iter().filter(|name| !others.contains(name));
        alone.map(|name| format!("{name} is there for {side} only")).collect()
    };
    [lacks("PostgreSQL", postgres, sqlite), lacks("SQLite", sqlite, postgres)].concat()
}

/// The same for statements, some of which have no twin for a reason.
pub(crate) fn statements(postgres: &[String], sqlite: &[String]) -> Vec<String> {
    let paired: Vec<String> =
        postgres.iter().filter(|name| !POSTGRES_ONLY.contains(&name.as_str())).cloned().collect();
    twins(&paired, sqlite)
}

/// Uses of the database's clock.
pub(crate) fn clock(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        let code = line.split("--").next().unwrap_or_default().to_lowercase();
        let code: String = code.split_whitespace().collect();
        // SQLite's `datetime('now')` and `strftime('…', 'now')`; a parameter's `->> 'now'` is something else.
        let sqlite = ["('now'", ",'now'"].into_iter().find(|clock| code.contains(clock));
        let clock = CLOCKS.into_iter().find(|clock| code.contains(clock)).or(sqlite);
        found.extend(clock.map(|clock| format!("{}:{} asks for {clock}", file.path, at + 1)));
    }
    found
}

#[test]
fn a_missing_twin_is_found() {
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| String::from(*name)).collect() };
    assert!(twins(&names(&["a", "b"]), &names(&["a", "b"])).is_empty());
    let found = twins(&names(&["a", "b"]), &names(&["b", "c"]));
    assert_eq!(found, ["a is there for PostgreSQL only", "c is there for SQLite only"]);
    assert!(statements(&names(&["a", "notify"]), &names(&["a"])).is_empty());
    assert_eq!(statements(&names(&["a", "b"]), &names(&["a"])).len(), 1);
}

#[test]
fn a_clock_is_found() {
    let count = |text: &str| clock(&File::new("x.sql", text)).len();
    let bad = [
        "select NOW ()",
        "created_at text default current_timestamp",
        "select datetime('now', '-1 day')",
        "select strftime('%s', 'now')",
        "select unixepoch( )",
    ];
    for bad in bad {
        assert_eq!(count(bad), 1, "{bad}");
    }
    for good in ["select ?1 ->> 'now'", "-- not now()", "select a.now from a", "strftime('%f', ?1 ->> 'now')"]
    {
        assert_eq!(count(good), 0, "{good}");
    }
}

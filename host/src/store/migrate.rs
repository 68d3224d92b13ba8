//! Twin migrations, embedded: the same numbers and names for both databases.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::OpenError;

macro_rules! twins {
    ($($number:literal $name:literal,)+) => {
        const TWINS: &[Twin] = &[$(Twin {
            number: $number,
            name: $name,
            postgres: include_str!(concat!("../../../migrations/postgres/", $name, ".sql")),
            sqlite: include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")),
        },)+];
    };
}

twins! {
    1 "0001_tenants",
    2 "0002_definitions",
    3 "0003_plugins",
    4 "0004_instances",
    5 "0005_external_tasks",
    6 "0006_timers",
    7 "0007_journal",
    8 "0008_lanes",
    9 "0009_lean",
    10 "0010_workers",
    11 "0011_batches",
    12 "0012_timer_list",
    14 "0014_expect",
    15 "0015_turns",
    20 "0020_secrets",
    21 "0021_dead_items",
    30 "0030_schedules",
    40 "0040_reminders",
    50 "0050_events",
    60 "0060_rows",
    61 "0061_lean_rows",
    62 "0062_pages",
}

/// One step of the schema, in both dialects.
struct Twin {
    number: i64,
    name: &'static str,
    postgres: &'static str,
    sqlite: &'static str,
}

/// For PostgreSQL; takes an advisory lock, so that two hosts that start at once do not collide.
pub(super) fn postgres() -> Migrator {
    migrator(|twin| twin.postgres)
}

/// For SQLite.
pub(super) fn sqlite() -> Migrator {
    migrator(|twin| twin.sqlite)
}

/// What stands between the brackets of `create type NAME as (…)`, in the step that makes a type of PostgreSQL.
pub(super) fn type_fields(name: &str) -> Option<&'static str> {
    let head = format!("create type {name} as (");
    let (_, rest) = TWINS.iter().find_map(|twin| twin.postgres.split_once(&head))?;
    rest.split_once(");").map(|(fields, _)| fields)
}

/// Says in a sentence why a migration did not go through.
pub(super) fn explain(error: MigrateError) -> OpenError {
    let known = TWINS.last().map_or(0, |twin| twin.number);
    match error {
        MigrateError::VersionMissing(found) => OpenError::Newer { found: found.max(known + 1), known },
        other => OpenError::Migration(other.to_string()),
    }
}

fn migrator(dialect: impl Fn(&Twin) -> &'static str) -> Migrator {
    let migration = |twin: &Twin| {
        let sql = dialect(twin).into_sql_str();
        Migration::new(twin.number, twin.name.into(), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(TWINS.iter().map(migration).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_step_and_steps_are_in_order() {
        for dialect in ["postgres", "sqlite"] {
            let folder = format!("{}/../migrations/{dialect}", env!("CARGO_MANIFEST_DIR"));
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".sql").to_owned())
                .collect();
            files.sort();
            let steps: Vec<&str> = TWINS.iter().map(|twin| twin.name).collect();
            assert_eq!(files, steps, "{dialect}");
        }
        for twin in TWINS {
            assert!(twin.name.starts_with(&format!("{:04}_", twin.number)), "{}", twin.name);
        }
    }
}

//! Fills a database with instances, to see how it serves when it is no longer empty: the rows of one instance that the
//! engine has really finished, or has waiting for a worker, are copied under new ids.
//!
//! Which tables and columns there are is asked, not known: a copy has what the engine wrote, whatever the schema. (Ids inside
//! of texts, as the journal has them, stay those of what was copied.)

use std::fmt::Write as _;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use uuid::Uuid;

/// Copies in one transaction.
const CHUNK: u64 = 10_000;

/// Columns by which a table belongs to instances.
const OWNERS: [&str; 3] = ["instance_id", "workflow_instance_id", "execution_id"];

const POSTGRES_COLUMNS: &str = "select table_name::text, column_name::text, data_type::text
    from information_schema.columns
    where table_schema = current_schema() and is_generated = 'NEVER' and is_identity = 'NO'
    order by table_name, ordinal_position";
const SQLITE_COLUMNS: &str =
    "select t.name, c.name, c.type from sqlite_master as t, pragma_table_info(t.name) as c
    where t.type = 'table' order by t.name, c.cid";

/// A copy's ids begin with a moment of its own, and are otherwise those of the original; its times go back with it.
const POSTGRES_COPIES: &str = "with copies as (
  select substr(hex, 1, 8) || '-' || substr(hex, 9, 4) as head, back
  from (
    select lpad(to_hex($5::bigint - $4::bigint + n), 12, '0') as hex,
      ($4::bigint - n) * interval '1 millisecond' as back
    from generate_series($2::bigint, $3::bigint) as n
  ) as numbers
)";
const SQLITE_COPIES: &str = "with recursive numbers(n) as (
  select ?2 union all select n + 1 from numbers where n < ?3
), copies as (
  select printf('%08x-%04x', (?5 - ?4 + n) >> 16, (?5 - ?4 + n) & 65535) as head,
    printf('-%.3f seconds', (?4 - n) / 1000.0) as back
  from numbers
)";

/// A table that has rows of instances.
struct Table {
    name: String,
    columns: Vec<(String, String)>,
    owner: &'static str,
}

/// Copies an instance so many times, as if the copies had come one millisecond after the other before it. Nothing may
/// happen to it meanwhile.
pub async fn copy_instance(
    database: &str,
    instance: Uuid,
    copies: u64,
    progress: impl Fn(u64),
) -> Result<(), String> {
    if database.starts_with("sqlite:") {
        sqlite(database, instance, copies, progress).await.map_err(|error| error.to_string())
    } else {
        postgres(database, instance, copies, progress).await.map_err(|error| error.to_string())
    }
}

/// Makes an empty schema in a PostgreSQL database, in place of one of the same name; the address that leads to it.
pub async fn fresh_schema(database: &str, name: &str) -> Result<String, String> {
    drop_schema(database, name).await?;
    let told = |error: sqlx::Error| error.to_string();
    let mut connection = PgConnection::connect(database).await.map_err(told)?;
    let sql = format!("create schema {name}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map_err(told)?;
    connection.close().await.map_err(told)?;
    let separator = if database.contains('?') { '&' } else { '?' };
    Ok(format!("{database}{separator}options=-c%20search_path%3D{name}"))
}

/// Removes a schema with all that is in it.
pub async fn drop_schema(database: &str, name: &str) -> Result<(), String> {
    let told = |error: sqlx::Error| error.to_string();
    let mut connection = PgConnection::connect(database).await.map_err(told)?;
    let sql = format!("drop schema if exists {name} cascade");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.map_err(told)?;
    connection.close().await.map_err(told)
}

async fn postgres(
    database: &str,
    instance: Uuid,
    copies: u64,
    progress: impl Fn(u64),
) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(database).await?;
    sqlx::raw_sql("set synchronous_commit = off").execute(&mut connection).await?;
    let columns = sqlx::query_as(POSTGRES_COLUMNS).fetch_all(&mut connection).await?;
    let tables = tables(columns);
    for (from, to) in chunks(copies) {
        let mut transaction = connection.begin().await?;
        for table in &tables {
            let query =
                sqlx::query(AssertSqlSafe(insert(table, POSTGRES_COPIES, "$1::uuid", postgres_value)));
            let query = query.bind(instance.to_string()).bind(from).bind(to).bind(whole(copies));
            query.bind(millis(instance)).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        progress(whole_u64(to) + 1);
    }
    // What the server would do by itself soon, and then in the midst of a measurement.
    for table in &tables {
        sqlx::raw_sql(AssertSqlSafe(format!("vacuum analyze {}", table.name)))
            .execute(&mut connection)
            .await?;
    }
    // Not everyone may ask for it; it then comes when it comes.
    let _ = sqlx::raw_sql("checkpoint").execute(&mut connection).await;
    connection.close().await
}

async fn sqlite(
    database: &str,
    instance: Uuid,
    copies: u64,
    progress: impl Fn(u64),
) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::from_str(database)?
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(Duration::from_secs(60));
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let columns = sqlx::query_as(SQLITE_COLUMNS).fetch_all(&mut connection).await?;
    let tables = tables(columns);
    for (from, to) in chunks(copies) {
        let mut transaction = connection.begin_with("begin immediate").await?;
        for table in &tables {
            let query = sqlx::query(AssertSqlSafe(insert(table, SQLITE_COPIES, "?1", sqlite_value)));
            let query = query.bind(instance.to_string()).bind(from).bind(to).bind(whole(copies));
            query.bind(millis(instance)).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        progress(whole_u64(to) + 1);
    }
    sqlx::raw_sql("pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
    connection.close().await
}

/// The tables with rows of instances, instances themselves first: others refer to them.
fn tables(columns: Vec<(String, String, String)>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for (table, column, kind) in columns {
        match tables.last_mut().filter(|last| last.name == table) {
            Some(last) => last.columns.push((column, kind)),
            None => tables.push(Table { name: table, columns: vec![(column, kind)], owner: "" }),
        }
    }
    for table in &mut tables {
        let has = |owner: &&str| table.columns.iter().any(|(name, _)| name == owner);
        // An event that was refused says whom it was for: that need not be anybody.
        let apart = table.name == "workflow_rejected_events";
        let owner = OWNERS.into_iter().find(|owner| has(owner) && !apart);
        table.owner = if table.name == "workflow_instances" { "id" } else { owner.unwrap_or_default() };
    }
    tables.retain(|table| !table.owner.is_empty());
    tables.sort_by_key(|table| table.name != "workflow_instances");
    tables
}

fn insert(table: &Table, copies: &str, instance: &str, value: fn(&str, &str) -> String) -> String {
    let names: Vec<String> = table.columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let values: Vec<String> = table.columns.iter().map(|(name, kind)| value(name, kind)).collect();
    let (name, owner) = (&table.name, table.owner);
    let mut sql = String::from(copies);
    let _ = write!(
        sql,
        "\ninsert into {name} ({})\nselect {}\nfrom copies as x cross join {name} as t where t.\"{owner}\" = {instance}",
        names.join(", "),
        values.join(", ")
    );
    sql
}

fn postgres_value(name: &str, kind: &str) -> String {
    match kind {
        "uuid" => format!("(x.head || substr(t.\"{name}\"::text, 14))::uuid"),
        // Ids in a column of text, where they are ids.
        "text" if name == "id" || name.ends_with("_id") => format!(
            "case when t.\"{name}\" ~ '^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$' \
             then x.head || substr(t.\"{name}\", 14) else t.\"{name}\" end"
        ),
        "timestamp with time zone" => format!("t.\"{name}\" - x.back"),
        _ => format!("t.\"{name}\""),
    }
}

fn sqlite_value(name: &str, _: &str) -> String {
    if name == "id" || name.ends_with("_id") || name.ends_with("_token") {
        let is_id = format!("t.\"{name}\" glob '????????-????-????-????-????????????'");
        return format!("case when {is_id} then x.head || substr(t.\"{name}\", 14) else t.\"{name}\" end");
    }
    if name == "at" || name.ends_with("_at") {
        return format!("strftime('%Y-%m-%dT%H:%M:%fZ', t.\"{name}\", x.back)");
    }
    format!("t.\"{name}\"")
}

/// First and last number of each chunk.
fn chunks(copies: u64) -> impl Iterator<Item = (i64, i64)> {
    (0..copies.div_ceil(CHUNK))
        .map(move |chunk| (whole(chunk * CHUNK), whole(((chunk + 1) * CHUNK).min(copies)) - 1))
}

/// The moment with which an id begins.
fn millis(id: Uuid) -> i64 {
    whole(u64::try_from(id.as_u128() >> 80).unwrap_or_default())
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn whole_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

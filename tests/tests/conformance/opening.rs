//! Opening a database: what is refused, and in which words.

use anyhow::Result;
use stepwell::store::OpenError;
use stepwell_tests::db::{TestDb, run, run_on_postgres};
use stepwell_tests::on_both_databases;
use uuid::Uuid;

use crate::fixture::Case;

on_both_databases!(a_second_opening_finds_what_the_first_wrote, a_newer_schema_is_refused);

#[test]
fn a_missing_database_is_refused() {
    run_on_postgres(a_database_that_is_not_there);
}

async fn a_second_opening_finds_what_the_first_wrote(db: TestDb) -> Result<()> {
    let case = Case::new();
    let store = db.open().await;
    case.write(&*store, vec![]).await?;
    store.close().await;
    let store = db.open().await;
    assert!(store.instance(&case.tenant, case.instance.id).await?.is_some());
    Ok(())
}

async fn a_newer_schema_is_refused(db: TestDb) -> Result<()> {
    db.open().await.close().await;
    let checksum = if db.is_postgres() { "'\\x00'" } else { "x'00'" };
    db.execute(&format!(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (4711, 'of the future', true, {checksum}, 0)"
    ))
    .await?;
    match db.try_open().await {
        Err(OpenError::Newer { found: 4711, known }) => assert!(known >= 8),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a database of the future was opened"),
    }
    Ok(())
}

async fn a_database_that_is_not_there(db: TestDb) -> Result<()> {
    let (server, _) = db.url().rsplit_once('/').expect("a path");
    let url = format!("{}/nowhere?sslmode=disable", server.replace("stepwell@", "stepwell:hunter2@"));
    let error = refusal(&url).await;
    assert!(matches!(error, OpenError::Denied { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("nowhere") && !text.contains("hunter2"), "{text}");
    Ok(())
}

#[test]
fn a_second_host_on_one_file_is_refused() {
    run(async {
        let db = TestDb::sqlite()?;
        let first = db.open().await;
        let error = refusal(db.url()).await;
        assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
        assert!(error.to_string().contains("another host"));
        first.close().await;
        db.open().await.ping().await?;
        Ok(())
    });
}

#[test]
fn an_address_that_makes_no_sense_is_refused() {
    run(async {
        let error = refusal("mysql://me:hunter2@db/x").await;
        assert!(matches!(error, OpenError::Scheme(_)), "{error:?}");
        assert!(error.to_string().contains("mysql") && !error.to_string().contains("hunter2"), "{error}");
        let error = refusal("sqlite:").await;
        assert!(matches!(error, OpenError::Address(_)), "{error:?}");
        let error = refusal("sqlite:/dev/null/x/y.db").await;
        assert!(matches!(error, OpenError::File { .. }), "{error:?}");
        // A port that nobody listens on: bound once, and let go.
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let error = refusal(&format!("postgres://me:hunter2@127.0.0.1:{port}/x")).await;
        assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&format!("127.0.0.1:{port}/x")) && !text.contains("hunter2"), "{text}");
        Ok(())
    });
}

async fn refusal(url: &str) -> OpenError {
    match stepwell::store::open(url, Uuid::now_v7()).await {
        Err(error) => error,
        Ok(_) => panic!("{url} was opened"),
    }
}

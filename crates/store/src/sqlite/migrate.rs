//! The format of the file, and how an older one is brought up to date.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use super::execute;

/// What leads from each format to the next; the first begins with an empty file.
const STEPS: &[&str] = &[include_str!("../../migrations/sqlite_1.sql")];

/// The newest format known.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).expect("there are few formats")
}

/// The format of a file; `None` if it is a database of something else.
pub(super) async fn format(conn: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    let row = sqlx::query("SELECT COUNT(*) FROM sqlite_schema").fetch_one(&mut *conn).await?;
    let objects: i64 = row.try_get(0)?;
    // In this order: a file that is just being begun has its version no later than its tables.
    let format = version(conn).await?;
    Ok(Some(format).filter(|format| *format != 0 || objects == 0))
}

/// Whether a file in the newest format has all that belongs to it.
pub(super) async fn is_whole(conn: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let names = "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name IN \
         ('sessions', 'entries', 'inputs', 'leases', 'counters', 'settings')";
    let tables: i64 = sqlx::query(names).fetch_one(conn).await?.try_get(0)?;
    Ok(tables == 6)
}

/// Brings a file up to date. Of several processes one does it.
pub(super) async fn migrate(conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if version(conn).await? == newest() {
        return Ok(());
    }
    execute(conn, "BEGIN IMMEDIATE").await?;
    let done = steps(conn).await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    execute(conn, end).await?;
    done
}

async fn steps(conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let from = usize::try_from(version(conn).await?).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(from) {
        sqlx::raw_sql(*step).execute(&mut *conn).await?;
    }
    let set = format!("PRAGMA user_version = {}", newest());
    sqlx::raw_sql(AssertSqlSafe(set)).execute(&mut *conn).await?;
    Ok(())
}

async fn version(conn: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query("PRAGMA user_version").fetch_one(conn).await?.try_get(0)
}

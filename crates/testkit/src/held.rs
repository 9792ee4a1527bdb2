//! A database that somebody else writes to: for whoever wants to write meanwhile, the disk stands still.

use std::path::Path;

use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::runtime::{Builder, Runtime};

/// Holds the right to write to a SQLite file, as a backup or another program may do. Others can read it. Given back when
/// this is dropped, which must come before they give up, after 10 seconds.
#[derive(Debug)]
pub struct Held {
    runtime: Runtime,
    conn: Option<SqliteConnection>,
}

impl Held {
    /// Waits for the right to write, and keeps it.
    pub fn take(path: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let conn = runtime.block_on(async {
            let options = SqliteConnectOptions::new().filename(path).busy_timeout(crate::PATIENCE);
            let mut conn = options.connect().await.expect("the database is there");
            sqlx::query("BEGIN IMMEDIATE").execute(&mut conn).await.expect("it can be written");
            conn
        });
        Self { runtime, conn: Some(conn) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            // Closing it ends what was begun.
            let _ = self.runtime.block_on(conn.close());
        }
    }
}

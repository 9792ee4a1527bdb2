//! What the disk allows: one row a transaction in a bare SQLite file, as durable as the store.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;
use sqlx::{
    ConnectOptions as _, Connection as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

/// A table and the connection to it.
pub(crate) struct Bare {
    runtime: tokio::runtime::Runtime,
    conn: SqliteConnection,
}

impl Bare {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let options = SqliteConnectOptions::new().filename(folder.join("bare.db")).create_if_missing(true);
        let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
        let conn = runtime.block_on(async {
            let mut conn = options.disable_statement_logging().connect().await?;
            let table = "CREATE TABLE bare (id INTEGER PRIMARY KEY, content TEXT NOT NULL)";
            sqlx::query(table).execute(&mut conn).await?;
            anyhow::Ok(conn)
        })?;
        Ok(Self { runtime, conn })
    }

    /// The time of each insert. One without a transaction around it is one.
    pub(crate) fn insert(&mut self, count: usize, content: &str) -> Result<Vec<Duration>> {
        let Self { runtime, conn } = self;
        let insert = async |conn: &mut SqliteConnection| {
            let began = Instant::now();
            sqlx::query("INSERT INTO bare (content) VALUES (?)").bind(content).execute(conn).await?;
            anyhow::Ok(began.elapsed())
        };
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            times.push(runtime.block_on(insert(conn))?);
        }
        Ok(times)
    }

    pub(crate) fn close(self) -> Result<()> {
        Ok(self.runtime.block_on(self.conn.close())?)
    }
}

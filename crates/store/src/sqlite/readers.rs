//! A few connections for reading.

use std::ops::{Deref, DerefMut};

use parking_lot::Mutex;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::StoreError;

/// How many reads run at once.
const MOST: u32 = 4;

/// Connections, opened when first needed.
pub(super) struct ReaderPool {
    options: SqliteConnectOptions,
    permits: Semaphore,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl ReaderPool {
    pub(super) fn new(options: SqliteConnectOptions) -> Self {
        Self { options, permits: Semaphore::new(MOST as usize), idle: Mutex::default() }
    }

    /// A connection that nobody else uses; it comes back when it is dropped.
    pub(super) async fn get(&self) -> Result<LentReader<'_>, StoreError> {
        let permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let idle = self.idle().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.options.connect().await?,
        };
        Ok(LentReader { conn: Some(conn), readers: self, _permit: permit })
    }

    /// Waits for the reads that run and closes the connections.
    pub(super) async fn close(&self) {
        if self.permits.is_closed() {
            return;
        }
        let all = self.permits.acquire_many(MOST).await;
        self.permits.close();
        drop(all);
        let idle = std::mem::take(&mut *self.idle());
        for conn in idle {
            if let Err(error) = conn.close().await {
                tracing::debug!(%error, "a connection for reading did not close");
            }
        }
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock()
    }
}

/// A connection lent by [`ReaderPool`].
pub(super) struct LentReader<'r> {
    /// There until it is dropped.
    conn: Option<SqliteConnection>,
    readers: &'r ReaderPool,
    _permit: SemaphorePermit<'r>,
}

impl Deref for LentReader<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.conn.as_ref().expect("a reader has its connection until it is dropped")
    }
}

impl DerefMut for LentReader<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.conn.as_mut().expect("a reader has its connection until it is dropped")
    }
}

impl Drop for LentReader<'_> {
    fn drop(&mut self) {
        self.readers.idle().extend(self.conn.take());
    }
}
